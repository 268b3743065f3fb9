"""What a line of `finexpert chat` can do beside asking: teach, look, take back.

    remember Recession Calculation      define stress month = a month in which ...      why      undo

The words work with and without a slash, and in a sentence ("Now remember this process as Recession Calculation").
"""

from __future__ import annotations

import re
from collections.abc import Callable

from finexpert.cli.chat.conversation import Chat, say
from finexpert.cli.chat.teaching import remember

HELP = (
    "remember [HEADING], define TERM = MEANING, forget NAME, verify [NAME=VALUE], /right or /wrong [REASON], processes, terms: what is taught; "
    "why, undo, new, page, open, save NAME, help, quit; anything else is a question or a correction"
)


def carry_out(line: str, talk: Chat) -> bool:
    """Carry out a line that is a command; whether it was one."""
    from finexpert.errors import BudgetExceeded, ConfigurationError, DataError, StepError, StoreError

    for pattern, command in _COMMANDS:
        if found := pattern.fullmatch(line):
            try:
                command(talk, **{name: _said(name, value or "") for name, value in found.groupdict().items()})
            except (BudgetExceeded, ConfigurationError, DataError, StepError, StoreError) as error:
                say(str(error), "yellow")
            return True
    if line.startswith("/"):
        say(f"there is no {line.split()[0]}; {HELP}", "yellow")
        return True
    return False


def _said(name: str, value: str) -> str:
    """What a part of a line says: a name without the marks around it, a meaning to the letter."""
    return value.strip() if name == "meaning" else value.strip(_AROUND)


def _define(talk: Chat, term: str, meaning: str) -> None:
    keyword = talk.session.define(term, meaning)
    say(f"kept: {keyword.term} = {keyword.meaning}" + (f" (version {keyword.version})" if keyword.version > 1 else ""))


def _verify(talk: Chat, variables: str) -> None:
    if not talk.answers:
        say("nothing has been asked yet")
        return
    given = dict(each.partition("=")[::2] for each in variables.split())
    query = talk.session.verify(talk.answers[-1], variables=given or None)
    others = ", ".join(f"{each.name}={each.value}" for each in query.variables)
    also = f"; other values of {others} too" if others else ""
    say(
        f"verified: {query.title} is answered by its SELECT from now on{also} ({query.id[:8]}, version {query.version})"
    )


def _judge(talk: Chat, thumb: str, reason: str) -> None:
    from finexpert.answers import feedback
    from finexpert.answers.records import Record

    record = talk.answers[-1].record if talk.answers else None
    if not isinstance(record, Record):
        say("nothing has been computed yet")
        return
    feedback.add(
        talk.session.settings.home, feedback.of_record(record, "chat", thumb == "right", reason, talk.session.by)
    )
    say("kept at home; `finexpert feedback list` shows the queue")


def _forget(talk: Chat, name: str) -> None:
    gone = talk.session.forget(name)
    say(f"{name!r} is retired; its history stays" if gone else f"there is no process or term {name!r}")


def _processes(talk: Chat) -> None:
    found = talk.session.stores.memory.processes()
    for process in found:
        say(f"{process.heading}  ({process.status}, version {process.version}, {process.taught_by})", "")
    if not found:
        say("nothing has been taught yet: analyse something, then say `remember`")


def _terms(talk: Chat) -> None:
    found = talk.session.stores.glossary.keywords()
    for keyword in found:
        say(f"{keyword.term} = {keyword.meaning}", "")
    if not found:
        say("no term has been explained yet: say `define TERM = MEANING`")


def _why(talk: Chat) -> None:
    from finexpert.cli.ask import show

    if talk.answers:
        show(talk.answers[-1], None, talk.figures)
    else:
        say("nothing has been asked yet")


def _undo(talk: Chat) -> None:
    if talk.session.undo():
        if talk.answers:
            talk.answers.pop()
        say("the last turn is taken back")
    else:
        say("there is no turn to take back")


def _new(talk: Chat) -> None:
    while talk.session.undo():
        pass
    talk.answers.clear()
    say("a new subject: earlier turns and frames are forgotten")
    if talk.session.name:
        say(f"{talk.session.name!r} stays as it was saved; `save NAME` keeps what comes now")
        talk.session.name = ""


def _page(talk: Chat) -> None:
    from finexpert.filings.library.library import Library
    from finexpert.filings.page.filing import Filing

    source = talk.session.source
    if isinstance(source, Library):
        for filing in source.filings():
            say(f"{filing.id}  {filing.company or filing.ticker}, {filing.pages} pages", "")
        say(f"{len(source.filings())} filings; `finexpert library show ID` shows one")
    else:
        say(source.page_text() if isinstance(source, Filing) else source.schema_card(), "")


def _open(talk: Chat) -> None:
    import typer

    if not talk.figures:
        say("the last answer has no figure")
    for path in talk.figures:
        typer.launch(str(path))


def _save(talk: Chat, name: str) -> None:
    say(f"saved as {talk.session.save(name)}; `finexpert chat --name {name!r}` takes it up again")


def _help(talk: Chat) -> None:
    say(HELP)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(rf"/?(?:{text})", re.IGNORECASE | re.DOTALL)


# What stands around a name that is said in a sentence.
_AROUND = " '\"“”\u2018\u2019.!"
# "Remember this process as X" has a sentence of its own; "remember how the rate fell" is no heading.
_NO_HEADING = (
    "this|that|it|the (?:process|analysis)|to|how|if|what|when|where|whether|which|who|why|me|us|about|our|my|your"
)

_COMMANDS: tuple[tuple[re.Pattern[str], Callable[..., None]], ...] = (
    (_pattern(rf"remember(?P<heading>(?! (?:{_NO_HEADING})\b) [^?]+)?"), remember),
    (
        _pattern(
            r"(?:(?:now|please|and|ok|okay),? )*remember (?:this|that|it|the(?= process| analysis))(?: process| analysis)?(?: for me)?"
            r"(?: (?:as|under|against)(?: the heading)? (?P<heading>[^?]+))?[.!]?"
        ),
        remember,
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
