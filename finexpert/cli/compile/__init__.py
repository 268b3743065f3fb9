"""`finexpert compile`."""
