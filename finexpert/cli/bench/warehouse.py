"""`finexpert bench warehouse`: what the program adds to a question over a large table.

finexpert bench warehouse --rows 100000 --rows 10000000

The model answers at once with the SELECT of each question, so what is measured is the program: the prompt, the checks, the way of the
rows. Beside it the same SELECT is run in DuckDB alone, and has to give the same.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    import duckdb

    from finexpert.core.answers import Answer
    from finexpert.session import Session
    from finexpert.warehouse.made_up import Shape

# Each shape is asked so often before it counts.
WARM = 1


def warehouse(
    rows: Annotated[
        list[int] | None, typer.Option(min=1_000, help="Rows of the table; several, to see what grows.")
    ] = None,
    n: Annotated[int, typer.Option("-n", min=3, help="Questions of each shape, after one that is not counted.")] = 7,
    folder: Annotated[Path | None, typer.Option(help="Keep the tables in this folder, and use those in it.")] = None,
    as_json: common.Json = False,
) -> None:
    """Time six shapes of questions over made-up trades, outside of the model and of their own SELECT."""
    measured = []
    with tempfile.TemporaryDirectory(prefix="finexpert-bench-") as temporary:
        for size in rows or [100_000, 10_000_000]:
            measured.append(_measured(folder or Path(temporary), size, n))
    facts = {"n of each shape": n, "load average": round(os.getloadavg()[0], 1), "tables": measured}
    if as_json:
        typer.echo(json.dumps(facts, indent=1))
        return
    _print(measured, n)


def _measured(folder: Path, rows: int, n: int) -> dict[str, Any]:
    import duckdb
    import numpy as np

    from finexpert.language_models.roles import LanguageModels
    from finexpert.language_models.scripted import ScriptedModel
    from finexpert.session import Session
    from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
    from finexpert.warehouse.made_up import SHAPES, build

    path = folder / f"trades-{rows}.duckdb"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        common.console(stderr=True).print(f"writing {rows:,} rows ...")
        build(path, rows)
    reply: list[str] = [""]
    models = LanguageModels(ScriptedModel(lambda messages: reply[0]))
    settings = common.settings_from(drafts=True, memory=False)
    started = time.perf_counter()
    with (
        _most_memory() as memory,
        DuckDBWarehouse(path) as source,
        Session(source, settings=settings, models=models) as session,
    ):
        opened = time.perf_counter() - started
        asked = [_asked(session, shape, number, reply) for shape in SHAPES for number in range(n + WARM)]
    # Afterwards, so that its memory is not counted as the program's.
    times: dict[str, list[dict[str, float]]] = {}
    with duckdb.connect(str(path), read_only=True, config={"memory_limit": "1GB"}) as plain:
        for one in asked:
            times.setdefault(one.shape.name, []).append(one.parts | _alone(plain, one))
    shapes = {name: _figures(parts[WARM:]) for name, parts in times.items()}
    return {
        "rows": rows,
        "MB on disk": round(path.stat().st_size / 1e6),
        "opened in ms": round(1000 * opened, 1),
        "most memory, MB": round(memory() / 1e6),
        "median outside, ms": round(float(np.median([one["outside"] for one in shapes.values()])), 1),
        "shapes": shapes,
    }


@dataclass(frozen=True)
class Asked:
    """One question, what came out, and the milliseconds of its parts."""

    shape: Shape
    number: int
    answer: Answer
    parts: dict[str, float]


def _asked(session: Session, shape: Shape, number: int, reply: list[str]) -> Asked:
    """Ask one question: how long it took in all, outside of the model and the SELECT, and for the SELECT."""
    from finexpert.core.answers import AnswerFormat

    question, select = shape.of(number)
    reply[0] = _reply(select, shape.kind)
    session.workspace.frames.clear()
    session.workspace.turns.clear()
    start = time.perf_counter()
    answer = session.ask(question, answer_format=AnswerFormat.model_validate({"kind": shape.kind}))
    took = time.perf_counter() - start
    if answer.status != "answered":
        raise RuntimeError(f"the benchmark's own question failed: {question} {answer.text}")
    inside = answer.usage.stages["sql"]
    parts = {"in all": took, "outside": took - answer.usage.model_seconds - inside, "SELECT": inside}
    return Asked(shape, number, answer, {name: 1000 * seconds for name, seconds in parts.items()})


def _alone(plain: duckdb.DuckDBPyConnection, one: Asked) -> dict[str, float]:
    """The milliseconds of the SELECT in DuckDB alone, which has to give what the program gave."""
    question, select = one.shape.of(one.number)
    start = time.perf_counter()
    right = plain.execute(select).df()
    took = time.perf_counter() - start
    _same(one.answer, right, question)
    return {"SELECT in DuckDB alone": 1000 * took}


def _figures(times: list[dict[str, float]]) -> dict[str, float]:
    import numpy as np

    figures = {name: round(float(np.median([parts[name] for parts in times])), 1) for name in times[0]}
    return figures | {"outside, p95": round(float(np.percentile([parts["outside"] for parts in times], 95)), 1)}


def _same(answer: Answer, right: Any, question: str) -> None:
    """RuntimeError where the program says anything else than the SELECT by itself."""
    import pandas as pd

    from finexpert.datasets.external.table_matching import same_table

    value = answer.value if isinstance(answer.value, pd.DataFrame) else pd.DataFrame({"value": [answer.value]})
    if not same_table(right, value):
        raise RuntimeError(f"the program and DuckDB differ: {question}")


def _reply(select: str, kind: str) -> str:
    from finexpert.testing import fields

    selects = [{"df_name": "answer", "df_columns": [], "select_query": select}]
    return fields(interpretation="as asked", selects=selects, code="", answer_kind=kind, unit="")


@contextmanager
def _most_memory() -> Iterator[Callable[[], int]]:
    """The most bytes that this process and those below it held at once, looked at 20 times a second."""
    from finexpert.cli.bench.executions import below

    most, ended = [0], threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            most[0] = max(most[0], sum(map(_held, [os.getpid(), *below(os.getpid())])))

    watching = threading.Thread(target=look, daemon=True)
    watching.start()
    try:
        yield lambda: most[0]
    finally:
        ended.set()
        watching.join()


def _held(process: int) -> int:
    """The bytes that a process holds for itself; pages that it shares with others are counted in part."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:  # it has ended meanwhile, or the system does not tell
        return 0
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))


def _print(measured: list[dict[str, Any]], n: int) -> None:
    from rich.table import Table

    console = common.console()
    for one in measured:
        table = Table(title=f"{one['rows']:,} rows, {one['MB on disk']:,} MB: milliseconds, medians, n = {n} of each")
        table.add_column("question")
        names = list(next(iter(one["shapes"].values())))
        for name in names:
            table.add_column(name, justify="right")
        for shape, figures in one["shapes"].items():
            table.add_row(shape, *(f"{figures[name]:,.1f}" for name in names))
        console.print(table)
        console.print(
            f"outside of model and SELECT: {one['median outside, ms']:.1f} ms; opened in {one['opened in ms']:.0f} ms; "
            f"at most {one['most memory, MB']:,} MB with all processes; every answer is DuckDB's",
            soft_wrap=True,
        )
    if len(measured) > 1:
        first, last = measured[0], measured[-1]
        growth = last["median outside, ms"] / first["median outside, ms"] - 1
        console.print(f"from {first['rows']:,} to {last['rows']:,} rows: {growth:+.0%}")
    console.print(f"load average {os.getloadavg()[0]:.1f}")
