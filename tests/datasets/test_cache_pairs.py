"""The labelled pairs: they are what they say, and the cache tells them apart."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from finexpert.datasets import cache_evaluation as evaluation
from finexpert.errors import QuestionFileError
from finexpert.stores.embedding import embedder

SCENARIOS = evaluation.load_scenarios()
PAIRS = list(evaluation.pairs(SCENARIOS))


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, str], evaluation.PairSummary]:
    results = evaluation.evaluate(PAIRS, embedder("words"))
    return {(row.way, row.split): row for row in evaluation.summarise(results)}


def test_there_are_enough_of_each_kind_and_split() -> None:
    counted = Counter((pair.split, pair.differs is None) for pair in PAIRS)
    assert counted["train", True] + counted["holdout", True] >= 120
    assert counted["train", False] + counted["holdout", False] >= 240
    assert counted["holdout", False] >= 200
    assert {scenario.source for scenario in SCENARIOS} == {"fred", "house", "convfinqa", "library"}
    assert {pair.source for pair in PAIRS if pair.split == "holdout"} == {"fred", "house", "convfinqa", "library"}


def test_no_scenario_and_no_question_stands_twice() -> None:
    assert max(Counter(scenario.scenario for scenario in SCENARIOS).values()) == 1
    for scenario in SCENARIOS:
        texts = [scenario.question, *scenario.same, *(text for _, text in scenario.near)]
        assert len({re.sub(r"\W+", " ", text.lower()).strip() for text in texts}) == len(texts), scenario.scenario


@pytest.mark.parametrize("split", ["train", "holdout"])
def test_near_misses_are_told_apart_and_wordings_known(
    split: str, rows: dict[tuple[str, str], evaluation.PairSummary]
) -> None:
    row = rows["cache", split]
    assert row.false_hits.share <= 0.01
    assert row.hits.share >= 0.6


@pytest.mark.parametrize("split", ["train", "holdout"])
def test_likeness_alone_would_be_deceived(split: str, rows: dict[tuple[str, str], evaluation.PairSummary]) -> None:
    assert rows["meaning alone, 0.90", split].false_hits.share > 0.1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no scenario"),
        ("{", "line 1"),
        ('{"scenario": "a"}', "line 1"),
        ('\n{"scenario": "a", "split": "dev"}', "line 2"),
    ],
)
def test_a_line_that_is_none_is_named(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(text)
    with pytest.raises(QuestionFileError, match=told):
        evaluation.load_scenarios(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match=r"cannot be read \(No such file or directory\): .*--pairs"):
        evaluation.load_scenarios(tmp_path / "none.jsonl")
