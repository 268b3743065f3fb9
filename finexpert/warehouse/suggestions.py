"""What to write instead, when a SELECT names a table or a column that is not there.

    SELECT unrat FROM unemployment  ->  there is no column "unrat" in unemployment; nearest: unrate

Only names of tables and columns are suggested, never a value of a row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from rapidfuzz import fuzz, process, utils

Columns = Mapping[str, Sequence[str]]
# A column that more tables than this have, such as a date, does not tell which is meant.
_TELLING = 3
MISSING_COLUMN = (
    re.compile(r'Referenced column "(?P<column>[^"]+)" not found'),
    re.compile(r'(?:Table|Values list) "(?P<table>[^"]+)" does not have a column named "(?P<column>[^"]+)"'),
    re.compile(r'Column "(?P<column>[^"]+)" in \S+ list not found'),
)
WRONG_TYPES = re.compile(r"No function matches the given name and argument types '(?P<call>[^'\"]{1,200})'")
MISSING_ALIAS = re.compile(r'Referenced table "(?P<table>[^"]+)" not found')


def nearest(name: str, among: Sequence[str], limit: int = 3) -> list[str]:
    """The names most like `name`, best first.

    >>> nearest("unrat", ["unrate", "emratio", "date"])
    ['unrate']
    >>> nearest("fed_funds", ["unrate", "date"])
    []
    """
    found = process.extract(
        name, sorted(set(among)), scorer=fuzz.WRatio, processor=utils.default_process, limit=limit, score_cutoff=70
    )
    return [match[0] for match in found]


def unknown_table(name: str, columns: Columns, read: Collection[str] = ()) -> str:
    """Says which table is meant: a column taken for one, a name alike, or one that has the columns that are read.

    >>> tables = {"unemployment": ["date", "unrate"], "cpi": ["date", "value"]}
    >>> unknown_table("unrate", tables)
    'there is no table "unrate": it is a column of unemployment'
    >>> unknown_table("cpis", tables)
    'there is no table "cpis"; nearest: cpi'
    >>> unknown_table("months", tables, read=["date", "value"])
    'there is no table "months"; cpi has date, value'
    """
    last = name.rpartition(".")[2]
    owners = _owners(last, columns)
    plain = [table for table in columns if table.lower() == last.lower()]
    if plain:
        return f'there is no table "{name}": write {plain[0]}'
    if owners:
        return f'there is no table "{name}": it is a column of {", ".join(owners)}'
    close = nearest(last, list(columns))
    shared, having = _having(read, columns)
    if having and not set(close) & set(having):
        return f'there is no table "{name}"; {", ".join(having)} {"have" if len(having) > 1 else "has"} {", ".join(shared)}'
    return f'there is no table "{name}"; ' + (
        f"nearest: {', '.join(close)}" if close else f"tables: {_listed(columns)}"
    )


def of_a_frame(message: str, frame: str) -> str:
    """The message, and that the frame to fetch is no table to fetch it from, where a SELECT took it for one.

    >>> of_a_frame('there is no table "quarters"; tables: income', "quarters")
    'there is no table "quarters"; tables: income. quarters is the name that the result gets'
    >>> of_a_frame('there is no table "q"; tables: income', "quarters")
    'there is no table "q"; tables: income'
    """
    taken = f'there is no table "{frame.lower()}"' in message.lower()
    return f"{message}. {frame} is the name that the result gets" if taken else message


def unknown_column(name: str, used: Sequence[str], columns: Columns) -> str:
    """Says which column of the tables in use is meant, or which other table has it.

    >>> unknown_column("dff", ["cpi"], {"cpi": ["date", "value"], "rates": ["date", "dff"]})
    'there is no column "dff" in cpi; rates has a column of this name'
    """
    owners = [table for table in _owners(name, columns) if table not in used]
    here = {column for table in used for column in columns.get(table, ())}
    message = f'there is no column "{name}"{_place(used)}'
    if owners:
        return f"{message}; {', '.join(owners)} has a column of this name"
    if name.lower() in {column.lower() for column in here}:
        return f"{message} at this point: select it in the inner query too, or use its alias"
    if close := nearest(name, sorted(here)):
        return f"{message}; nearest: {', '.join(close)}"
    if close := nearest(name, sorted({f"{table}.{column}" for table, one in columns.items() for column in one})):
        return f"{message}; nearest: {', '.join(close)}"
    return f"{message}; columns there: {', '.join(sorted(here))}" if here else message


def rephrase(message: str, select: str, used: Sequence[str], columns: Columns) -> str | None:
    """A better sentence for what DuckDB's binder said, where it misses a name that the SELECT spells out.

    >>> said = 'Binder Error: Referenced column "GDP" not found in FROM clause!'
    >>> rephrase(said, 'SELECT value FROM gdp WHERE kind = "GDP"', ["gdp"], {"gdp": ["kind", "value"]})
    'there is no column "GDP" in gdp; if it is a text, write it in single quotes'
    """
    for pattern in MISSING_COLUMN:
        match = pattern.search(message)
        if match and match["column"] in select:
            if f'"{match["column"]}"' in select and not _owners(match["column"], columns):
                return (
                    f'there is no column "{match["column"]}"{_place(used)}; if it is a text, write it in single quotes'
                )
            return unknown_column(match["column"], used, columns)
    match = MISSING_ALIAS.search(message)
    if match and match["table"] in select:
        return f'"{match["table"]}" is no table or alias in this FROM; the tables there: {", ".join(used) or "none"}'
    if match := WRONG_TYPES.search(message):
        return f"no function takes {match['call']}: cast the arguments to other types"
    return None


def _place(used: Sequence[str]) -> str:
    return f" in {', '.join(used)}" if used else ""


def _owners(column: str, columns: Columns) -> list[str]:
    return [table for table, one in columns.items() if column.lower() in {name.lower() for name in one}]


def _having(read: Collection[str], columns: Columns) -> tuple[list[str], list[str]]:
    """The most of the columns read that one table has, and the tables that have as many; none where too many have."""
    wanted = {column.lower() for column in read}
    found = {table: sorted(wanted & {column.lower() for column in one}) for table, one in columns.items()}
    most = max(map(len, found.values()), default=0)
    tables = [table for table, shared in found.items() if most and len(shared) == most]
    return (found[tables[0]], tables) if 0 < len(tables) <= _TELLING else ([], [])


def _listed(columns: Columns) -> str:
    names = sorted(columns)
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
