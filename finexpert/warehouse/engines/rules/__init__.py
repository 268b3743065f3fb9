"""What a SELECT may hold: in any engine, and what SQLite and ClickHouse read otherwise than others."""
