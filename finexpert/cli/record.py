"""`finexpert replay`, `export` and `run-export`: compute an answer again without a model, read it as a script, run that script shut in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common, several_sources
from finexpert.cli.terminal import completing

if TYPE_CHECKING:
    from finexpert.answers.records import Record
    from finexpert.answers.replaying import Replay
    from finexpert.settings import Settings

Place = Annotated[str, typer.Argument(help="A record's file, or its id.", autocompletion=completing.records)]


def load(place: str, settings: Settings) -> tuple[Record, Path]:
    """The record, and its file."""
    from finexpert.answers.records import Record

    path = Path(place)
    if not path.exists() and path.suffix != ".json":
        path = settings.home / "records" / f"{place}.json"
    return Record.load(path), path


def replay(
    record: Place,
    data: common.Data = None,
    filing: common.FilingFile = None,
    id: common.FilingId = None,
    library: common.LibraryFolder = None,
    as_json: common.Json = False,
) -> None:
    """Compute a recorded answer again, without a language model; exit code 3 if it comes out differently.

    Exit code 4 says that the same part of an answer came out, with what it lacks. It is computed from the source that the record names, if no other is given. A record keeps no password.
    """
    settings = common.settings_from()
    from finexpert.answers import replaying
    from finexpert.cli.kept_source import source_of
    from finexpert.filings.library.library import Library
    from finexpert.filings.page.filing import Filing
    from finexpert.sandbox import Limits, Sandbox

    kept, file = load(record, settings)
    if kept.parts:
        moved = any(each is not None for each in (data, filing, library))
        _show(kept, several_sources.replayed(kept, file, settings, moved), as_json)
        return
    source = source_of(kept, file, settings, data, filing, id, library)
    if isinstance(source, Library):
        again = replaying.replay_library(kept, source)
    elif isinstance(source, Filing):
        again = replaying.replay_filing(kept, source)
    else:
        with Sandbox(Limits(wall_seconds=settings.script_seconds)) as sandbox:
            again = replaying.replay(kept, source, sandbox)
    _show(kept, again, as_json)


def _show(kept: Record, again: Replay, as_json: bool) -> None:
    """Print what came out; exit code 3 if it is another answer, 4 if it is a part of one."""
    from finexpert.core.encoding import encode

    if not kept.seal:
        again.differences.append("the record carries no seal: whether it was changed cannot be told")
    if as_json:
        shown = {"same": again.same, "status": kept.status, "value": encode(again.value), "text": again.text(kept),
                 "missing": [each.model_dump() for each in kept.missing], "differences": again.differences}  # fmt: skip
        typer.echo(json.dumps(shown, indent=1))
    else:
        out = common.console()
        out.print(kept.question, style="bold", markup=False)
        out.print(
            f"{'same answer' if again.same else 'DIFFERENT answer'}: {again.text(kept)}",
            markup=False,
        )
        for difference in [*(each.text for each in kept.missing), *again.differences]:
            out.print(f"- {difference}", style="yellow", markup=False, soft_wrap=True)
    if not again.same:
        raise typer.Exit(3)
    common.leave(kept.status)


def export(
    record: Place,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write; printed if not given.")] = None,
    data: common.Data = None,
) -> None:
    """Write a recorded answer as a plain Python script that needs duckdb, pandas, pyarrow, scipy and matplotlib, and no finexpert."""
    settings = common.settings_from()
    from finexpert.answers.export import script as exported
    from finexpert.cli.kept_source import source_of
    from finexpert.errors import RecordError
    from finexpert.storage.private_files import write_whole

    kept, file = load(record, settings)
    if not kept.seal:
        raise RecordError(
            f"the record {kept.id} carries no seal, so it cannot be told whether it was changed: ask the question again"
        )
    if kept.parts:
        raise RecordError(
            f"the record {kept.id} is of several sources, {kept.source.name}, which no one script reads: `finexpert replay` computes it again"
        )
    if kept.source.dialect in ("filing", "library"):
        raise RecordError(f"the record {kept.id} is of a {kept.source.dialect}: its answer is no script over tables")
    script = exported.export(kept, source_of(kept, file, settings, data))  # type: ignore[arg-type]  # of tables
    if out is None:
        common.echo(script, nl=False)
    else:
        write_whole(out, script)
        typer.echo(f"wrote {out}; run it shut in with `finexpert run-export {out}`, or with python {out}")


def run_export(
    script: Annotated[Path, typer.Argument(help="A script that `finexpert export` wrote.")],
    seconds: Annotated[float, typer.Option("--seconds", help="End it after so many seconds.")] = 120.0,
) -> None:
    """Run an exported script shut in: it reads its data file, writes nothing and reaches no network."""
    from finexpert.answers.export import run as exported_run

    common.echo(exported_run.run_export(script, seconds), nl=False)
