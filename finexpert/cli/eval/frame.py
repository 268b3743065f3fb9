"""The evaluations from Python.

finexpert.evaluate("house", half="keywords")       # the table of `finexpert eval house --half keywords` as a frame
"""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from finexpert.cli.options import Given

if TYPE_CHECKING:
    import pandas as pd

    from finexpert.modules.financial_expert import FinancialExpert


def evaluate(
    name: str, *, program: FinancialExpert | str | Path | None = None, json: Path | None = None, **options: Any
) -> pd.DataFrame:
    """The table of `finexpert eval NAME` as a frame; options are those of the command, `lm="openai/gpt-5.1"` among them.

    A program may be given itself, or by its name or folder. Raises ConfigurationError for what is no evaluation, no option,
    or no value of one.
    """
    import pandas as pd

    from finexpert.cli.eval import command  # noqa: F401  (fills the table of evaluations)
    from finexpert.cli.evaluating.registering import engine_of
    from finexpert.cli.evaluating.report import EVALUATIONS
    from finexpert.cli.evaluating.running import Silent, run
    from finexpert.errors import ConfigurationError

    if name not in EVALUATIONS:
        raise ConfigurationError(f"there is no evaluation {name!r}; there are {', '.join(EVALUATIONS)}")
    opens, shared, defaults = EVALUATIONS[name]
    # The file of --json is `json` here.
    shared -= {"json_out"}
    place = {"program": str(program)} if isinstance(program, str | Path) else {"own_program": program}
    given = Given(**{**defaults, **{key: options.pop(key) for key in shared & options.keys()}, **place})
    if isinstance(options.get("lm"), str):
        options["lm"] = [options["lm"]]
    try:
        inspect.signature(opens).bind(given, **options)
    except TypeError as error:
        raise ConfigurationError(f"{name}: {error}; see `finexpert eval {name} --help`") from error
    try:
        engine = engine_of(opens, given, **options)
        with contextmanager(opens)(given, **options) as asked:
            reports = run(asked, screen=Silent(), fresh=given.fresh, json_out=json, engine=engine)
    except typer.BadParameter as error:
        raise ConfigurationError(f"{name}: {error}; see `finexpert eval {name} --help`") from error
    frames = [report.frame() for report in reports]
    if len(reports) > 1:
        # The tables of several models have the same rows.
        for frame, report in zip(frames, reports, strict=True):
            frame.insert(0, "model", report.ways[0].model)
    return pd.concat([pd.DataFrame(), *frames], ignore_index=True)
