"""Whether a command was given the address of a database, or of files elsewhere, in place of a file; and an address that may be shown.

--data postgresql+psycopg://desk@db/markets?schema=macro
--data sqlite:///markets.db
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

# Of files in an object store or on a web server; a path has lost one of two slashes.
OF_FILES = re.compile(r"(s3|s3a|s3n|gs|gcs|https?):/+(.*)", re.DOTALL | re.IGNORECASE)
_SIGNED = ("http", "https")
_SECRET = re.compile(r"pass|pwd|secret|token|key|credential|header", re.IGNORECASE)


def address_in(data: Path | str) -> str | None:
    """The address that a command was given in place of a file, if it is one; a path has lost one of two slashes.

    Hosts of PostgreSQL write postgres:// too, which SQLAlchemy does not take.

    >>> address_in(Path("postgresql+psycopg://desk@db/markets?schema=macro"))
    'postgresql+psycopg://desk@db/markets?schema=macro'
    >>> address_in(Path("postgres://desk@db/markets"))
    'postgresql://desk@db/markets'
    >>> address_in(Path("fred.duckdb"))
    """
    found = re.match(r"([a-z]+(?:\+\w+)?):(/+)(.*)", str(data), re.DOTALL)
    if found is None:
        return None
    scheme, slashes, rest = found.groups()
    scheme = re.sub(r"^postgres\b", "postgresql", scheme)
    if not scheme.startswith("sqlite"):
        return f"{scheme}://{rest}"
    is_absolute = len(slashes) > 3 or (len(slashes) == 1 and not Path(rest).exists() and Path("/", rest).exists())
    return f"{scheme}:///{'/' if is_absolute else ''}{rest}"


def is_remote(data: Path | str) -> bool:
    """Whether an address means files in an object store or on a web server.

    >>> is_remote(Path("s3://desk/a.csv")), is_remote("https://example.com/a.csv"), is_remote("exports/a.csv")
    (True, True, False)
    """
    return bool(OF_FILES.match(str(data)))


def public_address(data: Path | str) -> str:
    """A path or an address without its password, or whatever else in it may be one.

    >>> public_address("postgresql+psycopg://desk:s3cret@db:5432/markets?schema=macro&sslpassword=x")
    'postgresql+psycopg://desk@db:5432/markets?schema=macro'
    >>> public_address("sqlite:////data/my.db"), public_address("fred.duckdb")
    ('sqlite:////data/my.db', 'fred.duckdb')
    >>> public_address("https://example.com/a.csv?X-Amz-Signature=5f3c")
    'https://example.com/a.csv'
    """
    address = address_in(data)
    if address is None or "://" not in address:
        return str(data)
    scheme, rest = address.split("://", 1)
    # The scheme is put aside: Python's parser takes `//` from one that it does not know.
    parts = urlsplit(f"//{rest}")
    user, at, host = parts.netloc.rpartition("@")
    # Of a file elsewhere, what stands behind its path signs the address.
    told = [] if scheme in _SIGNED else parse_qsl(parts.query)
    query = urlencode([(name, value) for name, value in told if not _SECRET.search(name)])
    place = urlunsplit(("", "", parts.path, query, ""))
    return f"{scheme}://{user.partition(':')[0]}{at}{host}{place}"
