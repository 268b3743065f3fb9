"""Answers given before, found again by their question."""
