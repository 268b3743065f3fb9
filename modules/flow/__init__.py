"""How a question travels: one file a journey, readable from top to bottom."""
