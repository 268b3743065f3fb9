"""`finexpert eval compare`: evaluations that were written down, paired question by question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.evaluations.mode_comparison import against
from finexpert.datasets.evaluations.saved_evaluations import paired, ways_in
from finexpert.errors import DataError

QUESTION: dict[str, Any] = {"question": "?", "status": "answered"}
TURN: dict[str, Any] = {"question": "?", "usage": {"calls": 2, "prompt_tokens": 10, "completion_tokens": 5}}


def questions(path: Path, right: dict[str, bool], rung: str = "+retries", calls: int = 1) -> Path:
    rows = [
        QUESTION | {"id": id, "rung": rung, "correct": each, "usage": {"calls": calls}} for id, each in right.items()
    ]
    path.write_text(json.dumps({"config": {"model": "a/model"}, "results": rows}))
    return path


def pages(path: Path, modes: dict[str, list[tuple[object, object]]]) -> Path:
    reports = [
        {
            "model": "a/model",
            "mode": mode,
            "conversations": [
                {"id": "A/page_1", "turns": [TURN | {"gold": gold, "predicted": given} for gold, given in turns]}
            ],
        }
        for mode, turns in modes.items()
    ]
    path.write_text(json.dumps({"config": {}, "reports": reports}))
    return path


def test_questions_won_and_lost(finexpert: Any, tmp_path: Path) -> None:
    before = questions(tmp_path / "before.json", {"a": False, "b": True, "c": True, "d": False})
    after = questions(tmp_path / "after.json", {"a": True, "b": True, "c": False, "e": True}, calls=3)
    code, out, err = finexpert("eval", "compare", str(before), str(after))
    assert code == 0, err
    assert f"3 questions are in both: 4 in {before}, 4 in {after}" in out
    assert "after: +retries against before: +retries: 1 won, 1 lost; McNemar p = 1.000" in out
    assert "won: a" in out
    assert "lost: c" in out


def test_files_of_one_name_are_told_apart(finexpert: Any, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    before, after = questions(tmp_path / "old" / "f.json", {"a": False}), questions(tmp_path / "f.json", {"a": True})
    said = finexpert("eval", "compare", str(before), str(after)).out
    assert f"{after}: +retries against {before}: +retries: 1 won, 0 lost" in said


def test_turns_are_right_where_they_are_close(tmp_path: Path) -> None:
    gold = [(100.0, 100.4), (100.0, 101.0), ("yes", "yes"), (1.0, None), (None, 3.0)]
    (way,) = ways_in(pages(tmp_path / "one.json", {"planner": gold}))
    assert way.right == {
        "A/page_1 turn 1": True, "A/page_1 turn 2": False, "A/page_1 turn 3": True, "A/page_1 turn 4": False
    }  # fmt: skip
    assert (way.name, way.point.calls, way.point.tokens) == ("one: planner", 2.0, 15.0)


def test_modes_are_paired_by_name_and_a_single_one_with_each(tmp_path: Path) -> None:
    turns: list[tuple[object, object]] = [(1.0, 1.0)]
    one = ways_in(pages(tmp_path / "one.json", {"direct": turns, "checked": turns}))
    two = ways_in(pages(tmp_path / "two.json", {"checked": turns, "panel": turns}))
    alone = ways_in(pages(tmp_path / "alone.json", {"planner": turns}))
    assert [(a.name, b.name) for a, b in paired(one, two)] == [("one: checked", "two: checked")]
    assert [b.mode for _, b in paired(alone, two)] == ["checked", "panel"]
    assert [a.mode for a, _ in paired(one, alone)] == ["direct", "checked"]


def test_calls_are_those_of_the_questions_in_both(tmp_path: Path) -> None:
    (before,) = ways_in(questions(tmp_path / "b.json", {"a": True, "b": True}))
    rows = [
        QUESTION | {"id": id, "rung": "x", "correct": True, "usage": {"calls": n}} for id, n in (("a", 9), ("c", 1))
    ]
    (tmp_path / "a.json").write_text(json.dumps({"config": {"model": "m"}, "results": rows}))
    (after,) = ways_in(tmp_path / "a.json")
    both = before.right.keys() & after.right.keys()
    assert against(before.only(both), after.only(both)).extra_calls == 8


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "one.json cannot be read: No such file or directory; `finexpert eval fred --json FILE`"),
        ("{", "one.json cannot be read: it is not JSON"),
        ('{"results": [{"id": 3}], "config": {"model": "m"}}', "its results are not in the form"),
        ('{"rows": []}', "one.json holds no results by question; `finexpert eval fred --json FILE` writes one"),
        ("[1]", "holds no results by question"),
        ('{"reports": [{"mode": "m"}]}', "holds no results by question"),
    ],
)
def test_what_is_no_evaluation(tmp_path: Path, text: str | None, why: str) -> None:
    path = tmp_path / "one.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError, match=why):
        ways_in(path)


def test_files_of_other_questions(finexpert: Any, tmp_path: Path) -> None:
    one, two = questions(tmp_path / "1.json", {"a": True}), questions(tmp_path / "2.json", {"b": True})
    code, _, err = finexpert("eval", "compare", str(one), str(two))
    assert code == 1
    assert "have no question in common" in " ".join(err.split())


def test_what_fred_writes_is_read(finexpert: Any, tracked: Path, tmp_path: Path) -> None:
    out = tmp_path / "fred.json"
    only = ("--only", "year_cpi_rose_above_200", "--rungs", "sql+script", "--no-baseline")
    assert finexpert("eval", "fred", "--lm", "recorded", *only, "--json", str(out))[0] == 0
    code, said, err = finexpert("eval", "compare", str(out), str(out))
    assert code == 0, err
    assert "0 won, 0 lost; McNemar p = 1.000" in said
