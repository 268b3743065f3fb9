"""SELECTs that are read by name: written out before they run, each as it was taught, with values and nothing else in place of variables."""

from __future__ import annotations

import duckdb
import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.named_selects import NamedSelect, folded, written_out
from finexpert.warehouse.schema import Column, TableSchema

TABLES = [TableSchema("sales", "", (Column("day", "DATE"), Column("region", "VARCHAR"), Column("amount", "DOUBLE")))]
MONTHS = NamedSelect(
    "months", "SELECT date_trunc('month', day) AS month, sum(amount) AS total FROM sales GROUP BY ALL", "P"
)
HIGH = NamedSelect(
    "high_months", "SELECT month, total FROM months WHERE total > <least>", "P", {"least": "5"}, frozenset({"months"})
)
COUNTED = NamedSelect(
    "counted", "SELECT count(*) AS n FROM high_months", "P", {"least": "5"}, frozenset({"months", "high_months"})
)
OF = NamedSelect("of_region", "SELECT * FROM sales WHERE region = '<region>'", "P", {"region": "'north'"})
NAMED = {one.name: one for one in (MONTHS, HIGH, COUNTED, OF)}


@pytest.fixture(scope="module")
def run() -> object:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE sales (day DATE, region VARCHAR, amount DOUBLE)")
    connection.execute(
        "INSERT INTO sales VALUES ('2020-01-01', 'north', 4), ('2020-01-02', 'south', 3), ('2020-02-01', 'O''Neill', 1)"
    )
    return lambda select: connection.execute(written_out(select, NAMED, TABLES, "duckdb")).fetchall()


@pytest.mark.parametrize(
    ("select", "rows"),
    [
        ("SELECT count(*) FROM months", [(2,)]),
        ("SELECT max(m.total) FROM Months AS m", [(7.0,)]),
        ("SELECT count(*) FROM high_months(5)", [(1,)]),
        ("SELECT count(*) FROM high_months(least => 0)", [(2,)]),
        ("SELECT count(*) FROM high_months(least := -1)", [(2,)]),
        ("SELECT n FROM counted(6)", [(1,)]),
        ("SELECT a.n, b.n FROM counted(6) AS a, counted(0) AS b", [(1, 2)]),
        ("SELECT (SELECT count(*) FROM months), count(*) FROM sales", [(2, 3)]),
        ("WITH x AS (SELECT * FROM months WHERE total > 2) SELECT count(*) FROM x JOIN months USING (month)", [(1,)]),
        ("SELECT count(*) FROM of_region('O''Neill')", [(1,)]),
        ("SELECT count(*) FROM of_region('x'' OR ''1'' = ''1')", [(0,)]),
        ("SELECT count(*) FROM months UNION ALL SELECT count(*) FROM sales", [(2,), (3,)]),
    ],
)
def test_it_gives_what_its_rows_give(run: object, select: str, rows: object) -> None:
    assert run(select) == rows  # type: ignore[operator]


@pytest.mark.parametrize(
    "select",
    [
        "SELECT amount AS months FROM sales",
        "SELECT * FROM other.months",
        "WITH months AS (SELECT 1 AS total) SELECT * FROM months",
        "SELECT 'months' FROM sales",
        "SELECT this is no SQL months",
    ],
)
def test_what_reads_none_by_its_name_stays_as_it_stands(select: str) -> None:
    assert written_out(select, NAMED, TABLES, "duckdb") == select


def test_a_table_of_the_data_comes_before_a_namesake() -> None:
    named = {"sales": NamedSelect("sales", "SELECT 42 AS amount", "P")}
    assert written_out("SELECT amount FROM sales", named, TABLES, "duckdb") == "SELECT amount FROM sales"


@pytest.mark.parametrize(
    ("select", "words"),
    [
        ("SELECT * FROM high_months", "high_months: write it with a plain value of each of least, as high_months(5)"),
        ("SELECT * FROM high_months(5, 6)", "with a plain value of each of least"),
        ("SELECT * FROM high_months(most => 5)", "with a plain value of each of least"),
        ("SELECT * FROM high_months((SELECT max(amount) FROM sales))", "with a plain value of each of least"),
        ("SELECT * FROM high_months(amount) FROM sales", ""),
        ("SELECT * FROM months(5)", "months takes no values: read it as months"),
    ],
)
def test_values_are_missing_or_no_values(select: str, words: str) -> None:
    if not words:
        assert written_out(select, NAMED, TABLES, "duckdb") == select
        return
    with pytest.raises(QueryError, match=words.replace("(", r"\(").replace(")", r"\)")):
        written_out(select, NAMED, TABLES, "duckdb")


def test_a_circle_is_said() -> None:
    named = {
        "a": NamedSelect("a", "SELECT * FROM b", "the process 'A'"),
        "b": NamedSelect("b", "SELECT * FROM a", "the process 'B'"),
    }
    with pytest.raises(QueryError, match="the process 'A': a reads b reads a, which is a circle"):
        written_out("SELECT * FROM a", named, TABLES, "duckdb")


@pytest.mark.parametrize(
    "dialect",
    ["duckdb", "postgres", "mysql", "sqlite", "clickhouse", "spark", "snowflake", "bigquery", "tsql", "trino"],
)
def test_every_dialect_has_them_in_a_with(dialect: str) -> None:
    named = {"high": NamedSelect("high", "SELECT amount FROM sales WHERE amount > <least>", "P", {"least": "5"})}
    made = written_out("SELECT count(*) FROM high(7) AS h", named, TABLES, dialect)
    assert made.upper().startswith("WITH ")
    assert "> 7" in made
    assert "high(7)" not in made.lower()


@pytest.mark.parametrize("select", ["SELECT count(*) FROM months", "WITH x AS (SELECT 1) SELECT * FROM x, months"])
def test_what_was_written_out_is_folded_again(select: str) -> None:
    whole = written_out(select, NAMED, TABLES, "duckdb")
    assert whole != select
    assert folded(whole, NAMED, "duckdb").lower() == select.lower()
    changed = {"months": NamedSelect("months", "SELECT 1", "P")}
    assert folded(whole, changed, "duckdb") == whole
