"""A semantic model as it stands in its file, in the form of the Open Semantic Interchange core spec.

    version: "1.0"
    semantic_model:
      - name: brokerage
        datasets:
          - name: trades
            source: trades
            primary_key: [trade_id]
            ai_context: {synonyms: [orders]}
            custom_extensions: [{vendor_name: FINEXPERT, data: {date_column: trade_date}}]
            fields:
              - name: status
                expression: {dialects: [{dialect: ANSI_SQL, expression: status}]}
                custom_extensions: [{vendor_name: FINEXPERT, data: {values: [FILLED, CANCELLED]}}]
        relationships:
          - {name: trades_account, from: trades, to: accounts, from_columns: [account_id], to_columns: [account_id]}
        metrics:
          - name: fill_rate
            expression: {dialects: [{dialect: ANSI_SQL, expression: "avg(CASE WHEN trades.status = 'FILLED' THEN 1.0 ELSE 0 END)"}]}

What is ours stands in `custom_extensions`, whose `data` may be a mapping or, as the spec has it, JSON text. What other tools put into a
file is read over.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from finexpert.errors import ConfigurationError
from finexpert.storage import foreign_json, foreign_yaml, private_files

VENDOR = "FINEXPERT"
VERSION = "1.0"
ANSI = "ANSI_SQL"
MOST_CHARACTERS = 4_000
"""of a metric's expression: SQL is read in the square of its length where it is nested"""


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", populate_by_name=True)


class AIContext(_Part):
    """What a language model is told beside the description."""

    instructions: str = ""
    synonyms: list[str] = Field(default_factory=list)


class Written(_Part):
    """An expression in one dialect of SQL."""

    dialect: str = ANSI
    expression: str


class Expression(_Part):
    """An expression in one or several dialects of SQL."""

    dialects: list[Written] = Field(min_length=1)

    def for_dialect(self, dialect: str) -> str:
        """The one of a dialect, else the one of the standard, else the first."""
        by_name = {written.dialect.lower(): written.expression for written in self.dialects}
        return by_name.get(dialect.lower()) or by_name.get(ANSI.lower()) or self.dialects[0].expression


class Extension(_Part):
    """What a tool keeps beside the standard; `data` is a mapping, or JSON text of one."""

    vendor_name: str
    data: dict[str, Any]

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:
        if isinstance(given, dict) and isinstance(given.get("data"), str):
            try:
                return {**given, "data": foreign_json.parse(given["data"])}
            except ValueError as error:
                raise ValueError(f"data is not JSON: {error}") from None
        return given


class _Described(_Part):
    name: str
    description: str = ""
    ai_context: AIContext = Field(default_factory=AIContext)
    custom_extensions: list[Extension] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _context_in_words(cls, given: Any) -> Any:
        # The spec allows a bare text for ai_context.
        if isinstance(given, dict) and isinstance(given.get("ai_context"), str):
            return {**given, "ai_context": {"instructions": given["ai_context"]}}
        return given

    @property
    def own(self) -> dict[str, Any]:
        """What this program keeps here."""
        found: dict[str, Any] = {}
        for extension in self.custom_extensions:
            found |= extension.data if extension.vendor_name.upper() == VENDOR else {}
        return found


class FieldModel(_Described):
    """A column of a dataset."""

    expression: Expression | None = None

    @property
    def column(self) -> str:
        """The column that it stands for."""
        return self.expression.dialects[0].expression.strip('"` ') if self.expression else self.name


class Dataset(_Described):
    """A table. `source` is its name in the database, its own name if not given."""

    source: str = ""
    primary_key: list[str] = Field(default_factory=list)
    unique_keys: list[list[str]] = Field(default_factory=list)
    fields: list[FieldModel] = Field(default_factory=list)

    @property
    def table(self) -> str:
        return self.source or self.name


class Relationship(_Described):
    """Columns of one dataset that refer to those of another."""

    from_: str = Field(alias="from")
    to: str
    from_columns: list[str]
    to_columns: list[str]


class Metric(_Described):
    """A number that the house defines, such as a fill rate; its expression names columns as dataset.column."""

    expression: Expression


class SemanticModel(_Described):
    """One model. Errors name the place in the file."""

    datasets: list[Dataset] = Field(default_factory=list)
    relationships: list[Relationship] = Field(default_factory=list)
    metrics: list[Metric] = Field(default_factory=list)

    @model_validator(mode="after")
    def _names_once(self) -> Self:
        for what, names in (
            ("dataset", [dataset.name for dataset in self.datasets]),
            # MEASURE(revenue) and MEASURE(Revenue) are one call.
            ("metric", [metric.name.casefold() for metric in self.metrics]),
        ):
            if twice := [name for name, count in Counter(names).items() if count > 1]:
                raise ValueError(f"{what} {min(twice)!r} stands twice")
        return self

    def date_columns(self) -> dict[str, str | None]:
        """The date column that the model declares, by table; None for a table without dates."""
        return {each.table: each.own["date_column"] for each in self.datasets if "date_column" in each.own}


def read_yaml(path: Path) -> Any:
    """What a YAML file holds; ConfigurationError where it cannot be read."""
    try:
        return foreign_yaml.read(path).content
    except foreign_yaml.YamlError as error:
        raise ConfigurationError(f"the semantic model {path} cannot be read: {error}") from None


def load(path: Path) -> SemanticModel:
    """The model of a file; ConfigurationError names the place of what is wrong."""
    content = read_yaml(path)
    models = content.get("semantic_model") if isinstance(content, dict) else None
    if not isinstance(models, list) or len(models) != 1:
        raise ConfigurationError(
            f"{path} has to hold `semantic_model:` with one model; `finexpert model init` writes a first one"
        )
    try:
        return SemanticModel.model_validate(models[0])
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"{path}, {place or 'semantic_model'}: {first['msg']}") from None


def save(model: SemanticModel, path: Path) -> None:
    """Writes a model whole or not at all; it holds published values, so a new file is its owner's only."""
    content = {"version": VERSION, "semantic_model": [plain(model)]}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    private_files.write_whole(path, text)


def plain(part: BaseModel) -> dict[str, Any]:
    """A part as it is written: without what is empty, extensions as JSON text."""
    written: dict[str, Any] = {}
    for name, value in part.model_dump(by_alias=True).items():
        own = getattr(part, "from_" if name == "from" else name)
        if name == "data" and isinstance(part, Extension):
            written[name] = json.dumps(value, ensure_ascii=False)
        elif isinstance(own, BaseModel):
            written[name] = plain(own)
        elif isinstance(own, list) and own and isinstance(own[0], BaseModel):
            written[name] = [plain(each) for each in own]
        else:
            written[name] = value
    # What people read first stands first.
    last = [name for name in ("ai_context", "custom_extensions") if name in written]
    order = [*(name for name in written if name not in last), *last]
    return {name: written[name] for name in order if not _empty(written[name])}


def _empty(value: object) -> bool:
    return value in ("", None) or (isinstance(value, list | dict) and not value)


def extension(data: dict[str, Any]) -> Extension:
    """What this program keeps beside the standard."""
    return Extension(vendor_name=VENDOR, data=data)
