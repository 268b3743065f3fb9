"""Entries of a store, in an SQLite file or in PostgreSQL."""
