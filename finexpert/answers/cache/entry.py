"""A kept answer as text: the answer with its record and figures, and the turn that it is in a conversation.

    {"answer": {"question": "...", "status": "answered", "value": 4.1, ...}, "record": {...}, "turn": {...},
     "figures": ["iVBORw0..."], "kept_at": "2024-11-22T09:30:00Z"}

What does not come back as it was is not kept: `dumped` gives None for it.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from pydantic import TypeAdapter

from finexpert.answers.records import Record, decode
from finexpert.core.answers import Answer, Citation
from finexpert.core.encoding import encode
from finexpert.core.workspace import Turn, Value
from finexpert.errors import AnswerFormatError
from finexpert.storage import foreign_json

MOST_BYTES = 512 * 1024
_TURN: TypeAdapter[Turn] = TypeAdapter(Turn)


@dataclass(frozen=True)
class Entry:
    """An answer, its turn, and when it was kept."""

    answer: Answer
    turn: Turn
    kept_at: dt.datetime


def dumped(answer: Answer, turn: Turn, kept_at: dt.datetime) -> str | None:
    """An answer and its turn as JSON; None for what would not come back the same, or is too large."""
    if answer.status != "answered" or turn.value is None or not _equal(turn.value.value, answer.value):
        return None
    content = {
        "answer": answer.model_dump(mode="json", exclude={"value", "figures", "record"}),
        "value": encode(answer.value),
        "record": answer.record.model_dump(mode="json") if isinstance(answer.record, Record) else None,
        "turn": _TURN.dump_python(replace(turn, value=None), mode="json"),
        "turn_value": {**_without_value(turn.value), "citations": _citations(turn.value.citations)},
        "figures": [base64.b64encode(figure).decode() for figure in answer.figures],
        "kept_at": kept_at.isoformat(),
    }
    try:
        text = json.dumps(content, allow_nan=False)
        back = restored(text)
    except (AnswerFormatError, KeyError, TypeError, ValueError):  # a value of a kind that JSON does not hold
        return None
    same = _equal(back.answer.value, answer.value) and back.answer.text == answer.text
    return text if same and len(text) <= MOST_BYTES else None


def restored(text: str) -> Entry:
    """The answer and its turn, as they were kept; ValueError or KeyError for a text that `dumped` never wrote."""
    content = foreign_json.parse(text)
    answer = Answer.model_validate(content["answer"])
    answer.value = decode(content["value"], answer.format)
    answer.figures = [base64.b64decode(figure) for figure in content["figures"]]
    answer.record = Record.model_validate(content["record"]) if content["record"] else None
    about = content["turn_value"]
    citations = tuple(Citation.model_validate(citation) for citation in about.pop("citations"))
    flags = tuple(about.pop("flags"))
    value = Value(answer.value, citations=citations, flags=flags, **about)
    turn = replace(_TURN.validate_python(content["turn"]), value=value)
    return Entry(answer, turn, dt.datetime.fromisoformat(content["kept_at"]))


def _without_value(value: Value) -> dict[str, Any]:
    return {"unit": value.unit, "scale": value.scale, "entity": value.entity, "period": value.period,
            "flags": list(value.flags)}  # fmt: skip


def _citations(citations: tuple[Citation, ...]) -> list[dict[str, Any]]:
    return [citation.model_dump(mode="json") for citation in citations]


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, pd.DataFrame) or isinstance(other, pd.DataFrame):
        return isinstance(one, pd.DataFrame) and isinstance(other, pd.DataFrame) and one.equals(other)
    return type(one) is type(other) and bool(one == other)
