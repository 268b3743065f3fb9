"""`finexpert report`: a saved list of questions with parameters, as one HTML file and one workbook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from finexpert.cli import common, several_sources
from finexpert.cli.batch.command import bar
from finexpert.cli.options import Assume, Given, takes


@takes("as_of lm api_base drafts retries mode budget record recordings store program threads")
def report(
    given: Given,
    file: Annotated[Path, typer.Argument(help="A YAML file with a title, parameters and questions.")],
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter; may be given again.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="What the files are called: OUT.html, OUT.xlsx; as FILE, here.")
    ] = None,
    data: several_sources.Data = None,
    library: several_sources.Libraries = None,
    assume: Assume = False,
    anew: Annotated[
        bool, typer.Option("--anew", help="Ask a model for everything, also what it answered before.")
    ] = False,
) -> None:
    """Answer the questions of a report, and write HTML and Excel with answers, charts, citations and changes since the last run.

    What was answered before is computed again without a model where nothing but the data changed. The exit code is 0 where all are
    answered, 4 where some are only in part, and 3 where some are not: the report says why.
    """
    # Nobody is there to say what is meant: a reading that is not safe is shown with its confidence.
    settings = given.settings(ask_below=0)
    from finexpert.batch import answer_files
    from finexpert.batch.reports.reading import own_sources, read
    from finexpert.batch.reports.running import run
    from finexpert.batch.reports.writing import html, workbook
    from finexpert.storage.private_files import write_whole

    wanted = read(file, values or ())
    base = out or Path(file.stem)
    page, book = (base.with_name(base.name + ending) for ending in (".html", ".xlsx"))
    answer_files.check(book)
    sources = [] if data or library else own_sources(wanted, file, settings.trusted_hosts)
    expert, settings = given.expert(settings)
    if sources:
        settings = settings.model_copy(update={"sources": sources})
    source = several_sources.open_sources(data, None, None, settings, library)
    with bar() as told:
        made = run(
            wanted, file, source, anew=anew, clarify=not assume, threads=given.threads, on_progress=told,
            expert=expert, settings=settings,
        )  # fmt: skip
    write_whole(page, html(made))
    write_whole(book, workbook(made))
    changed = sum(bool(section.change) for section in made.sections)
    calls = sum(section.row.calls for section in made.sections)
    common.echo(f"{made.answered} of {len(made.sections)} answered, {changed} changed; {calls} model calls")
    for section in made.sections:
        if not section.answered:
            common.echo(f"  {section.name}: {section.row.reason}")
    common.echo(f"wrote {page} and {book}")
    common.leave(*(section.row.status for section in made.sections))
