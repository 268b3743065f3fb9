"""What the commands of `finexpert bench` share: seconds taken, their figures, and how they are told.

>>> figures([0.001, 0.002, 0.003])
{'median_ms': 2.0, 'p95_ms': 2.9}
>>> words(12345), words([203.1, 205.2]), words({"answered": 2})
('12,345', '203.1, 205.2', 'answered 2')
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from finexpert.cli import common

# Calls before those that count.
WARM_UP = 2


def seconds_of(call: Callable[[], object], n: int) -> list[float]:
    """How long each of n calls took, after those that are not counted."""
    seconds = []
    for _ in range(n + WARM_UP):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return seconds[WARM_UP:]


def figures(seconds: Sequence[float]) -> dict[str, float]:
    """The median and the 95th percentile in milliseconds, to a hundredth."""
    import numpy as np

    median, p95 = (1000 * np.percentile(seconds, [50, 95])).round(2).tolist()
    return {"median_ms": median, "p95_ms": p95}


def tell(
    content: Any,
    as_json: bool,
    *,
    title: str = "",
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[Any]] = (),
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Print what was measured as JSON, or as a table with a line a fact below it."""
    if as_json:
        typer.echo(json.dumps(content, indent=1))
        return
    console = common.console()
    if columns:
        from rich.table import Table

        table = Table(title=title)
        for place, column in enumerate(columns):
            table.add_column(column, justify="right" if place else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(words, row))
        console.print(table)
    for name, fact in (facts or {}).items():
        console.print(f"{name}: {words(fact)}", markup=False, soft_wrap=True)


def words(fact: Any) -> str:
    """A fact as people read it."""
    if isinstance(fact, Mapping):
        return ", ".join(f"{name} {count:,}" for name, count in fact.items())
    if isinstance(fact, list):
        return ", ".join(map(words, fact)) or "none"
    return f"{fact:,}" if isinstance(fact, int | float) and not isinstance(fact, bool) else str(fact)
