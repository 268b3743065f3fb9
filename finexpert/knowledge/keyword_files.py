"""Keywords out to a file and in again: CSV for a spreadsheet, JSON Lines for a program.

    term,meaning,aliases,source,taught_by,taught_at
    stress month,a month in which the spread is below 0.5,tense month | month of stress,expert,anna,2024-09-30T08:00:00Z

Only the term and its meaning must be there. No cell is run as a formula (`finexpert.text.spreadsheets`). A line is taken whole or not at all.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from finexpert.errors import FinexpertError, StoreError
from finexpert.knowledge.exchange import Imported, read_text
from finexpert.knowledge.glossary import Glossary, Keyword
from finexpert.storage import foreign_json
from finexpert.storage.private_files import write_whole
from finexpert.text.spreadsheets import kept_in_csv, read_from_csv
from finexpert.text.texts import said_to_a_program, sentence

_FIELDS = ("term", "meaning", "aliases", "source", "taught_by", "taught_at", "status")
# Of those that hold for one source, and of conventions.
_MORE_FIELDS = ("scope", "kind", "about")
_LISTS = ("aliases", "about")
_BETWEEN = " | "


def export_keywords(glossary: Glossary, file: Path) -> Path:
    """Write the keywords that are in use, by term; a draft is one person's."""
    kept = [keyword for keyword in glossary.keywords() if keyword.status == "active"]
    more = [name for name in _MORE_FIELDS if any(name in each.model_dump(exclude_defaults=True) for each in kept)]
    fields = [*_FIELDS, *more]
    rows = [keyword.model_dump(mode="json", include=set(fields)) for keyword in kept]
    rows.sort(key=lambda row: str(row["term"]))
    if _kind(file) == "jsonl":
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        sheet = io.StringIO(newline="")
        writer = csv.DictWriter(sheet, fields, lineterminator="\n")
        writer.writeheader()
        cells = (row | {name: _joined(row[name]) for name in _LISTS if name in row} for row in rows)
        writer.writerows({name: kept_in_csv(str(cell or "")) for name, cell in row.items()} for row in cells)
        text = sheet.getvalue()
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, text)
    return file


def import_keywords(glossary: Glossary, file: Path, by: str, *, replace: bool = False) -> list[Imported]:
    """Define what the file holds; what is there already is skipped, and another meaning refused unless `replace`."""

    results = []
    # The whole file is read before its first line is taken.
    for number, values in list(_rows(file)):
        place, term = f"{file}, line {number}", str(values.get("term", ""))[:200]
        try:
            keyword = Keyword.model_validate({"source": "file", **values})
            results.append(_import_one(glossary, keyword, place, by, replace))
        except ValidationError as error:
            results.append(Imported(place, term, "failed", sentence(error)))
        except FinexpertError as error:
            results.append(Imported(place, term, "failed", str(error)))
    return results


def _import_one(glossary: Glossary, keyword: Any, place: str, by: str, replace: bool) -> Imported:
    known = glossary.get_in(keyword.scope, keyword.term)
    if known is not None and known.same_as(keyword):
        return Imported(place, keyword.term, "skipped", "is there already")
    if known is not None and known.term == keyword.term and not replace:
        raise StoreError(f"{keyword.term!r} has another meaning: {known.meaning!r}. `--replace` takes the new one")
    # What a file brings is in use at once, so a text that speaks to the program is refused, and not kept as a draft.
    if said := said_to_a_program("\n".join((keyword.meaning, *keyword.phrases))):
        raise StoreError(
            f"{said!r} reads like an instruction to the program and not like the meaning of a term. If it is meant, say "
            f"it yourself: finexpert glossary define {keyword.term!r} MEANING"
        )
    kept = glossary.define(keyword, by)
    return Imported(place, keyword.term, "added", f"version {kept.version}")


def _kind(file: Path) -> str:
    kind = file.suffix.lower().lstrip(".")
    if kind not in ("csv", "jsonl"):
        raise StoreError(f"{file} is neither a .csv nor a .jsonl file: give it one of these endings")
    return kind


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each row with the number of the line where it ends; empty fields are left out."""
    text = read_text(file)
    if _kind(file) == "jsonl":
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield number, _object(line, f"{file}, line {number}")
        return
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if None in row or not {"term", "meaning"} <= row.keys():
                raise StoreError(
                    f"{file}, line {reader.line_num}: a row has the columns term and meaning, and of aliases (with | "
                    f"between them), source, taught_by, taught_at and status those that are known"
                )
            values: dict[str, Any] = {key: read_from_csv(value) for key, value in row.items() if value}
            values |= {name: _split(values[name]) for name in _LISTS if name in values}
            yield reader.line_num, values
    except csv.Error as error:
        raise StoreError(f"{file}, after line {reader.line_num}: {error}") from error


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        values = foreign_json.parse(line)
    except json.JSONDecodeError as error:
        raise StoreError(f"{place}: is not JSON: {error.msg}") from error
    if not isinstance(values, dict):
        raise StoreError(f"{place}: is not an object with term and meaning")
    return values


def _joined(aliases: list[str]) -> str:
    """Aliases in one cell; as JSON where an alias holds the sign between them.

    >>> _joined(["a", "b"]), _split("a | b"), _split(_joined(["a|b", "c"]))
    ('a | b', ['a', 'b'], ['a|b', 'c'])
    """
    clear = not any("|" in alias or alias.startswith("[") for alias in aliases)
    return _BETWEEN.join(aliases) if clear else json.dumps(aliases, ensure_ascii=False)


def _split(cell: str) -> list[str]:
    if cell.startswith("["):
        try:
            return [str(alias) for alias in foreign_json.parse(cell)]
        except json.JSONDecodeError as error:
            raise StoreError(f"the aliases {cell[:80]!r} begin like JSON and are not: {error.msg}") from error
    return [alias.strip() for alias in cell.split("|") if alias.strip()]
