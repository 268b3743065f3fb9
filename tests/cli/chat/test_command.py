"""`finexpert chat`: a conversation over a page, from lines on standard input."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_library import sample_info, sample_pages

from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library

PAGE: dict[str, Any] = {
    "id": "P",
    "pre_text": ["sales in brief ."],
    "post_text": [],
    "table": [["( in millions )", "2015", "2014"], ["net sales", "$ 486.2", "$ 441.5"], ["cost", "301.4", "283.0"]],
}


def planned(*steps: dict[str, Any]) -> str:
    numbered = [{"id": number, **step} for number, step in enumerate(steps, 1)]
    return f"[[ ## entity ## ]]\nit\n[[ ## steps ## ]]\n{json.dumps(numbered)}\n[[ ## answer ## ]]\nstep {len(steps)}\n"


def cell(row: str, column: str) -> dict[str, Any]:
    return {"kind": "cell", "row": row, "column": column}


def change(*arguments: str) -> dict[str, Any]:
    return {"kind": "compute", "operation": "subtract", "arguments": list(arguments)}


@pytest.fixture
def chat(finexpert: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Holds a conversation over the page with these lines as input."""
    path = tmp_path / "page.json"

    def hold(*lines: str, page: dict[str, Any] = PAGE) -> Any:
        path.write_text(json.dumps(page))
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return finexpert("chat", "--filing", str(path), "--trace", str(tmp_path / "trace.json"))

    return hold


def trace(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "trace.json").read_text())  # type: ignore[no-any-return]


def test_later_questions_refer_to_earlier_answers(chat: Any, scripted: Any, tmp_path: Path) -> None:
    prompts = scripted(
        [planned(cell("net sales", "2015")), planned(cell("net sales", "2014"), change("turn 1", "step 1"))]
    )
    ran = chat("net sales in 2015?", "", "and the change from 2014?", "/quit", "not asked any more")
    assert ran.code == 0
    assert "Answer: 486.20" in ran.out
    assert "Answer: 44.70" in ran.out
    assert "turn 1: net sales in 2015? [step 1: net sales / 2015] -> 486.2" in prompts[1]
    assert [turn["value"] for turn in trace(tmp_path)] == [486.2, pytest.approx(44.7)]


def test_a_turn_that_is_taken_back_is_forgotten(chat: Any, scripted: Any, tmp_path: Path) -> None:
    prompts = scripted([planned(cell("cost", "2015")), planned(cell("net sales", "2015"))])
    ran = chat("/undo", "the cost?", "/undo", "net sales?")
    assert ran.code == 0
    assert "there is no turn to take back" in ran.out
    assert "the last turn is taken back" in ran.out
    assert "the cost?" not in prompts[1]
    assert [turn["question"] for turn in trace(tmp_path)] == ["net sales?"]


def test_the_page_and_an_unknown_word(chat: Any, scripted: Any) -> None:
    prompts = scripted([])
    ran = chat("/page", "/forget")
    assert ran.code == 0
    assert "sales in brief ." in ran.out
    assert "there is no /forget; remember [HEADING]" in ran.out
    assert prompts == []


@pytest.mark.parametrize(("reply", "meant"), [("2", "r2 'sales of pumps'"), ("the pumps", "the pumps")])
def test_an_unclear_question_is_asked_back(chat: Any, scripted: Any, tmp_path: Path, reply: str, meant: str) -> None:
    vague = planned(cell("sales", "2015"))
    prompts = scripted([vague, vague, planned(cell("sales of pumps", "2015"))])
    table = [["", "2015"], ["sales of tools", "1"], ["sales of pumps", "2"]]
    ran = chat("sales?", reply, page=PAGE | {"table": table})
    assert ran.code == 0
    assert "Which one is meant by 'sales'?" in ran.out
    assert "  1. r1 'sales of tools'\n  2. r2 'sales of pumps'\n" in ran.out
    assert "Answer: 2.00" in ran.out
    assert f"By 'sales' the user means: {meant}" in prompts[2]
    assert len(trace(tmp_path)) == 1


def test_a_model_that_fails_ends_it_with_what_was_said_kept(chat: Any, scripted: Any, tmp_path: Path) -> None:
    scripted([planned(cell("net sales", "2015"))])
    ran = chat("net sales?", "and now?")
    assert ran.code == 1
    assert [turn["question"] for turn in trace(tmp_path)] == ["net sales?"]


def test_page_lists_the_filings_of_a_library(
    finexpert: Any, scripted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    folder, page = tmp_path / "library", next(iter(sample_pages()))
    with Library.open(folder, embedder=embedder("words"), make=True) as made:
        made.add([page], sample_info(page))
    scripted([])
    monkeypatch.setattr("sys.stdin", io.StringIO("page\n"))
    ran = finexpert("chat", "--library", str(folder))
    assert ran.code == 0, ran.err
    assert page.filing in ran.out
    assert "1 filings; `finexpert library show ID` shows one" in ran.out


def test_it_ends_at_once_where_there_is_nothing_to_read(home: Path) -> None:
    start = f"exec {shlex.quote(sys.executable)} -m finexpert.cli.main chat --lm recorded <&-"
    ran = subprocess.run(["sh", "-c", start], env=os.environ, capture_output=True, text=True, check=False, timeout=120)
    assert (ran.returncode, ran.stderr) == (0, "")
