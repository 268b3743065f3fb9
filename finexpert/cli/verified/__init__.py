"""The commands around questions with the SELECT that a person approved."""
