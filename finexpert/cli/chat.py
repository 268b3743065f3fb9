"""`finexpert chat`: a conversation in the terminal, over a filing page or the warehouse.

> what was the revenue in 2017?
26,120  (revenue / 2017)
> and the percentage change from 2016?
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common
from finexpert.cli.ask import show

if TYPE_CHECKING:
    from finexpert.answers import Answer
    from finexpert.session import Session

_HELP = "/page shows the page, /undo takes the last turn back, /quit ends; anything else is a question"


def chat(
    filing: common.FilingFile = None,
    id: common.FilingId = None,
    data: common.Data = None,
    as_of: common.AsOf = None,
    lm: common.Model = None,
    api_base: common.ApiBase = None,
    drafts: common.Drafts = None,
    retries: common.Retries = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    trace: Annotated[
        Path | None, typer.Option(help="Write the records of all turns to this JSON file at the end.")
    ] = None,
) -> None:
    """Ask question after question: later ones may refer to earlier ones. Input may also come from a pipe."""
    settings = common.settings_from(
        as_of=as_of, lm=lm, api_base=api_base, drafts=drafts, retries=retries, record=record, recordings=recordings
    )
    from finexpert.session import Session

    answers: list[Answer] = []
    with Session(common.open_source(data, filing, id, settings), settings=settings) as session:
        common.console().print(_HELP, style="dim")
        try:
            for line in _lines():
                if line == "/quit":
                    break
                if not _command(line, session, answers):
                    answers.append(_asked(session, line))
        finally:
            if trace:
                _write_trace(trace, answers)


def _lines() -> Iterator[str]:
    while True:
        try:
            line = input("> ").strip()
        except EOFError:
            return
        if line:
            yield line


def _command(line: str, session: Session, answers: list[Answer]) -> bool:
    """Carry out a line that is no question; whether it was one."""
    out = common.console()
    if line == "/page":
        page = getattr(session.source, "page_text", None)
        out.print(page() if page else session.source.schema_card(), markup=False)  # type: ignore[union-attr]
    elif line == "/undo":
        if session.workspace.turns:
            session.workspace.turns.pop()
            answers.pop()
            out.print("the last turn is taken back", style="dim")
        else:
            out.print("there is no turn to take back", style="dim")
    elif line.startswith("/"):
        out.print(f"there is no {line.split()[0]}; {_HELP}", style="yellow", markup=False)
    else:
        return False
    return True


def _asked(session: Session, question: str) -> Answer:
    """Answer a question, after asking back where it is unclear."""
    answer = session.ask(question, clarify=True)
    while answer.clarification is not None:
        knowledge = _reply(answer)
        answer = session.ask(question, knowledge=knowledge, clarify=False)
    show(answer, None, [])
    return answer


def _reply(answer: Answer) -> str:
    """What the user says to a question back, as knowledge for asking again; empty to take the reading proposed."""
    unclear = answer.clarification
    if unclear is None:
        return ""
    out = common.console()
    out.print(unclear.question, style="yellow", markup=False)
    for number, candidate in enumerate(unclear.candidates, 1):
        out.print(f"  {number}. {candidate}", markup=False)
    try:
        reply = input("? (a number, yes, or in words) ").strip()
    except EOFError:
        return ""
    if reply.lower() in ("", "y", "yes") and len(unclear.candidates) == 1:
        return ""
    if reply.isdigit() and 1 <= int(reply) <= len(unclear.candidates):
        reply = unclear.candidates[int(reply) - 1]
    return f"By {unclear.term!r} the user means: {reply}"


def _write_trace(path: Path, answers: list[Answer]) -> None:
    from finexpert.datasets.evaluation import write_json

    write_json(path, [answer.record.model_dump(mode="json") for answer in answers if answer.record])
    common.console().print(f"wrote {path}", style="dim")
