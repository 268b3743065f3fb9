"""`finexpert`: the commands, and how errors leave it.

Nothing heavy is imported here: a command is imported when it is run or listed, and imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys
from collections import UserDict
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from finexpert.cli.terminal.screen import plain

# Each command in the order of the help, and where it stands.
_PLACES = {
    "ask": "finexpert.cli.ask:ask",
    "chat": "finexpert.cli.chat.command:chat",
    "batch": "finexpert.cli.batch.command:batch",
    "report": "finexpert.cli.batch.report:report",
    "teach": "finexpert.cli.teach:teach",
    "memory": "finexpert.cli.taught.memory:memory_app",
    "glossary": "finexpert.cli.taught.glossary:glossary_app",
    "verify": "finexpert.cli.verified.verify:verify",
    "verified": "finexpert.cli.verified.command:verified_app",
    "knowledge": "finexpert.cli.knowledge:knowledge_app",
    "feedback": "finexpert.cli.feedback.command:feedback_app",
    "eval": "finexpert.cli.eval.command:eval_app",
    "compile": "finexpert.cli.compile.command:compile_",
    "compiled": "finexpert.cli.compiled:compiled_app",
    "log-model": "finexpert.cli.compile.log_model:log_model",
    "examples": "finexpert.cli.examples:examples_app",
    "library": "finexpert.cli.library.command:library_app",
    "data": "finexpert.cli.data.command:data_app",
    "model": "finexpert.cli.model:model_app",
    "mcp": "finexpert.cli.mcp:mcp",
    "doctor": "finexpert.cli.doctor:doctor",
    "replay": "finexpert.cli.record:replay",
    "export": "finexpert.cli.record:export",
    "run-export": "finexpert.cli.record:run_export",
    "runs": "finexpert.cli.runs:runs_app",
    "serve": "finexpert.cli.serve:serve_app",
    "bench": "finexpert.cli.bench.command:bench_app",
    "sandbox": "finexpert.cli.sandbox.command:sandbox_app",
}


class _Commands(UserDict[str, Any]):
    """All commands by name; one is imported when it is taken out."""

    def __getitem__(self, name: str) -> Any:
        return _command(name, *self.data[name].split(":"))


@cache
def _command(name: str, module: str, attribute: str) -> Any:
    alone, found = typer.Typer(), getattr(import_module(module), attribute)
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name)
    else:
        alone.command(name)(found)
    return typer.main.get_group(alone).commands[name]


class _Group(TyperGroup):
    """The group of all commands."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Commands(_PLACES)


app = typer.Typer(
    name="finexpert",
    cls=_Group,
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
