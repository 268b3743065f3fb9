"""Compiling the way of planning that answers with one SELECT: its demonstrations, its judge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.layers.references import schema_card_of
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.modules.calling import using
from finexpert.modules.planning import Planning
from finexpert.optimizers.compiling.journal import Journal
from finexpert.optimizers.compiling.recipes import recipe_of, with_demos
from finexpert.optimizers.compiling.search import Models, Search
from finexpert.optimizers.compiling.tasks import CompileBench, Task, task_of

YIELD = "ten_year_yield_2019"
RIGHT = "SELECT avg(dgs10) FROM rates WHERE date BETWEEN DATE '2019-01-01' AND DATE '2019-12-31'"
WAY = "warehouse_by_select"


def says(select: str) -> ScriptedModel:
    return ScriptedModel(
        lambda messages: (
            f"[[ ## interpretation ## ]]\nits mean\n\n[[ ## select ## ]]\n{select}\n\n[[ ## completed ## ]]"
        )
    )


@pytest.fixture
def task(bench: CompileBench) -> Task:
    made = task_of("planning", bench)
    made.load("train")
    return made


def compiled(task: Task) -> Planning:
    demo = task.demonstrations(Planning(), task.record("low_of_marlow_rail"))[WAY]
    layer: Planning = with_demos(Planning(), {WAY: [demo]})
    return layer


def test_a_demonstration_has_the_question_its_tables_and_the_select(task: Task) -> None:
    record = task.record(YIELD)
    demo = task.demonstrations(Planning(), record)[WAY]
    assert demo.question == record.question
    assert demo.select == RIGHT
    assert demo.schema_card.startswith("table rates")
    assert demo.schema_card in schema_card_of(record)
    assert "table cpi" not in demo.schema_card


def test_whichever_way_is_asked_both_are_shown(task: Task) -> None:
    assert set(task.demonstrations(Planning(), task.record(YIELD))) == {"warehouse_with_drafts", WAY}
    assert WAY in task.demonstrations(compiled(task), task.record(YIELD))


def test_without_drafts_there_is_one_way(bench: CompileBench) -> None:
    bench.settings = bench.settings.model_copy(update={"drafts": False})
    task = task_of("planning", bench)
    task.load("train")
    assert task.ways == ()
    assert set(task.demonstrations(Planning(), task.record(YIELD))) == {"warehouse"}


@pytest.mark.parametrize(
    ("select", "score"),
    [
        (RIGHT, 1.0),
        ("SELECT max(dgs10) FROM rates", 0.3),
        ("SELECT dgs10 FROM rates", 0.1),
        ("SELECT avg(dgs10) FROM rates WHERE date > DATE '2030-01-01'", 0.1),
    ],
)
def test_the_select_is_run_and_judged_by_its_answer(task: Task, select: str, score: float) -> None:
    record = task.record(YIELD)
    with using(LanguageModels(says(select))):
        found = task.judge(record, task.call(compiled(task), record))
    assert found.score == score


def test_a_select_that_is_right_by_luck_is_wrong(task: Task) -> None:
    record = task.record(YIELD)
    with using(LanguageModels(says(RIGHT))):
        value = task.call(compiled(task), record).value
    with using(LanguageModels(says(f"SELECT {value!r}"))):
        assert task.judge(record, task.call(compiled(task), record)).score == 0.3


@pytest.fixture
def search(task: Task, tmp_path: Path) -> Callable[[str], Search]:
    def made(select: str) -> Search:
        model = says(select)
        roles = Models(LanguageModels(model), LanguageModels(model), model)
        train = [task.record(id) for id in (YIELD, "core_prices_of_the_2010s", "low_of_marlow_rail")]
        return Search(task, Planning(), roles, Journal(tmp_path / "journal.jsonl"), train, train[:1], most=2)

    return made


def test_candidates_take_both_ways_in_turn(search: Any) -> None:
    found = search(RIGHT)
    recipe_of("labeled").run(found)
    shown = [[len(each.states[way]["demos"]) for way in ("warehouse_with_drafts", WAY)] for each in found.tried]
    assert shown == [[2, 0], [0, 2]]
    assert [candidate.scores for candidate in found.tried] == [[0.0], [1.0]]
