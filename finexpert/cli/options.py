"""The options that several commands have, each once; a command names those that it takes.

    @takes("lm budget program threads", threads=8)
    def command(given: Given, only: Only = None) -> None: ...

Typer sees `--only`, `--lm`, `--budget`, `--program` and `--threads`; the command finds the last four in `given`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Literal, ParamSpec, get_type_hints

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.language_models.limits import Whose
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.settings import Settings

P = ParamSpec("P")
# Of the packaged examples.
SPLITS = ("train", "val", "holdout")

Only = Annotated[str | None, typer.Option("--only", help="Ids of questions, with commas.")]
SeveralModels = Annotated[list[str] | None, typer.Option("--lm", help="Model; several for a comparison in one table.")]
Baseline = Annotated[bool, typer.Option("--baseline/--no-baseline", help="The single call beside the program.")]
Assume = Annotated[
    bool, typer.Option("--assume", help="Answer on an assumption, instead of asking what an unknown term means.")
]
_Old = Annotated[Path | None, typer.Option("--record", hidden=True, help="The old name of --save-completions.")]


@dataclass(frozen=True, kw_only=True)
class Given:
    """What was given for the options that a command takes; the default for those that it does not."""

    data: common.Data = None
    filing: common.FilingFile = None
    id: common.FilingId = None
    library: common.LibraryFolder = None
    as_of: common.AsOf = None
    lm: common.Model = None
    api_base: common.ApiBase = None
    drafts: common.Drafts = None
    retries: common.Retries = None
    mode: common.Mode = None
    budget: common.Budget = None
    record: Annotated[
        Path | None, typer.Option("--save-completions", metavar="FILE", help="Append new completions to this file.")
    ] = None
    recordings: common.Recordings = None
    store: common.Store = None
    verified: common.Verified = None
    program: common.Program = None
    threads: Annotated[int, typer.Option(min=1, max=64, help="How many are under way side by side.")] = 4
    engine: Annotated[
        Literal["threads", "ray"], typer.Option(help="ray: on the cluster at RAY_ADDRESS, or one of this machine.")
    ] = "threads"
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not go on with an interrupted run.")] = False
    as_json: common.Json = False
    # Looked at before anything is asked: an hour later nobody wants to hear that the place is a folder.
    json_out: Annotated[
        Path | None,
        typer.Option("--json", dir_okay=False, help="Write configuration, summaries and results to this file."),
    ] = None

    # A program itself in place of its name, from Python.
    own_program: Any = None

    def settings(self, whose: Whose = "run", **more: Any) -> Settings:
        """The settings with what was given, and with `more`; the budget is that of an answer, a conversation or a run."""
        names = ["as_of", "lm", "api_base", "drafts", "retries", "mode", "record", "recordings", "store", "verified"]
        own = {name: getattr(self, name) for name in names}
        return common.settings_from(**own | common.budget_settings(self.budget, whose) | more)

    def expert(self, settings: Settings) -> tuple[FinancialExpert, Settings]:
        """The program to ask, and the settings with the options that compiling chose."""
        if self.own_program is not None:
            from finexpert.settings import with_options

            return self.own_program, with_options(settings, getattr(self.own_program, "options", {}))
        return common.program_of(self.program, settings)


def takes(names: str, **defaults: Any) -> Callable[[Callable[Concatenate[Given, P], None]], Callable[..., None]]:
    """Give a command the options of these names, with other defaults where they are given."""
    hints = get_type_hints(Given, include_extras=True)
    usual = {field.name: field.default for field in fields(Given)}
    shared = {name: (hints[name], defaults.get(name, usual[name])) for name in names.split()}
    if "record" in shared:
        shared["old_record"] = (_Old, None)

    def decorate(command: Callable[Concatenate[Given, P], None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
        own += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
            for name, (hint, default) in shared.items()
        ]

        @wraps(command)
        def run(**given: Any) -> None:
            found = {name: given.pop(name) for name in shared if name in given}
            command(Given(**_renamed(found)), **given)  # type: ignore[call-arg]

        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def _renamed(found: dict[str, Any]) -> dict[str, Any]:
    """What was given, with the old name of an option taken for the new one."""
    old = found.pop("old_record", None)
    if old is None:
        return found
    typer.echo("--record is called --save-completions now; the old name goes with the next release", err=True)
    return found | {"record": found["record"] or old}
