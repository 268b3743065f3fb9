"""The questions of a batch: a table with a column `question`, and perhaps `as_of`, `answer_format` and `knowledge`.

    region,question,as_of
    north,What was the fee income of the region north?,2024-09-30

All other columns are carried along to the answers. CSV (with commas, semicolons or tabs), JSON lines and Parquet are read; in a CSV
file every column is text as it stands there.
"""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from finexpert.core.answers import AnswerFormat
from finexpert.datasets.evaluations.question_lines import records_of, text_of
from finexpert.errors import QuestionFileError
from finexpert.storage import foreign_files

if TYPE_CHECKING:
    from finexpert.warehouse.opening import Tabular

QUESTION = "question"
_DELIMITERS = (",", ";", "\t")
_STEP, _MOST_BYTES = 64, 256 << 20
_INSTEAD = "give a CSV, JSON lines or Parquet file with a column 'question'"

Questions = pd.DataFrame | Sequence[str] | Path | str
"""What is asked: a frame, texts, or a file."""


class _Line(BaseModel):
    """A line of a JSON lines file: any object."""

    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True)
class BatchQuestion:
    """One question and what is said with it."""

    question: str
    as_of: dt.date | None = None
    answer_format: AnswerFormat | None = None
    knowledge: str = ""

    @property
    def key(self) -> str:
        """The same for the same question with the same day, format and knowledge.

        >>> BatchQuestion("How many?").key == BatchQuestion("How many?", dt.date(2024, 9, 30)).key
        False
        """
        form = self.answer_format.model_dump(mode="json") if self.answer_format else None
        content = [" ".join(self.question.split()), str(self.as_of), form, self.knowledge]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


def table_of(questions: Questions | Tabular) -> tuple[pd.DataFrame, str]:
    """The table of the questions, and its name in messages. QuestionFileError says what cannot be read."""
    if isinstance(questions, pd.DataFrame):
        return questions, "the questions"
    if isinstance(questions, str | Path):
        path = Path(questions)
        reader = _READERS.get(path.suffix.lower())
        if reader is None:
            raise QuestionFileError(f"{path} ends in none of {', '.join(_READERS)}: {_INSTEAD}")
        return reader(path), str(path)
    if hasattr(questions, "__arrow_c_stream__"):
        import pyarrow as pa

        return pa.table(questions).to_pandas(types_mapper=pd.ArrowDtype), "the questions"
    return pd.DataFrame({QUESTION: list(questions)}, dtype=object), "the questions"


def questions_of(table: pd.DataFrame, name: str) -> list[BatchQuestion]:
    """The question of each row. QuestionFileError names the first row that cannot be asked."""
    columns = [str(column) for column in table.columns]
    if twice := {column for column in columns if columns.count(column) > 1}:
        raise QuestionFileError(f"{name}: the column {min(twice)!r} stands twice: rename one of them")
    if QUESTION not in columns:
        raise QuestionFileError(f"{name} has no column {QUESTION!r}, but {', '.join(columns) or 'none'}: name one so")
    if table.empty:
        raise QuestionFileError(f"{name} holds no question: write one a row")
    rows = table.set_axis(columns, axis=1).to_dict("records")
    return [question_of(row, f"{name}, row {number}") for number, row in enumerate(rows, start=1)]


def question_of(row: Mapping[Any, Any], place: str) -> BatchQuestion:
    """The question of a row; QuestionFileError names the place of one that cannot be asked."""
    return BatchQuestion(
        _text(row[QUESTION], place),
        _day(row.get("as_of"), place),
        _format(row.get("answer_format"), place),
        "" if _missing(row.get("knowledge")) else str(row["knowledge"]),
    )


def _text(value: Any, place: str) -> str:
    if _missing(value):
        raise QuestionFileError(f"{place}: the question is empty: write one, or take the row out")
    if not isinstance(value, str):
        raise QuestionFileError(f"{place}: the question is {value!r:.80}, which is no text")
    return value.strip()


def _day(value: Any, place: str) -> dt.date | None:
    if _missing(value):
        return None
    try:
        day = value if isinstance(value, dt.date) else dt.datetime.fromisoformat(value.strip())
    except (AttributeError, ValueError):
        raise QuestionFileError(f"{place}: as_of is {value!r:.80}: write it as 2024-09-30, or leave it empty") from None
    return day.date() if isinstance(day, dt.datetime) else day


def _format(value: Any, place: str) -> AnswerFormat | None:
    """The type of the answer: a kind alone, or an object as in the question files of the evaluations."""
    if _missing(value):
        return None
    try:
        if isinstance(value, str):
            text = value.strip()
            return AnswerFormat.model_validate(json.loads(text) if text.startswith("{") else {"kind": text})
        # A Parquet file gives every field of an object, also those that a row does not have.
        return AnswerFormat.model_validate({name: given for name, given in value.items() if given is not None})
    except (AttributeError, ValueError) as error:
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise QuestionFileError(
            f"{place}: answer_format is {value!r:.80} ({why}): write a kind such as number, or "
            '{"kind": "number", "unit": "percent"}'
        ) from error


def _missing(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or (not isinstance(value, list | dict) and bool(pd.isna(value)))


def _csv(path: Path) -> pd.DataFrame:
    text = text_of(path, _INSTEAD).removeprefix("\ufeff")
    heading = text.partition("\n")[0]
    delimiter = next((d for d in _DELIMITERS if QUESTION in _fields(heading, d)), ",")
    # A reader of lists: pandas would take the fields of a longer row for an index.
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = next(lines, [])
        rows = [(lines.line_num, row) for row in lines if row]
    except csv.Error as error:
        raise QuestionFileError(f"{path}, line {lines.line_num}: {error}") from error
    for number, row in rows:
        if len(row) != len(columns):
            raise QuestionFileError(
                f"{path}, line {number} has {len(row)} fields, and the heading {len(columns)}: put quotes around a question with "
                f"a {delimiter!r} in it"
            )
    return pd.DataFrame([row for _, row in rows], columns=columns, dtype=object)


def _fields(line: str, delimiter: str) -> list[str]:
    return [field.strip().strip('"') for field in line.split(delimiter)]


def _json_lines(path: Path) -> pd.DataFrame:
    lines = records_of(text_of(path, _INSTEAD), str(path), _Line, QUESTION)
    # As objects: pandas would make numbers with a fraction of whole ones where one is missing.
    return pd.DataFrame([line.model_extra or {} for _, line in lines], dtype=object)


def _parquet(path: Path) -> pd.DataFrame:
    """The rows, a few at a time: a small file may say that it holds any number of long texts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    batches: list[pa.RecordBatch] = []
    size = 0
    try:
        with open(path, "rb", opener=foreign_files.regular) as opened, pq.ParquetFile(opened) as file:
            for batch in file.iter_batches(_STEP):
                size += batch.nbytes
                if size > _MOST_BYTES:
                    raise QuestionFileError(f"{path} holds more than {_MOST_BYTES >> 20} MB: split it")
                batches.append(batch)
            table = pa.Table.from_batches(batches, file.schema_arrow)
        found: pd.DataFrame = table.to_pandas(types_mapper=pd.ArrowDtype)
        return found
    except (OSError, pa.ArrowException) as error:
        raise QuestionFileError(f"{path} cannot be read ({str(error).splitlines()[0]}): {_INSTEAD}") from error


_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
}
