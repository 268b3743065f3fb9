"""`finexpert library`."""
