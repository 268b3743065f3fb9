"""What the SQLite files of finexpert share."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from finexpert.storage.sqlite_files import Header, header


def test_whose_a_file_is_is_read_in_one_statement() -> None:
    """Between two statements another process may make the tables: the file would look like a stranger's."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA application_id = 7")
        connection.execute("CREATE TABLE t (a)")
        asked: list[str] = []
        connection.set_trace_callback(asked.append)
        assert header(connection) == Header(version=0, application=7, tables=1)
    assert len([one for one in asked if not one.startswith("--")]) == 1
