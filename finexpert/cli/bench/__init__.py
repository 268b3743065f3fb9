"""`finexpert bench`: one file a measurement."""
