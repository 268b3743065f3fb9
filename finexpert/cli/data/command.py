"""`finexpert data`: gets the data that questions are asked of.

finexpert data fred                  fetch the 31 series from FRED and build the warehouse
finexpert data fred --from DIR       build it from a folder of CSV files
finexpert data convfinqa             fetch ConvFinQA, see `convfinqa.py`
finexpert data edgar AAPL MSFT       fetch what companies filed with the SEC, see `edgar.py`
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common
from finexpert.cli.data.convfinqa import convfinqa
from finexpert.cli.data.edgar import edgar

if TYPE_CHECKING:
    from rich.table import Table

data_app = typer.Typer(help="Get the data that questions are asked of.", no_args_is_help=True)


data_app.command()(convfinqa)
data_app.command()(edgar)


@data_app.command()
def fred(
    folder: Annotated[
        Path | None, typer.Option("--from", help="A folder of CSV files to load; nothing is fetched.")
    ] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch files again that are younger than a day.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="The warehouse to write; fred.duckdb in the home if not given.")
    ] = None,
) -> None:
    """Build the FRED warehouse: fetch 31 macroeconomic series, or load a folder of them, into eight tables.

    It takes no key. What was fetched is kept for a day, so an interrupted run goes on where it stopped.
    """
    if folder and refresh:
        raise typer.BadParameter("--refresh fetches and --from does not: give one of them")
    home = common.settings_from().home
    from finexpert.datasets.fred.database import build, load_folder

    if folder is None:
        folder = home / "fred"
        _fetch(folder, refresh)
    built = build(load_folder(folder), out or home / "fred.duckdb")
    screen = common.console()
    screen.print(_overview(built))
    option = f" --data {built}" if out else ""
    screen.print(f"Next: finexpert ask 'In what year did the CPI first stand above 200?'{option}", soft_wrap=True)


def _fetch(folder: Path, refresh: bool) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from finexpert.datasets.fred.download import download

    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=common.console(stderr=True)) as bar:
        task = bar.add_task("FRED", total=None)
        download(
            folder,
            refresh=refresh,
            progress=lambda series, done, total: bar.update(task, description=series, completed=done, total=total),
        )


def _overview(path: Path) -> Table:
    from rich.table import Table

    from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

    table = Table("table", "rows", "from", "to", title=str(path), title_justify="left")
    table.columns[1].justify = "right"
    warehouse = DuckDBWarehouse(path)
    try:
        for name in warehouse.columns():
            row = warehouse.query(f"SELECT count(*) AS n, min(date) AS first, max(date) AS last FROM {name}").data.iloc[
                0
            ]
            table.add_row(name, f"{row['n']:,}", f"{row['first']:%Y-%m-%d}", f"{row['last']:%Y-%m-%d}")
    finally:
        warehouse.close()
    return table
