"""`finexpert eval fred` and `finexpert eval convfinqa`: what they print, write and keep, and that they go on."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.convfinqa.conversations import load
from finexpert.datasets.convfinqa.plans import from_official_program
from finexpert.testing import fields

FRED = ("eval", "fred", "--only", "year_cpi_rose_above_200,latest_recession", "--lm", "recorded")
CONVFINQA = ("eval", "convfinqa")
Scripted = Callable[[Any], list[str]]


def runs(store: Path) -> list[Any]:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{store}")
    ids = [experiment.experiment_id for experiment in client.search_experiments()]
    return list(client.search_runs(ids))


def timeless(content: Any) -> Any:
    """JSON without what differs from run to run."""
    if isinstance(content, dict):
        return {
            k: timeless(v) for k, v in content.items() if "seconds" not in k and k not in ("stages", "prefix_share")
        }
    return [timeless(item) for item in content] if isinstance(content, list) else content


def test_fred_twice_from_recorded_completions(finexpert: Any, tracked: Path, home: Path) -> None:
    written = []
    for name in ("one.json", "two.json"):
        ran = finexpert(*FRED, "--rungs", "+retries", "--json", name)
        assert ran.code == 0
        written.append(timeless(json.loads(Path(name).read_text())))
    assert written[0]["config"] == written[1]["config"]
    assert written[0]["rungs"] == written[1]["rungs"]
    by_key = [sorted(w["results"], key=lambda r: (r["rung"], r["id"])) for w in written]
    assert by_key[0] == by_key[1]
    rungs = {rung: s["overall"][:2] for rung, s in written[0]["rungs"].items()}
    assert rungs == {"+retries": [2, 2], "single-call": [2, 2]}
    assert all(r["correct"] and r["gold"] == r["answer"] for r in written[0]["results"])
    assert written[0]["config"]["data_label"] == "sample economy: made-up numbers"
    for shown in ("recorded completions", "sample economy: made-up numbers", "+retries", "2/2", str(tracked)):
        assert shown in ran.out
    assert list((home / "eval").iterdir()) == []
    assert len(runs(tracked)) == 2 * 3


def test_an_interrupted_fred_evaluation_goes_on(
    finexpert: Any, tracked: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from finexpert.datasets.fred.evaluation import QuestionBench

    answer, asked = QuestionBench.answer, list[str]()

    def counting(bench: QuestionBench, rung: str, question: Any, repeat: int = 1) -> Any:
        asked.append(question.id)
        if 0 < stop_at <= len(asked):
            raise KeyboardInterrupt
        return answer(bench, rung, question, repeat)

    monkeypatch.setattr(QuestionBench, "answer", counting)
    command = (*FRED, "--rungs", "+retries", "--no-baseline", "--threads", "1", "--json", "out.json")
    stop_at = 2
    ran = finexpert(*command)
    assert ran.code == 130
    assert not Path("out.json").exists()
    assert len(list((home / "eval").iterdir())) == 1
    (parent,) = runs(tracked)
    assert parent.info.status != "FINISHED"
    stop_at = 0
    asked.clear()
    ran = finexpert(*command)
    assert ran.code == 0
    assert "going on after 1 answers (--fresh starts over)" in ran.out
    assert len(asked) == 1
    assert len(json.loads(Path("out.json").read_text())["results"]) == 2
    assert list((home / "eval").iterdir()) == []


def test_fresh_starts_over(finexpert: Any, tracked: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from finexpert.datasets.fred import evaluation as fred_evaluation

    monkeypatch.setattr(fred_evaluation, "fingerprint", lambda *args: "same")
    (home / "eval").mkdir()
    (home / "eval" / "fred-same.jsonl").write_text('{"rung": "of another version"}\n')
    command = (*FRED, "--rungs", "sql", "--no-baseline")
    ran = finexpert(*command)
    assert (ran.code, ran.err.split(":")[0], "--fresh" in ran.err) == (1, "DataError", True)
    ran = finexpert(*command, "--fresh")
    assert ran.code == 0
    assert "sql: not right: latest_recession, year_cpi_rose_above_200" in ran.out
    assert "language_models: unknown prompt (2)" in ran.out
    assert "rows of the data reach the model" in ran.out


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Conversations that are not among the recorded ones: the sample pages with a further sentence."""
    records = json.loads((files("finexpert.datasets") / "questions" / "convfinqa_sample.json").read_text())
    for record in records:
        record["pre_text"].append("these pages are read by a test .")
    path = tmp_path / "pages.json"
    path.write_text(json.dumps(records))
    return path


def by_gold(path: Path) -> Callable[[str], str]:
    """A model that plans as the gold says, and reads the sign wrongly where it computes in its head."""
    conversations = load(path)

    def reply(prompt: str) -> str:
        question = prompt.split("[[ ## question ## ]]\n")[-1].split("\n\n")[0]
        page = next(
            c
            for c in conversations
            if c.filing.page_text() in prompt and question in [turn.question for turn in c.turns]
        )
        turn = next(turn for turn in page.turns if turn.question == question)
        if "[[ ## working ## ]]" in prompt:
            return fields(working="", answer=str(turn.answer if isinstance(turn.answer, str) else -(turn.answer or 0)))
        plan = from_official_program(turn.program or "", page.filing, question)
        steps = json.dumps([step.model_dump(mode="json") for step in plan.steps])
        return fields(entity="it", steps=steps, answer=f"step {plan.steps[-1].id}")

    return reply


def test_convfinqa_that_is_not_recorded_fails_turn_by_turn(finexpert: Any, tracked: Path, pages: Path) -> None:
    given = ("--records", str(pages), "--sample", "2", "--lm", "recorded", "--json", "out.json")
    ran = finexpert(*CONVFINQA, *given)
    assert ran.code == 0
    assert "pages.json: 2 conversations, 8 turns, own history" in ran.out
    assert "turns close 0/8, conversations 0/2" in ran.out
    assert "lost turns: no answer 8" in ran.out
    (report,) = json.loads(Path("out.json").read_text())["reports"]
    failures = [turn["failure"] for held in report["conversations"] for turn in held["turns"]]
    assert {(f["layer"], f["kind"]) for f in failures} == {("language_models", "unknown prompt")}
    assert all("not among the recorded ones" in entry["failure"] for entry in report["lost"])
    assert report["metrics"]["turns_close"] == 0


def test_convfinqa_with_a_baseline(finexpert: Any, tracked: Path, pages: Path, home: Path, scripted: Scripted) -> None:
    prompts = scripted(by_gold(pages))
    given = ("--records", str(pages), "--baseline", "single-call", "--json", "out.json", "--predictions", "p.json")
    ran = finexpert(*CONVFINQA, *given)
    assert ran.code == 0
    assert len(prompts) == 2 * 22
    for shown in (
        "planner: turns close 22/22, conversations 5/5, after a right turn 100.0%; programs 100.0%; lost turns: none",
        "single-call: turns close 1/22, conversations 0/5",
        "arithmetic errors 0",
        "lost turns: convention 21",
    ):
        assert shown in ran.out
    assert "single-call against planner: 0 won, 21 lost; McNemar p < 0.001" in ran.out
    planner, baseline = json.loads(Path("out.json").read_text())["reports"]
    assert (planner["metrics"]["turns_strict"], planner["metrics"]["calls_per_turn"]) == (1.0, 1.0)
    assert (planner["metrics"]["program_accuracy"], planner["lost"]) == (1.0, [])
    assert (baseline["metrics"]["turns_lenient"], baseline["metrics"]["lost/convention"]) == (1.0, 21)
    predictions = json.loads(Path("p.json").read_text())
    assert len(predictions) == 22
    assert all(entry["predicted"][-1] == "EOF" for entry in predictions)
    assert list((home / "eval").iterdir()) == []
    kept = {run.info.run_name: run.data.metrics for run in runs(tracked)}
    assert kept["planner, scripted"]["turns_close"] == 1.0
    assert kept["single-call, scripted"]["turns_close"] == pytest.approx(1 / 22)


def test_convfinqa_without_public_answers_writes_predictions(
    finexpert: Any, tracked: Path, pages: Path, scripted: Scripted
) -> None:
    reply = by_gold(pages)
    records = json.loads(pages.read_text())
    for record in records:
        del record["annotation"]["exe_ans_list"], record["annotation"]["turn_program"]
    Path("private.json").write_text(json.dumps(records))
    scripted(reply)
    ran = finexpert(*CONVFINQA, "--records", "private.json", "--predictions", "p.json", "--json", "out.json")
    assert ran.code == 0
    assert "nan" not in ran.out
    predictions = json.loads(Path("p.json").read_text())
    assert len(predictions) == 22
    assert ["subtract(", "486.2", "441.5", ")", "EOF"] in [entry["predicted"] for entry in predictions]
    (report,) = json.loads(Path("out.json").read_text())["reports"]
    assert "turns_close" not in report["metrics"]


def test_an_interrupted_convfinqa_evaluation_goes_on(
    finexpert: Any, tracked: Path, pages: Path, home: Path, scripted: Scripted
) -> None:
    reply = by_gold(pages)

    def stopping(prompt: str) -> str:
        if len(prompts) >= 10:
            raise KeyboardInterrupt
        return reply(prompt)

    given = ("--records", str(pages), "--threads", "1")
    prompts = scripted(stopping)
    assert finexpert(*CONVFINQA, *given).code == 130
    again = scripted(reply)
    ran = finexpert(*CONVFINQA, *given)
    assert "going on after 2 conversations" in ran.out
    assert "22/22" in ran.out
    assert len(again) == 22 - 8
    assert list((home / "eval").iterdir()) == []
