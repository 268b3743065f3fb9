"""Questions near a verified one: the right ones are answered by it, and nothing else is. The cases stand in `near.txt`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.errors import StoreError
from finexpert.knowledge.verified.finding import found
from finexpert.knowledge.verified.matching import values_in
from finexpert.knowledge.verified.query import Source, VerifiedQuery
from finexpert.knowledge.verified.variables import with_values
from finexpert.text.texts import as_asked
from finexpert.warehouse.schema import Column, TableSchema

_COLUMNS = "day DATE, booked_year INTEGER, fee_usd DOUBLE, amount DOUBLE, price DOUBLE, metal VARCHAR, client VARCHAR, payer VARCHAR"
TABLES = [
    TableSchema(
        name,
        "",
        (
            *(Column(name, type_) for name, type_ in (column.split() for column in _COLUMNS.split(", "))),
            Column("region", "VARCHAR", categories=("North", "South", "2023")),
            Column("class", "VARCHAR", categories=("A", "B")),
        ),
    )
    for name in ("trades", "prices", "shares", "sales", "payments", "monthly")
]
HELD = {text for column in TABLES[0].columns for text in column.categories or ()}


@dataclass
class Verified:
    query: VerifiedQuery
    near: list[tuple[str, str]] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)


def query_of(question: str, select: str) -> VerifiedQuery:
    question = as_asked(question)
    return VerifiedQuery(
        question=question,
        select=select,
        source=Source(name="desk", dialect="duckdb"),
        answer_format=AnswerFormat(),
        frame="f",
        columns=["a"],
        as_of=dt.date(2024, 1, 31),
        tables={},
        variables=found(question, select, "duckdb", TABLES),
    )


def cases() -> Iterator[Verified]:
    question = ""
    for line in Path(__file__).with_name("near.txt").read_text("utf-8").splitlines():
        mark, said = line[:1], line[2:]
        if mark == "?":
            question = said
        elif mark == ":":
            one = Verified(query_of(question, said))
            yield one
        elif mark == "+":
            one.near.append((said.partition(" | ")[0], said.partition(" | ")[2]))
        elif mark == "-":
            one.misses.append(said)


CASES = list(cases())


def answered(query: VerifiedQuery, question: str) -> dict[str, str] | None:
    """The values with which a verified query answers a question; None where it does not."""
    values = values_in(as_asked(question), query)
    texts = {variable.name for variable in query.variables if variable.kind == "text"}
    if values is None or not all(values[name] in HELD for name in texts):
        # The flow asks the column whether it holds a text: here its published values stand for it.
        return None
    with_values(query.sql, query.question, "duckdb", TABLES, query.variables, values)
    return values


def _expected(values: str) -> dict[str, str]:
    return dict(each.partition("=")[::2] for each in values.split())


def test_near_questions_are_answered_by_the_right_one() -> None:
    every = [(case.query, question, values) for case in CASES for question, values in case.near]
    missed = [question for query, question, values in every if answered(query, question) != _expected(values)]
    assert len(every) >= 60
    assert len(missed) <= 0.05 * len(every), missed


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.query.question)
def test_a_near_miss_is_never_answered(case: Verified) -> None:
    used = [question for question in case.misses if answered(case.query, question) is not None]
    assert used == []
    # Nor is a verified question by another one.
    assert [each.query.question for each in CASES if answered(case.query, each.query.question) is not None] == [
        case.query.question
    ]


def test_the_misses_are_many() -> None:
    assert len({question for case in CASES for question in case.misses}) >= 120


@pytest.mark.parametrize(
    ("question", "select"),
    [
        ("Fees in 2023", "SELECT sum(fee_usd) FROM trades WHERE year(day) IN (2022, 2023)"),
        ("Fees of 2023", "SELECT sum(fee_usd) FROM trades WHERE year(day) = 2023 OR booked_year = 2023"),
        (
            "Moving mean of 5 days",
            "SELECT avg(price) OVER (ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) FROM prices LIMIT 5",
        ),
        ("Fees of 3 regions in March", "SELECT region, sum(fee_usd) FROM trades WHERE month(day) = 3 GROUP BY 1"),
        ("Trades of client 7", "SELECT amount * 7 FROM trades"),
        ("Which one has most", "SELECT client FROM trades ORDER BY amount DESC LIMIT 1"),
        ("Fees of ACME", "SELECT sum(fee_usd) FROM trades WHERE client = 'ACME'"),
        ("Fees of North to North", "SELECT sum(fee_usd) FROM trades WHERE region = 'North'"),
        ("Rate on 2023-05-03", "SELECT price FROM prices WHERE day BETWEEN DATE '2023-05-03' AND DATE '2023-05-04'"),
        ("Share above 5", "SELECT 100 * avg(CASE WHEN amount > 5 THEN 1 ELSE 0 END) / 500 FROM trades"),
    ],
)
def test_what_is_in_doubt_is_no_variable(question: str, select: str) -> None:
    assert found(question, select, "duckdb", TABLES) == []


def test_a_variable_that_somebody_declares_is_read_as_it_is_asked() -> None:
    assert [each.kind for each in CASES[2].query.variables] == ["number", "year"]
    with pytest.raises(StoreError, match="holds no literal"):
        with_values("SELECT 1", "Fees in 2023", "duckdb", TABLES, CASES[0].query.variables[:1], {"year": "2022"})
