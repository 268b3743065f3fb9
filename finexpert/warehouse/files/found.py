"""Which files an address means, and what their tables are called.

    find("exports/")           every CSV, Parquet, Excel and JSON file of the folder
    find("exports/*.csv")      those that the pattern matches

A table is called after its file, in letters that SQL takes without quotes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from finexpert.errors import DataError
from finexpert.warehouse.schema_card import RESERVED

KINDS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".xlsx": "excel", ".xlsm": "excel", ".xlsb": "excel", ".xls": "excel", ".ods": "excel",
}  # fmt: skip
READ = "CSV, TSV, Parquet, Excel and JSON files"
MOST_FILES = 500
_SCHEME = re.compile(r"(?:[A-Za-z][\w+.-]*:)+/(?=.)")
_PATTERN = re.compile(r"[*?\[]")
# What engines call the files of which one table is made.
_PART = re.compile(r"part-\d+.*\.(parquet|pq)$", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """A file to read, its kind, and what its table is called; `parts` are further files with rows of the same table."""

    path: Path
    kind: str
    table: str
    parts: tuple[Path, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of its files."""
        return self.path, *self.parts

    @property
    def states(self) -> list[tuple[str, int, int]]:
        """What changes when a file does."""
        return [(str(path), found.st_size, found.st_mtime_ns) for path in self.paths for found in [path.stat()]]


def is_files(data: Path | str) -> bool:
    """Whether an address means files that have to be read first: a folder, a pattern, or one such file."""
    path = Path(data)
    if path.is_dir() or path.suffix.lower() in KINDS:
        return True
    return bool(_PATTERN.search(str(data))) and not path.exists()


def find(data: Path | str) -> list[Source]:
    """The files, in the order of their paths; of several those in which anything is written. DataError says what would be right."""
    path = Path(data)
    paths = _meant(path)
    empty = _empty(paths)
    # One alone is refused by what reads it.
    paths = [each for each in paths if each not in empty] or paths
    if not paths:
        raise DataError(f"{data} holds no table: {READ} are read.{_deeper(path)}")
    if len(paths) > MOST_FILES:
        raise DataError(
            f"{data} means {len(paths):,} files, and at most {MOST_FILES} are read: name fewer with a pattern"
        )
    if paths[0].suffix.lower() not in KINDS:
        raise DataError(f"{paths[0]} is of no kind that is read: {READ} are, by their suffix")
    return sources_of(paths)


def empty_files(data: Path | str) -> list[str]:
    """The names of the files that are left out because nothing is written in them."""
    return sorted(each.name for each in _empty(_meant(Path(data))))


def _meant(path: Path) -> list[Path]:
    if path.is_dir():
        return _inside(path, path.iterdir())
    if path.is_file():
        return [path]
    if _PATTERN.search(str(path)) and not _SCHEME.match(str(path)):
        root = _root(path)
        return _inside(root, _matches(root, path))
    raise DataError(missing(path))


def _empty(paths: Sequence[Path]) -> set[Path]:
    """A part of a table is never among them: one of no bytes was lost, with its rows."""
    return {each for each in paths if not _PART.match(each.name) and each.stat().st_size == 0}


def sources_of(paths: Sequence[Path]) -> list[Source]:
    """What is read of these files, of which there are some."""
    kind = KINDS.get(paths[0].suffix.lower(), "csv")
    ordered = _once(paths)
    folders = sorted({each.parent for each in ordered if _PART.match(each.name)})
    parts = {
        folder: [each for each in ordered if each.parent == folder and _PART.match(each.name)] for folder in folders
    }
    single = [each for each in ordered if not _PART.match(each.name)]
    names = table_names([*single, *folders])
    found = [Source(each, KINDS.get(each.suffix.lower(), kind), names[each]) for each in single]
    return found + [Source(first, "parquet", names[place], tuple(rest)) for place, (first, *rest) in parts.items()]


def _once(paths: Iterable[Path]) -> list[Path]:
    """The files themselves in the order of their paths: two names of one file, by links, are one table."""
    found: dict[tuple[int, int], Path] = {}
    for path in sorted({each.resolve() for each in paths}):
        state = path.stat()
        found.setdefault((state.st_dev, state.st_ino), path)
    return list(found.values())


def table_names(paths: Iterable[Path]) -> dict[Path, str]:
    """A name for each file; where two would have the same, that of the folder stands before it, or a number behind it.

    >>> list(table_names([Path("a/Trades 2024.csv"), Path("2015.csv"), Path("x/order.csv"), Path("y/order.csv")]).values())
    ['Trades_2024', 't_2015', 'x_order', 'y_order']
    """
    paths = list(paths)
    plain = [name_of(path.stem) for path in paths]
    folded = [name.lower() for name in plain]
    names: dict[Path, str] = {}
    taken: set[str] = set()
    for path, name in zip(paths, plain, strict=True):
        wanted = name_of(f"{path.parent.name} {path.stem}") if folded.count(name.lower()) > 1 else name
        names[path] = unused(wanted, taken)
    return names


def name_of(text: str) -> str:
    """A text as a name that SQL takes without quotes.

    >>> name_of("Zürich, Q1-2024"), name_of("order"), name_of("  ")
    ('Zurich_Q1_2024', 'order_table', 'table_1')
    """
    import unicodedata

    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"\W+", "_", plain).strip("_")[:60] or "table_1"
    if name[0].isdigit():
        name = f"t_{name}"
    return f"{name}_table" if name.lower() in RESERVED else name


def unused(name: str, taken: set[str]) -> str:
    """The name, or with a number where it is taken already; capitals make no difference in SQL.

    >>> taken = {"price"}
    >>> unused("Price", taken), unused("price", taken)
    ('Price_2', 'price_3')
    """
    number, found = 1, name
    while found.lower() in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found.lower())
    return found


def _may_be_table(path: Path) -> bool:
    return path.suffix.lower() in KINDS and not path.name.startswith((".", "~$")) and path.is_file()


def _inside(folder: Path, found: Iterable[Path]) -> list[Path]:
    """Those that may be tables; a link out of the folder is refused, for it may point at anything that its reader can read."""
    paths = [each for each in found if _may_be_table(each)]
    if out := next((each for each in paths if not each.resolve().is_relative_to(folder.resolve())), None):
        raise DataError(
            f"{out} is a link that leads out of {folder}: give the file that it means itself, or take the link away"
        )
    return paths


def _root(pattern: Path) -> Path:
    """The folder below which a pattern looks."""
    first = next(place for place, part in enumerate(pattern.parts) if _PATTERN.search(part))
    root = Path(*pattern.parts[:first])
    if not root.is_dir():
        raise DataError(f"{root} is no folder, so the pattern {pattern} matches nothing in it")
    return root


def _matches(root: Path, pattern: Path) -> list[Path]:
    try:
        return list(root.glob(str(Path(*pattern.parts[len(root.parts) :]))))
    except (ValueError, NotImplementedError) as error:
        raise DataError(f"{pattern} is no pattern: {error}. Write it as in exports/*.csv") from error


def missing(path: Path) -> str:
    """Why a path means nothing, and what may have been meant."""
    if scheme := _SCHEME.match(str(path)):
        # What follows may hold a password.
        return f"{scheme[0]} begins no address that is read: write one as in docs/engines.md, such as postgresql+psycopg://user@host/database"
    folder = path.parent
    if not folder.is_dir():
        return f"{path} does not exist, nor does the folder {folder}"
    there = sorted(each.name for each in folder.iterdir() if each.suffix.lower() in {*KINDS, ".duckdb", ".db"})
    near = difflib.get_close_matches(path.name, there, n=3, cutoff=0.5) or there[:5]
    there_is = f": did you mean {', '.join(near)}?" if near else ", and no file of data stands beside it."
    return f"{path} does not exist{there_is} Give a DuckDB or SQLite file, a folder, or one of {READ}"


def _deeper(path: Path) -> str:
    if not path.is_dir():
        return " No file matches the pattern"
    deeper = next((each for each in path.glob("*/*") if _may_be_table(each)), None)
    return f' Its subfolders hold some: give "{path}/**/*{deeper.suffix}"' if deeper else " None stands in it"
