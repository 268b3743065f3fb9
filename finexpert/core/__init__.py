"""The types that all other packages speak."""
