"""Running the references of an example: frames from its SELECTs, the answer from its script or plan.

    with Sandbox() as sandbox:
        answer_of(example, sandbox, variant=1)              # right for these numbers, and for no other variant's

`variant` picks other numbers under the same schema: a metric compares on numbers that nobody saw. A database of the
user's own has no second variant, so there a right value may be one by luck. No language model here.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from finexpert.core.answers import AnswerFormat
from finexpert.core.workspace import NamedFrame, Workspace
from finexpert.datasets.evaluations.answer_matching import matches
from finexpert.datasets.fred.questions import gold, load_questions
from finexpert.datasets.layers.critique_records import AuditExample
from finexpert.datasets.layers.critique_references import problems_of_audit
from finexpert.datasets.layers.keyword_examples import load_scenarios
from finexpert.datasets.layers.lookup_examples import load_processes
from finexpert.datasets.layers.records import (
    FilingExample,
    FredExample,
    KeywordRecord,
    LookupRecord,
    Placed,
    PlanningExample,
    ReferenceFrame,
    ScriptExample,
    SqlExtractionExample,
    WarehouseExample,
    workspace_of,
)
from finexpert.datasets.warehouses.examples import open_scenario
from finexpert.errors import FinexpertError, QueryError
from finexpert.modules.planning import of_one_select
from finexpert.plans import checks, execution
from finexpert.plans.execution import Surroundings
from finexpert.sandbox import Sandbox
from finexpert.warehouse.frames import Frame
from finexpert.warehouse.warehouse import DIALECTS, Warehouse

VARIANTS = (0, 1)


def warehouse_of(example: WarehouseExample, variant: int = 0) -> Warehouse:
    """The warehouse that an example asks; the user's own database is the same for all variants."""
    return example.warehouse if example.is_own else open_scenario(example.scenario, variant)


def variants_of(example: WarehouseExample) -> tuple[int, ...]:
    """The variants on which an example is judged: two, or one over the user's own database."""
    return VARIANTS[:1] if example.is_own else VARIANTS


def schema_card_of(example: WarehouseExample, variant: int = 0) -> str:
    """What a model is told of the tables, as the program tells it; of many, those that the question may need.

    It is without rows whatever the setting `privacy` allows: parts of it are kept in compiled programs.
    """
    return warehouse_of(example, variant).schema_card(question=example.question)


def dialect_of(example: WarehouseExample) -> str:
    """The SQL that the example's database speaks, as prompts name it."""
    return DIALECTS[warehouse_of(example).dialect]


def frames_of(example: WarehouseExample, variant: int = 0) -> list[NamedFrame]:
    """The frames that the reference SELECTs of an example fetch: shared, do not change them. Raises QueryError."""
    return [_frame(example, wanted, variant) for wanted in example.frames]


def answer_of(example: ScriptExample, sandbox: Sandbox, variant: int = 0) -> Any:
    """The answer of an example on a variant: of its script over its frames, or the gold of a FRED question.

    It is computed once a process. Raises QueryError or ScriptError where a reference does not run.
    """
    if isinstance(example, FredExample):
        question = next(each for each in load_questions() if each.id == example.fred)
        return gold(question, example.warehouse)
    selects = tuple((frame.name, frame.columns, frame.select) for frame in example.frames)
    key = (warehouse_of(example, variant), example.today, selects, example.code, example.answer_format)
    if key not in _answers:
        frames = {frame.name: frame.data for frame in frames_of(example, variant)}
        _answers[key] = sandbox.run(example.code, frames, example.answer_format).value
    return _answers[key]


_answers: dict[tuple[Any, ...], Any] = {}


def _frame(example: WarehouseExample, wanted: ReferenceFrame, variant: int) -> NamedFrame:
    # A warehouse is its own key: two databases never share a row.
    fetched = _fetched(warehouse_of(example, variant), wanted.select, example.today)  # type: ignore[arg-type]
    if list(fetched.data.columns) != list(wanted.columns):
        raise QueryError(f"the SELECT returns {list(fetched.data.columns)}, and columns says {list(wanted.columns)}")
    return NamedFrame(wanted.name, fetched.data, wanted.select, wanted.purpose, fetched.truncated, fetched.fingerprint)


@lru_cache(maxsize=512)
def _fetched(warehouse: Warehouse, select: str, today: dt.date) -> Frame:
    return warehouse.query(select, as_of=today)


def filing_answer_of(example: FilingExample) -> float | str:
    """The answer that the plan of an example gives on its page. Raises StepError."""
    value = execution.run(example.plan, workspace_of(example), Surroundings(filing=example.filing)).value.value
    return value if isinstance(value, float | str) else float(value)  # type: ignore[arg-type]


def problems_of(example: Placed, sandbox: Sandbox) -> list[str]:
    """What is wrong with the references of an example; empty if nothing is."""
    try:
        if isinstance(example, SqlExtractionExample):
            return list(_of_frames(example))
        if isinstance(example, ScriptExample):
            return [*_of_frames(example), *_of_answers(example, sandbox)]
        if isinstance(example, AuditExample):
            return [*_of_filing(example), *problems_of_audit(example)]
        if isinstance(example, FilingExample):
            return list(_of_filing(example))
        if isinstance(example, LookupRecord):
            return list(_of_lookup(example))
        if isinstance(example, KeywordRecord):
            return list(_of_keywords(example))
    except FinexpertError as error:
        return [f"the reference fails: {error}"]
    return []


def _of_frames(example: WarehouseExample) -> Iterator[str]:
    if isinstance(example, FredExample):
        return
    variants = variants_of(example)
    fetched = [frames_of(example, variant) for variant in variants]
    for variant, frames in zip(variants, fetched, strict=True):
        where = "" if example.is_own else f", variant {variant}"
        for frame in frames:
            yield from (f"frame {frame.name}{where}: {problem}" for problem in _of_frame(frame))
    if len(fetched) > 1 and len({tuple(frame.fingerprint for frame in frames) for frames in fetched}) == 1:
        yield "all frames are the same on both variants: they cannot tell a right SELECT from a lucky one"


def _of_frame(frame: NamedFrame) -> Iterator[str]:
    if frame.truncated:
        yield "rows were cut"
    if frame.data.empty:
        yield "there is no row"
    elif bool(frame.data.isna().all().any()):
        yield "a column holds nothing but missing values"


def _of_answers(example: ScriptExample, sandbox: Sandbox) -> Iterator[str]:
    answers = [answer_of(example, sandbox, variant) for variant in variants_of(example)]
    if any(_trivial(answer, example.answer_format) for answer in answers):
        yield f"the answer is empty, missing or 0: {answers!r:.80}"
    if len(answers) > 1 and matches(answers[0], answers[1], example.answer_format):
        yield f"the answer is the same on both variants: {answers[0]!r:.60}"
    if isinstance(example, PlanningExample) and example.answer_select:
        for variant, right in zip(variants_of(example), answers, strict=True):
            computed = _by_select(example, sandbox, variant)
            if not matches(computed, right, example.answer_format):
                yield f"answer_select gives {computed!r:.60}, and the script {right!r:.60}"


def _by_select(example: PlanningExample, sandbox: Sandbox, variant: int) -> Any:
    plan = of_one_select(example.answer_select, example.interpretation)
    around = Surroundings(
        warehouse=warehouse_of(example, variant),
        sandbox=sandbox,
        answer_format=example.answer_format,
        as_of=example.today,
    )
    try:
        return execution.run(plan, Workspace(), around).value.value
    except execution.StepFailed as failed:
        raise QueryError(f"answer_select: {failed.error}") from failed


def _trivial(answer: Any, answer_format: AnswerFormat) -> bool:
    if answer_format.kind in ("number", "integer"):
        return answer is None or not math.isfinite(answer) or answer == 0
    return answer is None or answer in ("", [])


def _of_filing(example: FilingExample) -> Iterator[str]:
    problems = checks.before(example.plan, example.filing, workspace_of(example))
    if problems:
        yield from problems
        return
    for number, turn in enumerate(example.earlier):
        earlier = example.model_copy(
            update={"earlier": example.earlier[:number], "steps": turn.steps, "answer": turn.answer}
        )
        earlier.on(example.filing)
        if not _same(filing_answer_of(earlier), turn.value):
            yield f"turn {number + 1} gives {filing_answer_of(earlier)!r}, and its value is {turn.value!r}"
    if not _same(filing_answer_of(example), example.gold):
        yield f"the plan gives {filing_answer_of(example)!r}, and gold is {example.gold!r}"


def _of_lookup(example: LookupRecord) -> Iterator[str]:
    for heading in example.expected:
        if heading not in _headings():
            yield f"expected: there is no process {heading!r} in processes.jsonl"


def _of_keywords(example: KeywordRecord) -> Iterator[str]:
    if example.scenario not in _glossaries():
        yield f"scenario: glossaries.jsonl has no {example.scenario!r}; it has {', '.join(sorted(_glossaries()))}"
        return
    for term in example.expected_terms:
        if term not in _glossaries()[example.scenario]:
            yield f"expected_terms: the glossary of {example.scenario} has no {term!r}"


@cache
def _headings() -> frozenset[str]:
    return frozenset(process.heading for process in load_processes())


@cache
def _glossaries() -> dict[str, frozenset[str]]:
    return {name: frozenset(one.term for one in each.keywords) for name, each in load_scenarios().items()}


def _same(value: float | str, other: float | str) -> bool:
    # Gold of the official files is rounded to five decimals.
    if isinstance(value, str) or isinstance(other, str):
        return value == other
    return math.isclose(value, other, rel_tol=1e-6, abs_tol=6e-6)
