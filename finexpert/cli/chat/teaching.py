"""What a conversation in the terminal learns: what a term means, what was explained in passing, a process to remember."""

from __future__ import annotations

from typing import TYPE_CHECKING

from finexpert.cli import common
from finexpert.cli.chat.conversation import Chat, say
from finexpert.cli.waiting import waiting

if TYPE_CHECKING:
    from finexpert.core.answers import Answer, Clarification
    from finexpert.core.offers import Offer
    from finexpert.knowledge.process import Process
    from finexpert.modules.flow.teaching import Remembered


def explain(talk: Chat, unclear: Clarification, reply: str) -> bool:
    """Keep what a term means, and say so; what cannot be kept counts as not explained. Whether anything was."""
    from finexpert.errors import StoreError
    from finexpert.knowledge.glossary import Keyword

    try:
        kept = talk.session.explain(unclear, reply)
    except StoreError as error:
        say(str(error), "yellow")
        talk.session.explain(unclear, "")
        return False
    if unclear.kind == "value":
        say(f"in this conversation, {unclear.term!r} in {unclear.place} is {reply!r}")
    elif isinstance(kept, Keyword):
        say(f"kept: {kept.term} = {kept.meaning}")
    elif kept is not None:
        say(f"kept: {unclear.term} is another name of {kept.heading}")
    elif reply:
        say("nothing is kept of this: it does not say what the term means")
    return kept is not None


def offer(talk: Chat, answer: Answer) -> None:
    """Show what the message explained, and keep what the person agrees to."""
    for each in answer.offers:
        say(f"explained: {each}", "yellow")
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
        say(str(error), "yellow")
        return
    where = f"for {kept.scope}" if kept.scope else "everywhere"
    state = "; a draft of yours until a result with it is accepted" if kept.status == "draft" else ""
    say(f"kept {where}: {kept.term} = {kept.meaning}{state}")


def remember(talk: Chat, heading: str) -> None:
    with waiting():
        remembered = talk.session.remember(heading)
    while remembered.clash is not None:
        decided = _decide(talk, remembered, remembered.clash)
        if decided is None:
            say("nothing was changed")
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
        say(f"remembered: {process.heading!r} gave the accepted result when tried on its own", "green")
        return
    say(f"kept as a draft, not used: {process.heading!r}", "yellow")
    for problem in remembered.problems:
        say(f"  {problem}", "yellow")
