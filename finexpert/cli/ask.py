"""`finexpert ask`: one question, the answer and how it came about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common, several_sources
from finexpert.cli.options import Assume, Given, takes
from finexpert.cli.terminal.screen import plain
from finexpert.cli.terminal.written import Written
from finexpert.cli.waiting import completions_soon, starting, waiting
from finexpert.core.display.charts import save_figures
from finexpert.errors import StoreError

if TYPE_CHECKING:
    from finexpert.core.answers import Answer
    from finexpert.core.offers import Offer
    from finexpert.session import Session


Cached = Annotated[
    bool | None,
    typer.Option(
        "--cached/--no-cached",
        help="Give the answer to a question that was answered before, word for word; or have it computed again.",
    ),
]


@takes("as_of lm api_base drafts retries mode budget record recordings filing id store verified program as_json")
def ask(
    given: Given,
    question: Annotated[str, typer.Argument(help="The question, in words.")],
    data: several_sources.Data = None,
    library: several_sources.Libraries = None,
    assume: Assume = False,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write the rows of the answer to this CSV file.")] = None,
    excel: Annotated[Path | None, typer.Option("--excel", help="Write them to this .xlsx file.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for all of the answer: text, rows, charts, record.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="Folder for charts; the records' folder if not given.")] = None,
    cached: Cached = None,
    trace: Annotated[
        str | None,
        typer.Option(
            help="Write spans, without values, to 'mlflow' or to an OpenTelemetry collector; or FINEXPERT_TRACE."
        ),
    ] = None,
    yes: common.Yes = False,
) -> None:
    """Answer a question from the warehouse, from a page with --filing or many with --library; show how, and what it cost.

    --data and --library may be given together, and more than once: the question then goes to those that it needs.

    A term that nobody has explained is asked back, and can be explained with `finexpert glossary define`. The exit code
    is 0 for an answer, 4 for a part of one, and 3 where the question could not be answered or has to be made clear.
    """
    if not question.strip():
        raise typer.BadParameter("the question is empty", param_hint="question")
    common.reader_soon(data or (), given.filing, *(library or ()))
    settings = given.settings(
        "answer",
        # Of a single question, a reading that is not safe is shown with its confidence instead of being asked back.
        ask_below=0,
        cache_answers=cached or None,
        trace=trace,
    )
    wanted = Written(csv, excel, out)
    wanted.check()
    with waiting():
        with starting():
            completions_soon(settings)
            from finexpert.session import Session

            expert, settings = given.expert(settings)
            source = several_sources.open_sources(data, given.filing, given.id, settings, library)
        with Session(source, expert=expert, settings=settings) as session:
            answer = session.ask(question, clarify=not assume, cached=cached)
            taken = [_taken(session, offer) for offer in answer.offers] if yes else []
    folder = settings.home / "records"
    kept = answer.record.save(folder) if answer.record else None
    drawn = save_figures(answer, figures or folder)
    if given.as_json:
        typer.echo(json.dumps(as_dict(answer, kept, drawn), indent=1))
    else:
        show(answer, kept, drawn)
        for each in answer.offers if not yes else ():
            common.echo(f"explained: {each}\nKeep it with --yes, or with: finexpert glossary define TERM MEANING")
    for line in taken:
        # Beside JSON too: what could not be kept is told nowhere else.
        typer.echo(plain(line), err=given.as_json)
    # At last: a full disk takes nothing from what was shown and kept.
    for path in wanted.write(answer):
        if not given.as_json:
            common.echo(f"wrote {path}")
    if not given.as_json and answer.clarification is not None and answer.clarification.kind == "value":
        typer.echo("Ask again with one of these values in the question, or publish the column in the semantic model.")
    elif not given.as_json and answer.clarification is not None:
        term = answer.clarification.term
        typer.echo(f"Say it with: finexpert glossary define {term!r} MEANING; or ask with --assume to go on without.")
    common.leave(answer.status)


def as_dict(answer: Answer, kept: Path | None, figures: list[Path]) -> dict[str, Any]:
    """An answer as the JSON that `--json` prints."""
    from finexpert.core.encoding import encode

    shown = answer.model_dump(mode="json", exclude={"value", "figures", "record"})
    plan = answer.record.plan.model_dump(mode="json") if answer.record else None
    return {
        **shown,
        "value": encode(answer.value),
        "text": answer.text,
        "plan": plan,
        "figures": [str(path) for path in figures],
        "record": str(kept) if kept else None,
    }


def _taken(session: Session, offer: Offer) -> str:
    """Keep what was explained, and say it; the answer that was computed with it is not lost where it cannot be kept."""
    try:
        kept = session.keep(offer)
    except StoreError as error:
        return f"not kept: {offer}: {error}"
    return f"kept: {kept.term} = {kept.meaning} ({kept.status})"


def show(answer: Answer, kept: Path | None, figures: list[Path], brief: bool = False) -> None:
    """Print an answer for a person: how it was understood, SQL, script, value, origin, cost; `brief` without the code."""
    import pandas as pd
    from rich.panel import Panel
    from rich.syntax import Syntax
    from rich.text import Text

    from finexpert.cli.terminal import tables as in_terminal
    from finexpert.core.display.parts import cost
    from finexpert.core.notes import SHOWN, in_order
    from finexpert.core.plans import Extract, Script
    from finexpert.modules.flow.filing_question import describe

    out = common.console()
    out.print(Text(answer.question, style="bold"))
    for term, meaning in answer.meanings.items():
        out.print(Text(f"{term}: {meaning}", style="cyan"))
    if answer.processes:
        out.print(Text(f"Follows: {', '.join(answer.processes)}", style="cyan"))
    if answer.explanation:
        out.print(Text(answer.explanation, style="dim"))
    ran = {frame.name: frame.select for frame in answer.record.frames} if answer.record else {}
    for step in answer.record.plan.steps if answer.record and not brief else []:
        if isinstance(step, Extract) and (select := ran.get(step.frame, step.select)):
            out.print(Panel(Syntax(select, "sql", word_wrap=True), title=f"SQL → {step.frame}", title_align="left"))
        elif isinstance(step, Script) and step.code:
            out.print(Panel(Syntax(step.code, "python", word_wrap=True), title="Script", title_align="left"))
    if answer.sources:
        out.print(Text(f"Sources: {', '.join(answer.sources)}"))
    of_pages = answer.record is not None and answer.record.source.dialect in ("filing", "library")
    if of_pages and answer.record:
        out.print(Text(f"Plan: {describe(answer.record.plan)}"))
    if of_pages or any(citation.page for citation in answer.citations):
        for number, citation in enumerate(answer.citations, 1):
            if not of_pages and not citation.page:
                continue
            whose = f"[{number}] {citation.source}: " if citation.page else ""
            tag = f" ({citation.tag})" if citation.tag else ""
            out.print(Text(f"  {whose}{citation.place}: {citation.value}{tag}", style="dim"))
    style = {"answered": "bold green", "noted": "bold green", "partial": "bold yellow"}.get(answer.status, "bold red")
    if isinstance(answer.value, pd.DataFrame):
        out.print(*in_terminal.tables(answer.value, out.width), sep="")
        if answer.format.unit:
            out.print(Text(f"Unit: {answer.format.unit}"))
    else:
        out.print(Text("Answer: ", style="bold").append(Text(answer.cited_text, style=style)))
    if answer.confidence is not None:
        out.print(Text(f"Confidence: {answer.confidence} of 100"))
    if answer.period:
        out.print(Text(f"Period: {answer.period}"))
    notes = in_order(answer.flags)
    if answer.status == "partial":
        out.print(Text("Answered in part: what is missing stands below.", style="bold yellow"))
    for flag in notes[:SHOWN]:
        out.print(Text(f"Note: {flag}", style="yellow"))
    if more := len(notes[SHOWN:]):
        out.print(Text(f"Note: and {more} more: the record and --json hold all", style="yellow"))
    for path in figures:
        if out.is_terminal:
            out.print(in_terminal.figure(path, out.width))
        out.print(Text(f"Figure: {path}"), soft_wrap=True)
    if answer.clarification is not None:
        for candidate in answer.clarification.candidates:
            out.print(Text(f"  known: {candidate}", style="dim"))
    out.print(Text(cost(answer.usage), style="dim"))
    if kept:
        out.print(Text(f"Record: {kept}  (finexpert replay, finexpert export)", style="dim"), soft_wrap=True)
