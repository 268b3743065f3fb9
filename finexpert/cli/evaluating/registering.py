"""Makes a command of `finexpert eval`, and the same from Python, of what opens an evaluation.

@evaluated("data budget json_out")
def house(given: Given, half: Half = None) -> Iterator[Evaluation[Result]]: ...

finexpert.evaluate("house", half="keywords")       # the table as a frame
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import typer

from finexpert.cli.options import Given, takes

if TYPE_CHECKING:
    import pandas as pd

    from finexpert.cli.evaluating.report import Asked
    from finexpert.modules.financial_expert import FinancialExpert

P = ParamSpec("P")
Opens = Callable[Concatenate[Given, P], "Iterator[Asked]"]
# What runs an evaluation, the name of which is that of its command.
EVALUATIONS: dict[str, tuple[Opens[...], dict[str, Any]]] = {}


def evaluated(names: str, **defaults: Any) -> Callable[[Opens[P]], Callable[..., None]]:
    """Make a command of a function that opens an evaluation; it takes the shared options of these names."""

    def decorate(opens: Opens[P]) -> Callable[..., None]:
        EVALUATIONS[opens.__name__] = (opens, defaults)

        @wraps(opens)
        def command(given: Given, *args: P.args, **options: P.kwargs) -> None:
            from finexpert.cli.evaluating.running import run
            from finexpert.cli.evaluating.showing import Terminal

            with contextmanager(opens)(given, *args, **options) as asked:
                run(asked, screen=Terminal(), fresh=given.fresh, json_out=given.json_out)

        return takes(names, **defaults)(command)  # type: ignore[arg-type]

    return decorate


def evaluate(
    name: str, *, program: FinancialExpert | str | Path | None = None, json: Path | None = None, **options: Any
) -> pd.DataFrame:
    """The table of `finexpert eval NAME` as a frame; options are those of the command, `lm="openai/gpt-5.1"` among them.

    A program may be given itself, or by its name or folder. Raises ConfigurationError for what is no evaluation, no option,
    or no value of one.
    """
    import pandas as pd

    from finexpert.cli.eval import command  # noqa: F401  (fills the table of evaluations)
    from finexpert.cli.evaluating.running import Silent, run
    from finexpert.errors import ConfigurationError

    if name not in EVALUATIONS:
        raise ConfigurationError(f"there is no evaluation {name!r}; there are {', '.join(EVALUATIONS)}")
    opens, defaults = EVALUATIONS[name]
    shared = {field.name for field in fields(Given)} - inspect.signature(opens).parameters.keys()
    place = {"program": str(program)} if isinstance(program, str | Path) else {"own_program": program}
    given = Given(**{**defaults, **{key: options.pop(key) for key in shared & options.keys()}, **place})
    if isinstance(options.get("lm"), str):
        options["lm"] = [options["lm"]]
    try:
        inspect.signature(opens).bind(given, **options)
    except TypeError as error:
        raise ConfigurationError(f"{name}: {error}; see `finexpert eval {name} --help`") from error
    try:
        with contextmanager(opens)(given, **options) as asked:
            reports = run(asked, screen=Silent(), fresh=given.fresh, json_out=json)
    except typer.BadParameter as error:
        raise ConfigurationError(f"{name}: {error}; see `finexpert eval {name} --help`") from error
    return pd.concat([pd.DataFrame(), *(report.frame() for report in reports)], ignore_index=True)
