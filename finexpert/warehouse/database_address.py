"""Whether a command was given the address of a database in place of a file.

--data postgresql+psycopg://desk@db/markets?schema=macro
--data sqlite:///markets.db
"""

from __future__ import annotations

import re
from pathlib import Path


def address_in(data: Path | str) -> str | None:
    """The address that a command was given in place of a file, if it is one; a path has lost one of two slashes.

    >>> address_in(Path("postgresql+psycopg://desk@db/markets?schema=macro"))
    'postgresql+psycopg://desk@db/markets?schema=macro'
    >>> address_in(Path("fred.duckdb"))
    """
    found = re.match(r"([a-z]+(?:\+\w+)?):(/+)(.*)", str(data), re.DOTALL)
    if found is None:
        return None
    scheme, slashes, rest = found.groups()
    if not scheme.startswith("sqlite"):
        return f"{scheme}://{rest}"
    is_absolute = len(slashes) > 3 or (len(slashes) == 1 and not Path(rest).exists() and Path("/", rest).exists())
    return f"{scheme}:///{'/' if is_absolute else ''}{rest}"
