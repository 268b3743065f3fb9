"""SELECTs under a name as a way in: what a file brings is read by nobody, and once a person has waved it through it takes no other's name.

Each line of `named.jsonl` is a process file. `check` is what checking it says (null: the file is refused with `says`). Then it is made active
without a check, the worst that a person can do, and a model that reads its name is asked: `value` is what comes out, null for no answer.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from finexpert.knowledge.exchange import import_processes
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.plans.process_checks import problems

CASES = [json.loads(line) for line in Path(__file__).with_name("named.jsonl").read_text("utf-8").splitlines()]
GOOD = Process(
    heading="Good Month",
    steps=[ProcessStep(text="Every month.", sql="SELECT date AS month, amount FROM sales", name="good_months")],
    status="active",
    taught_at=dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
)
QUESTION = "What is the evil month?"


def asked(desk: Any, select: str) -> Any:
    desk.says("planning", desk.plan("", "integer", select, ("n",), "n"))
    return desk.session(retries=0).ask(QUESTION)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_nobody_reads_it_and_it_takes_no_name(desk: Any, tmp_path: Path, case: dict[str, Any]) -> None:
    taught = desk.taught()
    taught.memory.restore(GOOD, "ben", "add")
    file = tmp_path / "process.md"
    file.write_text("\n".join(case["file"]), encoding="utf-8")
    (imported,) = import_processes(taught.memory, [file], "mallory")
    if case["check"] is None:
        assert imported.outcome == "failed"
        assert case["says"] in imported.message
        return
    assert (imported.outcome, imported.message) == ("added", "draft")
    draft = taught.memory.find("Evil Month")
    others = {name: one for name, (one, _) in taught.memory.named_selects().items()}
    found = "; ".join(problems(draft, desk.warehouse, dt.date(2020, 12, 31), others))
    assert case["check"] in found
    assert bool(found) or not case["check"]
    before = asked(desk, case["asks"])
    assert "Evil Month" not in before.processes
    taught.memory.activate("Evil Month", "carl")
    answer = asked(desk, case["asks"])
    assert (answer.value if answer.status == "answered" else None) == case["value"]
    assert "Evil Month" not in answer.processes or case.get("unchecked")
    assert desk.warehouse.query("SELECT count(*) AS n FROM sales").data.iloc[0, 0] == 6


def test_there_are_enough_of_them() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 15
