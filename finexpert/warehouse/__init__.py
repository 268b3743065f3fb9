"""Tables as a source: DuckDB files, and databases by address."""
