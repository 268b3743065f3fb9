"""`finexpert data edgar`: builds a warehouse of companies' facts from EDGAR.

finexpert data edgar AAPL MSFT --since 2009      fetch what two companies filed and build the warehouse
finexpert data edgar --from DIR                  build it from a folder of files such as CIK0000320193.json
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from rich.table import Table

    from finexpert.datasets.edgar.database import Built
    from finexpert.filings.edgar.symbols import Listed
    from finexpert.settings import Settings


def edgar(
    symbols: Annotated[
        list[str] | None, typer.Argument(metavar="[SYMBOL]...", help="Symbols such as AAPL, or CIKs such as 320193.")
    ] = None,
    since: Annotated[
        int | None, typer.Option(min=1990, max=2100, help="Leave out periods that end before this year.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--from", help="A folder of files such as CIK0000320193.json to load; nothing is fetched."),
    ] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch files again that are younger than a day.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="The warehouse to write; edgar.duckdb in the home if not given.")
    ] = None,
) -> None:
    """Build a warehouse of company facts: the tagged figures of 10-Ks, 10-Qs and the like, by what was known when.

    The SEC asks who fetches: set FINEXPERT_EDGAR_USER_AGENT to your name and address of mail. What was fetched is kept
    for a day, so an interrupted run goes on where it stopped. A semantic model is written beside the warehouse.
    """
    if folder and refresh:
        raise typer.BadParameter("--refresh fetches and --from does not: give one of them")
    if not symbols and not folder:
        raise typer.BadParameter("give symbols such as AAPL, or a folder with --from")
    settings = common.settings_from()
    from finexpert.datasets.edgar.database import build
    from finexpert.datasets.edgar.symbols import in_folder

    if folder:
        companies = in_folder(folder, symbols or [])
    else:
        folder = settings.home / "edgar"
        companies = _fetch(folder, symbols or [], refresh, settings)
    built = build(folder, companies, out or settings.home / "edgar.duckdb", since=since)
    screen = common.console()
    screen.print(_overview(built))
    for line in _left_out(built):
        screen.print(line, markup=False, soft_wrap=True)
    screen.print(f"Its semantic model: {built.model}", markup=False, soft_wrap=True)
    screen.print(
        f"Next: finexpert ask --data {built.path} 'What was the net margin of {companies[0].ticker} in each fiscal year?'",
        markup=False,
        soft_wrap=True,
    )


def _fetch(folder: Path, symbols: list[str], refresh: bool, settings: Settings) -> list[Listed]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from finexpert.datasets.edgar.download import Edgar

    server = Edgar(folder, settings.edgar_user_agent, refresh=refresh)
    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns, console=common.console(stderr=True)) as bar:
            task = bar.add_task("EDGAR", total=None)
            return server.download(
                symbols,
                lambda ticker, done, total: bar.update(task, description=ticker, completed=done, total=total),
            )
    finally:
        server.close()


def _overview(built: Built) -> Table:
    from rich.table import Table

    table = Table("company", "facts", "fiscal years", title=str(built.path), title_justify="left")
    table.columns[1].justify = "right"
    for ticker, facts in built.facts.items():
        years = built.years[ticker]
        table.add_row(
            ticker, f"{facts:,}", f"{years[0]} to {years[-1]}" if years else "none: no annual report names one"
        )
    return table


def _left_out(built: Built) -> list[str]:
    return [
        f"{ticker}: {sum(counts.values()):,} facts are left out ({', '.join(f'{n:,} {why}' for why, n in counts.items())})"
        for ticker, counts in built.left_out.items()
        if counts
    ]
