"""Finding the tables for a question among thousands."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from finexpert.embeddings.embedding import WordHashing
from finexpert.embeddings.vectors import Vectors
from finexpert.warehouse.schema import Column, TableSchema
from finexpert.warehouse.table_selection import TableIndex, select_tables

# name in tables | words of comments | how a question says it
SYSTEMS = """
crd|credit|lending;dep|deposits|deposit;pay|payments|payments;trs|treasury|treasury;col|collateral|collateral;mkt|market data|market
ins|insurance|insurance;aml|anti money laundering|money laundering;hr|human resources|personnel;fa|fixed assets|asset register
gl|general ledger|general ledger;tax|taxation|tax;crm|customer relations|customer relations;dwh|data warehouse|warehouse
sec|securities|securities;fnd|funds|fund;brk|brokerage|brokerage;cms|cards|card;lea|leasing|leasing;prc|procurement|procurement
""".replace("\n", ";")
SUBJECTS = """
acct|accounts|accounts;arr|arrears|overdue amounts;bal|balances|balances;brch|branches|branches;budg|budgets|budget
chrg|charges|charges;clm|claims|claims;cntr|contracts|contracts;cntp|counterparties|counterparties;cust|customers|customers
deal|deals|deals;disp|disputes|disputes;div|dividends|dividends;emp|employees|employees;exp|exposures|exposure;fee|fees|fees
fx|exchange rates|exchange rates;hedg|hedges|hedges;inv|invoices|invoices;int|interest accruals|accrued interest
lim|limits|limits;liq|liquidity buffers|liquidity;lmt|limit breaches|breaches;marg|margin calls|margin calls;mat|maturities|maturities
npl|non performing exposures|non performing;ord|orders|orders;own|beneficial owners|beneficial owners;pos|positions|positions
prem|premiums|premiums;prod|products|products;prov|provisions|provisions;rat|ratings|ratings;reg|regulatory returns|regulatory returns
repo|repurchase agreements|repurchase agreements;res|reserves|reserves;risk|risk weights|risk weights;sal|salaries|salaries
scen|stress scenarios|stress scenarios;setl|settlements|settlements;swap|swaps|swaps;term|terminations|terminations
trd|trades|trades;txn|transactions|transactions;val|valuations|valuations;vend|vendors|vendors;vol|volumes|volumes
wof|write offs|write offs;yld|yields|yields;zon|zones|zones
""".strip().replace("\n", ";")
GRAINS = "d|daily|daily;m|monthly|month;y|yearly totals|year;h|history of changes|changes;x|archive|archive"
FORMS = (
    "What was the {0} {1} per {2}?",
    "Show me how {1} in {0} moved, {2}",
    "Which {1} of the {0} side stand out ({2})?",
    "Total {1}, {0}, by {2}",
)


def _parts(text: str) -> list[list[str]]:
    return [one.split("|") for one in text.split(";") if one.strip()]


@pytest.fixture(scope="module")
def schemas() -> list[TableSchema]:
    """5,000 tables of abbreviated names; three in ten have no comment, but columns that spell their subject out."""
    draw = random.Random(7)
    tables = []
    for system in _parts(SYSTEMS):
        for subject in _parts(SUBJECTS):
            for grain in _parts(GRAINS):
                has_comment = draw.random() > 0.3
                full = subject[1].replace(" ", "_")
                columns = [
                    Column("id", "BIGINT"),
                    Column("as_of_date", "DATE"),
                    Column(f"{full}_amt", "DOUBLE"),
                    Column("ccy", "VARCHAR"),
                ]
                if not has_comment:
                    columns.append(Column(f"src_{system[1].replace(' ', '_')}", "VARCHAR", grain[1]))
                comment = f"{system[1]}: {subject[1]}, {grain[1]}" if has_comment else ""
                tables.append(TableSchema(f"{system[0]}_{subject[0]}_{grain[0]}", comment, tuple(columns)))
    return tables


@pytest.fixture(scope="module")
def questions() -> list[tuple[str, str]]:
    """200 questions and the table that each needs."""
    draw = random.Random(11)
    found = []
    for number in range(200):
        system, subject, grain = (
            draw.choice(_parts(SYSTEMS)),
            draw.choice(_parts(SUBJECTS)),
            draw.choice(_parts(GRAINS)),
        )
        found.append(
            (FORMS[number % 4].format(system[2], subject[2], grain[2]), f"{system[0]}_{subject[0]}_{grain[0]}")
        )
    return found


def test_recall_at_ten_of_five_thousand(
    schemas: list[TableSchema], questions: list[tuple[str, str]], soon: Any
) -> None:
    assert len({table.name for table in schemas}) == 5000
    index = TableIndex(schemas, WordHashing())
    found: list[bool] = []

    def look() -> None:
        found[:] = [wanted in index.select(question, 10) for question, wanted in questions]

    soon(0.05 * len(questions), look)
    assert sum(found) / len(found) >= 0.98
    assert len(index.select("anything at all", 10)) == 10


class Counting:
    """Counts what it embeds."""

    name, dimensions = "counting", 4

    def __init__(self) -> None:
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return np.full((len(texts), 4), 0.5, dtype=np.float32)


def test_a_schema_is_embedded_once(schemas: list[TableSchema], tmp_path: Path) -> None:
    some, by = schemas[:40], Counting()
    select_tables("arrears", some, 5, by=by)
    first = by.texts
    for _ in range(3):
        select_tables("arrears", some, 5, by=by)
    assert (first > 40, by.texts) == (True, first + 3)
    TableIndex(some, by, tmp_path)
    again = Counting()
    assert TableIndex(some, again, tmp_path).select("arrears, monthly", 1) == ["crd_arr_m"]
    assert again.texts == 1


def test_a_small_schema_is_taken_whole() -> None:
    tables = [TableSchema(name, "", (Column("a", "INTEGER"),)) for name in ("b", "a")]
    assert select_tables("anything", tables, 2, by=Counting()) == ["b", "a"]
    assert TableIndex([], Counting()).select("anything") == []


def test_words_in_columns_categories_and_beginnings_count() -> None:
    tables = [
        TableSchema("t1", "", (Column("kind", "VARCHAR", "", ("Core CPI", "CPI")),)),
        TableSchema("t2", "", (Column("loanBalance", "DOUBLE"),)),
        TableSchema("dep_txn", "", (Column("id", "BIGINT"),)),
    ]
    index = TableIndex(tables, WordHashing())
    for question, wanted in (
        ("What was core CPI?", "t1"),
        ("the balance of loans", "t2"),
        ("deposit flows", "dep_txn"),
    ):
        assert index.select(question, 1) == [wanted]


def test_initials_of_a_question_are_words_of_tables() -> None:
    names = ("loan_value", "asset_value", "value_days", "rmk_var_results")
    index = TableIndex([TableSchema(name, "", (Column("id", "BIGINT"),)) for name in names], WordHashing())
    assert index.select("the highest value at risk", 1) == ["rmk_var_results"]


def test_a_table_by_which_two_others_are_joined_comes_with_them() -> None:
    tables = [
        *(TableSchema(f"notes_{n}", "", (Column("note_id", "BIGINT"), Column("text", "VARCHAR"))) for n in range(30)),
        TableSchema("commissions", "", (Column("commission_id", "BIGINT"), Column("execution_id", "BIGINT"))),
        TableSchema("executions", "", (Column("execution_id", "BIGINT"), Column("trader_id", "BIGINT"))),
        TableSchema("traders", "", (Column("trader_id", "BIGINT"), Column("desk", "VARCHAR"))),
    ]
    shown = TableIndex(tables, WordHashing()).select("the text of commissions per desk", 3)
    assert sorted(shown) == ["commissions", "executions", "traders"]
