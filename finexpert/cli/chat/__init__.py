"""`finexpert chat`."""
