"""Windows without an order, with one that several rows share, and with one that runs over several series."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.errors import QueryError

FILLED = "FROM trades WHERE symbol IS NOT NULL"


@pytest.mark.parametrize(
    ("select", "said"),
    [
        (f"SELECT max(d) FROM (SELECT lots - lag(lots) OVER (PARTITION BY symbol) AS d {FILLED}) s", "has no order"),
        (f"SELECT max(d) FROM (SELECT lots - lag(lots) OVER () AS d {FILLED}) s", "has no order"),
        (f"SELECT symbol, first_value(lots) OVER (PARTITION BY symbol) AS f {FILLED}", "has no order"),
        (f"SELECT symbol, last_value(lots) OVER (PARTITION BY symbol ORDER BY executed_at) AS l {FILLED}", "ends at the row itself"),
        (f"SELECT max(d) FROM (SELECT lots - lag(lots) OVER (ORDER BY symbol, executed_at) AS d {FILLED}) s", "from one symbol to the next"),
        (f"SELECT sum(lots) FROM (SELECT lots, row_number() OVER (PARTITION BY symbol) AS n {FILLED}) s WHERE n = 1", "chooses among different rows"),
        (f"SELECT lots FROM (SELECT lots, row_number() OVER () AS n {FILLED}) s WHERE n = 1", "chooses among different rows"),
        (f"SELECT max(d) FROM (SELECT lots - lag(lots) OVER w AS d {FILLED} WINDOW w AS (PARTITION BY symbol)) s", "has no order"),
        (f"SELECT max(d) FROM (SELECT lots - lag(lots) OVER w AS d {FILLED} WINDOW w AS (ORDER BY symbol, executed_at)) s", "from one symbol"),
    ],
)  # fmt: skip
def test_a_row_that_the_database_chooses_goes_back(run: Any, select: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        run(select)


BEFORE = "lag({}) OVER (ORDER BY symbol, executed_at)"
WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


@pytest.mark.parametrize(
    ("select", "value"),
    [
        (f"SELECT max(d) FROM (SELECT lots - lag(lots) OVER (PARTITION BY symbol ORDER BY executed_at) AS d {FILLED}) s", 2),
        (f"SELECT max(l) FROM (SELECT last_value(lots) OVER (PARTITION BY symbol ORDER BY executed_at {WHOLE}) AS l {FILLED}) s", 4),
        # A window by its name, and one that builds on another.
        (f"SELECT max(d) FROM (SELECT lots - lag(lots) OVER w AS d {FILLED} WINDOW w AS (PARTITION BY symbol ORDER BY executed_at)) s", 2),
        (f"SELECT max(l) FROM (SELECT last_value(lots) OVER (w {WHOLE}) AS l {FILLED} WINDOW w AS (PARTITION BY symbol ORDER BY executed_at)) s", 4),
        ("SELECT max(l) FROM (SELECT last_value(lots IGNORE NULLS) OVER (ORDER BY executed_at) AS l FROM trades) s", 4),
        # Who compares the text of the row before tells the series apart.
        (f"SELECT max(d) FROM (SELECT CASE WHEN symbol = {BEFORE.format('symbol')} THEN lots - {BEFORE.format('lots')} END AS d {FILLED}) s", 2),
        # Equal rows, of which any is the same.
        ("SELECT count(*) FROM (SELECT side, row_number() OVER (PARTITION BY side) AS n FROM trades) s WHERE n = 1", 2),
        (f"SELECT max(n) FROM (SELECT row_number() OVER () AS n {FILLED}) s", 4),
    ],
)  # fmt: skip
def test_a_row_that_the_select_says_passes(run: Any, select: str, value: float) -> None:
    assert run(select).frame.data.iat[0, 0] == value
