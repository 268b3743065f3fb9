"""What is said on an answer of the rows that it counts, and sent back to nobody."""
