"""Private files and SQLite files, as everything that is kept uses them."""
