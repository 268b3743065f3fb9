"""Verified queries: a question with the SELECT that a person approved, used as it stands where the same is asked again."""
