"""`finexpert teach`: transcripts played, what is printed, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SELECT = "SELECT date, value FROM cpi WHERE cpi_index = 'CPI' ORDER BY date"
CODE = "answer = int(cpi.loc[cpi.value > 200, 'date'].iloc[0].year)"
ASKED = "In which year did CPI first stand above 200?"


@pytest.fixture
def teach(
    finexpert: Any, scripted: Any, desk: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Any]:
    """Plays transcripts, given as lists of lines, over the sample economy."""
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    desk.says("planning", desk.plan(CODE, "year", SELECT, ("date", "value"), "cpi"))
    step = {"text": "Take the first year.", "sql": SELECT, "code": CODE}
    desk.says("memorization", desk.process(heading="First high year", aliases=[], steps=[step], case_question=ASKED))
    scripted(desk.reply)
    desk.lend_sandbox(monkeypatch, "finexpert.datasets.desk.teaching")

    def play(*transcripts: list[dict[str, Any]], options: tuple[str, ...] = ()) -> Any:
        paths = []
        for number, lines in enumerate(transcripts, 1):
            paths.append(tmp_path / f"lesson{number}.jsonl")
            paths[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
        return finexpert("teach", *map(str, paths), "--as-of", "2020-12-31", *options)

    return play


MESSAGE = {"message": ASKED, "expect": 2004, "answer_format": {"kind": "year"}}
DEFINE = {"define": {"term": "high year", "meaning": "a year with CPI above 200", "aliases": ["steep year"]}}


def test_a_lesson_is_learned(teach: Any, finexpert: Any) -> None:
    ran = teach([MESSAGE, {"remember": "First high year"}], [DEFINE])
    assert ran.code == 0
    for line in (
        f"lesson1 1  {ASKED}",
        "as expected: 2004",
        "lesson1 2  remember First high year",
        "active: First high year",
        "lesson2 1  define high year",
        "defined: a year with CPI above 200",
    ):
        assert line in ran.out
    assert "First high year" in finexpert("memory", "list").out
    assert "steep year" in finexpert("glossary", "show", "high year").out


def test_what_does_not_hold_ends_the_lesson_with_code_3(teach: Any, finexpert: Any) -> None:
    ran = teach([MESSAGE | {"expect": 1999}, {"remember": None}], [DEFINE], options=("--json",))
    assert ran.code == 3
    first, second = ran.json.values()
    assert [line["status"] for line in first] == ["not as expected"]
    assert first[0]["notes"][0] == "expected 1999"
    assert [line["status"] for line in second] == ["defined"]
    assert finexpert("memory", "list", "--json").json == []


def test_a_draft_is_code_3(teach: Any, desk: Any) -> None:
    desk.says("memorization", desk.process(steps=[{"text": "Take it.", "sql": "SELECT nothing FROM cpi"}]))
    ran = teach([MESSAGE, {"remember": None}])
    assert ran.code == 3
    assert "draft: Month count" in ran.out
    assert "note: step 1: its SELECT does not run" in ran.out


def test_a_wrong_file_stops_before_the_first_is_played(teach: Any, desk: Any) -> None:
    ran = teach([MESSAGE], [{"mesage": "x"}])
    assert ran.code == 1
    assert "lesson2.jsonl, line 1" in ran.err
    assert desk.calls == []


def test_another_store(teach: Any, finexpert: Any, tmp_path: Path) -> None:
    place = str(tmp_path / "desk.sqlite")
    assert teach([DEFINE], options=("--store", place)).code == 0
    assert finexpert("glossary", "list", "--json").json == []
    assert [k["term"] for k in finexpert("glossary", "list", "--json", "--store", place).json] == ["high year"]


def test_what_is_explained_in_passing_is_kept_and_in_use_afterwards(teach: Any, desk: Any, finexpert: Any) -> None:
    desk.says("listening", desk.lessons({"term": "high year", "quotes": ["one with CPI above 200"]}))
    said = {"message": "By a high year we mean one with CPI above 200. Which was the first?"}
    ran = teach([said | {"expect": 2004, "answer_format": {"kind": "year"}}])
    assert (ran.code, "kept: By 'high year' this house means: one with CPI above 200" in ran.out) == (0, True)
    kept = json.loads(finexpert("glossary", "show", "high year", "--json").out)
    assert (kept["meaning"], kept["status"], kept["scope"]) == ("one with CPI above 200", "active", "sample-economy")


def test_a_transcript_that_says_what_is_kept_is_taken_at_its_word(teach: Any, desk: Any) -> None:
    said = {"message": "By a high year we mean one with CPI above 200. Which was the first?"}
    assert teach([said, DEFINE]).code == 0
    assert "listening" not in desk.layers


def test_what_would_be_asked_back_is_said(teach: Any, desk: Any) -> None:
    unclear = desk.plan(CODE, "year", SELECT, ("date", "value"), "cpi", unclear="grubby year")
    desk.says("planning", unclear)
    ran = teach([{"message": "Which was the first grubby year?"}])
    assert ran.code == 0
    assert "asked back: What do you mean by 'grubby year'?" in ran.out
