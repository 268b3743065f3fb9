"""`finexpert eval sql` on a made-up folder, with a model that answers rightly in one way and wrongly in the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from finexpert.testing import fields

QUESTIONS = [
    {"id": "all", "db": "desk", "category": "basic_x", "question": "Which desks are there?", "gold_sql": "SELECT name FROM desks"},
    {"id": "big", "db": "desk", "category": "basic_x", "question": "Which is big?", "gold_sql": "SELECT name FROM desks WHERE size > 5"},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "defog"
    made.mkdir()
    (made / "desk.sql").write_text(
        "CREATE TABLE desks (name text, size int); INSERT INTO desks VALUES ('a', 9), ('b', 1);"
    )
    (made / "desk.json").write_text('{"table_metadata": {}}')
    (made / "questions.jsonl").write_text("\n".join(json.dumps(question) for question in QUESTIONS))
    return made


def reply(prompt: str) -> str:
    """All desks in both ways; the big one by the program, and all of them by the single call."""
    if "field `[[ ## select_query ## ]]`" in prompt:
        return fields(select_query="SELECT name FROM desks")
    select = "SELECT name, size FROM desks WHERE size > 5" if "big" in prompt else "SELECT name FROM desks"
    selects = json.dumps([{"df_name": "desks", "df_columns": [], "select_query": select}])
    return fields(interpretation="as asked", selects=selects)


def test_program_and_single_call_side_by_side(
    finexpert: Any, tracked: Path, home: Path, scripted: Any, folder: Path, server_programs: None
) -> None:
    scripted(reply)
    ran = finexpert("eval", "sql", str(folder), "--json", "out.json", "--threads", "2")
    assert ran.code == 0, ran.err
    for shown in (
        "desk (postgres)",
        "single-call: not right: big",
        "program: 2/2 by the rule of sql-eval, 1 by ours (all rows, no other columns); 0 without an answer",
        "single-call: 1/2 by the rule of sql-eval, 1 by ours",
        "only program: big",
        "only single-call: nothing; McNemar p = 1.000",
    ):
        assert shown in ran.out
    assert "needs" not in ran.out  # none of the questions rests on a definition
    written = json.loads(Path("out.json").read_text())
    assert {way: row["overall"][:2] for way, row in written["rungs"].items()} == {
        "program": [2, 2],
        "single-call": [1, 2],
    }
    assert {(r["rung"], r["id"]) for r in written["results"] if r["also"]["ours"]} == {
        ("program", "all"),
        ("single-call", "all"),
    }
    assert list((home / "eval").iterdir()) == []


def test_some_of_the_questions(
    finexpert: Any, tracked: Path, scripted: Any, folder: Path, server_programs: None
) -> None:
    scripted(reply)
    ran = finexpert("eval", "sql", str(folder), "--ids", "big", "--no-baseline")
    assert (ran.code, "program: 1/1 by the rule of sql-eval" in ran.out, "only" in ran.out) == (0, True, False)
    ran = finexpert("eval", "sql", str(folder), "--limit", "1", "--no-baseline", "--json", "one.json")
    assert [result["id"] for result in json.loads(Path("one.json").read_text())["results"]] == ["all"]
    ran = finexpert("eval", "sql", str(folder), "--ids", "none")
    assert (ran.code, "there is no question 'none'" in ran.err) == (2, True)


def test_a_folder_that_is_none(finexpert: Any, tmp_path: Path) -> None:
    ran = finexpert("eval", "sql", str(tmp_path / "nowhere"))
    assert (ran.code, "give the folder that holds Defog's files" in ran.err) == (1, True)
