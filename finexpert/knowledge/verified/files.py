"""Verified queries out to a file and in again, and pairs of question and SQL that another tool kept.

    - question: What was the fee income in 2023
      select: SELECT sum(fee_usd) FROM trades WHERE year(day) = 2023
      variables: {year: '2023'}
      unit: USD

YAML, JSON or CSV, by the file's ending; no cell of a CSV is run as a formula. Pairs of other tools have a `question`, and their SQL under `sql`, `query` or `select`; of a list
of vanna's training data (`get_training_data`), the rows of the type `sql` are taken. Nothing is run here.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from finexpert.errors import StoreError
from finexpert.knowledge.exchange import read_text
from finexpert.knowledge.verified.query import VerifiedQuery
from finexpert.storage import foreign_json, foreign_yaml
from finexpert.storage.private_files import write_whole
from finexpert.text.spreadsheets import kept_in_csv, read_from_csv

_FIELDS = ("question", "select", "variables", "unit", "data", "verified_by")
_SQL = ("select", "sql", "query")
_MOST = 10_000


def export_queries(queries: Sequence[VerifiedQuery], file: Path) -> Path:
    """Write verified queries in the form of the file's ending."""
    rows = [
        {
            "question": query.question,
            "select": query.sql,
            "variables": {each.name: each.value for each in query.variables},
            "unit": query.answer_format.unit,
            "data": query.source.name,
            "verified_by": query.taught_by,
        }
        for query in sorted(queries, key=lambda query: query.question)
    ]
    kind = _kind(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    if kind == "csv":
        sheet = io.StringIO(newline="")
        writer = csv.DictWriter(sheet, _FIELDS, lineterminator="\n")
        writer.writeheader()
        cells = ({**row, "variables": json.dumps(row["variables"], ensure_ascii=False)} for row in rows)
        writer.writerows({name: kept_in_csv(str(cell or "")) for name, cell in row.items()} for row in cells)
        text = sheet.getvalue()
    elif kind == "json":
        text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    else:
        text = yaml.safe_dump(rows, sort_keys=False, allow_unicode=True, width=1_000)
    write_whole(file, text)
    return file


def rows_of(file: Path, form: str | None = None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a file with their places; StoreError for a file that holds none. Of vanna's, those that are pairs."""
    kind = form if form in ("csv", "json") else _kind(file)
    rows = list(_csv(file) if kind == "csv" else _listed(file, kind))
    if len(rows) > _MOST:
        raise StoreError(f"{file} has {len(rows):,} rows, and at most {_MOST:,} are read at once: split it")
    for number, row in enumerate(rows, 1):
        if form != "vanna" or row.get("training_data_type") in (None, "sql"):
            place = f"{file}, row {number}"
            yield place, _pair(row, place, (*_SQL, "content") if form == "vanna" else _SQL)


def _pair(row: Mapping[str, Any], place: str, names: Sequence[str]) -> Mapping[str, Any]:
    """The question, the SELECT, variables and unit of a row."""
    sql = next((row[name] for name in names if isinstance(row.get(name), str) and row[name].strip()), None)
    question, variables = row.get("question"), row.get("variables")
    if not isinstance(question, str) or not question.strip() or sql is None:
        raise StoreError(f"{place}: a row has a question, and its SQL as one of {', '.join(names)}")
    if isinstance(variables, str):
        variables = variables.strip() or "null"
        try:
            variables = foreign_json.parse(variables)
        except json.JSONDecodeError as error:
            raise StoreError(f"{place}: its variables are no JSON: {error.msg}") from error
    if variables is not None and not isinstance(variables, dict):
        raise StoreError(f"{place}: its variables are names with values, as {{year: 2023}}")
    given = {str(name): str(value) for name, value in variables.items()} if variables is not None else None
    return {
        "question": question,
        "select": sql.strip().rstrip(";"),
        "variables": given,
        "unit": str(row["unit"]) if row.get("unit") else None,
    }


def _kind(file: Path) -> str:
    kind = file.suffix.lower().lstrip(".").replace("yml", "yaml")
    if kind not in ("yaml", "json", "csv"):
        raise StoreError(f"{file} is neither .yaml nor .json nor .csv: give it one of these endings")
    return kind


def _csv(file: Path) -> Iterator[Mapping[str, Any]]:
    try:
        for row in csv.DictReader(io.StringIO(read_text(file), newline=""), strict=True):
            yield {name: read_from_csv(cell) if isinstance(cell, str) else cell for name, cell in row.items()}
    except csv.Error as error:
        raise StoreError(f"{file} cannot be read as CSV: {error}") from error


def _listed(file: Path, kind: str) -> list[Mapping[str, Any]]:
    """The objects of a list, also where they stand under the one key of an object."""
    try:
        content = foreign_yaml.read(file).content if kind == "yaml" else foreign_json.parse(read_text(file))
    except (json.JSONDecodeError, foreign_yaml.YamlError) as error:
        raise StoreError(f"{file} cannot be read as {kind.upper()}: {error}") from error
    if isinstance(content, dict) and len(content) == 1:
        (content,) = content.values()
    if not isinstance(content, list) or not content or not all(isinstance(row, dict) for row in content):
        raise StoreError(f"{file} has to hold a list of questions with their SQL")
    return content
