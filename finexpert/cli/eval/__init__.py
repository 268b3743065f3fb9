"""`finexpert eval`: one file an evaluation."""
