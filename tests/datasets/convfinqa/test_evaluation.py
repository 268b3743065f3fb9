"""Conversations over the packaged sample pages, with a scripted model that plans as the gold programs say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from finexpert.core.answers import Citation
from finexpert.datasets.convfinqa import scoring
from finexpert.datasets.convfinqa.conversations import Conversation, load
from finexpert.datasets.convfinqa.evaluation import (
    BASELINE,
    PLANNER,
    ConversationBench,
    ConversationResult,
    TurnRecord,
    arithmetic_errors,
    classify,
    evaluate,
    lost,
    predictions,
    turn_results,
)
from finexpert.datasets.convfinqa.plans import from_official_program
from finexpert.datasets.evaluations.journal import Journal
from finexpert.errors import ModelUnreachable, UnknownPrompt
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.settings import Settings
from finexpert.testing import fields

Reply = Callable[[str], str]
Make = Callable[..., ConversationBench]
FIRST = "Single_HRBR/2015/page_41.pdf-1"  # two cells, their difference, and what that is of the second


@pytest.fixture(scope="module")
def conversations() -> list[Conversation]:
    return load()


@pytest.fixture
def bench() -> Make:
    def make(reply: Reply, history: Literal["own", "gold"] = "own", model: str = "scripted") -> ConversationBench:
        models = LanguageModels(ScriptedModel(lambda messages: reply(messages[-1]["content"])))
        return ConversationBench(models, Settings(cache=False), history, model=model)

    return make


@pytest.fixture
def journal(tmp_path: Path) -> Journal[ConversationResult]:
    return Journal(tmp_path / "journal.jsonl", ConversationResult)


def asked(prompt: str) -> str:
    """The question of a prompt."""
    return prompt.split("[[ ## question ## ]]\n")[-1].split("\n\n[[ ##")[0].split("\n\nRespond")[0].strip()


def planned(steps: list[dict[str, Any]], answer: str = "") -> str:
    last = steps[-1]["id"] if steps else 0
    return fields(entity="what was asked", steps=json.dumps(steps), answer=answer or f"step {last}")


def by_gold(conversations: list[Conversation], instead: Mapping[str, str] | None = None) -> Reply:
    """A model that plans as the gold says, in both modes, except for the questions that `instead` answers."""

    def reply(prompt: str) -> str:
        question = asked(prompt)
        if instead and question in instead:
            return instead[question]
        conversation = next(c for c in conversations if c.filing.page_text() in prompt and question in words(c))
        turn = conversation.turns[words(conversation).index(question)]
        if "[[ ## working ## ]]" in prompt:
            return fields(working="in my head", answer=str(turn.answer))
        plan = from_official_program(turn.program or "", conversation.filing, question)
        return planned([step.model_dump(mode="json") for step in plan.steps])

    return reply


def words(conversation: Conversation) -> list[str]:
    return [turn.question for turn in conversation.turns]


def predicted(results: list[ConversationResult], id: str = FIRST) -> list[object]:
    return next([turn.predicted for turn in r.turns] for r in results if r.id == id)


def told(results: list[ConversationResult]) -> list[dict[str, Any]]:
    """Results without their times, in one order."""
    times = {"turns": {"__all__": {"usage": {"seconds", "model_seconds", "stages", "prefix_share"}}}}
    return sorted((r.model_dump(mode="json", exclude=times) for r in results), key=lambda r: (r["mode"], r["id"]))


# What a question about HRBR's sales becomes: wrong in the second turn, and built on turns in the later ones.
SALES_2013 = planned([{"kind": "cell", "id": 1, "row": "net sales", "column": "2013"}])
CHANGE = planned([{"kind": "compute", "id": 1, "operation": "subtract", "arguments": ["turn 1", "turn 2"]}])
SHARE = planned([{"kind": "compute", "id": 1, "operation": "divide", "arguments": ["turn 3", "turn 2"]}])
CHAINED = {
    "and in 2014 ?": SALES_2013,
    "and how much did they change over the year ?": CHANGE,
    "what is that as a portion of the 2014 figure ?": SHARE,
}


def test_gold_plans_answer_every_turn(
    bench: Make, conversations: list[Conversation], journal: Journal[ConversationResult]
) -> None:
    results = evaluate(bench(by_gold(conversations)), conversations, [PLANNER, BASELINE], journal, threads=4)
    for mode in (PLANNER, BASELINE):
        chosen = [r for r in results if r.mode == mode]
        rows = turn_results(chosen, conversations)
        summary = scoring.summarise(rows, tables={c.id: c.filing.table for c in conversations}.__getitem__)
        assert summary.turns["close"].right == summary.turns["close"].of == len(rows) == 22
        assert summary.turns["lenient"].right == 22
        assert {turn.usage.calls for r in chosen for turn in r.turns} == {1}
        assert lost(chosen) == []
        assert arithmetic_errors(chosen, conversations) == 0
        if mode == PLANNER:
            assert summary.programs.right == summary.turns["strict"].right == 22
    planner = [turn for r in results if r.mode == PLANNER for turn in r.turns]
    assert all(turn.plan and turn.citations and turn.confidence for turn in planner)
    assert all(turn.failure is None for r in results for turn in r.turns)


def test_own_answers_are_the_history_and_gold_where_it_is_asked_for(
    bench: Make, conversations: list[Conversation], tmp_path: Path
) -> None:
    one = [c for c in conversations if c.id == FIRST]
    reply = by_gold(conversations, CHAINED)
    own = evaluate(bench(reply), one, [PLANNER], Journal(tmp_path / "own.jsonl", ConversationResult))
    gold = evaluate(bench(reply, "gold"), one, [PLANNER], Journal(tmp_path / "gold.jsonl", ConversationResult))
    assert predicted(own) == [486.2, 430.0, pytest.approx(56.2), pytest.approx(56.2 / 430.0)]
    assert predicted(gold) == [486.2, 430.0, pytest.approx(44.7), pytest.approx(44.7 / 441.5, abs=1e-6)]
    # A program is written with the plans of earlier turns: after a gold answer with those of the gold.
    programs = [turn.program for turn in gold[0].turns]
    assert programs[2] == ["subtract(", "486.2", "441.5", ")", "EOF"]
    assert arithmetic_errors(own, one) == arithmetic_errors(gold, one) == 0
    rows = turn_results(gold, one)
    assert [row.right("close") for row in rows] == [True, False, True, True]
    assert scoring.summarise(rows).given["wrong"].share == 1.0


def test_gold_history_is_what_the_model_reads(bench: Make, conversations: list[Conversation], tmp_path: Path) -> None:
    prompts: list[str] = []
    one = [c for c in conversations if c.id == FIRST]
    answer = by_gold(conversations, CHAINED)

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        return answer(prompt)

    for history, wanted, not_wanted in (("gold", "441.5", "net sales / 2013"), ("own", "430.0", "-> 441.5")):
        prompts.clear()
        evaluate(bench(reply, history), one, [PLANNER], Journal(tmp_path / history, ConversationResult))
        said = prompts[2].split("[[ ## conversation ## ]]")[1].split("[[ ##")[0]
        assert wanted in said
        assert not_wanted not in said


def test_a_failed_turn_has_a_gold_answer_for_later_turns(
    bench: Make, conversations: list[Conversation], tmp_path: Path
) -> None:
    one = [c for c in conversations if c.id == FIRST]
    nowhere = planned([{"kind": "cell", "id": 1, "row": "net sales", "column": "1999"}])
    reply = by_gold(conversations, CHAINED | {"and in 2014 ?": nowhere})
    own = evaluate(bench(reply), one, [PLANNER], Journal(tmp_path / "own.jsonl", ConversationResult))
    gold = evaluate(bench(reply, "gold"), one, [PLANNER], Journal(tmp_path / "gold.jsonl", ConversationResult))
    assert predicted(own) == [486.2, None, None, None]
    assert [f.layer if (f := turn.failure) else None for turn in own[0].turns] == [None, *["planning"] * 3]
    assert predicted(gold) == [486.2, None, pytest.approx(44.7), pytest.approx(44.7 / 441.5, abs=1e-6)]


def test_a_turn_that_is_not_recorded_fails_alone(
    bench: Make, conversations: list[Conversation], journal: Journal[ConversationResult]
) -> None:
    def reply(prompt: str) -> str:
        if asked(prompt) == "and in 2014 ?":
            raise UnknownPrompt("not recorded: 'and in 2014 ?'\nmore about it")
        return by_gold(conversations)(prompt)

    results = evaluate(bench(reply), conversations, [PLANNER, BASELINE], journal)
    entries = lost(results)
    assert [(e["id"], e["turn"], e["kind"], e["failure"]) for e in entries] == [
        (FIRST, 2, "no answer", "not recorded: 'and in 2014 ?'")
    ] * 2
    failures = [turn.failure for r in results for turn in r.turns if turn.failure]
    assert {(f.layer, f.kind) for f in failures} == {("language_models", "unknown prompt")}


@pytest.mark.parametrize("stop", [ModelUnreachable, KeyboardInterrupt])
@pytest.mark.parametrize("after", [0, 7, 30])
def test_an_interrupted_evaluation_goes_on(
    bench: Make, conversations: list[Conversation], tmp_path: Path, stop: type[BaseException], after: int
) -> None:
    """It ends with the results of an uninterrupted run, and holds no finished conversation a second time."""
    prompts: list[str] = []
    answer, modes, path = by_gold(conversations), [PLANNER, BASELINE], tmp_path / "journal.jsonl"

    def counting(prompt: str) -> str:
        prompts.append(prompt)
        return answer(prompt)

    def failing(prompt: str) -> str:
        if len(prompts) == after:
            raise stop("gone")
        return counting(prompt)

    with pytest.raises(stop):
        evaluate(bench(failing), conversations, modes, Journal(path, ConversationResult), threads=1)
    done = Journal(path, ConversationResult).results
    assert len(done) == {0: 0, 7: 1, 30: 7}[after]
    del prompts[sum(len(r.turns) for r in done) :]
    results = evaluate(bench(counting), conversations, modes, Journal(path, ConversationResult), threads=1)
    assert len(prompts) == 2 * 22
    whole = Journal(tmp_path / "whole.jsonl", ConversationResult)
    evaluate(bench(answer), conversations, modes, whole)
    assert told(results) == told(whole.results)
    prompts.clear()
    evaluate(bench(counting), conversations, modes, Journal(path, ConversationResult))
    assert prompts == []


def test_a_second_model_shares_the_journal(
    bench: Make, conversations: list[Conversation], journal: Journal[ConversationResult]
) -> None:
    answer = by_gold(conversations)
    for model in ("one", "two", "one"):
        evaluate(bench(answer, model=model), conversations, [PLANNER], journal)
    assert sorted(r.model for r in journal.results) == ["one"] * 5 + ["two"] * 5


def test_why_a_turn_was_lost() -> None:
    def turn(predicted: object, program: str | None = None, gold: float | str = 0.10125) -> TurnRecord:
        tokens = program.split() if program else None
        return TurnRecord(
            question="?",
            gold=gold,
            gold_program="subtract(486.2, 441.5), divide(#0, 441.5)",
            predicted=predicted,
            program=tokens,
        )

    same = "subtract( 486.2 430.0 ) divide( #0 430.0 ) EOF"
    other = "divide( 486.2 441.5 ) EOF"
    assert classify(turn(None)) == "no answer"
    assert classify(turn(10.125, other)) == "convention"
    assert classify(turn(-0.10125, other)) == "convention"
    assert classify(turn(0.131, same)) == "extraction"
    assert classify(turn(1.101, other)) == "planning"
    assert classify(turn(1.101, None)) == "planning"
    assert classify(turn(1.101, other), other=1.1012) == "suspected gold error"
    assert classify(turn(1.101, other), other=0.10125) == "planning"
    assert classify(turn("no", other, gold="yes")) == "planning"
    assert classify(turn("no", other, gold="yes"), other="no") == "suspected gold error"


def test_what_was_lost_comes_with_its_evidence() -> None:
    def held(mode: str, *predicted: float) -> ConversationResult:
        turns = [
            TurnRecord(
                question=f"{number}?",
                gold=1.0,
                gold_program="add(0.5, 0.5)",
                predicted=value,
                program=["subtract(", "3", "1", ")", "EOF"],
                confidence=70,
                flags=["far"],
                citations=[Citation(source="p", place="row / 2014", value=3)],
            )
            for number, value in enumerate(predicted, 1)
        ]
        return ConversationResult(mode=mode, model="m", id="c", page="p", turns=turns)

    planner, baseline = held(PLANNER, 1.0, 2.0, 2.0), held(BASELINE, 1.0, 1.0, 2.0)
    entries = lost([planner], beside=[baseline])
    assert [(e["turn"], e["kind"]) for e in entries] == [(2, "planning"), (3, "suspected gold error")]
    assert entries[0] == {
        "id": "c",
        "turn": 2,
        "kind": "planning",
        "questions": ["1?", "2?"],
        "gold": 1.0,
        "gold_program": "add(0.5, 0.5)",
        "predicted": 2.0,
        "program": "subtract( 3 1 ) EOF",
        "citations": ["row / 2014 = 3"],
        "flags": ["far"],
        "confidence": 70,
        "failure": None,
    }
    assert [e["kind"] for e in lost([planner])] == ["planning", "planning"]


def test_an_answer_that_its_own_program_does_not_give_is_an_arithmetic_error(conversations: list[Conversation]) -> None:
    first = conversations[0]

    def held(predicted: object, program: list[str] | None) -> ConversationResult:
        turn = TurnRecord(question="?", gold=44.7, predicted=predicted, program=program)
        return ConversationResult(mode=PLANNER, model="m", id=first.id, page=first.page, turns=[turn])

    program = ["subtract(", "486.2", "441.5", ")", "EOF"]
    assert arithmetic_errors([held(44.7, program)], [first]) == 0
    assert arithmetic_errors([held(45.7, program), held(44.7, program), held(0.0, program)], [first]) == 2
    assert arithmetic_errors([held(45.7, None), held(None, program)], [first]) == 0


def test_turns_without_a_public_answer_are_predicted_and_not_scored(
    bench: Make, conversations: list[Conversation], journal: Journal[ConversationResult]
) -> None:
    answer = by_gold(conversations)
    private = [
        replace(c, turns=tuple(replace(t, answer=None, program=None) for t in c.turns)) for c in conversations[:2]
    ]
    results = evaluate(bench(answer, "gold"), private, [PLANNER], journal, threads=1)
    assert turn_results(results, private) == []
    assert lost(results) == []
    written = predictions(results)
    assert [entry["id"] for entry in written] == [f"{c.id}_{n}" for c in private for n in range(4)]
    assert written[2]["predicted"] == ["subtract(", "486.2", "441.5", ")", "EOF"]


def test_a_turn_without_a_program_is_written_as_one_without_a_value() -> None:
    turn = TurnRecord(question="?", gold=1.0)
    result = ConversationResult(mode=PLANNER, model="m", id="c", page="p", turns=[turn])
    assert predictions([result]) == [{"id": "c_0", "predicted": ["n/a", "EOF"]}]
