"""The example sets on which layers are tuned and judged, one file a layer, split by scenario and by question.

    train = load("sql_extraction", "train")
    trainset = [to_dspy(example) for example in train]

What a line holds stands in `records`; running its references is `references`. A file of one's own has the
same form, and may name turns of one's own ConvFinQA and FRED questions by id, and ask a database of one's own
(`copies`, `sets`). The fund and the economy are in train, the companies and the economy in val, the bank and
the economy in the holdout: a question, and a scenario other than the economy and one's own, is never in train and in the
holdout.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from finexpert.datasets.evaluations.question_lines import text_of
from finexpert.datasets.fred import database as fred
from finexpert.datasets.layers.copies import Copies
from finexpert.datasets.layers.critique_records import AuditExample, DeriveExample, PlanningReference, RecomputeExample
from finexpert.datasets.layers.inputs import to_dspy
from finexpert.datasets.layers.records import (
    OWN,
    ConvFinQAReference,
    FilingExample,
    FredReference,
    KeywordRecord,
    LookupRecord,
    PlanningExample,
    ScriptExample,
    Split,
    SqlExtractionExample,
    WarehouseExample,
)
from finexpert.errors import ConfigurationError, DataError, QuestionFileError
from finexpert.filings.page.filing import Filing
from finexpert.storage import foreign_json

__all__ = ["CAPABILITIES", "LAYERS", "Copies", "LayerExample", "Problem", "fingerprint", "load", "read", "to_dspy"]

LayerExample = SqlExtractionExample | ScriptExample | PlanningExample | FilingExample | LookupRecord | KeywordRecord

LAYERS: dict[str, type[LayerExample]] = {
    "sql_extraction": SqlExtractionExample,
    "script_generation": ScriptExample,
    "planning": PlanningExample,
    "memory_lookup": LookupRecord,
    "keyword_rephrasing": KeywordRecord,
    "critique": RecomputeExample,
}
# The layers that every question may need; critique is asked only in modes that review.
CAPABILITIES = tuple(layer for layer in LAYERS if layer != "critique")
# These are split by scenario as well; the economy gives other questions to each split.
BY_SCENARIO = ("sql_extraction", "script_generation", "planning", "critique")
SHARED_SCENARIOS = ("economy", "fred", OWN)
_BESIDE = {
    "planning": ("pages.json",),
    "critique": ("pages.json", "planning.jsonl"),
    "memory_lookup": ("processes.jsonl",),
    "keyword_rephrasing": ("glossaries.jsonl",),
}
Line = LayerExample | ConvFinQAReference | FredReference | PlanningReference
_BY_FIELD: dict[str, dict[str, type[Line]]] = {
    "convfinqa": {"planning": ConvFinQAReference},
    "fred": {"planning": FredReference},
    "planning": {"critique": PlanningReference},
    "readings": {"critique": AuditExample},
    "page": {"planning": FilingExample, "critique": DeriveExample},
}
_WAREHOUSES = ("examples", "numbers", "fund", "bank", "companies")


class Problem(NamedTuple):
    """Something wrong with an example file: `place` is the file and the line."""

    place: str
    message: str


def load(
    layer: str, split: Split | None = None, path: Path | None = None, *, copies: Copies | None = None
) -> list[LayerExample]:
    """The examples of a layer, of one split or all, packaged or of a file. QuestionFileError names a wrong line."""
    examples, problems = read(layer, path, copies=copies)
    if problems:
        raise QuestionFileError(": ".join(problems[0]))
    return [example for example in examples if split in (None, example.split)]


def read(
    layer: str, path: Path | None = None, *, copies: Copies | None = None
) -> tuple[list[LayerExample], list[Problem]]:
    """All examples of a layer that can be read, and everything that is wrong with the others or with the splits."""
    examples, problems = read_lines(layer, path, copies=copies)
    return examples, [*problems, *problems_of_the_set(layer, examples)]


def read_lines(
    layer: str, path: Path | None = None, *, copies: Copies | None = None
) -> tuple[list[LayerExample], list[Problem]]:
    """As `read`, without a look at the splits: the file may be one of several."""
    kind_of(layer)
    copies = copies or Copies()
    name = f"{layer}.jsonl" if path is None else str(path)
    examples: list[LayerExample] = []
    problems: list[Problem] = []
    # Not splitlines(): JSON may hold line separators of Unicode inside a text.
    for number, line in enumerate(_text(layer, path).split("\n"), start=1):
        if line.strip():
            place = f"{name}, line {number}"
            try:
                examples.append(_example(layer, line, place, copies))
            except (QuestionFileError, DataError) as error:
                message = str(error).removeprefix(f"{place}: ")
                problems.append(Problem(place, message))
    if not examples and not problems:
        problems.append(Problem(name, "it holds no example: write one JSON object a line"))
    return examples, problems


def kind_of(layer: str) -> type[LayerExample]:
    """The kind of examples of a layer; ConfigurationError for a layer without an example set."""
    if layer not in LAYERS:
        raise ConfigurationError(f"there is no example set of {layer!r}; there are {', '.join(LAYERS)}")
    return LAYERS[layer]


def fingerprint(layer: str, path: Path | None = None) -> str:
    """A hash of the examples and of what their right answers follow from."""
    kind_of(layer)
    texts = [_text(layer, path), *(_packaged(name) for name in _BESIDE.get(layer, ()))]
    if layer in BY_SCENARIO:
        here = importlib.resources.files("finexpert.datasets")
        texts += [(here / "warehouses" / f"{part}.py").read_text(encoding="utf-8") for part in _WAREHOUSES]
        texts.append(fred.code_key())
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _text(layer: str, path: Path | None) -> str:
    if path is None:
        return _packaged(f"{layer}.jsonl")
    return text_of(path, f"give a file of examples of {layer}, one JSON object a line")


def _packaged(name: str) -> str:
    return (importlib.resources.files("finexpert.datasets") / "examples" / name).read_text(encoding="utf-8")


def _example(layer: str, line: str, place: str, copies: Copies) -> LayerExample:
    try:
        content: Any = foreign_json.parse(line)
    except json.JSONDecodeError as error:
        raise QuestionFileError(f"{place}: not JSON ({error.msg}, column {error.colno})") from error
    try:
        record = _kind(layer, content, place).model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the line"
        raise QuestionFileError(f"{place}: {field}: {first['msg']}, not {first['input']!r:.80}") from error
    record.at(place)
    if isinstance(record, ConvFinQAReference):
        return copies.filing_example(record)
    if isinstance(record, FredReference):
        return copies.fred_example(record)
    if isinstance(record, PlanningReference):
        return record.example(_planned())
    if isinstance(record, FilingExample):
        return _with_page(record)
    if isinstance(record, WarehouseExample) and record.scenario == OWN:
        copies.over_own(record)
    return cast(LayerExample, record)


def _kind(layer: str, content: Any, place: str) -> type[Line]:
    """The kind of a line: planning and critique have several, told apart by the field that only one of them has."""
    for field, kinds in _BY_FIELD.items():
        if isinstance(content, dict) and field in content:
            if layer not in kinds:
                raise QuestionFileError(f"{place}: {field}: only {' and '.join(kinds)} has records with this field")
            return kinds[layer]
    return LAYERS[layer]


@cache
def _planned() -> list[LayerExample]:
    return load("planning")


def _with_page(record: FilingExample) -> FilingExample:
    if record.page not in _pages():
        raise QuestionFileError(f"{record.place}: page: there is no page {record.page!r} in pages.json")
    if record.scenario not in ("", record.page):
        raise QuestionFileError(f"{record.place}: scenario: leave it out; it is the page, and not {record.scenario!r}")
    paged = record.model_copy(update={"scenario": record.page})
    paged.at(record.place)
    paged.on(_pages()[record.page])
    return paged


@cache
def _pages() -> dict[str, Filing]:
    records = json.loads(_packaged("pages.json"))
    return {record["id"]: Filing.from_record(record) for record in records}


def problems_of_the_set(layer: str, examples: Sequence[LayerExample]) -> Iterator[Problem]:
    """Ids that stand twice, and what leaks from one split into another."""
    places: dict[str, str] = {}
    asked: dict[str, set[Split]] = defaultdict(set)
    met: dict[str, set[Split]] = defaultdict(set)
    for example in examples:
        if example.id in places:
            yield Problem(example.place, f"the id {example.id!r} stands in {places[example.id]} too")
        places.setdefault(example.id, example.place)
        words = f"{' '.join(example.question.casefold().split())} {example.scenario if layer in ('planning', 'critique') else ''}"
        asked[words].add(example.split)
        if len(asked[words]) > 1:
            yield Problem(example.place, f"its question stands in {' and '.join(sorted(asked[words]))}")
        met[example.scenario].add(example.split)
        shared = layer not in BY_SCENARIO or example.scenario in SHARED_SCENARIOS
        if not shared and example.split != "val" and {"train", "holdout"} <= met[example.scenario]:
            yield Problem(example.place, f"the scenario {example.scenario!r} is in train and in the holdout")
