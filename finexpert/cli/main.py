"""`finexpert`: the commands, and how errors leave it.

Nothing heavy is imported here: each command imports what it needs when it runs, so `--help` answers at once.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from finexpert.cli.ask import ask
from finexpert.cli.batch.command import batch
from finexpert.cli.batch.report import report
from finexpert.cli.bench.command import bench_app
from finexpert.cli.chat.command import chat
from finexpert.cli.compile.command import compile_
from finexpert.cli.compile.log_model import log_model
from finexpert.cli.compiled import compiled_app
from finexpert.cli.data.command import data_app
from finexpert.cli.doctor import doctor
from finexpert.cli.eval.command import eval_app
from finexpert.cli.examples import examples_app
from finexpert.cli.feedback.command import feedback_app
from finexpert.cli.knowledge import knowledge_app
from finexpert.cli.library.command import library_app
from finexpert.cli.mcp import mcp
from finexpert.cli.model import model_app
from finexpert.cli.record import export, replay, run_export
from finexpert.cli.runs import runs_app
from finexpert.cli.sandbox.command import sandbox_app
from finexpert.cli.serve import serve_app
from finexpert.cli.taught.glossary import glossary_app
from finexpert.cli.taught.memory import memory_app
from finexpert.cli.teach import teach
from finexpert.cli.terminal.screen import plain
from finexpert.cli.verified.command import verified_app
from finexpert.cli.verified.verify import verify

app = typer.Typer(
    name="finexpert",
    help="Answer financial questions the way a domain expert would.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"finexpert {version('finexpert')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Answer financial questions the way a domain expert would."""


app.command()(ask)
app.command()(chat)
app.command()(batch)
app.command()(report)
app.command()(teach)
app.add_typer(memory_app, name="memory")
app.add_typer(glossary_app, name="glossary")
app.command()(verify)
app.add_typer(verified_app, name="verified")
app.add_typer(knowledge_app, name="knowledge")
app.add_typer(feedback_app, name="feedback")
app.add_typer(eval_app, name="eval")
app.command("compile")(compile_)
app.add_typer(compiled_app, name="compiled")
app.command("log-model")(log_model)
app.add_typer(examples_app, name="examples")
app.add_typer(library_app, name="library")
app.add_typer(data_app, name="data")
app.add_typer(model_app, name="model")
app.command()(mcp)
app.command()(doctor)
app.command()(replay)
app.command()(export)
app.command()(run_export)
app.add_typer(runs_app, name="runs")
app.add_typer(serve_app, name="serve")
app.add_typer(bench_app, name="bench")
app.add_typer(sandbox_app, name="sandbox")


def main() -> None:
    """Run the command line; exit code 1 for an error of ours, 2 for wrong usage, 130 after Ctrl-C."""
    from finexpert.errors import FinexpertError

    try:
        app()
    except (FinexpertError, OSError) as error:  # of the system: a file that was named, a full disk
        sys.stderr.write(plain(f"{type(error).__name__}: {error}{_next(error)}\n"))
        sys.exit(1)
    except SystemExit as ended:
        # Typer ends a command after Ctrl-C by itself, and says nothing.
        if ended.code == 130:
            sys.stderr.write("interrupted\n")
        raise


def _next(error: Exception) -> str:
    """What to do where the home cannot be written, which no command names."""
    home = os.environ.get("FINEXPERT_HOME")
    if home and isinstance(error, OSError) and str(error.filename or "").startswith(str(Path(home).absolute())):
        return f". FINEXPERT_HOME is {home}: set it to a folder that can be written"
    return ""


def run() -> None:
    """The console script: `main`, but after Ctrl-C gone at once, even where a thread waits for a model's answer."""
    if sys.stdin is None:
        # Who started it closed it: there is nothing to read, and no other file takes its number.
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    try:
        main()
    except SystemExit as ended:
        if ended.code != 130:
            raise
        sys.stdout.flush()
        sys.stderr.flush()
        # All that had to be closed is closed by now; a normal exit would join the threads.
        os._exit(130)


if __name__ == "__main__":
    run()
