"""The ladder over the sample economy, with a scripted model that gets one question right and one wrong."""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.evaluations.evaluation import Result, summarise
from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.fred.evaluation import BASELINE, MEMORY, RUNGS, QuestionBench, evaluate, fingerprint, judge
from finexpert.datasets.fred.questions import Question, gold, load_questions
from finexpert.errors import ModelUnreachable, UnknownPrompt
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.sandbox import Limits, Sandbox
from finexpert.settings import Settings
from finexpert.testing import fields
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

RIGHT, WRONG = "year_cpi_rose_above_200", "recessions_in_thirty_years"
YEAR = 2004  # in the sample economy
ALL = (*RUNGS, BASELINE)
SELECT = "SELECT date, value FROM cpi WHERE cpi_index = 'CPI' ORDER BY date"
YEARS = "SELECT min(year(date)) AS y FROM cpi WHERE cpi_index = 'CPI' AND value > 200"
CODE = "answer = int({frame}.loc[{frame}.value > 200, 'date'].iloc[0].year)"

Reply = Callable[[str], str]
Make = Callable[..., QuestionBench]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(wall_seconds=10), workers=2) as box:
        yield box


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return [q for q in load_questions() if q.id in (RIGHT, WRONG)]


@pytest.fixture
def bench(sample: DuckDBWarehouse, sandbox: Sandbox) -> Make:
    def make(reply: Reply, **settings: Any) -> QuestionBench:
        models = LanguageModels(ScriptedModel(lambda messages: reply(messages[0]["content"] + messages[-1]["content"])))
        return QuestionBench(sample, sandbox, models, Settings(cache=False, **settings))

    return make


def scripted(prompt: str) -> str:
    """What a model answers to the prompts of every rung: the year rightly, the recessions by a script that fails."""
    right = "stand above 200" in prompt
    if "[[ ## results ## ]]" in prompt:
        return fields(answer=str(YEAR) if right else "7")
    if "[[ ## select_query ## ]]" in prompt:
        return fields(select_query=YEARS if right else "SELECT count(*) AS n FROM cpi")
    selects = json.dumps([{"df_name": "cpi", "df_columns": ["date", "value"], "select_query": SELECT}])
    if "[[ ## interpretation ## ]]" in prompt:
        code = CODE.format(frame="cpi") if right else "answer = cpi.nothing.max()"
        return fields(interpretation="as asked", selects=selects, code=code, answer_kind="integer", unit="")
    if "[[ ## code ## ]]" in prompt:
        return fields(code="answer = 7")
    return fields(selects=selects)


def told(results: list[Result]) -> list[dict[str, Any]]:
    """Results without their times, in one order."""
    shown = [
        r.model_dump(mode="json", exclude={"usage": {"seconds", "model_seconds", "stages", "prefix_share"}})
        for r in results
    ]
    return sorted(shown, key=lambda r: (r["rung"], r["repeat"], r["id"]))


def test_the_ladder(bench: Make, questions: list[Question], tmp_path: Path, sample: DuckDBWarehouse) -> None:
    seen: list[Result] = []
    journal = Journal(tmp_path / "journal.jsonl", Result)
    results = evaluate(bench(scripted), questions, ALL, journal, threads=4, on_result=seen.append)
    assert Counter(r.rung for r in results) == dict.fromkeys(ALL, 2)
    assert told(seen) == told(results) == told(Journal(journal.path, Result).results)
    right = next(q for q in questions if q.id == RIGHT)
    assert {r.answer for r in results if r.id == RIGHT} == {gold(right, sample)}

    summaries = {rung: summarise(rung, [r for r in results if r.rung == rung]) for rung in ALL}
    assert {rung: s.overall[:2] for rung, s in summaries.items()} == dict.fromkeys(ALL, (1, 2))
    assert all(s.wrong == [WRONG] and s.with_needs[:2] == (0, 1) for s in summaries.values())
    assert {rung: s.failures for rung, s in summaries.items()} == {
        "sql": {"wrong answer": 1},
        "sql+script": {"script_generation: script": 1},
        "+retries": {"wrong answer": 1},
        MEMORY: {"wrong answer": 1},
        BASELINE: {"wrong answer": 1},
    }
    assert {rung: s.calls for rung, s in summaries.items()} == {
        "sql": 2,
        "sql+script": 1,
        "+retries": 1.5,
        MEMORY: 1.5,
        BASELINE: 1,
    }


def test_a_result_holds_what_the_model_wrote(bench: Make, questions: list[Question], tmp_path: Path) -> None:
    results = evaluate(bench(scripted), questions, ["+retries"], Journal(tmp_path / "j.jsonl", Result))
    by_id = {r.id: r for r in results}
    assert by_id[RIGHT].selects == {"cpi": SELECT}
    assert by_id[RIGHT].script == CODE.format(frame="cpi")
    assert by_id[WRONG].script == "answer = 7"  # the repaired one
    assert by_id[WRONG].usage.by_layer == {"planning": 1, "script_generation": 1}


def test_layer_and_kind_of_every_failure(bench: Make, questions: list[Question], tmp_path: Path) -> None:
    def reply(prompt: str) -> str:
        if "stand above 200" in prompt:
            return "I would rather not."
        return scripted(prompt).replace("FROM cpi", "FROM nowhere")

    results = evaluate(bench(reply), questions, ALL, Journal(tmp_path / "j.jsonl", Result))
    verdicts = {(r.rung, r.id): r.verdict for r in results}
    assert verdicts == {
        ("sql", RIGHT): "answer_from_rows: output",
        ("sql", WRONG): "sql_extraction: sql",
        ("sql+script", RIGHT): "planning: output",
        ("sql+script", WRONG): "sql_extraction: sql",
        ("+retries", RIGHT): "planning: output",
        ("+retries", WRONG): "sql_extraction: sql",
        (MEMORY, RIGHT): "planning: output",
        (MEMORY, WRONG): "sql_extraction: sql",
        (BASELINE, RIGHT): "single_call: output",
        (BASELINE, WRONG): "single_call: sql",
    }
    assert all(r.answer is None and r.status == "failed" for r in results)


def test_an_unknown_prompt_is_a_failed_question(bench: Make, questions: list[Question], tmp_path: Path) -> None:
    def reply(prompt: str) -> str:
        if "stand above 200" in prompt:
            return scripted(prompt)
        raise UnknownPrompt("this prompt is not recorded\nand more about it")

    results = evaluate(bench(reply), questions, ALL, Journal(tmp_path / "j.jsonl", Result))
    failures = [r.failure for r in results if r.id == WRONG]
    assert [(f.layer, f.kind, f.message) for f in failures if f] == [
        ("language_models", "unknown prompt", "this prompt is not recorded")
    ] * len(ALL)
    assert all(r.correct for r in results if r.id == RIGHT)


@pytest.mark.parametrize("stop", [ModelUnreachable, KeyboardInterrupt])
@pytest.mark.parametrize("after", [0, 3, 6])
def test_an_interrupted_evaluation_goes_on(
    bench: Make, questions: list[Question], tmp_path: Path, stop: type[BaseException], after: int
) -> None:
    """It ends with the results of an uninterrupted run and asks nothing a second time that was answered."""
    asked: list[str] = []
    rungs, path = ["+retries", BASELINE], tmp_path / "journal.jsonl"

    def counting(prompt: str) -> str:
        asked.append(prompt)
        return scripted(prompt)

    def failing(prompt: str) -> str:
        if len(asked) == after:
            raise stop("gone")
        return counting(prompt)

    with pytest.raises(stop):
        evaluate(bench(failing), questions, rungs, Journal(path, Result), repeats=2, threads=1)
    done = Journal(path, Result).results
    calls = sum(r.usage.calls for r in done)
    assert len(done) < 8
    del asked[calls:]
    results = evaluate(bench(counting), questions, rungs, Journal(path, Result), repeats=2, threads=1)
    asked_once = list(asked)
    asked.clear()
    whole = evaluate(bench(counting), questions, rungs, Journal(tmp_path / "whole.jsonl", Result), repeats=2, threads=1)
    assert told(results) == told(whole)
    assert sorted(asked_once) == sorted(asked)
    asked.clear()
    evaluate(bench(counting), questions, rungs, Journal(path, Result), repeats=2)
    assert asked == []


def test_what_is_under_way_at_a_stop_is_kept(bench: Make, questions: list[Question], tmp_path: Path) -> None:
    """Side by side, an error of one question does not lose the answer of another, and what has not begun is dropped."""
    begun, failed = threading.Event(), threading.Event()

    def reply(prompt: str) -> str:
        if "stand above 200" in prompt:
            begun.set()
            assert failed.wait(10)
            return scripted(prompt)
        assert begun.wait(10)
        failed.set()
        raise ModelUnreachable("gone")

    journal = Journal(tmp_path / "journal.jsonl", Result)
    ordered = sorted(questions, key=lambda q: q.id != RIGHT)
    with pytest.raises(ModelUnreachable):
        evaluate(bench(reply), ordered, [BASELINE], journal, repeats=2, threads=2)
    assert RIGHT in [r.id for r in Journal(journal.path, Result).results]


def test_repeats_are_asked_anew(bench: Make, questions: list[Question], tmp_path: Path) -> None:
    answers = iter([str(YEAR), "1999", str(YEAR)])
    made = bench(lambda prompt: fields(answer=next(answers)) if "results" in prompt else scripted(prompt))
    right = [q for q in questions if q.id == RIGHT]
    results = evaluate(made, right, ["sql"], Journal(tmp_path / "j.jsonl", Result), repeats=3, threads=1)
    assert [(r.repeat, r.answer) for r in results] == [(1, YEAR), (2, 1999), (3, YEAR)]
    assert summarise("sql", results).by_repeat == [1.0, 0.0, 1.0]


def test_a_question_without_a_date_is_asked_as_of_the_settings_or_today(bench: Make, tmp_path: Path) -> None:
    question = Question.model_validate(
        {"id": "q", "question": "When did it stand above 200?", "answer_format": {"kind": "year"}, "gold": YEAR}
    )
    dates: list[str] = []

    def reply(prompt: str) -> str:
        dates.append(prompt.split("[[ ## today ## ]]")[-1].split()[0])
        return scripted(prompt)

    made = bench(reply, as_of=dt.date(2001, 2, 3))
    evaluate(made, [question], ALL, Journal(tmp_path / "a.jsonl", Result), threads=1)
    assert set(dates) == {"2001-02-03"}
    results = evaluate(bench(reply), [question], ALL, Journal(tmp_path / "b.jsonl", Result), threads=1)
    assert all(r.correct for r in results)


def test_only_an_answer_can_be_right(bench: Make, questions: list[Question]) -> None:
    question = questions[0]
    answer = bench(scripted).answer("+retries", next(q for q in questions if q.id == RIGHT))
    assert judge("sql", 1, question, answer, answer.value).correct
    answer.status = "not_found"
    assert not judge("sql", 1, question, answer, answer.value).correct


def test_the_fingerprint_changes_with_what_is_asked(
    bench: Make, questions: list[Question], sample: DuckDBWarehouse, sandbox: Sandbox, economy: Any, tmp_path: Path
) -> None:
    from finexpert.datasets.fred import database as fred

    base = bench(scripted)
    first = fingerprint(base, questions, ALL, 1)
    assert fingerprint(bench(scripted), questions, ALL, 1) == first
    other = economy | {"UNRATE": economy["UNRATE"] + 1}
    with DuckDBWarehouse(fred.build(other, tmp_path / "other.duckdb")) as data:
        over_other_data = fingerprint(QuestionBench(data, sandbox, base.models, base.settings), questions, ALL, 1)
    other_model = LanguageModels(ScriptedModel(model="another"))
    changed = {
        over_other_data,
        fingerprint(base, questions[:1], ALL, 1),
        fingerprint(base, [questions[0].model_copy(update={"question": "Why?"}), questions[1]], ALL, 1),
        fingerprint(base, questions, RUNGS, 1),
        fingerprint(base, questions, ALL, 2),
        fingerprint(bench(scripted, drafts=False), questions, ALL, 1),
        fingerprint(bench(scripted, retries=0), questions, ALL, 1),
        fingerprint(bench(scripted, privacy="samples"), questions, ALL, 1),
        fingerprint(QuestionBench(sample, sandbox, other_model, base.settings), questions, ALL, 1),
    }
    assert len(changed - {first}) == 9
