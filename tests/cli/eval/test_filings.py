"""`finexpert eval filings` on the sample library, with a model that reads the pages as the questions' programs do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_library import load_sample_questions, sample_info, sample_pages

from finexpert.datasets.filings.questions import FilingQuestion
from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.program.artifact import save

ASKED = ("harborlight_revenue_2022", "verdamere_people", "quillstone_growth_2023", "northwick_margin_2022")


@pytest.fixture
def library(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    folder = tmp_path / "library"
    with Library.open(folder, embedder=embedder("words"), make=True) as made:
        for page in sample_pages():
            made.add([page], sample_info(page))
    return folder


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """Four of the sample's questions as a file; each is answered on one page."""
    chosen = [question for question in load_sample_questions() if question.id in ASKED]
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(question.model_dump_json() + "\n" for question in chosen))
    return file


@pytest.fixture
def evaluate(finexpert: Any, tracked: Path, scripted: Any, desk: Any, library: Path, asked: Path) -> Callable[..., Any]:
    questions = [question for question in load_sample_questions() if question.id in ASKED]

    def reads(prompt: str) -> str:
        """The plan of the question's program where its page is shown, "not on this page" elsewhere."""
        question = next(q for q in questions if _subject(q) in prompt.split("[[ ## question ## ]]")[-1])
        page = next(page for page in sample_pages() if page.id == question.pages[0])
        if f"PAGE: {page.label}" not in prompt:
            return str(desk.fields(answers="false", entity="another year", steps=[], answer=""))
        steps = [step.model_dump(exclude={"page"}) for step in question.program]
        return str(desk.fields(answers="true", entity="as asked", steps=steps, answer=f"step {steps[-1]['id']}"))

    desk.says("page", reads)
    desk.says("filing_search", desk.fields(phrases=["results"], years=[]))
    scripted(desk.reply)

    def run(*arguments: str) -> Any:
        common = (
            "--questions",
            str(asked),
            "--library",
            str(library),
            "--split",
            "all",
            "--no-baseline",
            "--threads",
            "1",
        )
        ran = finexpert("eval", "filings", *common, *arguments, "--json", "out.json")
        return ran, json.loads(Path("out.json").read_text()) if Path("out.json").exists() else None

    return run


def _subject(question: FilingQuestion) -> str:
    """Words of a question that stay as they are when its time is resolved."""
    return question.question.split(" in ")[0].split("last year")[0].strip()[:40]


def test_a_table_by_category_with_pages_and_citations(evaluate: Any) -> None:
    ran, written = evaluate()
    assert ran.code == 0, ran.out + ran.err
    metrics = written["modes"]["program"]
    assert (metrics["accuracy"], metrics["citation_precision"], metrics["cited_page_recall"]) == (1.0, 1.0, 1.0)
    assert metrics["recall_at_10"] == 1.0
    assert {result["id"] for result in written["results"]} == set(ASKED)
    assert "simple calculation" in ran.out
    assert "2/2" in ran.out


def test_a_wrong_answer_is_counted_as_wrong(evaluate: Any, desk: Any) -> None:
    wrong = [{"kind": "cell", "id": 1, "row": "operating costs", "column": "2022"}]
    desk.says("page", desk.fields(answers="true", entity="as asked", steps=wrong, answer="step 1"))
    ran, written = evaluate("--only", "harborlight_revenue_2022")
    assert ran.code == 0
    assert written["modes"]["program"]["wrong"] == ["harborlight_revenue_2022"]
    assert "not right: harborlight_revenue_2022" in ran.out


def test_a_run_that_is_out_of_budget_goes_on_with_more(evaluate: Any) -> None:
    ran, written = evaluate("--budget", "calls=2")
    assert ran.code == 0
    assert "the budget of this run is used up: 2 of 2 calls" in ran.out
    done = written["measured"]["done"]
    assert 0 < done == len(written["results"]) < len(ASKED)
    assert all(result["failure"] is None for result in written["results"])
    again, written = evaluate()
    assert f"going on after {done} answers" in again.out
    assert {result["id"] for result in written["results"]} == set(ASKED)


def test_the_budget_of_an_answer_holds_here_too(evaluate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEXPERT_BUDGET_CALLS", "0")
    ran, written = evaluate()
    assert ran.code == 0
    failures = [result["failure"] for result in written["results"] if result["failure"]]
    assert failures
    assert all("FINEXPERT_BUDGET_CALLS" in failure["message"] for failure in failures)


def test_pages_that_the_library_lacks_are_named(evaluate: Any, library: Path) -> None:
    with Library.open(library, embedder=embedder("words")) as opened:
        opened.remove(next(page.filing for page in sample_pages() if page.id == "HRBX/2022/page_4.pdf"))
    ran, _ = evaluate()
    assert ran.code == 2
    assert "HRBX/2022/page_4.pdf" in ran.err.replace("\n", "") + ran.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--split", "test"), "none of train, dev, all"),
        (("--only", "nobody"), "there is no question 'nobody' in all"),
    ],
)
def test_wrong_usage(evaluate: Any, arguments: tuple[str, ...], told: str) -> None:
    ran, _ = evaluate(*arguments)
    assert ran.code == 2
    assert told in " ".join((ran.err + ran.out).replace("│", " ").split())


def test_a_run_does_not_go_on_with_another_program(evaluate: Any, careful: None) -> None:
    ran, written = evaluate("--budget", "calls=2")
    assert written["measured"]["done"] > 0
    ran, written = evaluate("--program", "careful")
    assert ran.code == 0, ran.out + ran.err
    assert "going on" not in ran.out
    assert written["config"]["program"].startswith("careful (")
    assert "going on" in evaluate()[0].out


@pytest.fixture
def careful(home: Path) -> None:
    """A compiled program that plans like the one in the code."""
    save(FinancialExpert(), Path("runs") / "compiled" / "careful")
