"""ConvFinQA: conversations about one page of an annual report, in the official form.

    >>> first = load()[0]
    >>> first.turns[2].question, first.turns[2].program, first.turns[2].answer
    ('and how much did they change over the year ?', 'subtract(486.2, 441.5)', 44.7)

A file is a list of records with `id`, `pre_text`, `table`, `post_text` and `annotation`; a record without gold answers (the
private test set) is read too. Without a file these are a few pages about companies that do not exist. Scoring is
`scoring`, fetching `download`.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

from finexpert.errors import DataError
from finexpert.filings.page.file import read_records, record_name
from finexpert.filings.page.filing import Filing

ConversationType = Literal["I", "II"]
GoldAnswer = float | str
_GET = "get dev.json with `finexpert data convfinqa`, or name your copy with --records FILE"


@dataclass(frozen=True)
class GoldTurn:
    """A question with its program and its answer, both None where they are not public."""

    question: str
    program: str | None
    answer: GoldAnswer | None


@dataclass(frozen=True)
class Conversation:
    """A page and the questions about it, in order. Type II joins two questions of one page."""

    id: str
    filing: Filing
    turns: tuple[GoldTurn, ...]

    @property
    def page(self) -> str:
        """The file name of the page: several conversations may share it."""
        return self.filing.name

    @property
    def type(self) -> ConversationType:
        return "II" if self.id.startswith("Double_") else "I"


def load(path: Path | None = None) -> list[Conversation]:
    """The conversations of a file; those of the sample pages where no file is given. DataError names file and record."""
    if path is None:
        with as_file(files("finexpert.datasets") / "questions" / "convfinqa_sample.json") as sample_pages:
            return load(sample_pages)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give one of its files, such as {path / 'dev.json'}")
    if not path.exists():
        raise DataError(f"there is no file {path}: {_GET}")
    try:
        records = read_records(path)
    except DataError as error:
        raise DataError(f"{error}: {_GET}") from error
    conversations = []
    seen: set[str] = set()
    for number, record in enumerate(records, start=1):
        place = f"{path.name}, record {number} ({record_name(record)})"
        try:
            filing = Filing.from_record(record)
        except DataError as error:
            raise DataError(f"{place}: {error}") from error
        if filing.id in seen:
            raise DataError(f"{place}: the id stands there a second time")
        seen.add(filing.id)
        conversations.append(Conversation(filing.id, filing, _turns(record, place)))
    if not conversations:
        raise DataError(f"{path} holds no conversation")
    return conversations


def named(conversations: Sequence[Conversation], ids: Path | None = None) -> list[Conversation]:
    """The conversations that a file names, one id a line; without a file those whose completions are packaged.

    DataError names the first that is not there.
    """
    place = files("finexpert.datasets") / "questions" / "convfinqa_recorded.txt"
    try:
        wanted = (place if ids is None else ids).read_text(encoding="utf-8").split()
    except OSError as error:
        raise DataError(
            f"the ids in {ids} cannot be read ({error.strerror}): give a file with one id a line, or --ids recorded"
        ) from error
    by_id = {conversation.id: conversation for conversation in conversations}
    if missing := [name for name in wanted if name not in by_id]:
        raise DataError(
            f"{len(missing)} of {len(wanted)} conversations are not in the data, the first is {missing[0]!r}. "
            f"{_GET[0].upper()}{_GET[1:]}"
        )
    return [by_id[name] for name in wanted]


def sample(conversations: Sequence[Conversation], n: int, seed: int = 0, stratified: bool = True) -> list[Conversation]:
    """`n` of the conversations, the same ones for the same seed, in their order; by default in the proportions of
    type and number of turns.

    >>> [c.id for c in sample(load(), 2, seed=7)] == [c.id for c in sample(load()[::-1], 2, seed=7)][::-1]
    True
    """
    if n < 1:
        raise DataError(f"a sample has at least one conversation, not {n}")
    if n >= len(conversations):
        return list(conversations)
    groups: dict[object, list[str]] = defaultdict(list)
    for conversation in conversations:
        groups[(conversation.type, len(conversation.turns)) if stratified else None].append(conversation.id)
    shares = {key: n * len(ids) / len(conversations) for key, ids in groups.items()}
    counts = {key: int(share) for key, share in shares.items()}
    by_remainder = sorted(shares, key=lambda key: (counts[key] - shares[key], str(key)))
    for key in by_remainder[: n - sum(counts.values())]:
        counts[key] += 1
    chosen: set[str] = set()
    for key in sorted(groups, key=str):
        chosen.update(random.Random(f"{seed} {key}").sample(sorted(groups[key]), counts[key]))
    return [conversation for conversation in conversations if conversation.id in chosen]


def _turns(record: Mapping[str, Any], place: str) -> tuple[GoldTurn, ...]:
    annotation = record.get("annotation")
    if not isinstance(annotation, Mapping) or not isinstance(annotation.get("dialogue_break"), list):
        raise DataError(f"{place}: annotation.dialogue_break must be the list of questions")
    questions = annotation["dialogue_break"]
    programs = _column(annotation, "turn_program", len(questions), place)
    answers = _column(annotation, "exe_ans_list", len(questions), place)
    if not questions or any(not isinstance(question, str) or not question.strip() for question in questions):
        raise DataError(f"{place}: annotation.dialogue_break has an empty question")
    return tuple(
        GoldTurn(question, _program(program, place), _answer(answer, place))
        for question, program, answer in zip(questions, programs, answers, strict=True)
    )


def _column(annotation: Mapping[str, Any], field: str, count: int, place: str) -> list[Any]:
    values = annotation.get(field)
    if values is None:
        return [None] * count
    if not isinstance(values, list) or len(values) != count:
        size = len(values) if isinstance(values, list) else "no list of"
        raise DataError(f"{place}: annotation.{field} has {size} entries, but there are {count} questions")
    return values


def _program(value: Any, place: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise DataError(f"{place}: the program {json.dumps(value, default=str)[:60]} is no text")
    return value


def _answer(value: Any, place: str) -> GoldAnswer | None:
    if value is None or value in ("yes", "no"):
        return value  # type: ignore[no-any-return]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"{place}: the answer {json.dumps(value, default=str)[:60]} is neither a number nor yes or no")
    return float(value)
