"""`finexpert data`."""
