"""Playing a transcript: an expert who is a file. See `finexpert.datasets.desk.transcripts` for its lines.

    for line in play(session, read_transcript(Path("recession.jsonl"))): print(line.status, line.text)

An expectation that does not hold ends it: what was not understood is not remembered.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from pydantic import BaseModel, Field

from finexpert.answers.sources.sources import Sources
from finexpert.core.answers import Answer, show
from finexpert.datasets.desk.transcripts import Line, resolve_expect
from finexpert.datasets.evaluations.answer_matching import matches
from finexpert.datasets.evaluations.journal import side_by_side
from finexpert.errors import NameTaken, StepError, StoreError, UnknownPrompt
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.knowledge.taught import Taught
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.modules.flow.teaching import Decision, Remembered
from finexpert.sandbox import Limits, Sandbox
from finexpert.session import Session
from finexpert.settings import Settings
from finexpert.warehouse.warehouse import Warehouse

Status = Literal[
    "answered", "noted", "as expected", "not as expected", "failed", "active", "draft", "ignored", "clash", "defined"
]
BAD: tuple[Status, ...] = ("not as expected", "failed", "draft", "clash")

# What a line is answered by, where the next one does so.
_ANSWERED_BY = (("message", "reply"), ("remember", "clash"))


class Played(BaseModel):
    """What became of one line."""

    number: int
    said: str
    status: Status
    text: str = ""
    notes: list[str] = Field(default_factory=list)


def play(
    session: Session,
    lines: Sequence[Line],
    on_line: Callable[[Played], None] = lambda played: None,
    as_of: dt.date | None = None,
) -> list[Played]:
    """Play the lines in order until one does not hold; every line played is given to `on_line` at once."""
    played: list[Played] = []
    rest = list(enumerate(lines, 1))
    while rest:
        number, line = rest.pop(0)
        following = rest[0][1] if rest else None
        try:
            result = _play(session, number, line, following, as_of)
        except (StepError, StoreError, UnknownPrompt) as error:
            result = Played(number=number, said=_said(line), status="failed", text=str(error))
        played.append(result)
        on_line(result)
        if following is not None and (line.action, following.action) in _ANSWERED_BY:
            rest.pop(0)
        if result.status in BAD:
            break
    return played


def _play(session: Session, number: int, line: Line, following: Line | None, as_of: dt.date | None) -> Played:
    said = _said(line)
    if line.define is not None:
        keyword = session.define(line.define.term, line.define.meaning, line.define.aliases)
        return Played(number=number, said=said, status="defined", text=keyword.meaning)
    if line.action == "remember":
        remembered = session.remember(line.remember or "")
        if remembered.clash is not None and following is not None and following.clash is not None:
            remembered = session.decide(remembered, _decision(following), following.second_heading or "")
            if following.clash == "ignore":
                return Played(number=number, said=said, status="ignored", text=remembered.process.heading)
        return _remembered(number, said, remembered)
    if line.message is None:
        return Played(number=number, said=said, status="failed", text=f"a {line.action} with nothing before it")
    return _asked(session, number, line, following if following and following.reply else None, as_of)


def _decision(line: Line) -> Decision:
    return "keep both" if line.second_heading else ("replace" if line.clash == "replace" else "ignore")


def _asked(session: Session, number: int, line: Line, reply: Line | None, as_of: dt.date | None) -> Played:
    # What must hold after the reply stands with the reply.
    told = reply if reply is not None and reply.expects else line
    question, today = line.message or "", told.as_of or line.as_of or as_of
    answer_format = told.answer_format or line.answer_format
    answer = session.ask(question, answer_format=answer_format, clarify=True, as_of=today)
    notes = []
    if answer.clarification is not None:
        if reply is None:
            notes = [f"asked back: {answer.text} A line with a `reply` after it would say so"]
        session.explain(answer.clarification, (reply.reply if reply else None) or "")
        answer = session.ask(question, answer_format=answer_format, as_of=today)
    notes += [f"kept: {session.keep(offer).told}" for offer in answer.offers]
    played = _answered(session, number, question, told, answer, today)
    if played.status not in BAD:
        session.accept()
    return played.model_copy(update={"notes": [*notes, *played.notes]})


def _learns(lines: Sequence[Line]) -> bool:
    """Whether what is explained in passing is kept: a transcript that says what is to be kept is taken at its word."""
    return not any(line.action in ("define", "remember") for line in lines)


def _answered(session: Session, number: int, said: str, line: Line, answer: Answer, as_of: dt.date | None) -> Played:
    played = Played(number=number, said=said, status="answered", text=answer.text, notes=answer.flags)
    if answer.status != "answered":
        return played.model_copy(update={"status": "noted" if answer.status == "noted" else "failed"})
    if not line.expects or line.answer_format is None or isinstance(session.source, Filing | Library | Sources):
        return played
    expected = resolve_expect(line, session.source, as_of)
    if matches(answer.value, expected, line.answer_format):
        return played.model_copy(update={"status": "as expected"})
    note = f"expected {show(expected, line.answer_format)}"
    return played.model_copy(update={"status": "not as expected", "notes": [note, *answer.flags]})


def _remembered(number: int, said: str, remembered: Remembered) -> Played:
    if remembered.clash is not None:
        return Played(number=number, said=said, status="clash", text=f"clashes with {remembered.clash.heading!r}")
    process = remembered.process
    status: Status = "active" if process.status == "active" else "draft"
    return Played(number=number, said=said, status=status, text=process.heading, notes=remembered.problems)


def _said(line: Line) -> str:
    if line.define is not None:
        return f"define {line.define.term}"
    if line.action == "remember":
        return f"remember {line.remember or ''}".strip()
    return line.text or line.clash or ""


def teach_all(
    lessons: Mapping[Path, Sequence[Line]],
    source: Warehouse,
    settings: Settings,
    threads: int = 1,
    on_line: Callable[[Path, Played], None] = lambda path, played: None,
    models: LanguageModels | None = None,
    taught: Taught | None = None,
    expert: FinancialExpert | None = None,
) -> dict[Path, list[Played]]:
    """Play each transcript in a conversation of its own, into one store.

    With several threads no lesson sees what another teaches: each goes into a store of its own first, so that what is
    asked of a model does not depend on which is faster. What was learned is put together at the end.
    """
    results: dict[Path, list[Played]] = {}
    models = models or LanguageModels.from_settings(settings)
    with ExitStack() as stack:
        if taught is None:
            taught = stack.enter_context(Taught.from_settings(settings))
        limits = Limits(wall_seconds=settings.script_seconds)
        sandbox = stack.enter_context(Sandbox(limits, workers=max(settings.workers, min(threads, 4))))
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="finexpert-lessons-")))

        def one(path: Path, store: Taught) -> None:
            own = settings.model_copy(update={"learn": settings.learn and _learns(lessons[path])})
            session = Session(source, expert=expert, settings=own, models=models, sandbox=sandbox, taught=store)
            results[path] = play(session, lessons[path], lambda played: on_line(path, played))

        if threads == 1:
            side_by_side(one, [(path, taught) for path in lessons], threads)
        else:
            embedder = taught.memory.embedder
            stores = {
                path: stack.enter_context(Taught.open(folder / f"{number}.sqlite", embedder))
                for number, path in enumerate(lessons)
            }
            side_by_side(one, stores.items(), threads)
            for path, store in stores.items():
                _put(store, taught, results[path])
    return {path: results[path] for path in lessons if path in results}


def _put(learned: Taught, taught: Taught, played: list[Played]) -> None:
    """What one lesson taught goes into the store; a name that is taken there is a clash."""
    try:
        learned.copy_into(taught)
    except NameTaken as error:
        played[-1] = played[-1].model_copy(update={"status": "clash", "notes": [*played[-1].notes, str(error)]})
