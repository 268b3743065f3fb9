"""The process that answers the SELECTs of a DuckDB file; and the guests of `isolation/guests` that read databases, by module."""

SELECTS = "finexpert.warehouse.isolated.child"
SQLITE = "finexpert.warehouse.engines.sqlite_child"
