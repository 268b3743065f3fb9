"""The labelled set of memory lookup, and its scoring: judged by hand, summed by hand, resumed, and stopped by errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import cast

import pytest
import sqlglot

from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.layers.lookup_evaluation import (
    LookupResult,
    LookupVerdict,
    Tier,
    judge_lookup,
    scored,
    summarise,
)
from finexpert.datasets.layers.lookup_examples import (
    LookupExample,
    StoredProcess,
    fill,
    load_examples,
    load_processes,
    read_examples,
)
from finexpert.embeddings.embedding import embedder
from finexpert.embeddings.minilm import missing
from finexpert.errors import ModelUnreachable, OutputError, QuestionFileError
from finexpert.knowledge.taught import Taught
from finexpert.modules.memory_lookup import LIMIT, is_near, searched
from finexpert.text.terms import normalise

EXAMPLES = load_examples()
STORED = read_examples("processes.jsonl", StoredProcess)


def example(id: str, expected: Sequence[str] = (), whole: bool = False, conversation: str = "") -> LookupExample:
    return LookupExample(
        id=id,
        split="val",
        scenario="macro",
        question=f"{id}?",
        conversation=conversation,
        expected=tuple(expected),
        whole=whole,
    )


# The set itself


def test_the_set_is_large_enough_and_balanced() -> None:
    assert len(STORED) >= 48
    assert len(EXAMPLES) >= 240
    kinds = Counter(each.kind for each in EXAMPLES)
    assert all(0.3 < kinds[kind] / len(EXAMPLES) < 0.37 for kind in ("whole", "part", "none"))
    near = sum("-near-" in each.id for each in EXAMPLES)
    assert 0.4 < near / kinds["none"] < 0.6
    assert sum(len(each.expected) == 2 for each in EXAMPLES) >= 30
    assert sum(bool(each.conversation) for each in EXAMPLES) >= 8


def test_splits_share_no_question_and_keep_scenarios_apart() -> None:
    asked = [(normalise(each.question), each.conversation) for each in EXAMPLES]
    assert len(set(asked)) == len({each.id for each in EXAMPLES}) == len(EXAMPLES)
    scenarios = {split: {e.scenario for e in EXAMPLES if e.split == split} for split in ("train", "val", "holdout")}
    assert scenarios["train"] & scenarios["holdout"] == {"macro"}
    assert "company" not in scenarios["train"] | scenarios["val"]
    assert "fund" not in scenarios["holdout"]
    assert len(load_examples("holdout")) >= 100
    assert len(load_examples("train")) >= 50 <= len(load_examples("val"))


def test_questions_refer_to_processes_of_their_scenario_and_every_process_is_needed() -> None:
    homes = {process.heading: process.scenario for process in STORED}
    assert all(homes[heading] == each.scenario for each in EXAMPLES for heading in each.expected)
    assert {heading for each in EXAMPLES for heading in each.expected} == set(homes)


def test_most_questions_do_not_name_what_they_need() -> None:
    phrases = {process.heading: process.names for process in STORED}
    needing = [each for each in EXAMPLES if each.expected]
    naming = sum(
        any(name in normalise(each.question) for heading in each.expected for name in phrases[heading])
        for each in needing
    )
    assert 0.1 < naming / len(needing) < 0.5


def test_names_of_processes_are_unique() -> None:
    names = Counter(name for process in STORED for name in set(process.names))
    assert max(names.values()) == 1
    assert {process.status for process in load_processes()} == {"active"}


@pytest.mark.parametrize("process", STORED, ids=lambda process: str(process.heading))
def test_a_process_is_whole(process: StoredProcess) -> None:
    texts = " ".join(step.text + (step.sql or "") for step in process.steps)
    assert set(re.findall(r"<(\w+)>", texts)) == {variable.name for variable in process.variables}
    assert 2 <= len(process.steps) <= 5
    for step in process.steps:
        if step.sql:
            sqlglot.parse_one(re.sub(r"<(\w+)>", "item", step.sql), dialect="duckdb")
        if step.code:
            compile(step.code, "step", "exec")


# Reading


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not JSON"),
        ('{"id": "a", "split": "test"}', "line 2: split: Input should be 'train', 'val' or 'holdout'"),
        (
            '{"id": "a", "split": "val", "scenario": "s", "question": "q", "expected": ["x", "y"], "whole": true}',
            "line 2: the line: Value error, a whole match expects exactly one process",
        ),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{example('a').model_dump_json()}\n{line}\n")
    with pytest.raises(QuestionFileError, match=re.escape(message)):
        load_examples(path=path)


@pytest.mark.parametrize(("name", "message"), [("none.jsonl", "cannot be read"), ("empty.jsonl", "holds no example")])
def test_a_missing_or_empty_file_is_named(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(QuestionFileError, match=f"{name} {message}"):
        load_examples(path=tmp_path / name)


# Judging


@pytest.mark.parametrize(
    ("expected", "whole", "found", "tier", "hit", "missing", "extra", "tier_right"),
    [
        (["A"], True, ["A"], "whole", True, [], [], True),
        (["A"], True, ["The a"], "named", True, [], [], True),
        (["A"], True, ["A"], "part", True, [], [], False),
        (["A"], False, ["A"], "whole", True, [], [], False),
        (["A"], False, ["B", "A"], "part", False, [], ["B"], True),
        (["A", "C"], False, ["C"], "part", True, ["A"], [], True),
        (["A", "C"], False, ["C", "B", "A", "B"], "part", True, [], ["B"], True),
        (["A"], True, [], "none", False, ["A"], [], False),
        ([], False, [], "none", None, [], [], True),
        ([], False, ["B"], "part", None, [], ["B"], False),
        ([], False, ["B"], "named", None, [], ["B"], False),
    ],
)
def test_a_lookup_judged_by_hand(
    expected: list[str],
    whole: bool,
    found: list[str],
    tier: Tier,
    hit: bool | None,
    missing: list[str],
    extra: list[str],
    tier_right: bool,
) -> None:
    verdict = judge_lookup(expected, whole, found, tier)
    assert verdict == LookupVerdict(hit, tuple(missing), tuple(extra), tier_right)
    assert verdict.right == (not missing and not extra)


ANSWERS: dict[str, tuple[Sequence[str], Tier, int]] = {
    "whole?": (["A"], "whole", 0),
    "part?": (["B", "A"], "part", 2),
    "two?": (["A"], "part", 1),
    "none?": ([], "none", 0),
    "near?": (["B"], "part", 1),
}
FIVE = [
    example("whole", ["A"], True),
    example("part", ["A"]),
    example("two", ["A", "C"]),
    example("none"),
    example("near"),
]


def run(tmp_path: Path, **changed: object) -> tuple[list[LookupResult], list[str]]:
    asked: list[str] = []

    def lookup(question: str, conversation: str) -> tuple[Sequence[str], Tier, int]:
        asked.append(question)
        answer = changed.get(question.rstrip("?"), ANSWERS[question])
        if isinstance(answer, Exception):
            raise answer
        return cast("tuple[Sequence[str], Tier, int]", answer)

    journal = Journal(tmp_path / "journal.jsonl", LookupResult)
    return journal.in_order(partial(scored, lookup), FIVE, threads=1), asked


def test_a_summary_counted_by_hand(tmp_path: Path) -> None:
    summary = summarise(run(tmp_path)[0])
    counted = {
        name: getattr(summary, name)[:2]
        for name in ("recall_at_1", "recall_of_needed", "all_needed", "false_recalls", "wrong_extra", "tier", "right")
    }
    assert counted == {
        "recall_at_1": (2, 3),
        "recall_of_needed": (3, 4),
        "all_needed": (2, 3),
        "false_recalls": (1, 2),
        "wrong_extra": (2, 5),
        "tier": (4, 5),
        "right": (2, 5),
    }
    assert {kind: part[:2] for kind, part in summary.by_kind.items()} == {
        "whole": (1, 1),
        "part": (0, 2),
        "none": (1, 2),
    }
    assert (summary.calls, summary.without_call[:2], summary.failed) == (0.8, (2, 5), 0)
    assert summary.wrong == ["part", "two", "near"]


def test_an_empty_summary_says_nothing() -> None:
    assert summarise([]).recall_at_1 == (0, 0, 0.0, 0.0, 1.0)


def test_an_interrupted_evaluation_asks_only_what_is_open(tmp_path: Path) -> None:
    with pytest.raises(ModelUnreachable):
        run(tmp_path, two=ModelUnreachable("gone"))
    results, asked = run(tmp_path)
    assert asked == ["two?", "none?", "near?"]
    assert [result.id for result in results] == [each.id for each in FIVE]


def test_unusable_output_is_wrong_also_where_nothing_was_to_be_recalled(tmp_path: Path) -> None:
    results, _ = run(tmp_path, none=OutputError("no such field"), whole=OutputError("no such field"))
    failed = [result for result in results if result.failure]
    assert [(r.id, r.found, r.right, r.tier_right) for r in failed] == [
        ("whole", [], False, False),
        ("none", [], False, False),
    ]
    assert summarise(results).failed == 2


def test_every_result_is_reported_as_it_comes(tmp_path: Path) -> None:
    heard: list[str] = []
    journal = Journal(tmp_path / "journal.jsonl", LookupResult)
    ask = partial(scored, lambda q, c: ([], "none", 0))
    journal.in_order(ask, FIVE, threads=2, on_result=lambda result: heard.append(result.id))
    assert sorted(heard) == sorted(each.id for each in FIVE)


# The set in one memory


@pytest.mark.parametrize("name", ["words", "minilm"])
def test_no_question_that_needs_a_process_lies_below_the_floor(tmp_path: Path, name: str) -> None:
    if name == "minilm" and missing():
        pytest.skip(f"the sentence model: {', '.join(missing())} not installed")
    needing = [each for each in EXAMPLES if each.split != "holdout" and each.kind != "none"]
    with Taught.open(tmp_path / "knowledge.sqlite", embedder(name)) as taught:
        memory = taught.memory
        fill(memory, load_processes())
        assert memory.size == len(STORED)
        near = {each.id: memory.search(searched(each.question, each.conversation), limit=LIMIT) for each in needing}
        named = {each.id for each in needing if memory.named_in(each.question)}
        assert [id for id, found in near.items() if id not in named and not is_near(found, memory)] == []
    found = {id: {process.heading for process, _ in processes} for id, processes in near.items()}
    # The labels and the headings belong together.
    assert sum(set(each.expected) <= found[each.id] for each in needing) > 0.8 * len(needing)
