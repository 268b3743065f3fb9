"""Records of the example sets as `dspy.Example`s: the input fields of their signature, and what is right as outputs.

    to_dspy(example).inputs().keys()        # for planning: schema_card, knowledge, conversation, today, question, ...

Every text is made as the modules make it, so that what is tuned is what is asked later. The inputs must be the
signature's, field by field; a field that a module fills in only when it runs (the terms found in a glossary) is left to
the module.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import dspy

from finexpert.datasets.layers import critique_references
from finexpert.datasets.layers import references as layer_references
from finexpert.datasets.layers.critique_records import AuditExample, DeriveExample, RecomputeExample
from finexpert.datasets.layers.keyword_examples import load_scenarios
from finexpert.datasets.layers.records import (
    FilingExample,
    FredExample,
    KeywordRecord,
    LookupRecord,
    Placed,
    PlanningExample,
    ScriptExample,
    SqlExtractionExample,
    WarehouseExample,
    workspace_of,
)
from finexpert.errors import QuestionFileError
from finexpert.modules.flow.filing_question import conversation, describe
from finexpert.modules.planning import RESULT
from finexpert.modules.script_generation import describe_frames
from finexpert.modules.sql_extraction import describe_request
from finexpert.signatures import rules
from finexpert.signatures.critique import AuditExtraction, DerivePlan, Recompute
from finexpert.signatures.keyword_rephrasing import RephraseKeywords
from finexpert.signatures.memory_lookup import GeneraliseQuestion
from finexpert.signatures.planning import FrameRequest, MakeFilingPlan, MakePlan, MakePlanWithDrafts
from finexpert.signatures.script_generation import WriteScript
from finexpert.signatures.sql_extraction import DataFrameFromSQL, WriteSelects

AT_RUN_TIME: Mapping[str, frozenset[str]] = {"RephraseKeywords": frozenset({"known_terms"})}

Fields = dict[str, Any]


def to_dspy(example: Placed, *, drafts: bool = True) -> dspy.Example:
    """An example for evaluation and compiling; its `id` leads back to the record.

    `drafts` chooses between the two signatures of planning over a warehouse. QuestionFileError names file, line and
    field where the inputs are not those of the signature.
    """
    signature, inputs, outputs = _fields(example, drafts)
    wanted = set(signature.input_fields) - AT_RUN_TIME.get(signature.__name__, frozenset())
    check_fields(example.place, signature.__name__, wanted, set(inputs))
    return dspy.Example(**inputs, **outputs, id=getattr(example, "id", "")).with_inputs(*inputs)


def check_fields(place: str, name: str, wanted: set[str], given: set[str]) -> None:
    """Refuses inputs that are not those of a signature.

    >>> check_fields("planning.jsonl, line 3", "MakePlan", {"question", "today"}, {"question"})
    Traceback (most recent call last):
    finexpert.errors.QuestionFileError: planning.jsonl, line 3: MakePlan has the input today, which the example lacks
    """
    for field in sorted(wanted - given):
        raise QuestionFileError(f"{place}: {name} has the input {field}, which the example lacks")
    for field in sorted(given - wanted):
        raise QuestionFileError(f"{place}: the example has the input {field}, which {name} lacks")


def _fields(example: Placed, drafts: bool) -> tuple[type[dspy.Signature], Fields, Fields]:
    if isinstance(example, AuditExample):
        return AuditExtraction, *_audit(example)
    if isinstance(example, DeriveExample):
        return DerivePlan, *_derivation(example)
    if isinstance(example, RecomputeExample):
        return Recompute, *_recomputation(example)
    if isinstance(example, SqlExtractionExample):
        return WriteSelects, *_sql_extraction(example)
    if isinstance(example, PlanningExample):
        return (MakePlanWithDrafts if drafts else MakePlan), *_planning(example, drafts)
    if isinstance(example, ScriptExample):
        return WriteScript, *_script_generation(example)
    if isinstance(example, FilingExample):
        return MakeFilingPlan, *_filing_planning(example)
    if isinstance(example, LookupRecord):
        inputs = {"question": example.question, "conversation": example.conversation or rules.NONE}
        return GeneraliseQuestion, inputs, {"expected": list(example.expected), "whole": example.whole}
    if isinstance(example, KeywordRecord):
        return RephraseKeywords, *_keyword_rephrasing(example)
    raise TypeError(f"{type(example).__name__} is no example of a layer")


def _common(example: WarehouseExample) -> Fields:
    return {
        "knowledge": example.knowledge or rules.NONE,
        "today": example.today.isoformat(),
        "question": example.question,
        "feedback": rules.NONE,
    }


def _sql_extraction(example: SqlExtractionExample) -> tuple[Fields, Fields]:
    inputs = _common(example) | {
        "dialect": layer_references.dialect_of(example),
        "schema_card": layer_references.schema_card_of(example),
        "frames": "\n".join(describe_request(frame) for frame in example.extracts),
    }
    return inputs, {"selects": _selects(example)}


def _script_generation(example: ScriptExample) -> tuple[Fields, Fields]:
    inputs = _common(example) | {
        "frames": describe_frames(layer_references.frames_of(example)),
        "task": example.task,
        "answer_type": example.answer_format.instruction(),
    }
    return inputs, {"code": example.code}


def _planning(example: PlanningExample, drafts: bool, *, scripts: bool = False) -> tuple[Fields, Fields]:
    """With `scripts`, the answer is computed by a script also where one SELECT gives it."""
    inputs = _common(example) | {
        "dialect": layer_references.dialect_of(example),
        "schema_card": layer_references.schema_card_of(example),
        "conversation": rules.NONE,
        "answer_type": example.answer_format.instruction(),
    }
    outputs: Fields = {"answer_kind": example.answer_format.kind, "unit": example.answer_format.unit or ""}
    outputs |= {"unclear": "", "missing": ""}
    if isinstance(example, FredExample):
        return inputs, outputs
    outputs["interpretation"] = example.interpretation
    if example.answer_select and not scripts:
        # What one SELECT computes is shown so: the engine does the work.
        if not drafts:
            asked = FrameRequest(df_name=RESULT, purpose=example.interpretation, df_columns=["answer"])
            return inputs, outputs | {"frames": [asked], "task": ""}
        select = DataFrameFromSQL(select_query=example.answer_select, df_name=RESULT)
        return inputs, outputs | {"selects": [select], "code": ""}
    if drafts:
        return inputs, outputs | {"selects": _selects(example), "code": example.code}
    frames = [
        FrameRequest(df_name=frame.name, purpose=frame.purpose, df_columns=list(frame.columns))
        for frame in example.frames
    ]
    return inputs, outputs | {"frames": frames, "task": example.task}


def _selects(example: WarehouseExample) -> list[DataFrameFromSQL]:
    return [
        DataFrameFromSQL(select_query=frame.select, df_columns=list(frame.columns), df_name=frame.name)
        for frame in example.frames
    ]


def _filing_planning(example: FilingExample) -> tuple[Fields, Fields]:
    inputs = {
        "page": example.filing.page_text(),
        "knowledge": example.knowledge or rules.NONE,
        "conversation": conversation(workspace_of(example)),
        "question": example.question,
        "feedback": rules.NONE,
    }
    return inputs, {
        "entity": example.entity,
        "steps": list(example.steps),
        "answer": example.answer,
        "gold": example.gold,
    }


def _of_page(example: FilingExample) -> Fields:
    inputs, _ = _filing_planning(example)
    return {name: text for name, text in inputs.items() if name != "feedback"}


def _audit(example: AuditExample) -> tuple[Fields, Fields]:
    inputs = _of_page(example) | {"readings": critique_references.readings_of(example)}
    return inputs, {"objections": critique_references.right_objections(example), "gold": example.gold}


def _derivation(example: DeriveExample) -> tuple[Fields, Fields]:
    outputs = {"asked": example.entity, "steps": list(example.steps), "answer": example.answer, "gold": example.gold}
    return _of_page(example), {**outputs, "formula": describe(example.plan)}


def _recomputation(example: RecomputeExample) -> tuple[Fields, Fields]:
    inputs, outputs = _planning(example, drafts=True, scripts=True)
    inputs = {name: text for name, text in inputs.items() if name not in ("feedback", "dialect")}
    return inputs, {"reading": outputs["interpretation"], "selects": outputs["selects"], "code": outputs["code"]}


def _keyword_rephrasing(example: KeywordRecord) -> tuple[Fields, Fields]:
    scenario = _scenarios().get(example.scenario)
    if scenario is None:
        raise QuestionFileError(f"{example.place}: scenario: glossaries.jsonl has no {example.scenario!r}")
    inputs = {
        "schema_card": scenario.schema_card,
        "conversation": example.conversation or rules.NONE,
        "question": example.question,
    }
    outputs = {"expected_terms": list(example.expected_terms), "ask": list(example.ask), "keep": list(example.keep)}
    return inputs, outputs


_scenarios = cache(load_scenarios)
