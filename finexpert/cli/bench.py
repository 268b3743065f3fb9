"""`finexpert bench`: how much time the program itself takes."""

from __future__ import annotations

import datetime as dt
import json
import time
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.answers import Usage

bench_app = typer.Typer(help="Measure what the program itself costs.", no_args_is_help=True)

# What an instant model answers: a frame of 900 rows, one of 16,000, and a script over both.
_PLAN = """[[ ## interpretation ## ]]
The correlation of unemployment with the federal funds rate, by month.
[[ ## selects ## ]]
[{"df_name": "unemployment", "df_columns": ["date", "unrate"],
  "select_query": "SELECT date, unrate FROM unemployment WHERE unrate IS NOT NULL ORDER BY date"},
 {"df_name": "rates", "df_columns": ["date", "dff"],
  "select_query": "SELECT date, dff FROM rates WHERE dff IS NOT NULL ORDER BY date"}]
[[ ## code ## ]]
monthly = rates.set_index("date")["dff"].resample("MS").mean()
both = pd.concat([unemployment.set_index("date")["unrate"], monthly], axis=1).dropna()
answer = both["unrate"].corr(both["dff"])
period = (both.index.min(), both.index.max())
[[ ## answer_kind ## ]]
number
[[ ## unit ## ]]

[[ ## completed ## ]]"""


@bench_app.command()
def overhead(
    n: Annotated[int, typer.Option("-n", min=3, help="Questions to time, after two that are not counted.")] = 30,
    data: common.Data = None,
    as_json: common.Json = False,
) -> None:
    """Time a question with a model that answers at once: median and 95th percentile by stage, in milliseconds."""
    settings = common.settings_from(drafts=True, as_of=dt.date(2024, 9, 30))
    from finexpert.datasets.fred import open_fred
    from finexpert.language_models.roles import LanguageModels
    from finexpert.language_models.scripted import ScriptedModel
    from finexpert.session import Session

    rows: list[dict[str, float]] = []
    models = LanguageModels(ScriptedModel(lambda messages: _PLAN))
    with Session(open_fred(data, settings=settings), settings=settings, models=models) as session:
        if session.sandbox is not None:
            session.sandbox.warm()
        for number in range(n + 2):
            session.workspace.frames.clear()
            session.workspace.turns.clear()
            start = time.perf_counter()
            answer = session.ask(f"What is the correlation of unemployment and the federal funds rate? ({number})")
            if answer.status != "answered":
                raise RuntimeError(f"the benchmark's own plan failed: {answer.text}")
            if number >= 2:
                rows.append(_stages(answer.usage.stages, time.perf_counter() - start, answer.usage.model_seconds))
    _print(rows, as_json)


@bench_app.command()
def filing(
    rounds: Annotated[int, typer.Option(min=1, help="Times to hold all conversations, after one not counted.")] = 5,
    as_json: common.Json = False,
) -> None:
    """Time the turns of the sample pages with recorded completions: median and 95th percentile, in milliseconds."""
    settings = common.settings_from(lm="recorded")
    from finexpert.datasets.convfinqa import load
    from finexpert.datasets.convfinqa_evaluation import PLANNER, Bench
    from finexpert.language_models.roles import LanguageModels

    bench = Bench(LanguageModels.from_settings(settings), settings)
    rows: list[dict[str, float]] = []
    for number in range(rounds + 1):
        for conversation in load():
            for turn in bench.converse(conversation, PLANNER).turns:
                if turn.failure is not None:
                    raise RuntimeError(f"the benchmark's own turn failed: {turn.failure.message}")
                if number:
                    rows.append(_turn_stages(turn.usage))
    _print(rows, as_json)


def _turn_stages(usage: Usage) -> dict[str, float]:
    outside = usage.seconds - usage.model_seconds
    execution, record = usage.stages["execution"], usage.stages["record"]
    return {
        "planning (prompt, look-up, parsing)": outside - execution - record,
        "checks, cells, quotes, operations": execution,
        "checks of the result, record": record,
        "all, outside the model": outside,
    }


def _stages(stages: dict[str, float], total: float, model: float) -> dict[str, float]:
    return {
        "planning (prompt, parsing)": stages["planning"] - model,
        "SQL extraction (checks, query)": stages["sql"],
        "script (sandbox)": stages["script"],
        "execution, the rest": stages["execution"] - stages["sql"] - stages["script"],
        "record": stages["record"],
        "all, outside the model": total - model,
    }


def _print(rows: list[dict[str, float]], as_json: bool) -> None:
    import numpy as np

    figures = {
        name: {"median_ms": float(np.median(values)) * 1000, "p95_ms": float(np.percentile(values, 95)) * 1000}
        for name in rows[0]
        for values in [[row[name] for row in rows]]
    }
    if as_json:
        typer.echo(json.dumps({"n": len(rows), "stages": figures}, indent=1))
        return
    from rich.table import Table

    table = Table(title=f"time outside the model, n = {len(rows)}")
    table.add_column("stage")
    table.add_column("median, ms", justify="right")
    table.add_column("95th percentile, ms", justify="right")
    for name, figure in figures.items():
        table.add_row(name, f"{figure['median_ms']:.1f}", f"{figure['p95_ms']:.1f}")
    common.console().print(table)
