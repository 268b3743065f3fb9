"""Files as a warehouse: CSV, Parquet, Excel and JSON, read in a locked process into a DuckDB file."""
