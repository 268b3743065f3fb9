"""A second look at the first value: critics, a revision, and which value stands."""
