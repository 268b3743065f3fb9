"""What a line of `finexpert chat` can do beside asking: teach, look, take back.

    remember Recession Calculation      define stress month = a month in which ...      why      undo

The words work with and without a slash, and in a sentence ("Now remember this process as Recession Calculation").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from finexpert.cli import common
from finexpert.cli.waiting import waiting

if TYPE_CHECKING:
    from finexpert.core.answers import Answer, Clarification
    from finexpert.core.offers import Offer
    from finexpert.knowledge.process import Process
    from finexpert.modules.flow.teaching import Remembered
    from finexpert.session import Session

HELP = (
    "remember [HEADING], define TERM = MEANING, forget NAME, verify [NAME=VALUE], /right or /wrong [REASON], processes, terms: what is taught; "
    "why, undo, new, page, open, save NAME, help, quit; anything else is a question or a correction"
)


@dataclass
class Chat:
    """The conversation, and what the commands look back to."""

    session: Session
    answers: list[Answer] = field(default_factory=list)
    figures: list[Path] = field(default_factory=list)
    yes: bool = False  # what is explained in passing is kept without asking
    pending: list[str] = field(default_factory=list)  # lines that were read for something else


def carry_out(line: str, talk: Chat) -> bool:
    """Carry out a line that is a command; whether it was one."""
    from finexpert.errors import BudgetExceeded, ConfigurationError, DataError, StepError, StoreError

    for pattern, command in _COMMANDS:
        if found := pattern.fullmatch(line):
            try:
                command(talk, **{name: _said(name, value or "") for name, value in found.groupdict().items()})
            except (BudgetExceeded, ConfigurationError, DataError, StepError, StoreError) as error:
                _say(str(error), "yellow")
            return True
    if line.startswith("/"):
        _say(f"there is no {line.split()[0]}; {HELP}", "yellow")
        return True
    return False


def _said(name: str, value: str) -> str:
    """What a part of a line says: a name without the marks around it, a meaning to the letter."""
    return value.strip() if name == "meaning" else value.strip(_AROUND)


def _say(text: str, style: str = "dim") -> None:
    from finexpert.text.texts import visible

    common.console().print(visible(text), style=style, markup=False, soft_wrap=True)


def explain(talk: Chat, unclear: Clarification, reply: str) -> bool:
    """Keep what a term means, and say so; what cannot be kept counts as not explained. Whether anything was."""
    from finexpert.errors import StoreError
    from finexpert.knowledge.glossary import Keyword

    try:
        kept = talk.session.explain(unclear, reply)
    except StoreError as error:
        _say(str(error), "yellow")
        talk.session.explain(unclear, "")
        return False
    if unclear.kind == "value":
        _say(f"in this conversation, {unclear.term!r} in {unclear.place} is {reply!r}")
    elif isinstance(kept, Keyword):
        _say(f"kept: {kept.term} = {kept.meaning}")
    elif kept is not None:
        _say(f"kept: {unclear.term} is another name of {kept.heading}")
    elif reply:
        _say("nothing is kept of this: it does not say what the term means")
    return kept is not None


def offer(talk: Chat, answer: Answer) -> None:
    """Show what the message explained, and keep what the person agrees to."""
    for each in answer.offers:
        _say(f"explained: {each}", "yellow")
        if (agreed := each if talk.yes else _agreed(talk, each)) is not None:
            _keep(talk, agreed)


def _agreed(talk: Chat, offered: Offer) -> Offer | None:
    """The offer as the person wants it kept; None where they do not."""
    try:
        reply = input("? keep it: y, n, e to edit it, all to keep it for every source: ").strip()
        if reply.lower() in ("e", "edit"):
            meaning = input(f"{offered.term} = ").strip()
            return offered.model_copy(update={"meaning": meaning}) if meaning else None
    except EOFError:
        return None
    if reply.lower() == "all":
        return offered.model_copy(update={"scope": ""})
    if reply.lower() not in ("y", "yes", "n", "no", ""):
        talk.pending.append(reply)  # the next question: nothing was said about the offer
    return offered if reply.lower() in ("y", "yes") else None


def _keep(talk: Chat, offered: Offer) -> None:
    from finexpert.errors import StoreError

    try:
        kept = talk.session.keep(offered)
    except StoreError as error:
        _say(str(error), "yellow")
        return
    where = f"for {kept.scope}" if kept.scope else "everywhere"
    state = "; a draft of yours until a result with it is accepted" if kept.status == "draft" else ""
    _say(f"kept {where}: {kept.term} = {kept.meaning}{state}")


def _remember(talk: Chat, heading: str) -> None:
    with waiting():
        remembered = talk.session.remember(heading)
    while remembered.clash is not None:
        decided = _decide(talk, remembered, remembered.clash)
        if decided is None:
            _say("nothing was changed")
            return
        remembered = decided
    show_remembered(remembered)


def _decide(talk: Chat, remembered: Remembered, clash: Process) -> Remembered | None:
    """Show both and ask; None where the new one is not wanted."""
    side_by_side(clash, remembered.process)
    try:
        reply = input("? replace, ignore, or another heading to keep both under: ").strip()
    except EOFError:
        reply = "ignore"
    if reply.lower() in ("", "ignore"):
        return None
    if reply.lower() == "replace":
        return talk.session.decide(remembered, "replace")
    return talk.session.decide(remembered, "keep both", reply)


def side_by_side(old: Process, new: Process) -> None:
    """Print two processes beside each other."""
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(expand=True)
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    kept = f"{old.heading}, version {old.version}, {old.status}"
    grid.add_row(
        Panel(Text(old.recipe()), title=f"known: {kept}", title_align="left"),
        Panel(Text(new.recipe()), title=f"new: {new.status}", title_align="left"),
    )
    common.console().print(grid)


def show_remembered(remembered: Remembered) -> None:
    """Print what became of a process that was to be remembered."""
    from rich.panel import Panel
    from rich.text import Text

    process = remembered.process
    common.console().print(Panel(Text(process.recipe()), title=process.heading, title_align="left"))
    if process.status == "active":
        _say(f"remembered: {process.heading!r} gave the accepted result when tried on its own", "green")
        return
    _say(f"kept as a draft, not used: {process.heading!r}", "yellow")
    for problem in remembered.problems:
        _say(f"  {problem}", "yellow")


def _define(talk: Chat, term: str, meaning: str) -> None:
    keyword = talk.session.define(term, meaning)
    _say(f"kept: {keyword.term} = {keyword.meaning}" + (f" (version {keyword.version})" if keyword.version > 1 else ""))


def _verify(talk: Chat, variables: str) -> None:
    if not talk.answers:
        _say("nothing has been asked yet")
        return
    given = dict(each.partition("=")[::2] for each in variables.split())
    query = talk.session.verify(talk.answers[-1], variables=given or None)
    others = ", ".join(f"{each.name}={each.value}" for each in query.variables)
    also = f"; other values of {others} too" if others else ""
    _say(
        f"verified: {query.title} is answered by its SELECT from now on{also} ({query.id[:8]}, version {query.version})"
    )


def _judge(talk: Chat, thumb: str, reason: str) -> None:
    from finexpert.answers import feedback
    from finexpert.answers.records import Record

    record = talk.answers[-1].record if talk.answers else None
    if not isinstance(record, Record):
        _say("nothing has been computed yet")
        return
    feedback.add(
        talk.session.settings.home, feedback.of_record(record, "chat", thumb == "right", reason, talk.session.by)
    )
    _say("kept at home; `finexpert feedback list` shows the queue")


def _forget(talk: Chat, name: str) -> None:
    gone = talk.session.forget(name)
    _say(f"{name!r} is retired; its history stays" if gone else f"there is no process or term {name!r}")


def _processes(talk: Chat) -> None:
    found = talk.session.stores.memory.processes()
    for process in found:
        _say(f"{process.heading}  ({process.status}, version {process.version}, {process.taught_by})", "")
    if not found:
        _say("nothing has been taught yet: analyse something, then say `remember`")


def _terms(talk: Chat) -> None:
    found = talk.session.stores.glossary.keywords()
    for keyword in found:
        _say(f"{keyword.term} = {keyword.meaning}", "")
    if not found:
        _say("no term has been explained yet: say `define TERM = MEANING`")


def _why(talk: Chat) -> None:
    from finexpert.cli.ask import show

    if talk.answers:
        show(talk.answers[-1], None, talk.figures)
    else:
        _say("nothing has been asked yet")


def _undo(talk: Chat) -> None:
    if talk.session.undo():
        if talk.answers:
            talk.answers.pop()
        _say("the last turn is taken back")
    else:
        _say("there is no turn to take back")


def _new(talk: Chat) -> None:
    while talk.session.undo():
        pass
    talk.answers.clear()
    _say("a new subject: earlier turns and frames are forgotten")
    if talk.session.name:
        _say(f"{talk.session.name!r} stays as it was saved; `save NAME` keeps what comes now")
        talk.session.name = ""


def _page(talk: Chat) -> None:
    from finexpert.filings.library.library import Library
    from finexpert.filings.page.filing import Filing

    source = talk.session.source
    if isinstance(source, Library):
        for filing in source.filings():
            _say(f"{filing.id}  {filing.company or filing.ticker}, {filing.pages} pages", "")
        _say(f"{len(source.filings())} filings; `finexpert library show ID` shows one")
    else:
        _say(source.page_text() if isinstance(source, Filing) else source.schema_card(), "")


def _open(talk: Chat) -> None:
    import typer

    if not talk.figures:
        _say("the last answer has no figure")
    for path in talk.figures:
        typer.launch(str(path))


def _save(talk: Chat, name: str) -> None:
    _say(f"saved as {talk.session.save(name)}; `finexpert chat --name {name!r}` takes it up again")


def _help(talk: Chat) -> None:
    _say(HELP)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(rf"/?(?:{text})", re.IGNORECASE | re.DOTALL)


# What stands around a name that is said in a sentence.
_AROUND = " '\"“”\u2018\u2019.!"
# "Remember this process as X" has a sentence of its own; "remember how the rate fell" is no heading.
_NO_HEADING = (
    "this|that|it|the (?:process|analysis)|to|how|if|what|when|where|whether|which|who|why|me|us|about|our|my|your"
)

_COMMANDS: tuple[tuple[re.Pattern[str], Callable[..., None]], ...] = (
    (_pattern(rf"remember(?P<heading>(?! (?:{_NO_HEADING})\b) [^?]+)?"), _remember),
    (
        _pattern(
            r"(?:(?:now|please|and|ok|okay),? )*remember (?:this|that|it|the(?= process| analysis))(?: process| analysis)?(?: for me)?"
            r"(?: (?:as|under|against)(?: the heading)? (?P<heading>[^?]+))?[.!]?"
        ),
        _remember,
    ),
    (_pattern(r"define (?P<term>[^=]{1,120}?)\s*=\s*(?P<meaning>.+)"), _define),
    (_pattern(r"forget (?P<name>(?!about |that |what )[^?]+)"), _forget),
    (_pattern(r"verify(?: (?:this|that|it))?(?P<variables>(?: \w+=\S+)*)"), _verify),
    # With a slash alone: "wrong, take the last value" is a correction.
    (re.compile(r"/(?P<thumb>right|wrong)(?P<reason> .+)?", re.IGNORECASE), _judge),
    (_pattern("processes"), _processes),
    (_pattern("terms|glossary"), _terms),
    (_pattern(r"why\??"), _why),
    (_pattern("undo"), _undo),
    (_pattern("new"), _new),
    (_pattern("page|schema"), _page),
    (_pattern("open"), _open),
    (_pattern(r"save (?P<name>.+)"), _save),
    (_pattern(r"help|\?"), _help),
)
