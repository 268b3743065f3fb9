"""Four small warehouses that example sets ask about: a fund, listed companies, a bank's loan book, the sample economy.

    >>> sorted(SCENARIOS)
    ['bank', 'companies', 'economy', 'fund']
    >>> open_scenario("fund").query("SELECT count(*) AS n FROM securities").data["n"].item()
    13

All their numbers are made up. A `variant` has other numbers under the same schema: a SELECT or a script that is right
is right on every variant, one that only happened to hit the value is not. A warehouse is built once a process and
stays open.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from finexpert.datasets.fred import database as fred
from finexpert.datasets.fred.sample_economy import make_series
from finexpert.datasets.warehouses import bank, companies, fund
from finexpert.datasets.warehouses.numbers import generator, growth
from finexpert.errors import DataError
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

_LABEL = "example warehouse: made-up numbers"


def economy_tables(variant: int = 0) -> list[Table]:
    """The sample economy; in another variant each series strays from it by a few percent, and a little each time."""
    series = make_series()
    return fred.tables(series if variant == 0 else _drifted(series, variant))


def _drifted(series: Mapping[str, pd.Series], variant: int) -> dict[str, pd.Series]:
    drifted = {}
    for name, values in series.items():
        # Months as steps, so that daily and monthly series drift alike.
        months = np.arange("1946-01", "2038-01", dtype="datetime64[M]")
        drift = growth(f"drift {name}", variant, len(months), 1.0, 0.0, 0.025)
        drift /= pd.Series(drift).rolling(120, min_periods=1, center=True).mean().to_numpy()
        place = np.searchsorted(months, pd.DatetimeIndex(values.index).to_numpy().astype("datetime64[M]"))
        jitter = np.exp(0.003 * generator(f"jitter {name}", variant).standard_normal(len(values)))
        drifted[name] = (values * drift[place] * jitter).round(3)
    return drifted


SCENARIOS: Mapping[str, Callable[[int], Sequence[Table]]] = {
    "economy": economy_tables,
    "fund": fund.tables,
    "companies": companies.tables,
    "bank": bank.tables,
}

_lock = threading.Lock()
_open: dict[tuple[str, int], DuckDBWarehouse] = {}
_folder: list[Path] = []


def open_scenario(name: str, variant: int = 0) -> DuckDBWarehouse:
    """The warehouse of a scenario, shared by all who ask for it: do not close it. DataError for an unknown name."""
    if name not in SCENARIOS:
        raise DataError(f"there is no scenario {name!r}; there are {', '.join(sorted(SCENARIOS))}")
    with _lock:
        if (name, variant) not in _open:
            path = _own_folder() / f"{name}-{variant}.duckdb"
            _open[name, variant] = DuckDBWarehouse(build_warehouse(path, SCENARIOS[name](variant), label=_LABEL))
        return _open[name, variant]


def _own_folder() -> Path:
    if not _folder:
        _folder.append(Path(tempfile.mkdtemp(prefix="finexpert-examples-")))
        atexit.register(_clear)
    return _folder[0]


def _clear() -> None:
    with _lock:
        while _open:
            _open.popitem()[1].close()
        shutil.rmtree(_folder[0], ignore_errors=True)
