"""`finexpert sandbox`."""
