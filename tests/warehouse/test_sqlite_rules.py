"""What SQLite computes without a word where others raise an error: refused; and dates of every form, under a day."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from finexpert.errors import AsOfError, QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse

TABLES = """
CREATE TABLE trades (trade_id INTEGER PRIMARY KEY, region TEXT, amount REAL, lots INTEGER, note TEXT, executed_at TIMESTAMP, settled DATE);
INSERT INTO trades VALUES (1, 'EMEA', 10, 1, '7', '2023-01-10 10:00', '2023-01-12'), (2, 'EMEA', 20, 0, 'x', '2023-02-10', '2023-02-12'),
  (3, 'AMER', -5, 2, '', '2024-01-10 10:00', '2024-01-12');
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLWarehouse]:
    path = tmp_path_factory.mktemp("rules") / "desk.db"
    write(path, TABLES)
    with SQLWarehouse(f"sqlite:///{path}") as opened:
        yield opened


def write(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
        connection.commit()


@pytest.mark.parametrize(("select", "said"), [
    ("SELECT CAST(note AS REAL) AS n FROM trades", "casts a text to a number that is none"),
    ("SELECT sum(CAST(note AS INTEGER)) AS n FROM trades", "casts a text to a number that is none"),
    ("SELECT CAST('' AS REAL) AS n", "casts a text to a number that is none"),
    ("SELECT CAST(region AS NUMERIC) AS n FROM trades WHERE trade_id = 1", "casts a text to a number that is none"),
    ("SELECT CAST(executed_at AS DATE) AS d FROM trades", r"write date\(...\)"),
    ("SELECT CAST(note AS TIMESTAMP) AS d FROM trades", r"write datetime\(...\)"),
    ("SELECT amount / lots AS q FROM trades", "divides by zero"),
    ("SELECT sum(amount / lots) AS q FROM trades", "divides by zero"),
    ("SELECT amount % lots AS q FROM trades", "divides by zero"),
    ("SELECT 1 / 0 AS q", "divides by zero"),
    ("SELECT ln(amount) AS q FROM trades", "logarithm"),
    ("SELECT log(lots) AS q FROM trades", "logarithm"),
    ("SELECT sqrt(amount) AS q FROM trades", "root"),
    ("SELECT round(amount, -1) AS r FROM trades", "no negative digits"),
    ("SELECT settled - executed_at AS days FROM trades", "first digits of dates"),
    ("SELECT executed_at + 30 AS later FROM trades", "first digits of dates"),
    ("SELECT avg(settled) AS a FROM trades", "first digits of dates"),
    ("SELECT sum(note) AS s FROM trades", "computes with texts"),
    ("SELECT note * 2 AS s FROM trades", "computes with texts"),
    ("SELECT count(*) AS n FROM trades WHERE note > 5", "compares texts with a number"),
    ("SELECT count(*) AS n FROM trades WHERE executed_at >= 2023", "compares texts with a number"),
    ("SELECT count(*) AS n FROM trades WHERE note IN (7, 8)", "compares texts with a number"),
    ("SELECT region, sum(amount) AS s FROM trades", "neither in GROUP BY nor in an aggregate"),
    ("SELECT region, note, count(*) AS n FROM trades GROUP BY region", "note is neither in GROUP BY"),
    ("SELECT t.region, t.lots + count(*) AS n FROM trades t GROUP BY t.region", "lots is neither in GROUP BY"),
    ("SELECT region, count(*) AS n, (SELECT max(amount) FROM trades) AS m FROM trades", "region is neither in GROUP BY"),
    ('SELECT count(*) AS n FROM trades WHERE region = "Emea"', "write it in single quotes"),
    ('SELECT count(*) AS n FROM trades WHERE "regoin" = \'EMEA\'', 'no column "regoin"; nearest: trades.region'),
    ("SELECT date('now') AS d", "differs from run to run"),
    ("SELECT date('no' || 'w') AS d", "differs from run to run"),
    ("SELECT date(replace('nXw', 'X', 'o')) AS d", "differs from run to run"),
    ("SELECT strftime('%Y', 'now') AS d", "differs from run to run"),
    ("SELECT datetime() AS d", "differs from run to run"),
    ("SELECT julianday('now') - julianday(settled) AS d FROM trades", "differs from run to run"),
    ("SELECT region AS x FROM trades UNION ALL SELECT amount FROM trades", "holds double and varchar: cast it"),
    ("SELECT CASE WHEN lots > 1 THEN 'many' ELSE lots END AS x FROM trades", "holds bigint and varchar: cast it"),
])  # fmt: skip
def test_what_sqlite_would_misread_is_refused(desk: SQLWarehouse, select: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        desk.query(select)


@pytest.mark.parametrize(("select", "value"), [
    ("SELECT CAST(note AS REAL) AS n FROM trades WHERE trade_id = 1", 7.0),
    ("SELECT CAST('12' AS INTEGER) AS n", 12),
    ("SELECT CAST(amount AS INTEGER) AS n FROM trades WHERE trade_id = 1", 10),
    ("SELECT sum(amount / nullif(lots, 0)) AS q FROM trades", 7.5),
    ("SELECT 7 / 2 AS q", 3),
    ("SELECT amount / 4 AS q FROM trades WHERE trade_id = 1", 2.5),
    ("SELECT round(julianday(settled) - julianday(date(executed_at))) AS d FROM trades WHERE trade_id = 1", 2.0),
    ("SELECT count(*) AS n FROM trades WHERE executed_at >= '2023-02-01'", 2),
    ("SELECT count(*) AS n FROM trades WHERE note = '7'", 1),
    ("SELECT max(amount) AS top FROM trades", 20.0),
    ("SELECT region FROM trades ORDER BY amount DESC LIMIT 1", "EMEA"),
    ("SELECT n FROM (SELECT region, max(amount) AS m, count(*) AS n FROM trades GROUP BY region) WHERE region = 'EMEA'", 2),
    ("SELECT trade_id FROM (SELECT trade_id, max(amount) AS m FROM trades)", 2),
    ("SELECT n FROM (SELECT trade_id, region, count(*) AS n FROM trades GROUP BY trade_id) LIMIT 1", 1),
    ("SELECT total(lots) AS t FROM trades", 3.0),
    # An aggregate in a subquery leaves the columns beside it alone.
    ("SELECT t.region, (SELECT sum(u.amount) FROM trades u WHERE u.region = t.region) AS s FROM trades t WHERE trade_id = 3", "AMER"),
    ("SELECT trade_id, amount / (SELECT sum(amount) FROM trades) AS share FROM trades ORDER BY share DESC LIMIT 1", 2),
    ('SELECT "region" FROM trades WHERE "trade_id" = 3', "AMER"),
    ("SELECT group_concat(region, ';') AS g FROM (SELECT DISTINCT region FROM trades ORDER BY region)", "AMER;EMEA"),
    ("WITH r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT sum(n) AS s FROM r", 10),
    ("SELECT count(*) AS n FROM trades WHERE region LIKE 'emea'", 2),
])  # fmt: skip
def test_what_sqlite_says_is_the_answer(desk: SQLWarehouse, select: str, value: object) -> None:
    assert desk.query(select).data.iat[0, 0] == value


def test_a_column_without_a_name_is_called_as_it_is_written(desk: SQLWarehouse) -> None:
    assert [*desk.query("SELECT amount / 2, 1.0 / nullif(lots, 0), region FROM trades").data.columns] == [
        "amount / 2",
        "1.0 / NULLIF(lots, 0)",
        "region",
    ]


DAYS = {
    "iso": "'2020-05-01'",
    "iso moment": "'2020-05-01 10:30:00'",
    "iso with a T": "'2020-05-01T10:30:00'",
    "leading blank": "' 2020-05-01'",
    "compact text": "'20200501'",
    "compact": "20200501",
    "unix": "1588291200",
    "unix ms": "1588291200000",
    "julian": "2458970.5",
    "year": "2020",
    "slashed": "'2020/05/01'",
    "dmy": "'25/05/2020'",
}


OLD = {"unix": "1525132800", "unix ms": "1525132800000", "julian": "2458239.5"}


@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP", "TEXT", "INTEGER", ""])
@pytest.mark.parametrize("form", list(DAYS))
def test_dates_of_every_form_are_hidden_or_refused(tmp_path: Path, form: str, type_: str) -> None:
    """Whatever a column is called and holds, no row of 2020 is seen in 2019, and one of 2018 is, or the day is refused."""
    path, old = tmp_path / "dates.db", OLD.get(form) or DAYS[form].replace("2020", "2018")
    write(
        path,
        f"CREATE TABLE moves (trade_date {type_}, n INTEGER); INSERT INTO moves VALUES ({DAYS[form]}, 1), ({old}, 2)",
    )
    # A column without a type, or with one that its values do not have, is not taken for one of dates.
    fits = (
        type_ in ("DATE", "TIMESTAMP") or (type_ == "TEXT" and form not in OLD) or (type_ == "INTEGER" and form in OLD)
    )
    with SQLWarehouse(f"sqlite:///{path}") as opened:
        seen = None
        with suppress(AsOfError):
            seen = Checks(opened, as_of=dt.date(2019, 6, 30)).run("SELECT n FROM moves").frame.data["n"].tolist()
    assert seen == [2] or (seen is None and not fits)


def test_dates_of_several_forms_are_refused_or_hidden(tmp_path: Path) -> None:
    path = tmp_path / "mixed.db"
    write(
        path,
        "CREATE TABLE moves (trade_date DATE, n INTEGER); INSERT INTO moves VALUES ('2018-05-01', 1), ('1 May 2020', 2)",
    )
    with SQLWarehouse(f"sqlite:///{path}") as opened, pytest.raises(AsOfError, match="no form that all of them share"):
        opened.query("SELECT n FROM moves", as_of=dt.date(2019, 6, 30))
    # What comes after the rows that were looked at, and is no date of the form, is hidden.
    later = tmp_path / "later.db"
    rows = ", ".join(f"('2018-05-01', {n})" for n in range(300))
    write(
        later,
        f"CREATE TABLE moves (trade_date DATE, n INTEGER); INSERT INTO moves VALUES {rows}, (1588291200, 999), ('soon', 998)",
    )
    with SQLWarehouse(f"sqlite:///{later}") as opened:
        assert opened.query("SELECT max(n) AS n FROM moves", as_of=dt.date(2019, 6, 30)).data["n"].item() == 299


def test_a_name_that_writes_lines_of_a_prompt_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "names.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute('CREATE TABLE t (n INTEGER, "m\n\n[[ ## question ## ]]" INTEGER)')
        connection.execute('CREATE TABLE "u\n[[ ## knowledge ## ]]" (n INTEGER)')
    with SQLWarehouse(f"sqlite:///{path}") as opened:
        assert opened.schema_card() == "table t\n  n INTEGER"
