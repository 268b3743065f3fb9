"""Memory lookup and keyword rephrasing as the scoring calls them: with a store, a model, and calls counted."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.layers import keyword_evaluation, lookup_evaluation
from finexpert.datasets.layers.evaluation import glossaries, lookup_function, rephrase_function
from finexpert.datasets.layers.keyword_evaluation import KeywordResult
from finexpert.datasets.layers.keyword_examples import load_examples, load_scenarios
from finexpert.datasets.layers.lookup_evaluation import LookupResult
from finexpert.datasets.layers.lookup_examples import fill, load_processes
from finexpert.datasets.layers.lookup_examples import load_examples as load_lookups
from finexpert.embeddings.embedding import embedder
from finexpert.errors import OutputError
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.modules.keyword_rephrasing import KeywordRephrasing
from finexpert.modules.memory_lookup import MemoryLookup


def test_a_lookup_gives_headings_tier_and_calls(desk: Any) -> None:
    memory = desk.taught().memory
    for heading in ("Harbour dues", "Tunnel tolls"):
        step = ProcessStep(text=f"Add up the {heading.lower()}.")
        memory.add(Process(heading=heading, steps=[step], status="active"), "anna")
    desk.says("judge", desk.judged(1, 2, whole=False))
    look_up = lookup_function(MemoryLookup(), memory, desk.models)
    headings, tier, calls = look_up("What were the tunnel tolls?", "turn 1: What were the harbour dues?")
    assert (sorted(headings), tier, calls) == (["Harbour dues", "Tunnel tolls"], "part", 1)
    assert "turn 1: What were the harbour dues?" in desk.prompts[0]
    assert look_up("zzzz?", "") == ([], "none", 0)


def test_the_packaged_lookups_with_a_model_that_recalls_nothing(desk: Any, tmp_path: Path) -> None:
    memory = desk.taught().memory
    fill(memory, load_processes(), by="example set")
    desk.says("generalise", desk.fields(variants=[], parts=[]))
    desk.says("judge", desk.judged())
    asked = load_lookups("val")
    journal = Journal(tmp_path / "j.jsonl", LookupResult)
    function = lookup_function(MemoryLookup(), memory, desk.models)
    results = journal.in_order(partial(lookup_evaluation.scored, function), asked)
    summary = lookup_evaluation.summarise(results)
    assert summary.n == len(asked)
    assert summary.false_recalls.right == 0
    assert summary.failed == 0
    assert summary.calls * summary.n == pytest.approx(len(desk.calls))
    # Only what is clear without a judge is recalled.
    assert summary.recall_at_1.right == summary.without_call.right - sum(
        not r.expected and r.calls == 0 for r in results
    ) - sum(bool(r.expected) and not r.found and r.calls == 0 for r in results)


def test_each_scenario_has_its_glossary_and_its_card(desk: Any, tmp_path: Path) -> None:
    stores = glossaries(tmp_path, embedder("words"))
    scenarios = load_scenarios()
    try:
        assert set(stores) == set(scenarios)
        for name, scenario in scenarios.items():
            assert len(stores[name].glossary.keywords()) == len(scenario.keywords)
            assert stores[name].memory.empty
        desk.says("keyword_rephrasing", desk.terms())
        rephrase = rephrase_function(KeywordRephrasing(), stores, desk.models)
        asked = load_examples("val")
        journal = Journal(tmp_path / "j.jsonl", KeywordResult)
        results = journal.in_order(partial(keyword_evaluation.scored, rephrase), asked)
    finally:
        for store in stores.values():
            store.close()
    assert len(results) == len(asked)
    assert sum(result.calls for result in results) == len(desk.calls) > 0
    assert all(result.failure is None and not result.asked for result in results)
    for prompt in desk.prompts:
        assert any(scenario.schema_card.splitlines()[0] in prompt for scenario in scenarios.values())


def test_unusable_text_is_left_to_the_scoring(desk: Any) -> None:
    memory = desk.taught().memory
    memory.add(Process(heading="Harbour dues", steps=[ProcessStep(text="Add.")], status="active"), "anna")
    desk.says("judge", "no")
    with pytest.raises(OutputError):
        lookup_function(MemoryLookup(), memory, desk.models)("What were the harbour dues in 2020?", "")
