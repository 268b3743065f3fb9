"""`finexpert batch`: a file of questions in, a file of answers out, also after kill -9."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from served import Messages, ServedModel

from finexpert.cli import common
from finexpert.datasets.fred.questions import RECESSION_DEFINITION, load_questions

RECORDED = ("--lm", "recorded")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """The packaged questions, with the definition that their recordings were made with."""
    rows = [{"id": q.id, "question": q.question, "as_of": str(q.as_of)} for q in load_questions()]
    table = pd.DataFrame(rows).assign(knowledge=RECESSION_DEFINITION)
    table["answer_format"] = [q.answer_format.model_dump_json(exclude_none=True) for q in load_questions()]
    table.to_csv(tmp_path / "questions.csv", index=False)
    return tmp_path / "questions.csv"


def test_recorded_questions_are_all_answered(
    finexpert: Any, questions: Path, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINEXPERT_MEMORY", "false")
    ran = finexpert("batch", str(questions), "--out", "answers.parquet", *RECORDED, "--threads", "2")
    assert ran.code == 0, ran.out
    assert ran.out.splitlines()[0] == "30 of 30 answered"
    assert re.search(r"^questions: 30 of 30, 0:\d\d:\d\d$", ran.err, re.MULTILINE)
    assert "wrote answers.parquet" in ran.out
    answers = pd.read_parquet(tmp_path / "answers.parquet").set_index("id")
    assert answers.status.tolist() == ["answered"] * 30
    row = answers.loc["recessions_in_thirty_years"]
    assert (row["kind"], row["value"], row["number"], row["calls"]) == ("integer", "3", 3.0, 1)
    assert (home / "records" / f"{row['record']}.json").is_file()
    assert "same answer: 3" in finexpert("replay", row["record"]).out
    assert list((home / "batch").iterdir()) == []


def test_what_is_not_answered_is_told_with_exit_code_3(finexpert: Any, tmp_path: Path, home: Path) -> None:
    (tmp_path / "q.csv").write_text("question,status\nWhat is the price of tea?,open\nAnd of milk?,open\n")
    refused = finexpert("batch", "q.csv", "--out", "a.csv", *RECORDED)
    assert (refused.code, "--prefix answer_" in refused.err) == (1, True)
    ran = finexpert("batch", "q.csv", "--out", "a.csv", "--prefix", "answer_", *RECORDED)
    assert (ran.code, ran.out.splitlines()[0]) == (3, "0 of 2 answered, 2 failed")
    assert "row 1: this prompt is not among the recorded ones" in ran.out
    answers = pd.read_csv(tmp_path / "a.csv")
    assert (answers.status.tolist(), answers.answer_status.tolist()) == (["open"] * 2, ["failed"] * 2)
    assert answers.answer_value.isna().all()


def test_a_log_is_told_now_and_then_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = iter([0.0, 1.0, 11.0, 12.0, 13.0])
    advance = common._Lines("questions", 4_000, lambda: next(seconds))
    for done in (1, 1, 1, 3_997):
        advance(done)
    assert capsys.readouterr().err.splitlines() == [
        "questions: 2 of 4,000, 0:00:11",
        "questions: 4,000 of 4,000, 0:00:13",
    ]


def test_the_questions_are_never_written_over(finexpert: Any, tmp_path: Path, home: Path) -> None:
    (tmp_path / "q.csv").write_text("question\nHow many?\n")
    ran = finexpert("batch", "q.csv", "--out", str(tmp_path / "q.csv"), *RECORDED)
    assert (ran.code, "holds the questions" in ran.err) == (2, True)
    assert finexpert("batch", "q.csv", "--out", "a.txt", *RECORDED).code == 1
    assert (tmp_path / "q.csv").read_text() == "question\nHow many?\n"


class Counting(ServedModel):
    """Says one text, and counts what it is asked."""

    def __init__(self, text: str) -> None:
        self.asked: Counter[str] = Counter()
        self.counting = threading.Lock()
        self.text = text
        super().__init__(self.counted)

    def counted(self, messages: Messages) -> str:
        prompt = "\n".join(str(message["content"]) for message in messages)
        with self.counting:
            self.asked[re.findall(r"months of kind \d+", prompt)[-1]] += 1
        time.sleep(0.1)
        return self.text


@pytest.fixture
def served(desk: Any) -> Iterator[Counting]:
    with Counting(desk.plan("", select="SELECT count(*) AS months FROM sales", columns=("months",))) as server:
        yield server


@pytest.mark.timeout(900)
def test_kill_9_loses_no_finished_row_and_asks_none_twice(
    served: Counting, desk: Any, own_home: Path, tmp_path: Path
) -> None:
    n, threads = 20, 2
    lines = [f"{number},How many months of kind {number}?" for number in range(n)]
    (tmp_path / "q.csv").write_text("\n".join(["nr,question", *lines]))
    # Without the cache of completions, the server is asked whenever the program asks.
    environment = os.environ | {
        "FINEXPERT_API_KEY": "planted-key-7f3a9c",
        "FINEXPERT_CACHE": "false",
        "FINEXPERT_MEMORY": "false",
    }

    def start() -> subprocess.Popen[str]:
        given = ["--lm", "openai/served", "--api-base", served.url]
        command = ["batch", "q.csv", "--out", "a.jsonl", "--data", str(desk.warehouse.path), "--threads", str(threads)]
        return subprocess.Popen(
            [sys.executable, "-m", "finexpert.cli.main", *command, *given],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kept() -> list[str]:
        """The numbers of the finished rows, by the questions of their records."""
        journal = next((own_home / "batch").glob("*.jsonl"), None)
        whole = journal.read_bytes().split(b"\n")[:-1] if journal else []
        records = [json.loads(line)["row"]["record"] for line in whole]
        return [json.loads((own_home / "records" / f"{r}.json").read_text())["question"] for r in records]

    running = start()
    try:
        deadline = time.monotonic() + 400
        while len(kept()) < 7:
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        running.send_signal(signal.SIGKILL)
        running.communicate()
    assert not (tmp_path / "a.jsonl").exists()
    finished = kept()
    before = Counter(served.asked)
    last = start()
    out, err = last.communicate(timeout=400)
    assert (last.returncode, out.splitlines()[0]) == (0, f"{n} of {n} answered"), err
    assert f"going on after {len(finished)} answers" in err
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [f"{row['nr']},{row['question']}" for row in rows] == lines
    assert {(row["status"], row["value"]) for row in rows} == {("answered", "6")}
    names = {question.removeprefix("How many ").rstrip("?") for question in finished}
    assert {name: served.asked[name] for name in names} == {name: before[name] for name in names}
    # What was under way is asked again, and nothing else.
    assert sum(served.asked.values()) <= n + threads


def test_a_row_without_a_reason_does_not_end_the_telling(capfd: pytest.CaptureFixture[str]) -> None:
    from finexpert.cli.batch.command import _tell_reasons

    rows = pd.DataFrame({"status": ["failed", "answered", "failed"], "reason": ["", None, "no rows\nat all"]})
    _tell_reasons(rows, "")
    assert capfd.readouterr().out.splitlines() == ["  row 1: ", "  row 3: no rows"]
