"""Questions in Defog's form: databases as PostgreSQL dumps with descriptions of their columns, questions with gold SELECTs.

    FOLDER/broker.sql     schema and rows             or FOLDER/broker/broker.sql, as in defog-data
    FOLDER/broker.json    {"table_metadata": {"sbTicker": [{"column_name": ..., "column_description": ...}]}}
    FOLDER/*.jsonl        {"id": "adv05", "db": "broker", "question": ..., "knowledge": ..., "gold_sql": ...}
    FOLDER/*.csv          or as in sql-eval: db_name, query_category, question, instructions, query

The data are github.com/defog-ai/defog-data and github.com/defog-ai/sql-eval, under Apache-2.0. Descriptions become comments of the
columns, as an owner writes them. A dump may count days from the one on which it is loaded.
"""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field

from finexpert.core.answers import AnswerFormat
from finexpert.datasets.evaluations.question_lines import records_of, text_of
from finexpert.datasets.external.private_postgres import Server, private_postgres
from finexpert.errors import DataError, QuestionFileError
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse

SOURCE = "github.com/defog-ai/defog-data holds the databases and github.com/defog-ai/sql-eval the questions"
_WHERE = "give the folder that holds Defog's files"
# The columns of sql-eval's files, and what they are called here.
_COLUMNS = {"db_name": "db", "query_category": "category", "instructions": "knowledge", "query": "gold_sql"}


class DefogQuestion(BaseModel):
    """One question with its gold; `knowledge` is what the asker is told with it."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1)
    db: str = Field(min_length=1, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    category: str = ""
    question: str = Field(min_length=1)
    knowledge: str = ""
    gold_sql: str = Field(min_length=1)
    answer_format: ClassVar[AnswerFormat] = AnswerFormat(kind="table")

    @property
    def asked(self) -> str:
        return self.question

    @property
    def source_name(self) -> str:
        return self.db


def load_questions(folder: Path) -> list[DefogQuestion]:
    """The questions of a folder; QuestionFileError says what is wrong with a file, or that there is none."""
    if not folder.is_dir():
        raise QuestionFileError(f"{folder} is no folder: {_WHERE}; {SOURCE}")
    found: dict[str, DefogQuestion] = {}
    for path in sorted([*folder.glob("*.jsonl"), *folder.glob("*.csv")]):
        text = text_of(path, _WHERE)
        lines = _from_csv(text, path) if path.suffix == ".csv" else text
        for place, question in records_of(lines, str(path), DefogQuestion, "question"):
            if question.id in found:
                raise QuestionFileError(f"{place}: the id {question.id!r} stands twice")
            found[question.id] = question
    if not found:
        raise QuestionFileError(f"{folder} holds no questions (*.jsonl or *.csv): {_WHERE}; {SOURCE}")
    return list(found.values())


def _from_csv(text: str, path: Path) -> str:
    """The rows of one of sql-eval's files as JSON lines; a row is called by its file and its number."""
    lines = []
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), 1):
        record = {_COLUMNS.get(name, name): value or "" for name, value in row.items() if name}
        lines.append(json.dumps({"id": f"{path.stem}-{number}"} | record))
    return "\n".join(lines)


@dataclass
class Database:
    """One database that is loaded: as a warehouse, and as plain SQL for the golds."""

    warehouse: SQLWarehouse
    plain: sa.Engine = field(repr=False)

    def rows(self, select: str) -> pd.DataFrame:
        """The rows of a SELECT as pandas reads them, without any rule of ours; DataError where the database refuses it."""
        try:
            with self.plain.connect() as connection:
                return pd.read_sql_query(select, connection.execution_options(no_parameters=True))
        except (sa.exc.SQLAlchemyError, pd.errors.DatabaseError) as error:
            raise DataError(f"the SELECT cannot be run: {str(error).splitlines()[0]}: {select[:200]}") from error


@contextmanager
def loaded(folder: Path, names: Sequence[str]) -> Iterator[Mapping[str, Database]]:
    """The databases of these names in a PostgreSQL of their own, for as long as the block runs."""
    with private_postgres() as server, ExitStack() as stack:
        databases = {}
        for name in names:
            plain = _load(server, folder, name)
            stack.callback(plain.dispose)
            schema = _schema(plain, name)
            warehouse = SQLWarehouse(server.url(name), schema=schema)
            databases[name] = Database(stack.enter_context(warehouse), plain)
        yield databases


def _load(server: Server, folder: Path, name: str) -> sa.Engine:
    """A database made from its dump, described, and seen by its tables' plain names."""
    _run(sa.create_engine(server.url("postgres"), poolclass=sa.pool.NullPool), [f'CREATE DATABASE "{name}"'], name)
    plain = sa.create_engine(server.url(name), poolclass=sa.pool.NullPool)
    _run(plain, [text_of(_file(folder, f"{name}.sql"), _WHERE)], name)
    described = json.loads(text_of(_file(folder, f"{name}.json"), _WHERE))
    _run(plain, list(_comments(described["table_metadata"])), name)
    _run(plain, [f'ALTER DATABASE "{name}" SET search_path = "{_schema(plain, name)}", public'], name)
    return plain


def _run(engine: sa.Engine, statements: Sequence[str], name: str) -> None:
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT", no_parameters=True) as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
    except sa.exc.SQLAlchemyError as error:
        raise DataError(f"the database {name} cannot be loaded: {str(error).splitlines()[0]}") from error


def _comments(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """A comment for each column that is described.

    >>> list(_comments({"s.t": [{"column_name": "a", "column_description": "it's A"}, {"column_name": "b"}]}))
    ["COMMENT ON COLUMN s.t.a IS 'it''s A'"]
    """
    for table, columns in tables.items():
        for column in columns:
            if said := str(column.get("column_description") or "").strip():
                quoted = said.replace("'", "''")
                yield f"COMMENT ON COLUMN {table}.{column['column_name']} IS '{quoted}'"


def _schema(plain: sa.Engine, name: str) -> str:
    """The one schema that holds tables."""
    seen = sa.inspect(plain)
    held = [
        schema for schema in seen.get_schema_names() if schema != "information_schema" and seen.get_table_names(schema)
    ]
    if len(held) != 1:
        raise DataError(
            f"the database {name} has tables in {len(held)} schemas ({', '.join(held)}), and must have them in one"
        )
    return held[0]


def _file(folder: Path, name: str) -> Path:
    """The file in the folder, or in the folder of its database within it."""
    nested = folder / Path(name).stem / name
    return nested if nested.is_file() else folder / name


def digest(folder: Path, names: Sequence[str]) -> str:
    """What tells these databases from others: their files, and the day, from which a dump may count."""
    told = hashlib.sha256(dt.datetime.now(dt.UTC).date().isoformat().encode())
    for name in sorted(names):
        for suffix in ("sql", "json"):
            told.update(text_of(_file(folder, f"{name}.{suffix}"), _WHERE).encode())
    return told.hexdigest()[:16]
