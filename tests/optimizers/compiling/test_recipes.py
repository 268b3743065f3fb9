"""Each recipe finds demonstrations or instructions that help, whatever they are, by one small interface."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dspy
import pytest

from finexpert.errors import ConfigurationError, ModelUnreachable
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.modules.sql_extraction import SqlExtraction
from finexpert.optimizers.compiling.journal import Journal
from finexpert.optimizers.compiling.recipes import RECIPES, chosen, pool_of, recipe_of
from finexpert.optimizers.compiling.search import AS_IT_STANDS, Models, Search
from finexpert.optimizers.compiling.tasks import CompileBench, task_of
from finexpert.optimizers.compiling.trial import with_states
from finexpert.optimizers.program.artifact import states_of

OPTUNA = pytest.mark.skipif(find_spec("optuna") is None, reason="MIPROv2 needs optuna, which is not installed")
NAMES = [pytest.param(name, marks=OPTUNA if name == "miprov2" else ()) for name in RECIPES]
TAUGHT = "Name every window."


def helped(question: str, messages: list[dict[str, str]]) -> bool:
    """Right where there is a demonstration, or the instruction that reflecting proposes."""
    return len(messages) > 2 or TAUGHT in messages[0]["content"]


@pytest.fixture
def search(bench: CompileBench, tmp_path: Path) -> Callable[[Any], Search]:
    def made(model: Any, teacher: Any = None) -> Search:
        task = task_of("sql_extraction", bench)
        models = LanguageModels(model)
        roles = Models(models, LanguageModels(teacher) if teacher else models, model)
        train, val = task.load("train", 4), task.load("val", 3)
        return Search(task, SqlExtraction(), roles, Journal(tmp_path / "journal.jsonl"), train, val, most=2)

    return made


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_finds_what_helps(name: str, search: Any, extractor: Any) -> None:
    found = search(extractor(helped))
    found.add(AS_IT_STANDS, states_of(found.base))
    recipe_of(name).run(found)
    best = found.best()
    assert found.tried[0].scores == [0.2, 0.2, 0.2]
    assert best.name.startswith("labeled" if name.startswith("bootstrap-") else name)
    assert best.scores == [1, 1, 1]
    # Plain states, with no program and no model in them.
    assert all(set(state) <= {"traces", "train", "demos", "signature", "lm"} for state in best.states.values())


def test_bootstrap_takes_nothing_that_was_wrong(search: Any, extractor: Any) -> None:
    found = search(extractor(lambda question, messages: False))
    found.add(AS_IT_STANDS, states_of(found.base))
    recipe_of("bootstrap").run(found)
    assert [candidate.name for candidate in found.tried] == [AS_IT_STANDS]


def test_the_teacher_shows_and_the_student_is_scored(search: Any, extractor: Any) -> None:
    teacher = extractor(lambda question, messages: True)
    student = extractor(helped)
    found = search(student, teacher)
    recipe_of("bootstrap").run(found)
    asked = [messages[-1]["content"] for messages in teacher.prompts]
    assert asked

    def about(text: str, records: Any) -> bool:
        """One frame at a time is asked for without the question."""
        words = [word for r in records for word in (r.question, *(frame.purpose for frame in r.frames))]
        return any(word in text for word in words)

    assert all(about(text, found.train) for text in asked)
    assert all(about(m[-1]["content"], found.val) for m in student.prompts)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_cannot_be_reached_is_an_error(name: str, search: Any, extractor: Any) -> None:
    def gone(question: str, messages: Any) -> bool:
        raise ModelUnreachable("nobody answers")

    with pytest.raises(ModelUnreachable, match="nobody answers"):
        recipe_of(name).run(search(extractor(gone)))


@pytest.mark.parametrize("name", [p for p in NAMES if p.values[0] in ("gepa", "miprov2")])
def test_a_model_too_weak_to_word_instructions_ends_the_recipe(name: str, search: Any, extractor: Any) -> None:
    found = search(extractor(lambda question, messages: False))
    found.models.reflection = ScriptedModel(lambda messages: "I do not know")
    recipe_of(name).run(found)
    assert all(candidate.scores == [0.2, 0.2, 0.2] for candidate in found.tried)
    assert name == "gepa" or "no usable instruction" in found.note


def test_a_program_is_scored_once(search: Any, extractor: Any) -> None:
    model = extractor(helped)
    found = search(model)
    for name in ("one", "two"):
        found.make(name, SqlExtraction)
    assert len(model.prompts) == 3
    assert [candidate.name for candidate in found.tried] == ["one"]


def test_the_first_candidate_has_the_shortest_demonstrations(search: Any, extractor: Any) -> None:
    pool = pool_of(search(extractor(helped)))
    sizes = {id(demo): sum(len(str(value)) for value in demo.values()) for demo in pool["write"]}
    first = [sizes[id(demo)] for demo in chosen(pool, 0, seed=0)["write"]]
    assert first == sorted(sizes.values())[:2]
    assert chosen(pool, 1, seed=0) == chosen(pool, 1, seed=0)


def test_candidates_ask_for_all_frames_and_for_one_at_a_time_in_turn(search: Any, extractor: Any) -> None:
    # All frames at once are never right here, whatever is shown.
    found = search(extractor(lambda question, m: len(m) > 2 and "[[ ## frames ## ]]" not in m[-1]["content"]))
    found.most = 4
    found.add(AS_IT_STANDS, states_of(found.base))
    recipe_of("labeled").run(found)
    shown = [[len(candidate.states[place]["demos"]) for place in ("write", "write_one")] for candidate in found.tried]
    assert shown == [[0, 0], [2, 0], [0, 2], [1, 0], [0, 1]]
    assert [candidate.scores[0] for candidate in found.tried] == [0.2, 0.2, 1, 0.2, 1]


def test_what_goes_on_from_one_way_of_asking_can_go_back(search: Any, extractor: Any, tmp_path: Path) -> None:
    found = search(extractor(helped))
    recipe_of("labeled").run(found)
    again = search(extractor(helped))
    again.base = with_states(found.base, found.tried[-1].states)
    assert again.base.one_by_one
    again.journal = Journal(tmp_path / "again.jsonl")
    recipe_of("labeled").run(again)
    assert [len(candidate.states["write_one"]["demos"]) for candidate in again.tried] == [0, 2]


def test_miprov2_without_optuna_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("finexpert.optimizers.compiling.instructions.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"needs optuna: pip install 'finexpert\[compile\]'"):
        recipe_of("miprov2")


def test_an_unknown_recipe() -> None:
    with pytest.raises(ConfigurationError, match="'copro' is none of labeled, bootstrap"):
        recipe_of("copro")


def test_layers_stay_as_they_are(search: Any, extractor: Any) -> None:
    found = search(extractor(helped))
    before = states_of(found.base)
    for name in ("labeled", "bootstrap"):
        recipe_of(name).run(found)
    assert states_of(found.base) == before
    assert not dspy.Predict("a -> b").demos
