"""Which processes a question is given: when no model is asked, what the judge sees, and what is made of its text."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.errors import OutputError
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.modules.calling import using
from finexpert.modules.memory_lookup import LIMIT, MemoryLookup

HEADINGS = [
    "Harbour dues", "Tunnel tolls", "Ferry fares", "Barge rents", "Lock fees", "Quay charges", "Crane hire",
    "Pilot costs", "Dredging bills", "Towing rates", "Anchor taxes", "Buoy levies", "Canal passes", "Dock leases",
]  # fmt: skip


def process(heading: str, **given: Any) -> Process:
    step = ProcessStep(text=f"Add up the {heading.lower()}.")
    return Process.model_validate({"heading": heading, "steps": [step], "status": "active", **given})


@pytest.fixture
def memory(desk: Any) -> Memory:
    kept: Memory = desk.taught().memory
    return kept


def fill(memory: Memory, count: int) -> list[Process]:
    return [memory.add(process(heading), "anna") for heading in HEADINGS[:count]]


def look_up(desk: Any, memory: Memory, question: str, **given: Any) -> Any:
    with using(desk.models):
        return MemoryLookup()(question=question, memory=memory, **given)


def headings(found: Any) -> list[str]:
    return [process.heading for process in found.processes]


def numbered(prompt: str) -> dict[str, int]:
    """The number that each process has in the judge's prompt."""
    shown = prompt.rsplit("[[ ## processes ## ]]\n", 1)[1].split("\n\n[[")[0]
    lines = [line.split(". ", 1) for line in shown.splitlines()]
    return {rest.split(":")[0].split(" (also")[0]: int(number) for number, rest in lines}


def test_an_empty_memory_needs_no_call(desk: Any, memory: Memory) -> None:
    found = look_up(desk, memory, "What were the harbour dues?")
    assert (headings(found), found.tier, desk.calls) == ([], "none", [])


def test_drafts_and_retired_ones_are_not_there(desk: Any, memory: Memory) -> None:
    memory.add(process("Harbour dues", status="draft"), "anna")
    memory.add(process("Tunnel tolls"), "anna")
    memory.retire("Tunnel tolls", "anna")
    assert look_up(desk, memory, "Harbour dues and tunnel tolls?").tier == "none"
    fill_one = memory.add(process("Ferry fares"), "anna")
    desk.says("judge", desk.judged(1))
    found = look_up(desk, memory, "The ferry fares beside harbour dues and tunnel tolls?")
    assert found.processes == [fill_one]
    assert set(numbered(desk.prompts[0])) == {"Ferry fares"}


def test_below_the_floor_no_call(desk: Any, memory: Memory) -> None:
    fill(memory, 3)
    found = look_up(desk, memory, "zzzz?")
    assert (headings(found), found.tier, desk.calls) == ([], "none", [])


def test_a_heading_that_is_clearly_meant_needs_no_call(desk: Any, memory: Memory) -> None:
    # It must not be named word by word, which would go to the judge: punctuation within keeps it apart.
    memory.add(process("Harbour dues and ferry fares and tolls of the tunnel"), "anna")
    found = look_up(desk, memory, "harbour dues & ferry fares and tolls of the tunnel and")
    assert headings(found) == ["Harbour dues and ferry fares and tolls of the tunnel"]
    assert (found.tier, desk.calls) == ("whole", [])


@pytest.mark.parametrize(
    ("chosen", "whole", "found", "tier"),
    [
        ([1], True, ["Harbour dues"], "whole"),
        ([1], False, ["Harbour dues"], "part"),
        ([2, 1], False, ["Tunnel tolls", "Harbour dues"], "part"),
        ([1, 1, 1], True, ["Harbour dues"], "whole"),
        ([0, -1, 99], True, [], "none"),
        ([99, 1], True, ["Harbour dues"], "whole"),
        ([], True, [], "none"),
    ],
)
def test_few_processes_are_judged_in_one_call(
    desk: Any, memory: Memory, chosen: list[int], whole: bool, found: list[str], tier: str
) -> None:
    fill(memory, LIMIT)
    names = {1: "Harbour dues", 2: "Tunnel tolls"}

    def judge(prompt: str) -> str:
        number = numbered(prompt)
        return str(desk.judged(*(number[names[n]] if n in names else n for n in chosen), whole=whole))

    desk.says("judge", judge)
    recalled = look_up(desk, memory, "What were the harbour dues less the tunnel tolls?")
    assert (headings(recalled), recalled.tier) == (found, tier)
    assert desk.layers == ["judge"]
    assert len(numbered(desk.prompts[0])) <= LIMIT


def test_many_processes_are_looked_for_under_general_headings(desk: Any, memory: Memory) -> None:
    fill(memory, LIMIT + 2)
    desk.says("generalise", desk.fields(variants=["Canal passes"], parts=["Dock leases", "Lock fees"]))
    desk.says("judge", lambda prompt: desk.judged(numbered(prompt)["Canal passes"], numbered(prompt)["Dock leases"]))
    recalled = look_up(desk, memory, "What did the dues of the harbour come to?")
    assert headings(recalled) == ["Canal passes", "Dock leases"]
    assert desk.layers == ["generalise", "judge"]
    assert len(numbered(desk.prompts[1])) == LIMIT
    assert numbered(desk.prompts[1])["Harbour dues"] == 1  # what the question itself is near to stands first


def test_many_processes_and_no_general_heading(desk: Any, memory: Memory) -> None:
    fill(memory, LIMIT + 1)
    desk.says("generalise", desk.fields(variants=[], parts=[]))
    desk.says("judge", desk.judged(1))
    assert headings(look_up(desk, memory, "What were the harbour dues?")) == ["Harbour dues"]


def test_what_is_meant_and_what_is_named_stands_first(desk: Any, memory: Memory) -> None:
    kept = fill(memory, LIMIT)
    desk.says("judge", desk.judged(1, 2, whole=False))
    recalled = look_up(desk, memory, "What were the quay charges in the grubby ones?", meant=[kept[10]])
    assert headings(recalled) == ["Anchor taxes", "Quay charges"]


def test_what_is_meant_is_judged_however_far_it_is(desk: Any, memory: Memory) -> None:
    kept = fill(memory, 2)
    desk.says("judge", desk.judged(1))
    assert headings(look_up(desk, memory, "zzzz?", meant=[kept[1]])) == ["Tunnel tolls"]


def test_a_follow_up_is_searched_with_the_turn_before(desk: Any, memory: Memory) -> None:
    fill(memory, 3)
    desk.says("judge", desk.judged(1, whole=False))
    said = "turn 1: What were the ferry fares?\nframes at hand: harbour dues"
    assert headings(look_up(desk, memory, "zzzz?", conversation=said)) == ["Ferry fares"]
    assert "turn 1: What were the ferry fares?" in desk.prompts[0]


def test_the_judge_sees_no_code_and_no_case(desk: Any, memory: Memory) -> None:
    step = ProcessStep(text="Add up.", sql="SELECT secret FROM harbour", code="answer = 42")
    memory.add(process("Harbour dues", steps=[step], note="a note", conversation="a desk"), "anna")
    desk.says("judge", desk.judged(1))
    look_up(desk, memory, "What were the harbour dues in 2020?")
    assert "Harbour dues: Add up." in desk.prompts[0]
    assert not [text for text in ("SELECT secret", "answer = 42", "a note", "a desk") if text in desk.prompts[0]]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What were the ferry fares less the tunnel tolls?", ["Ferry fares", "Tunnel tolls"]),
        ("Add up the dues of the harbour", ["Harbour dues"]),  # near enough
        ("What do the fares come to, compared with the bills of last year?", []),
    ],
)
def test_without_a_judge_what_is_named_or_near_is_recalled(
    desk: Any, memory: Memory, question: str, found: list[str]
) -> None:
    fill(memory, 3)
    recalled = look_up(desk, memory, question, judge=False)
    assert sorted(headings(recalled)) == found
    assert (recalled.tier, desk.calls) == ("part" if found else "none", [])


@pytest.mark.parametrize("layer", ["generalise", "judge"])
def test_unusable_text_is_an_output_error(desk: Any, memory: Memory, layer: str) -> None:
    fill(memory, LIMIT + 1)
    desk.says("generalise", desk.fields(variants=["x"], parts=[]))
    desk.says("judge", desk.judged(1))
    desk.says(layer, "no")
    with pytest.raises(OutputError):
        look_up(desk, memory, "What were the harbour dues?")
    assert desk.layers[-1] == layer


@pytest.mark.parametrize(
    ("question", "most", "asked"),
    [
        ("What were the harbour dues in 2020?", 0.9, False),
        ("What were the harbour dues in 2020?", 0.0, True),  # another may be needed beside it
        ("Let the harbour dues here be the quay charges. What were the harbour dues?", 0.9, True),
    ],
)
def test_a_process_that_is_surely_all_that_is_meant_needs_no_judge(
    desk: Any, memory: Memory, monkeypatch: pytest.MonkeyPatch, question: str, most: float, asked: bool
) -> None:
    monkeypatch.setattr("finexpert.modules.memory_lookup.OTHERS", {"words": most})
    fill(memory, 4)
    desk.says("judge", desk.judged(1))
    assert headings(look_up(desk, memory, question)) == ["Harbour dues"]
    assert desk.layers == ["judge"] * asked
