"""`finexpert chat`: a conversation in the terminal, over the warehouse or over a filing page.

> When did the recessions since 2000 start and end?
> A recession starts where the count of falling quarters becomes 2.
> remember Recession Calculation

What the lines beside questions can do stands in `commands.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common, several_sources
from finexpert.cli.ask import Cached, show
from finexpert.cli.chat.commands import HELP, carry_out
from finexpert.cli.chat.conversation import Chat
from finexpert.cli.chat.teaching import explain, offer
from finexpert.cli.options import Given, takes
from finexpert.cli.terminal import completing
from finexpert.cli.waiting import completions_soon, starting, waiting
from finexpert.core.display.charts import save_figures

if TYPE_CHECKING:
    from finexpert.core.answers import Answer, Clarification


@takes("filing id as_of lm api_base drafts retries mode budget record recordings store verified program")
def chat(
    given: Given,
    library: several_sources.Libraries = None,
    data: several_sources.Data = None,
    cached: Cached = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the conversation: taken up where it was left, saved after every turn.",
            autocompletion=completing.conversations,
        ),
    ] = None,
    yes: common.Yes = False,
    trace: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the records of all turns to this JSON file at the end.")
    ] = None,
) -> None:
    """Ask question after question, correct, and teach: later questions may refer to earlier ones.

    Input may also come from a pipe.
    """
    common.reader_soon(data or (), given.filing, *(library or ()))
    settings = given.settings("conversation", cache_answers=cached or None)
    out = common.console()
    with starting():
        completions_soon(settings)
        from finexpert.session import Session

        expert, settings = given.expert(settings)
        source = several_sources.open_sources(data, given.filing, given.id, settings, library)
    with Session(source, expert=expert, settings=settings) as session:
        talk = Chat(session, yes=yes)
        out.print(HELP, style="dim", markup=False)
        if name:
            _take_up(talk, name)
        try:
            for line in _lines(talk):
                if line in ("/quit", "quit", "exit"):
                    break
                if not carry_out(line, talk):
                    _asked(talk, line, cached)
                if session.name:
                    session.save(session.name)
        finally:
            if trace:
                _write_trace(trace, talk.answers)


def _take_up(talk: Chat, name: str) -> None:
    out = common.console()
    notes = talk.session.resume(name)
    if notes is None:
        out.print(f"a new conversation named {name!r}", style="dim", markup=False)
        return
    turns = talk.session.workspace.turns
    last = f"; the last was: {turns[-1].question}" if turns else ""
    out.print(f"{name!r} goes on after {len(turns)} turns{last}", markup=False, soft_wrap=True)
    for note in notes:
        out.print(f"note: {note}", style="yellow", markup=False)


def _lines(talk: Chat) -> Iterator[str]:
    while True:
        try:
            line = talk.pending.pop() if talk.pending else input("> ").strip()
        except EOFError:
            return
        if line:
            yield line


def _asked(talk: Chat, question: str, cached: bool | None = None) -> None:
    """Answer a question, after asking back as long as something of it is unclear."""
    session = talk.session

    def asked(clarify: bool, knowledge: str = "") -> Answer:
        with waiting():
            return session.ask(question, knowledge=knowledge, clarify=clarify, someone_there=clarify, cached=cached)

    answer, knowledge = asked(clarify=True), ""
    while (unclear := answer.clarification) is not None:
        reply = _reply(unclear)
        if unclear.kind == "term" or (unclear.kind == "value" and reply):
            if not explain(talk, unclear, reply) and reply and unclear.kind == "term":
                knowledge = f"Asked what {unclear.term!r} means, the user said: {reply}"
            answer = asked(clarify=True, knowledge=knowledge)
        elif unclear.kind == "value":
            answer = asked(clarify=False, knowledge=knowledge)
        else:
            knowledge = f"By {unclear.term!r} the user means: {reply}" if reply else ""
            answer = asked(clarify=False, knowledge=knowledge)
    talk.answers.append(answer)
    talk.figures = save_figures(answer, session.settings.home / "records")
    show(answer, None, talk.figures, brief=True)
    offer(talk, answer)


def _reply(unclear: Clarification) -> str:
    """What the user says to a question back; empty to have it answered as it was understood."""
    out = common.console()
    out.print(unclear.question, style="yellow", markup=False)
    for number, candidate in enumerate(unclear.candidates, 1):
        out.print(f"  {number}. {candidate}", markup=False)
    try:
        reply = input("? (in words, a number, or empty to go on) ").strip()
    except EOFError:
        return ""
    if reply.lower() in ("y", "yes") and len(unclear.candidates) == 1:
        reply = "1"
    if reply.isdigit() and 1 <= int(reply) <= len(unclear.candidates):
        # A reading that was proposed is taken as it stands, so nothing has to be said about it.
        return "" if unclear.kind == "reading" and len(unclear.candidates) == 1 else unclear.candidates[int(reply) - 1]
    return reply


def _write_trace(path: Path, answers: list[Answer]) -> None:
    from finexpert.datasets.evaluations.evaluation import write_json

    write_json(path, [answer.record.model_dump(mode="json") for answer in answers if answer.record])
    common.console().print(f"wrote {path}", style="dim")
