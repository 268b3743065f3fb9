"""The labelled set of keyword rephrasing, and its scoring: judged by hand, summed by hand, resumed, and stopped by errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.layers.keyword_evaluation import (
    KeywordResult,
    KeywordVerdict,
    Rephrased,
    judge_keywords,
    scored,
    summarise,
)
from finexpert.datasets.layers.keyword_examples import KeywordExample, fill, load_examples, load_scenarios
from finexpert.embeddings.embedding import WordHashing
from finexpert.errors import ModelUnreachable, OutputError, QuestionFileError
from finexpert.knowledge.taught import Taught
from finexpert.text.terms import normalise, phrases_in, words_of

EXAMPLES = load_examples()
SCENARIOS = load_scenarios()
KINDS = {"exact", "alias", "semantic", "two", "unknown", "plain", "defined", "schema", "sense"}


def example(
    kind: str, terms: Sequence[str] = (), ask: Sequence[str] = (), keep: Sequence[str] = (), question: str = "How many?"
) -> KeywordExample:
    return KeywordExample(
        id=f"macro-{kind}-1",
        split="val",
        scenario="macro",
        question=question,
        expected_terms=tuple(terms),
        ask=tuple(ask),
        keep=tuple(keep),
    )


def terms_named(case: KeywordExample) -> set[str]:
    """The terms of the glossary of which a name stands in the question."""
    owners = {name: keyword.term for keyword in SCENARIOS[case.scenario].keywords for name in keyword.names}
    return {owners[name] for name in phrases_in(case.question, owners)}


# The set itself


def test_the_set_is_large_enough_and_every_kind_is_held_out() -> None:
    assert len(EXAMPLES) >= 90
    assert len(load_examples("holdout")) >= 60
    assert {each.kind for each in load_examples("holdout")} == KINDS
    assert len(load_examples("train")) >= 20 <= len(load_examples("val"))
    assert min(Counter(each.kind for each in EXAMPLES).values()) >= 7


def test_splits_share_no_question_and_keep_scenarios_apart() -> None:
    assert len({each.question for each in EXAMPLES}) == len({each.id for each in EXAMPLES}) == len(EXAMPLES)
    scenarios = {split: {e.scenario for e in EXAMPLES if e.split == split} for split in ("train", "val", "holdout")}
    assert scenarios["train"] & scenarios["holdout"] == {"macro"}
    assert "company" not in scenarios["train"] | scenarios["val"]
    assert "fund" not in scenarios["holdout"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_glossary_is_sound(name: str) -> None:
    scenario = SCENARIOS[name]
    assert 8 <= len(scenario.keywords) <= 12
    names = Counter(each for keyword in scenario.keywords for each in set(keyword.names))
    assert max(names.values()) == 1
    assert scenario.schema_card.count("\ntable ") >= 3
    assert not phrases_in(scenario.schema_card, names), "a term of the house does not stand in the schema"


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: str(case.id))
def test_a_case_is_what_its_kind_says(case: KeywordExample) -> None:
    keywords = {keyword.term: keyword for keyword in SCENARIOS[case.scenario].keywords}
    assert set(case.expected_terms) <= set(keywords)
    assert all(word.casefold() in case.question.casefold() for word in case.keep)
    assert bool(case.ask) == (case.kind == "unknown")
    named = terms_named(case)
    for term in case.ask:
        assert phrases_in(case.question, [normalise(term)])
        assert not phrases_in(case.conversation + SCENARIOS[case.scenario].schema_card, [normalise(term)])
        assert term not in named
    if case.kind in ("exact", "alias"):
        assert named == set(case.expected_terms) != set()
        by_term = {term for term in named if phrases_in(case.question, [normalise(term)])}
        assert by_term == (named if case.kind == "exact" else set())
    elif case.kind == "two":
        assert len(case.expected_terms) >= 2
    elif case.kind == "semantic":
        assert case.expected_terms
        assert not named
    elif case.kind == "unknown":
        assert named == set(case.expected_terms)
    else:
        assert not case.expected_terms
        assert bool(named) == (case.kind == "sense")
    if case.kind == "schema":
        known = set(words_of(SCENARIOS[case.scenario].schema_card.replace("_", " ")))
        known |= set(re.findall(r"\w+", SCENARIOS[case.scenario].schema_card.casefold()))
        assert set(words_of(case.question)) & known


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(example("exact").model_dump_json().replace("macro-exact-1", "macro-odd-1"))
    with pytest.raises(QuestionFileError, match=r"mine\.jsonl, line 1: id: String should match"):
        load_examples(path=path)


# Judging

TIDE = example("exact", ["spring tide"], keep=["2005", "M2"], question="How many spring tides since 2005 in M2?")
TURTLE = example("unknown", ["spring tide"], ["turtle mode"], question="How many spring tides were in turtle mode?")
PLAIN = example("plain", keep=["2019"], question="How long was the streak of 2019?")


@pytest.mark.parametrize(
    ("case", "made", "expected"),
    [
        (TIDE, (TIDE.question, ["spring tide"]), (["spring tide"], [], [], True, [], None)),
        (
            TIDE,
            ("Quarters with m2 growth above 3 since  2005?", ["Spring Tides"]),
            (["spring tide"], [], [], True, [], None),
        ),
        (
            TIDE,
            ("Quarters with growth?", ["lean year"]),
            ([], ["spring tide"], ["lean year"], True, ["2005", "M2"], None),
        ),
        (TIDE, (TIDE.question, ["spring tide"], ["M2"]), (["spring tide"], [], [], False, [], None)),
        (TURTLE, (TURTLE.question, ["spring tide"], ["the Turtle Modes"]), (["spring tide"], [], [], True, [], None)),
        (TURTLE, (TURTLE.question, ["spring tide"], ["turtle"]), (["spring tide"], [], [], True, [], None)),
        (TURTLE, (TURTLE.question, ["spring tide"], ["?"]), (["spring tide"], [], [], False, [], None)),
        (TURTLE, (TURTLE.question, ["spring tide"]), (["spring tide"], [], [], False, [], None)),
        (TURTLE, (TURTLE.question, [], ["turtle mode", "spring tide"]), ([], ["spring tide"], [], False, [], None)),
        (PLAIN, (PLAIN.question,), ([], [], [], True, [], True)),
        (PLAIN, (" how long was the  streak of 2019?",), ([], [], [], True, [], True)),
        (PLAIN, ("How long was the run of 2019?",), ([], [], [], True, [], False)),
        (PLAIN, (PLAIN.question, [], ["streak"]), ([], [], [], False, [], False)),
        (PLAIN, (PLAIN.question, ["lean year"]), ([], [], ["lean year"], True, [], False)),
    ],
)
def test_a_rephrasing_judged_by_hand(
    case: KeywordExample,
    made: tuple[str, Sequence[str], Sequence[str]],
    expected: tuple[list[str], list[str], list[str], bool, list[str], bool | None],
) -> None:
    found, missed, wrong, asked_right, lost, untouched = expected
    verdict = judge_keywords(case, Rephrased(*made))
    assert verdict == KeywordVerdict(tuple(found), tuple(missed), tuple(wrong), asked_right, tuple(lost), untouched)
    assert verdict.right == (asked_right and untouched is not False and not missed + wrong + lost)


CASES = [
    TIDE,
    TURTLE,
    PLAIN,
    example("alias", ["lean year"], question="Was it a thin year?"),
    example("sense", question="Is it hot?"),
]
ANSWERS = {
    "macro-exact-1": Rephrased(TIDE.question, ["spring tide", "lean year"], [], 0),
    "macro-unknown-1": Rephrased(TURTLE.question, ["spring tide"], ["turtle mode"], 1),
    "macro-plain-1": Rephrased(PLAIN.question, [], ["streak"], 1),
    "macro-alias-1": Rephrased("Was it a year?", [], [], 1),
    "macro-sense-1": Rephrased("Is it hot?", [], [], 0),
}


def run(tmp_path: Path, **changed: Exception) -> tuple[list[KeywordResult], list[str]]:
    asked: list[str] = []

    def rephrase(case: KeywordExample) -> Rephrased:
        asked.append(case.kind)
        if case.kind in changed:
            raise changed[case.kind]
        return ANSWERS[case.id]

    journal = Journal(tmp_path / "journal.jsonl", KeywordResult)
    return journal.in_order(partial(scored, rephrase), CASES, threads=1), asked


def test_a_summary_counted_by_hand(tmp_path: Path) -> None:
    summary = summarise(run(tmp_path)[0])
    names = (
        "precision",
        "recall",
        "asked_exactly_when_needed",
        "asked_where_needed",
        "asked_where_not",
        "kept",
        "untouched",
        "right",
    )
    assert {name: getattr(summary, name)[:2] for name in names} == {
        "precision": (2, 3),
        "recall": (2, 3),
        "asked_exactly_when_needed": (4, 5),
        "asked_where_needed": (1, 1),
        "asked_where_not": (1, 4),
        "kept": (5, 5),
        "untouched": (1, 2),
        "right": (2, 5),
    }
    assert {kind: part[0] for kind, part in summary.by_kind.items()} == {
        "alias": 0,
        "exact": 0,
        "plain": 0,
        "sense": 1,
        "unknown": 1,
    }
    assert (summary.calls, summary.without_call[:2], summary.failed) == (0.6, (2, 5), 0)
    assert summary.wrong == ["macro-exact-1", "macro-plain-1", "macro-alias-1"]


def test_an_interrupted_evaluation_asks_only_what_is_open(tmp_path: Path) -> None:
    with pytest.raises(ModelUnreachable):
        run(tmp_path, plain=ModelUnreachable("gone"))
    results, asked = run(tmp_path)
    assert asked == ["plain", "alias", "sense"]
    assert [result.id for result in results] == [each.id for each in CASES]


def test_unusable_output_is_wrong_also_where_nothing_was_to_be_done(tmp_path: Path) -> None:
    results, _ = run(tmp_path, sense=OutputError("no such field"))
    assert [(r.failure, r.right, r.asked_right) for r in results][-1] == ("no such field", False, False)
    assert summarise(results).failed == 1


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_glossary_can_be_filled_and_named(tmp_path: Path, name: str) -> None:
    with Taught.open(tmp_path / "knowledge.sqlite", WordHashing()) as taught:
        fill(taught.glossary, SCENARIOS[name])
        assert taught.glossary.size == len(SCENARIOS[name].keywords)
        for case in (each for each in EXAMPLES if each.scenario == name and each.kind in ("exact", "alias")):
            assert {keyword.term for keyword in taught.glossary.named_in(case.question)} == set(case.expected_terms)
