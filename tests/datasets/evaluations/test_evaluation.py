"""What evaluations share: a journal that survives a crash, and the statistics, checked by hand."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from finexpert.core.answers import Failure, Usage
from finexpert.datasets.evaluations.evaluation import Result, mcnemar, share, summarise, write_json
from finexpert.datasets.evaluations.journal import Journal
from finexpert.errors import DataError


def result(id: str, correct: bool = True, **fields: Any) -> Result:
    status = "answered" if "failure" not in fields else "failed"
    return Result.model_validate(
        {"rung": "sql", "id": id, "question": f"{id}?", "status": status, "correct": correct, **fields}
    )


def test_a_journal_reads_what_it_wrote(tmp_path: Path) -> None:
    path = tmp_path / "new" / "journal.jsonl"
    failure = Failure(layer="planning", kind="plan", message="line\nbreak\u2028and é")
    written = [
        result("a", gold=3, answer=3.5, selects={"x": "SELECT 1"}),
        result("b", False, failure=failure, gold=["2020-04-01"]),
    ]
    journal = Journal(path, Result)
    for each in written:
        journal.add(each)
    assert Journal(path, Result).results == journal.results == written
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("kept", [0, 1, 2])
@pytest.mark.parametrize("cut", [1, 20, -1])
def test_a_torn_last_line_is_cut_off_and_the_journal_goes_on(tmp_path: Path, kept: int, cut: int) -> None:
    path = tmp_path / "journal.jsonl"
    for number in range(kept):
        Journal(path, Result).add(result(str(number)))
    line = result("torn").model_dump_json().encode()
    with path.open("ab") as file:
        file.write(line[:cut])
    journal = Journal(path, Result)
    assert [r.id for r in journal.results] == [str(n) for n in range(kept)]
    journal.add(result("next"))
    assert [r.id for r in Journal(path, Result).results] == [*map(str, range(kept)), "next"]


def test_a_journal_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(result("a").model_dump_json() + '\n{"rung": "sql"}\n')
    with pytest.raises(DataError, match=r"journal\.jsonl, line 2 .*--fresh"):
        Journal(path, Result)


def test_many_threads_write_whole_lines(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", Result)

    def write(writer: int) -> None:
        for number in range(20):
            journal.add(result(f"{writer}-{number}", answer="x" * 5000))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = Journal(journal.path, Result).results
    assert {r.id for r in read} == {f"{t}-{n}" for t in range(4) for n in range(20)}
    assert len(read) == 80


def test_a_share_with_its_wilson_interval() -> None:
    # By the formula: centre (k + z²/2) / (n + z²), half width z / (n + z²) * sqrt(k (n-k) / n + z²/4), z = 1.959964.
    assert share(28, 30)[:3] == (28, 30, 28 / 30)
    assert share(8, 10)[3:] == pytest.approx((0.490162, 0.943318), abs=1e-6)
    assert share(0, 4)[3:] == pytest.approx((0.0, 0.489891), abs=1e-6)
    assert share(0, 0) == (0, 0, 0.0, 0.0, 1.0)


def test_mcnemar_counts_what_differs() -> None:
    first = [True] * 6 + [False, False, True]
    second = [False] * 5 + [True, True, False, True]
    # Five against one: 2 * (1 + 6) / 2**6.
    *counts, p = mcnemar(first, second)
    assert counts == [5, 1]
    assert p == pytest.approx(14 / 64)
    assert mcnemar([True, False], [True, False]) == (0, 0, 1.0)
    with pytest.raises(ValueError, match="shorter"):
        mcnemar([True], [])


def test_a_summary_by_hand() -> None:
    script = Failure(layer="script_generation", kind="script", message="")
    results = [
        result("a", category="simple", usage=Usage(calls=1, prompt_tokens=100, completion_tokens=10, cost_usd=0.5)),
        result("b", False, category="complex", needs=["recession"], usage=Usage(calls=3, seconds=4, model_seconds=3)),
        result("a", False, category="simple", repeat=2, failure=script, usage=Usage(calls=2, cost_usd=0.1)),
        result("b", category="complex", needs=["recession"], repeat=2, usage=Usage(seconds=6, model_seconds=1)),
    ]
    summary = summarise("sql", results)
    assert summary.overall[:3] == (2, 4, 0.5)
    assert {name: s[:2] for name, s in summary.by_category.items()} == {"complex": (1, 2), "simple": (1, 2)}
    assert (summary.with_needs[:2], summary.without_needs[:2]) == ((1, 2), (1, 2))
    assert summary.by_repeat == [0.5, 0.5]
    assert summary.failures == {"wrong answer": 1, "script_generation: script": 1}
    assert summary.wrong == ["a", "b"]
    assert (summary.calls, summary.prompt_tokens, summary.completion_tokens) == (1.5, 25, 2.5)
    assert (summary.seconds, summary.outside_model_seconds) == (2.5, 1.5)
    assert summary.cost_usd is None
    assert summarise("sql", [results[0], results[2]]).cost_usd == pytest.approx(0.3)


def test_a_summary_of_nothing() -> None:
    summary = summarise("sql", [])
    assert (summary.overall.n, summary.calls, summary.failures, summary.by_repeat) == (0, 0, {}, [])


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "out.json"
    write_json(path, {"share": 0.5})
    for bad in (float("nan"), {"a": [float("inf")]}, {("no", "key"): 1}):
        with pytest.raises((ValueError, TypeError)):
            write_json(path, bad)
    assert json.loads(path.read_text()) == {"share": 0.5}


def test_json_that_is_interrupted_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.json"
    write_json(path, [1])

    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_json(path, [2])
    assert json.loads(path.read_text()) == [1]
    assert list(tmp_path.iterdir()) == [path]
