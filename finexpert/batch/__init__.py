"""Many questions at once: read from a table, asked side by side, written as a table with a row an answer."""
