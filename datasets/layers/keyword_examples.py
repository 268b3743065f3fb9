"""The labelled set of keyword rephrasing: questions, and the terms in them that only a house can explain.

A case of `examples/keyword_rephrasing.jsonl`; the schema card and the glossary of its scenario stand in
`examples/glossaries.jsonl`:

    {"id": "macro-unknown-03", "split": "holdout", "scenario": "macro", "question": "During spring tides, how often was
     the Fed in turtle mode?", "conversation": "", "expected_terms": ["spring tide"], "ask": ["turtle mode"], "keep": []}

- `expected_terms`: the terms of the glossary that are meant; `ask`: the terms that nobody has explained;
- `keep`: words and numbers that must stand in the rephrased question.

The middle of an id says what the case is: a term named exactly, by its alias or in other words (semantic), two at
once, one unknown, plain words that look like terms, a term defined in the question or the conversation, a term of the
schema, a term's words in their ordinary sense.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from finexpert.datasets.layers.lookup_examples import Split, read_examples
from finexpert.knowledge.glossary import Glossary, Keyword


class KeywordExample(BaseModel):
    """One line of the labelled set; see the head of this file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^\w+-(exact|alias|semantic|two|unknown|plain|defined|schema|sense)-\d+$")
    split: Split
    scenario: str
    question: str = Field(min_length=1)
    conversation: str = ""
    expected_terms: tuple[str, ...]
    ask: tuple[str, ...]
    keep: tuple[str, ...]

    @property
    def kind(self) -> str:
        return self.id.split("-")[1]


class Scenario(BaseModel):
    """What the questions of a scenario are asked over: a schema, and a glossary."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scenario: str
    schema_card: str
    keywords: tuple[Keyword, ...]


def load_examples(split: Split | None = None, path: Path | None = None) -> list[KeywordExample]:
    """The labelled cases, of one split or all."""
    examples = read_examples("keyword_rephrasing.jsonl", KeywordExample, path)
    return [example for example in examples if split in (None, example.split)]


def load_scenarios(path: Path | None = None) -> dict[str, Scenario]:
    """The scenarios by name."""
    return {each.scenario: each for each in read_examples("glossaries.jsonl", Scenario, path)}


def fill(glossary: Glossary, scenario: Scenario, by: str = "example set") -> None:
    """Put the terms of a scenario into a glossary."""
    for keyword in scenario.keywords:
        glossary.define(keyword, by)
