"""`finexpert eval financebench` on one made-up filing: recall without a model, a number by rule, words by a judge asked twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FILING = """OAKGATE WATER INC.
(Exact name of registrant as specified in its charter)
FORM 10-K For the fiscal year ended December 31, 2022

We sell water to towns in Vermont.
\f
CONSOLIDATED STATEMENTS OF CASH FLOWS

(In millions)                                  2022      2021
Net cash provided by operating activities       150       120
Purchases of property, plant and equipment      (40)      (30)
Net cash used for investing activities          (55)      (35)
\f
Operating income rose because of higher prices, which the regulator allowed in March.
"""
QUESTIONS = [
    (
        "financebench_id_00001",
        "What is the FY2022 capital expenditure of Oakgate Water (in USD millions)?",
        "$40.00",
        1,
    ),
    ("financebench_id_00002", "What drove the operating income of Oakgate Water in FY2022?", "Higher prices.", 2),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "bench"
    (made / "pdf").mkdir(parents=True)
    (made / "pdf" / "OAKGATE_2022_10K.txt").write_text(FILING)
    lines = [
        {
            "financebench_id": id,
            "company": "Oakgate Water",
            "doc_name": "OAKGATE_2022_10K",
            "question_type": "novel-generated",
            "question": question,
            "answer": answer,
            "evidence": [{"doc_name": "OAKGATE_2022_10K", "evidence_page_num": page}],
        }
        for id, question, answer, page in QUESTIONS
    ]
    (made / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return made


def answered(desk: Any, **given: Any) -> str:
    said: dict[str, Any] = {"numbers": [], "computed": [], "statements": [], "kind": "text", "result": "", "listed": []}
    return str(desk.fields(**said | {"answers": "true", "missing": "", "searches": []} | given))


@pytest.fixture
def evaluate(
    finexpert: Any, tracked: Path, scripted: Any, desk: Any, folder: Path, monkeypatch: Any
) -> Callable[..., Any]:
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    row = "Purchases of property, plant and equipment | (40)"
    number = {"name": "capex", "page": "P1", "quote": row, "number": "40"}
    prices = {
        "name": "up",
        "says": "Prices rose.",
        "page": "P1",
        "quote": "Operating income rose because of higher prices",
    }

    def reads(prompt: str) -> str:
        if "What drove" in prompt.split("[[ ## question ## ]]")[-1]:
            return answered(
                desk,
                statements=[prices],
                answer=[{"says": "Higher prices, which the regulator allowed.", "rests_on": ["up"]}],
            )
        return answered(
            desk,
            numbers=[number],
            kind="number",
            result="capex",
            answer=[{"says": "It was {capex}.", "rests_on": ["capex"]}],
        )

    found = desk.fields(companies=["Oakgate Water"], years=[2022], statements=[], searches=["capital expenditure"])
    desk.says("library_search", found)
    desk.says("library_reading", reads)
    desk.says("judge", desk.fields(reason="the same", agree="true"))
    scripted(desk.reply)

    def run(*arguments: str) -> Any:
        ran = finexpert("eval", "financebench", str(folder), "--threads", "1", *arguments, "--json", "out.json")
        return ran, json.loads(Path("out.json").read_text()) if Path("out.json").exists() else None

    return run


def test_a_number_by_rule_and_words_by_a_judge_asked_twice(evaluate: Any, desk: Any) -> None:
    ran, written = evaluate()
    assert ran.code == 0, ran.out + ran.err
    assert "2 of 2 right, 0 wrong, 0 refused" in ran.out
    first, second = sorted(written["results"], key=lambda result: result["id"])
    assert "by rule" in first["judged"]
    assert (second["judged"], second["judge_calls"]) == ("the same", 2)
    orders = [prompt.split("[[ ## reference ## ]]")[-1].strip().splitlines()[0] for prompt in desk.of("judge")]
    assert orders == ["first", "second"]
    assert written["modes"]["program"]["calls"] == 2.0


def test_one_order_that_disagrees_makes_it_wrong(evaluate: Any, desk: Any) -> None:
    desk.says("judge", desk.fields(reason="the same", agree="true"), desk.fields(reason="too short", agree="false"))
    ran, written = evaluate("--only", "00002")
    assert "0 of 1 right, 1 wrong, 0 refused" in ran.out
    assert written["results"][0]["judged"] == "too short"


def test_recall_takes_no_model(evaluate: Any, desk: Any) -> None:
    ran, _ = evaluate("--recall-only")
    assert ran.code == 0, ran.out + ran.err
    assert "2 questions, own words, no model: recall @1 50.0%, @5 100.0%" in ran.out
    assert desk.calls == []


def test_a_filing_that_is_not_there_is_named(evaluate: Any, folder: Path) -> None:
    (folder / "pdf" / "OAKGATE_2022_10K.txt").unlink()
    ran, _ = evaluate()
    assert ran.code == 1
    assert "OAKGATE_2022_10K" in ran.err
    assert evaluate("--only", "nothing")[0].code == 2


@pytest.mark.parametrize("only", ["", "00001,", "00001,nothing"])
def test_an_id_that_names_no_question_is_refused(evaluate: Any, desk: Any, only: str) -> None:
    ran, _ = evaluate("--only", only)
    assert (ran.code, "there is no question" in ran.err) == (2, True)
    assert desk.calls == []


def test_what_was_measured_is_in_the_run_of_the_evaluation(evaluate: Any, tracked: Path) -> None:
    import mlflow
    from mlflow import MlflowClient

    ran, _ = evaluate()
    assert ran.code == 0, ran.out + ran.err
    assert mlflow.active_run() is None
    client = MlflowClient(tracking_uri=f"sqlite:///{tracked}")
    found = client.search_runs([each.experiment_id for each in client.search_experiments()])
    measured = {run.info.run_name: run.data.metrics.get("measured") for run in found}
    assert measured == {"eval financebench": 2.0, "program": None}


def test_a_run_goes_on_with_the_same_settings_alone(evaluate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ran, written = evaluate("--budget", "calls=2")
    assert ran.code == 0, ran.out + ran.err
    done = written["measured"]["done"]
    assert 0 < done < 2
    monkeypatch.setenv("FINEXPERT_RETRIES", "0")
    assert "going on" not in evaluate("--budget", "calls=0")[0].out
    monkeypatch.delenv("FINEXPERT_RETRIES")
    assert f"going on after {done} answers (--fresh starts over)" in evaluate()[0].out
