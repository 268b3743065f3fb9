"""What the server keeps, in SQLite or PostgreSQL."""
