"""The process that answers the SELECTs of a DuckDB file."""
