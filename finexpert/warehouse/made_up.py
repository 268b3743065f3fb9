"""Made-up trades, to measure what a question over many rows costs: the same ones every time, and nothing that means anything.

    build(Path("trades.duckdb"), 10_000_000)
    trades(trade_id, account_id, symbol, side, status, quantity, price, executed_at), accounts(account_id, region, desk)

`SHAPES` are questions as they are asked of such a table, with the SELECT of each; a month is put in, so that no question is asked twice.
How well anything is answered cannot be measured with them.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

import duckdb

ACCOUNTS = 5_000
FIRST = dt.date(2019, 1, 1)
MONTHS = 72
_TRADES = """CREATE TABLE trades AS SELECT
    i AS trade_id,
    (hash(i) % {accounts})::INTEGER AS account_id,
    'S' || lpad((hash(i, 1) % 400)::VARCHAR, 3, '0') AS symbol,
    CASE WHEN hash(i, 2) % 2 = 0 THEN 'BUY' ELSE 'SELL' END AS side,
    CASE WHEN hash(i, 3) % 20 = 0 THEN 'CANCELLED' ELSE 'FILLED' END AS status,
    (1 + hash(i, 4) % 1000)::INTEGER AS quantity,
    round(5 + (hash(i, 5) % 50000) / 100.0, 2)::DOUBLE AS price,
    TIMESTAMP '{first}' + to_seconds((i * {seconds} / {rows})::BIGINT) AS executed_at
FROM range({rows}) AS numbers(i)"""
_ACCOUNTS = """CREATE TABLE accounts AS SELECT
    i::INTEGER AS account_id,
    ['Americas', 'Asia', 'Europe'][(1 + hash(i) % 3)::INTEGER] AS region,
    'desk ' || (hash(i, 1) % 12)::VARCHAR AS desk
FROM range({accounts}) AS numbers(i)"""


@dataclass(frozen=True)
class Shape:
    """A question as it is asked of trades; `{month}` and `{first}`, `{last}` (days, the last one left out) are put in."""

    name: str
    question: str
    kind: str
    select: str

    def of(self, number: int) -> tuple[str, str]:
        """The question and its SELECT for a month; the number counts from the first and begins again after the last."""
        months = FIRST.year * 12 + number % MONTHS
        first, last = dt.date(months // 12, months % 12 + 1, 1), dt.date((months + 1) // 12, (months + 1) % 12 + 1, 1)
        given = {"month": f"{first:%B %Y}", "first": f"DATE '{first}'", "last": f"DATE '{last}'"}
        return self.question.format(**given), self.select.format(**given)


_IN_MONTH = "executed_at >= {first} AND executed_at < {last}"
_FILLED = "status = 'FILLED'"
SHAPES = (
    Shape(
        "count with conditions",
        "How many trades were cancelled in {month}?",
        "integer",
        f"SELECT count(*) AS n FROM trades WHERE status = 'CANCELLED' AND {_IN_MONTH}",
    ),
    Shape(
        "sum over a period",
        "How much did we buy in {month}?",
        "number",
        f"SELECT sum(quantity * price) AS bought FROM trades WHERE side = 'BUY' AND {_FILLED} AND {_IN_MONTH}",
    ),
    Shape(
        "join, group, first rows",
        "Which five desks traded most in {month}?",
        "table",
        "SELECT a.desk, sum(t.quantity * t.price) AS traded FROM trades t JOIN accounts a ON a.account_id = t.account_id "
        f"WHERE t.{_FILLED} AND t.executed_at >= {{first}} AND t.executed_at < {{last}} "
        "GROUP BY a.desk ORDER BY traded DESC, a.desk LIMIT 5",
    ),
    Shape(
        "a row a month",
        "How many trades were filled each month from {month} on?",
        "table",
        "SELECT CAST(date_trunc('month', executed_at) AS DATE) AS month, count(*) AS n FROM trades "
        f"WHERE {_FILLED} AND executed_at >= {{first}} GROUP BY 1 ORDER BY 1",
    ),
    Shape(
        "window over days",
        "On which day of {month} did the number of trades rise most against the day before?",
        "date",
        f"WITH days AS (SELECT CAST(executed_at AS DATE) AS day, count(*) AS n FROM trades WHERE {_IN_MONTH} GROUP BY 1), "
        "changes AS (SELECT day, n - lag(n) OVER (ORDER BY day) AS rise FROM days) "
        "SELECT day FROM changes WHERE rise IS NOT NULL ORDER BY rise DESC, day LIMIT 1",
    ),
    Shape(
        "a share",
        "What share of the trades of {month} was cancelled, in percent?",
        "number",
        f"SELECT 100.0 * count(*) FILTER (WHERE status = 'CANCELLED') / count(*) AS share FROM trades WHERE {_IN_MONTH}",
    ),
)


def build(path: Path, rows: int) -> Path:
    """Write the tables into a DuckDB file that is not there yet."""
    seconds = int((dt.date(FIRST.year + MONTHS // 12, 1, 1) - FIRST).total_seconds())
    given = {"accounts": ACCOUNTS, "rows": rows, "seconds": seconds, "first": FIRST}
    with duckdb.connect(str(path), config={"memory_limit": "1GB"}) as connection:
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(_TRADES.format(**given))
        connection.execute(_ACCOUNTS.format(**given))
    return path
