"""`finexpert ask`: one question, the answer and how it came about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.answers import Answer


Cached = Annotated[
    bool | None,
    typer.Option(
        "--cached/--no-cached",
        help="Give the answer to a question that was answered before, also in other words; or have it computed again.",
    ),
]


def ask(
    question: Annotated[str, typer.Argument(help="The question, in words.")],
    data: common.Data = None,
    as_of: common.AsOf = None,
    lm: common.Model = None,
    api_base: common.ApiBase = None,
    drafts: common.Drafts = None,
    retries: common.Retries = None,
    mode: common.Mode = None,
    budget: common.Budget = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    filing: common.FilingFile = None,
    id: common.FilingId = None,
    library: common.LibraryFolder = None,
    store: common.Store = None,
    program: common.Program = None,
    assume: Annotated[
        bool, typer.Option("--assume", help="Answer on an assumption, instead of asking what an unknown term means.")
    ] = False,
    figures: Annotated[Path | None, typer.Option(help="Folder for charts; the records' folder if not given.")] = None,
    cached: Cached = None,
    as_json: common.Json = False,
) -> None:
    """Answer a question from the warehouse, from a page with --filing or many with --library; show how, and what it cost.

    A term that nobody has explained is asked back, and can be explained with `finexpert glossary define`. The exit code
    is 0 for an answer and 3 where the question could not be answered or has to be made clear.
    """
    if not question.strip():
        raise typer.BadParameter("the question is empty", param_hint="question")
    settings = common.settings_from(
        as_of=as_of,
        lm=lm,
        api_base=api_base,
        drafts=drafts,
        retries=retries,
        mode=mode,
        **common.budget_settings(budget, "answer"),
        record=record,
        recordings=recordings,
        store=store,
        # Of a single question, a reading that is not safe is shown with its confidence instead of being asked back.
        ask_below=0,
        cache_answers=cached or None,
    )
    from finexpert.session import Session

    expert, settings = common.program_of(program, settings)
    with Session(common.open_source(data, filing, id, settings, library), expert=expert, settings=settings) as session:
        answer = session.ask(question, clarify=not assume, cached=cached)
    folder = settings.home / "records"
    kept = answer.record.save(folder) if answer.record else None
    drawn = save_figures(answer, figures or folder)
    if as_json:
        typer.echo(json.dumps(as_dict(answer, kept, drawn), indent=1))
    else:
        show(answer, kept, drawn)
    if not as_json and answer.clarification is not None and answer.clarification.kind == "value":
        typer.echo("Ask again with one of these values in the question, or publish the column in the semantic model.")
    elif not as_json and answer.clarification is not None:
        term = answer.clarification.term
        typer.echo(f"Say it with: finexpert glossary define {term!r} MEANING; or ask with --assume to go on without.")
    if answer.status != "answered":
        raise typer.Exit(3)


def save_figures(answer: Answer, folder: Path) -> list[Path]:
    """Keep the figures of an answer as PNG files, readable by their owner only."""
    from finexpert.private_files import make_folder

    make_folder(folder)
    name = answer.record.id if answer.record else "figure"
    paths = [folder / f"{name}-{number}.png" for number in range(1, len(answer.figures) + 1)]
    for path, png in zip(paths, answer.figures, strict=True):
        path.touch(mode=0o600)
        path.write_bytes(png)
    return paths


def as_dict(answer: Answer, kept: Path | None, figures: list[Path]) -> dict[str, Any]:
    """An answer as the JSON that `--json` prints."""
    from finexpert.records import encode

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


def show(answer: Answer, kept: Path | None, figures: list[Path], brief: bool = False) -> None:
    """Print an answer for a person: how it was understood, SQL, script, value, origin, cost; `brief` without the code."""
    import pandas as pd
    from rich.panel import Panel
    from rich.syntax import Syntax
    from rich.text import Text

    from finexpert.cli import in_terminal
    from finexpert.modules.filing_question import describe
    from finexpert.plans import Extract, Script

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
    if answer.record and answer.record.source.dialect in ("filing", "library"):
        out.print(Text(f"Plan: {describe(answer.record.plan)}"))
        for number, citation in enumerate(answer.citations, 1):
            whose = f"[{number}] {citation.source}: " if citation.page else ""
            out.print(Text(f"  {whose}{citation.place}: {citation.value}", style="dim"))
    style = "bold green" if answer.status == "answered" else "bold red"
    if isinstance(answer.value, pd.DataFrame):
        out.print(in_terminal.table(answer.value))
    else:
        out.print(Text("Answer: ", style="bold").append(Text(answer.cited_text, style=style)))
    if answer.confidence is not None:
        out.print(Text(f"Confidence: {answer.confidence} of 100"))
    if answer.period:
        out.print(Text(f"Period: {answer.period}"))
    for flag in answer.flags:
        out.print(Text(f"Note: {flag}", style="yellow"))
    for path in figures:
        if out.is_terminal:
            out.print(in_terminal.figure(path, out.width))
        out.print(Text(f"Figure: {path}"), soft_wrap=True)
    if answer.clarification is not None:
        for candidate in answer.clarification.candidates:
            out.print(Text(f"  known: {candidate}", style="dim"))
    out.print(Text(_cost(answer), style="dim"))
    if kept:
        out.print(Text(f"Record: {kept}  (finexpert replay, finexpert export)", style="dim"), soft_wrap=True)


def _cost(answer: Answer) -> str:
    usage = answer.usage
    layers = ", ".join(f"{name} {calls}" for name, calls in usage.by_layer.items())
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
    calls = "1 model call" if usage.calls == 1 else f"{usage.calls} model calls"
    prefix = "" if usage.prefix_share is None else f" ({usage.prefix_share:.0%} as in the prompt before)"
    return f"{calls} ({layers}), {tokens}{prefix}, {cost}, {usage.seconds:.1f} s"
