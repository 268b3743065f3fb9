"""Attacks on the sandbox and on the warehouse, as data, and what runs them; see `finexpert sandbox attack`."""
