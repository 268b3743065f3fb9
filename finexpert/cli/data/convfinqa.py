"""`finexpert data convfinqa`: gets the ConvFinQA conversations.

finexpert data convfinqa                       fetch the archive of the official repository
finexpert data convfinqa --from FILE|DIR       take a file, a folder or the archive that is at hand
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from rich.table import Table

FILES = ("train.json", "dev.json", "test_private.json")


def convfinqa(
    source: Annotated[
        Path | None, typer.Option("--from", help="A JSON file, a folder of them, or data.zip; nothing is fetched.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder to write; convfinqa in the home if not given.")] = None,
) -> None:
    """Get the ConvFinQA conversations: fetch the official archive, or take files at hand; they are checked before use.

    Without them, `finexpert eval convfinqa` runs on a few sample pages about companies that do not exist.
    """
    from finexpert.datasets.convfinqa.conversations import load

    folder = out or common.settings_from().home / "convfinqa"
    with tempfile.TemporaryDirectory(prefix="finexpert-") as name:
        paths = _collect(source, Path(name))
        counts = {path.name: load(path) for path in paths}
        written = _install(paths, folder)
    screen = common.console()
    screen.print(_overview({name: (len(c), sum(len(x.turns) for x in c)) for name, c in counts.items()}, folder))
    first = next((path for path in written if path.name == "dev.json"), written[0])
    option = f" --records {first}" if out or first.name != "dev.json" else ""
    screen.print(f"Next: finexpert eval convfinqa --sample 20{option}", soft_wrap=True)


def _collect(source: Path | None, folder: Path) -> list[Path]:
    """The files to take, fetched or unpacked into `folder` where they are not files yet."""
    from finexpert.datasets.convfinqa import download as convfinqa_download
    from finexpert.errors import DataError

    if source is None:
        return _fetch(folder)
    if not source.exists():
        raise DataError(
            f"there is no {source}: give a file, a folder or data.zip with --from, or leave it out to fetch"
        )
    if source.is_dir():
        found = [path for name in FILES if (path := source / name).is_file()]
        if not found:
            raise DataError(f"{source} holds none of {', '.join(FILES)}; give the file itself with --from FILE")
        return found
    if source.suffix == ".zip":
        return convfinqa_download.unpack(source, folder)
    return [source]


def _fetch(folder: Path) -> list[Path]:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    from finexpert.datasets.convfinqa.download import download

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=common.console(stderr=True)) as bar:
        task = bar.add_task("ConvFinQA", total=None)
        return download(folder, progress=lambda done, total: bar.update(task, completed=done, total=total))


def _install(paths: list[Path], folder: Path) -> list[Path]:
    """Copy checked files into place, each whole or not at all."""
    from finexpert.datasets.convfinqa.download import write_members

    name_of = {path: path.name if path.suffix == ".json" else f"{path.stem}.json" for path in paths}
    contents = {name_of[path]: _as_list(path) for path in paths}
    return write_members(contents, folder)


def _as_list(path: Path) -> bytes:
    """The file as it is, or as a JSON list where it has one record a line."""
    from finexpert.filings.page.file import read_records

    content = path.read_bytes()
    if path.suffix == ".json" and content.lstrip()[:1] == b"[":
        return content
    return json.dumps(read_records(path)).encode()


def _overview(counts: dict[str, tuple[int, int]], folder: Path) -> Table:
    from rich.table import Table

    table = Table("file", "conversations", "turns", title=str(folder), title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, (conversations, turns) in counts.items():
        table.add_row(name, f"{conversations:,}", f"{turns:,}")
    return table
