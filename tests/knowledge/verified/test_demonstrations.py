"""What of a verified query a prompt may hold: no value of a column that its owner did not publish."""

from __future__ import annotations

import datetime as dt

import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.knowledge.verified.demonstrations import shown
from finexpert.knowledge.verified.query import Source, VerifiedQuery
from finexpert.warehouse.schema import Column, TableSchema

COLUMNS = (Column("day", "DATE"), Column("region", "VARCHAR", categories=("North",)), Column("client", "VARCHAR"))
TABLES = [TableSchema("trades", "", (*COLUMNS, Column("account", "INTEGER"), Column("fee", "DOUBLE")))]
AS_OF = dt.date(2024, 1, 31)


def example(question: str, where: str, asked: str = "Fees by region") -> str:
    query = VerifiedQuery(
        question=question,
        select=f"SELECT sum(fee) FROM trades WHERE {where}",
        source=Source(name="desk", dialect="duckdb"),
        answer_format=AnswerFormat(),
        frame="f",
        columns=["a"],
        as_of=AS_OF,
        tables={},
    )
    return shown(query, asked, TABLES, AS_OF)


@pytest.mark.parametrize(
    ("where", "hidden"),
    [
        ("client = 'Canary Ltd'", "Canary"),
        ("client LIKE '%Canary%'", "Canary"),
        ("lower(client) = 'canary ltd'", "canary"),
        ("coalesce(client, 'Canary') <> 'x'", "Canary"),
        ("region IN ('North', 'Canary')", "Canary"),
        ("account = 918273", "918273"),
        ("account IN (918273, 918274)", "91827"),
        ("fee > 5 -- Canary Ltd", "Canary"),
    ],
)
def test_what_nobody_published_stays_at_home(where: str, hidden: str) -> None:
    said = example("Fees of Canary Ltd of account 918273 in 2023", where)
    assert said
    assert hidden not in said.partition("```sql")[2]
    assert hidden.lower() not in said.lower() or where.startswith("fee")


def test_what_is_published_asked_or_arithmetic_is_shown() -> None:
    where = "region = 'North' AND year(day) = 2023 AND day < DATE '2024-01-01' AND date_trunc('month', day) = '2023-05-01' AND fee > 1000"
    said = example("Fees of North in 2023", where)
    for part in ("'North'", "2023", "'2024-01-01'", "'MONTH'", "1000"):
        assert part in said
    assert "'Canary Ltd'" in example("Fees of Canary Ltd", "client = 'Canary Ltd'", "Fees of Canary Ltd by region")


def test_what_is_later_than_the_day_is_not_shown() -> None:
    assert example("Fees in 2025", "year(day) = 2025") == ""
    assert example("Fees until then", "day < DATE '2025-06-30'") == ""
