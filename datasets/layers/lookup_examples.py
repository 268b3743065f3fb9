"""The labelled sets of memory lookup: processes, and questions that need one, several or none of them.

A question of `examples/memory_lookup.jsonl`; all processes of `examples/processes.jsonl`, whatever their scenario,
stand in one memory:

    {"id": "macro-part-01", "split": "holdout", "scenario": "macro", "question": "What was the average federal funds
     rate during recessions since 1970?", "conversation": "", "expected": ["Recession periods"], "whole": false}

`expected` is [] where nothing may be recalled; `whole` says that the one expected process answers all of the question.
In the ids of questions without a process, `near` is one that shares words with a process and means something else.
The scenario `company` is in the holdout only, `fund` never is; no question is in two splits.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from finexpert.datasets.evaluations.question_lines import records_of, text_of
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.process import Process

Split = Literal["train", "val", "holdout"]
T = TypeVar("T", bound=BaseModel)


class LookupExample(BaseModel):
    """One line of the labelled set; see the head of this file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1)
    split: Split
    scenario: str
    question: str = Field(min_length=1)
    conversation: str = ""
    expected: tuple[str, ...]
    whole: bool

    @property
    def kind(self) -> Literal["whole", "part", "none"]:
        return "none" if not self.expected else "whole" if self.whole else "part"

    @model_validator(mode="after")
    def _whole_is_one(self) -> LookupExample:
        if self.whole and len(self.expected) != 1:
            raise ValueError("a whole match expects exactly one process")
        return self


class StoredProcess(Process):
    """A process of the labelled set, and the scenario that it belongs to."""

    scenario: str


def read_examples(name: str, kind: type[T], path: Path | None = None) -> list[T]:
    """The lines of a packaged example file, or of the file at `path`. QuestionFileError names the file and the line."""
    if path is None:
        text = (importlib.resources.files("finexpert.datasets") / "examples" / name).read_text(encoding="utf-8")
    else:
        text = text_of(path, "give a file of examples, one JSON object a line")
    return [record for _, record in records_of(text, name if path is None else str(path), kind, "example")]


def load_examples(split: Split | None = None, path: Path | None = None) -> list[LookupExample]:
    """The labelled questions, of one split or all."""
    examples = read_examples("memory_lookup.jsonl", LookupExample, path)
    return [example for example in examples if split in (None, example.split)]


def load_processes(path: Path | None = None) -> list[Process]:
    """The processes that the questions refer to, active."""
    stored = read_examples("processes.jsonl", StoredProcess, path)
    return [Process(**{**each.model_dump(exclude={"scenario"}), "status": "active"}) for each in stored]


def fill(memory: Memory, processes: Sequence[Process], by: str = "example set") -> None:
    """Put the processes into a memory, also such as are near to each other: here that is meant."""
    for process in processes:
        memory.restore(process, by, "add")
