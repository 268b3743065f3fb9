"""The second gate on made-up answers: what is left out, what is chosen, what it costs, and what an interruption leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from finexpert.errors import ModelUnreachable
from finexpert.language_models.budget import Budget
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling.journal import Journal
from finexpert.optimizers.compiling.trial import with_states
from finexpert.optimizers.compiling.whole_gate import WholeVerdict, judge_whole
from finexpert.optimizers.compiling.whole_program import Ask, Way, Whole
from finexpert.optimizers.program.artifact import layers_of, states_of
from finexpert.settings import Settings

IDS = [f"q{number}" for number in range(8)]
CODE = FinancialExpert()
CODE_STATES = {name: states_of(layer) for name, layer in layers_of(CODE).items()}
DEMO = {"question": "How much?"}

# Of 8 questions, how many a way has right on a sample, and what one costs in tokens.
Right = Callable[[str, Way, set[str]], int]


def compiled(**layers: str) -> FinancialExpert:
    """A program in which these layers have other instructions, demonstrations, or both."""
    expert = FinancialExpert()
    for name, how in layers.items():
        states = {place: dict(state) for place, state in states_of(layers_of(expert)[name]).items()}
        state = next(iter(states.values()))
        if "instructions" in how:
            state["signature"] = {**state["signature"], "instructions": "Do it well."}
        if "demonstrations" in how:
            state["demos"] = [DEMO]
        setattr(expert, name, with_states(layers_of(expert)[name], states))
    return expert


def changed(way: Way) -> set[str]:
    """The layers that are not as in the code, and `<layer> with demonstrations`."""
    found = set()
    for name, code in CODE_STATES.items():
        states = way.states(name)
        found |= {name} if states != code else set()
        found |= {f"{name} with demonstrations"} if any(state["demos"] for state in states.values()) else set()
    return found


class MadeUp(Whole):
    """Answers as `right` says; every question is one call of the model."""

    right: Right
    tokens: Right
    asked: list[tuple[str, str]]

    def _ask(self, sample: str, way: Way) -> Ask:
        found = changed(way)

        def ask(id: str) -> float:
            self.asked.append((sample, way.name))
            self.models.default("word" * self.tokens(sample, way, found))
            return float(IDS.index(id) < self.right(sample, way, found))

        return ask

    def _fred(self, way: Way) -> Ask:
        return self._ask("fred", way)

    def _convfinqa(self, way: Way) -> Ask:
        return self._ask("convfinqa", way)

    def _house(self, way: Way) -> Ask:
        return self._ask("house", way)

    @property
    def ways(self) -> list[tuple[str, str]]:
        """What was asked of which sample, in order."""
        return list(dict.fromkeys(self.asked))


@pytest.fixture
def whole(tmp_path: Path) -> Callable[..., MadeUp]:
    def made(right: Right, tokens: Right = lambda *about: 100, samples: tuple[str, ...] = ("questions",)) -> MadeUp:
        questions: Any = [SimpleNamespace(id=id) for id in IDS]
        anything: Any = SimpleNamespace(label="made up", name="made up")
        models = LanguageModels(ScriptedModel(lambda messages: ""))
        asked = dict.fromkeys(samples, questions)
        found = MadeUp(
            anything, anything, models, Settings(), Journal(tmp_path / "whole.jsonl"), taught=anything, **asked
        )
        found.right, found.tokens, found.asked = right, tokens, []
        return found

    return made


def judge(whole: MadeUp, after: FinancialExpert, gains: Mapping[str, float], **given: Any) -> WholeVerdict:
    return judge_whole(whole, FinancialExpert(), after, gains, given.pop("budget", Budget()), **given)


BOTH = {"planning": 0.3, "sql_extraction": 0.1}
TWO = compiled(planning="instructions", sql_extraction="instructions")


@pytest.mark.parametrize(
    ("right", "left_out", "tried"),
    [
        (lambda found: 8, [], []),
        (lambda found: 8 if "sql_extraction" not in found else 4, ["sql_extraction"], ["sql_extraction"]),
        (lambda found: 8 if "planning" not in found else 4, ["planning"], ["sql_extraction", "planning"]),
        (lambda found: 8 if len(found) < 2 else 4, ["sql_extraction"], ["sql_extraction"]),
        (lambda found: 8 if not found else 4, ["planning", "sql_extraction"], ["sql_extraction", "planning"]),
    ],
    ids=["not worse", "the weaker spoils it", "the stronger spoils it", "worse together", "each spoils it"],
)
def test_what_spoils_the_program_is_left_out(
    whole: Any, right: Callable[[set[str]], int], left_out: list[str], tried: list[str]
) -> None:
    made = whole(lambda sample, way, found: right(found))
    verdict = judge(made, TWO, BOTH)
    assert sorted(verdict.left_out) == left_out
    assert [name.removeprefix("without ") for _, name in made.ways if name.startswith("without")] == tried
    for decision in verdict.left_out.values():
        assert not decision.keep
        assert "FRED questions (made up): worse on the holdout: -0.5 (n=8" in decision.reason
    if len(left_out) < 2:
        assert verdict.passed
        kept = Way(verdict.expert or CODE, True, True)
        assert changed(kept) == set(BOTH) - set(left_out)


def test_a_single_layer_that_spoils_it_leaves_nothing_to_try(whole: Any) -> None:
    made = whole(lambda sample, way, found: 4 if found else 8)
    verdict = judge(made, compiled(planning="instructions"), {"planning": 0.3})
    assert list(verdict.left_out) == ["planning"]
    assert [name for _, name in made.ways] == ["before", "after", "after, drafts off"]


def test_kept_anyway_leaves_nothing_out_and_is_refused(whole: Any) -> None:
    made = whole(lambda sample, way, found: 4 if found else 8)
    verdict = judge(made, TWO, BOTH, keep_anyway=True)
    assert verdict.left_out == {}
    assert [part.decision.overruled for part in verdict.combined] == [True]
    assert not verdict.passed


@pytest.mark.parametrize(
    ("on", "off", "chosen", "reason"),
    [
        ((8, 900), (8, 500), False, "not worse on the holdout: 0 "),
        ((8, 500), (8, 900), True, "not worse on the holdout: 0 "),
        ((8, 900), (5, 500), True, "not worse on the holdout: 0.375"),
        ((5, 500), (8, 900), False, "not worse on the holdout: 0.375"),
        ((8, 500), (8, 500), True, "not worse on the holdout: 0 "),
        ((7, 900), (6, 500), True, "drafts off is cheaper, but against the program before, FRED questions (made up): "),
    ],
    ids=["cheaper", "dearer", "cheaper and worse", "dearer and better", "the same", "cheaper, and too far from before"],
)
@pytest.mark.parametrize(("option", "sample"), [("drafts", "questions"), ("judge", "house")])
def test_the_cheaper_way_that_loses_nothing(
    whole: Any, option: str, sample: str, on: Any, off: Any, chosen: bool, reason: str
) -> None:
    before = 5 if on[0] == 5 else 8
    made = whole(
        lambda sample, way, found: before if not found else (on if getattr(way, option) else off)[0],
        lambda sample, way, found: (on if getattr(way, option) else off)[1],
        (sample,),
    )
    verdict = judge(made, TWO, BOTH)
    assert verdict.options.chosen() == {option: chosen}
    assert verdict.evidence[option].passed
    words = reason.replace("drafts off", f"{option} off")
    assert verdict.evidence[option].reason.startswith(words.replace("FRED", "house") if sample == "house" else words)
    assert verdict.passed


def test_drafts_the_other_way_may_mend_what_was_worse(whole: Any) -> None:
    made = whole(lambda sample, way, found: 8 if not found or not way.drafts else 4)
    verdict = judge(made, TWO, BOTH)
    assert (verdict.left_out, verdict.options.drafts, verdict.passed) == ({}, False, True)


@pytest.mark.parametrize(
    ("layer", "asked"),
    [
        ("keyword_rephrasing", {"house"}),
        ("memory_lookup", {"house"}),
        ("sql_extraction", {"fred", "house"}),
        ("script_generation", {"fred", "house"}),
        ("planning", {"fred", "convfinqa", "house"}),
    ],
)
def test_a_sample_is_asked_where_the_layer_takes_part(whole: Any, layer: str, asked: set[str]) -> None:
    made = whole(lambda *about: 8, samples=("questions", "conversations", "house"))
    verdict = judge(made, compiled(**{layer: "instructions"}), {layer: 0.2})
    assert {sample for sample, _ in made.asked} == asked
    assert len(verdict.combined) == len(asked)
    assert verdict.spent.calls == len(made.asked)


def same(name: str, states: Any) -> Any:
    return {"val": ([1.0] * 4, [1.0] * 4), "holdout": ([1.0] * 8, [1.0] * 8)}


def worse_alone(name: str, states: Any) -> Any:
    return {"val": ([1.0] * 4, [1.0] * 4), "holdout": ([1.0] * 8, [0.0] * 8)}


WITH = " with demonstrations"


@pytest.mark.parametrize(
    ("how", "own", "right", "stripped", "reason"),
    [
        ("instructions, demonstrations", same, lambda found: 8, {"planning", "sql_extraction"}, "not worse"),
        (
            "instructions, demonstrations",
            worse_alone,
            lambda found: 8,
            set(),
            "kept: planning alone without them, worse",
        ),
        ("demonstrations", same, lambda found: 8, set(), ""),
        ("instructions", same, lambda found: 8, set(), ""),
        (
            "instructions, demonstrations",
            same,
            lambda found: 8 if "planning" + WITH in found or not found else 4,
            {"sql_extraction"},
            "kept: the program without them, worse",
        ),
        (
            "instructions, demonstrations",
            same,
            lambda found: 8 if found - {"planning", "sql_extraction"} or not found else 4,
            {"planning"},
            "not worse",
        ),
    ],
    ids=["both", "worse alone", "only demonstrations", "none", "one of them", "not both at once"],
)
def test_demonstrations_go_where_nothing_is_lost(
    whole: Any, how: str, own: Any, right: Callable[[set[str]], int], stripped: set[str], reason: str
) -> None:
    made = whole(
        lambda sample, way, found: right(found),
        lambda sample, way, found: 100 + 300 * sum(name.endswith(WITH) for name in found),
    )
    verdict = judge(made, compiled(planning=how, sql_extraction=how), BOTH, own=own)
    assert set(verdict.instructions_only) == stripped
    assert verdict.options.demonstrations == (0 if len(stripped) == 2 else None)
    shown = {name for name in changed(Way(verdict.expert or CODE, True, True)) if name.endswith(WITH)}
    assert shown == ({name + WITH for name in BOTH if name not in stripped} if "demonstrations" in how else set())
    told = verdict.evidence.get("demonstrations of planning")
    assert (told.reason if told else "").startswith(reason)
    assert told is None or told.passed


def test_demonstrations_that_cost_nothing_stay(whole: Any) -> None:
    made = whole(lambda *about: 8)
    verdict = judge(made, compiled(planning="instructions, demonstrations"), {"planning": 0.3}, own=same)
    assert verdict.instructions_only == {}
    assert verdict.evidence["demonstrations of planning"].reason.startswith(
        "kept: without them 800 tokens become 800, not worse"
    )


@pytest.mark.parametrize("calls", [0, 1, 7, 8, 15, 16, 20, 24, 31, 39, 40, 100])
def test_the_budget_holds_and_what_is_known_counts(whole: Any, calls: int) -> None:
    made = whole(lambda sample, way, found: 8 if "sql_extraction" not in found else 4)
    verdict = judge(made, TWO, BOTH, budget=Budget(calls=calls))
    assert len(made.models.default.prompts) <= calls
    assert bool(verdict.ended) == (calls < 40)
    # Before, after, drafts off, without SQL extraction, and that with drafts off: 8 questions each.
    assert len(verdict.combined) == (calls >= 16)
    if 16 <= calls < 32:
        assert set(verdict.left_out) == (set(BOTH) if calls >= 24 else set())


def test_an_interruption_asks_nothing_twice(whole: Any) -> None:
    def right(sample: str, way: Way, found: set[str]) -> int:
        return 8 if "sql_extraction" not in found else 4

    uninterrupted = whole(right)
    expected = judge(uninterrupted, TWO, BOTH)
    (uninterrupted.journal._file.path).unlink()
    first = whole(right)
    first.right = lambda sample, way, found: lost() if len(first.asked) == 21 else right(sample, way, found)
    with pytest.raises(ModelUnreachable):
        judge(first, TWO, BOTH)
    second = whole(right)
    resumed = judge(second, TWO, BOTH)
    assert len(second.asked) == len(uninterrupted.asked) - 20
    for name in ("combined", "options", "evidence", "left_out", "spent"):
        assert getattr(resumed, name) == getattr(expected, name)


def lost() -> int:
    raise ModelUnreachable("the connection is lost")
