"""DuckDB in this process: one file, read-only, shut in."""
