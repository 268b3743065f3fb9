"""Completions that run and mean something else: none leaves as an answer that is wrong.

{"id": "case-filled", "trap": "wrong case", "first": "SELECT count(*) FROM trades WHERE status = 'Filled'", "then": [], "gold": ..., "outcome": "home"}

`first` is what the planner says, `then` what is said to the reasons that come back; `outcome` is "home" (put right without a second
call), "repaired" (right after the reason), or the kind of the refusal, which may come after so many `calls`. The gold is plain SQL on the same file.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from finexpert.answers.records import Record

CASES = [json.loads(line) for line in (Path(__file__).parent / "traps.jsonl").read_text().splitlines()]
CONTROLS = [json.loads(line) for line in (Path(__file__).parent / "controls.jsonl").read_text().splitlines()]
RIGHT = ("home", "repaired")
LISTED = {
    "wrong case", "synonym", "unknown value", "cut frame", "removes all", "null in not in", "fan-out", "later than as-of", "missing column",
    "mixed currencies", "duplicate keys", "text dates", "division by zero",
}  # fmt: skip


def by_id(case: Mapping[str, Any]) -> str:
    return str(case["id"])


def same(value: Any, rows: list[tuple[Any, ...]]) -> bool:
    """Whether an answer is what plain SQL gives: one value, a list or a table."""
    if isinstance(value, pd.DataFrame):
        found = [tuple(row) for row in value.itertuples(index=False)]
        return len(found) == len(rows) and all(
            len(one) == len(other) and all(map(_equal, one, other)) for one, other in zip(found, rows, strict=True)
        )
    if isinstance(value, list):
        return len(value) == len(rows) and all(_equal(one, row[0]) for one, row in zip(value, rows, strict=True))
    return len(rows) == 1 and len(rows[0]) == 1 and _equal(value, rows[0][0])


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return str(one)[:19].removesuffix(" 00:00:00") == str(other)[:19].removesuffix(" 00:00:00")


@pytest.mark.parametrize("case", CASES, ids=by_id)
def test_a_trap_is_put_right_or_refused(case: Mapping[str, Any], ask: Any, gold: Any) -> None:
    asked = ask(case)
    answer = asked.answer
    if answer.status == "answered":
        assert same(answer.value, gold(case)), (answer.value, answer.flags)
    outcome = case["outcome"]
    if outcome in RIGHT:
        assert answer.status == "answered", answer.failure
        assert (answer.usage.calls == 1) == (outcome == "home")
    else:
        assert answer.failure is not None
        assert (answer.status == "answered", answer.failure.kind) == (False, outcome)
        assert answer.usage.calls == case.get("calls", answer.usage.calls)


def test_a_record_holds_what_was_said_and_what_was_sent_back_with_the_reason(ask: Any) -> None:
    case = next(case for case in CASES if case["id"] == "ytd-over-months")
    answer = ask(case).answer
    record = Record.read(answer.record.sealed().encode(), "the record")
    assert record.flags == answer.flags
    ((frame, select, reason),) = (attempt.values() for attempt in record.sent_back)
    assert (frame, select) == ("result", case["first"])
    assert reason.startswith("SUM(income_ytd_eur) adds up rows of several days")
    refused = ask(next(case for case in CASES if case["id"] == "removes-coalesced-zero")).answer.record
    assert [attempt["select"] for attempt in refused.sent_back] == [refused.plan.steps[0].select]


def test_who_repairs_may_say_that_it_is_not_there_and_the_person_sees_what_is(ask: Any) -> None:
    asked = ask(next(case for case in CASES if case["id"] == "unknown-said-missing"))
    answer = asked.answer
    assert (answer.status, answer.failure.layer) == ("not_found", "sql_extraction")
    assert answer.failure.message.startswith("these data do not hold it: no trade is in Swedish crowns (tried: ")
    assert "trades.currency holds 'EUR'" in answer.failure.message
    assert [attempt["select"] for attempt in answer.record.sent_back] == [answer.record.plan.steps[0].select]


def test_there_are_enough_traps_and_most_come_out_right() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 80
    assert len({case["id"] for case in [*CASES, *CONTROLS]}) == len(CASES) + len(CONTROLS)
    assert {case["trap"] for case in CASES} >= LISTED
    assert Counter(case["database"] for case in CASES).most_common()[-1][1] >= 15
    assert sum(case["outcome"] in RIGHT for case in CASES) >= 60


@pytest.mark.parametrize("case", [case for case in CASES if case["outcome"] != "home"], ids=by_id)
def test_what_goes_back_holds_no_value(case: Mapping[str, Any], ask: Any, trap_files: Mapping[str, Path]) -> None:
    prompts = ask(case).prompts
    known = json.dumps(case, ensure_ascii=False) + prompts[0]
    shown = [value for value in texts_of(str(trap_files[case["database"]])) if value not in known]
    told = "\n".join(prompts[1:])
    assert len(shown) > 100
    assert not [value for value in shown if re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", told)]


_texts: dict[str, list[str]] = {}


def texts_of(path: str) -> list[str]:
    """Every text of more than three letters that a database holds."""
    if path not in _texts:
        with duckdb.connect(path, read_only=True) as connection:
            columns = connection.execute(
                "SELECT table_name, column_name FROM information_schema.columns WHERE data_type = 'VARCHAR'"
            ).fetchall()
            found = {
                row[0]
                for table, column in columns
                for row in connection.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()
            }
        _texts[path] = sorted(text for text in found if text and len(text.strip()) > 3)
    return _texts[path]


@pytest.mark.parametrize("case", CONTROLS, ids=by_id)
def test_what_is_right_is_answered_with_one_call(case: Mapping[str, Any], ask: Any, gold: Callable[..., Any]) -> None:
    answer = ask(case).answer
    assert answer.status == "answered", answer.failure
    assert answer.usage.calls == 1
    assert same(answer.value, gold({**case, "gold": case.get("gold", case["first"])})), answer.value
