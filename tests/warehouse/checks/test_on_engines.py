"""The checks of a SELECT over databases that are no DuckDB: the same words and the same values, in the engine's own SQL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from finexpert.errors import AsOfError, CutFrame, NoRows, QueryError, UnknownValue
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.checks.remarks import grain
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse
from finexpert.warehouse.schema import find_table

Run = Callable[..., Any]


def fill(url: str, script: str) -> None:
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
    with engine.begin() as connection:
        for statement in filter(str.strip, script.split(";")):
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
    engine.dispose()


@pytest.fixture(scope="module", params=["sqlite", "postgres", "mariadb"])
def brokerage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, brokerage_tables: str
) -> Iterator[SQLWarehouse]:
    script = brokerage_tables.replace("VARCHAR", "VARCHAR(50)").replace("DOUBLE", "DOUBLE PRECISION")
    schema = "desk" if request.param == "postgres" else None
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'desk.db'}"
    elif request.param == "postgres":
        url = request.getfixturevalue("postgres")
        script = f"DROP SCHEMA IF EXISTS desk CASCADE; CREATE SCHEMA desk; SET search_path = desk; {script}"
    else:
        server = request.getfixturevalue("mariadb")
        fill(server(""), "CREATE OR REPLACE DATABASE desk")
        url = server("desk")
    fill(url, script)
    with SQLWarehouse(url, schema=schema, row_cap=4) as opened:
        yield opened


@pytest.fixture
def run(brokerage: SQLWarehouse) -> Run:
    def run(select: str, **given: Any) -> Any:
        return Checks(brokerage, seconds=10, **given).run(select)

    return run


def test_what_repeats_is_found_by_one_in_so_many_numbers(
    brokerage: SQLWarehouse, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    trades = find_table(brokerage.tables, "trades")
    if trades is None or trades.rows is None:
        pytest.skip(f"{brokerage.dialect} tells no number of rows")
    for name, value in (("FIRST_ROWS", 1), ("_WHOLE", 0), ("_ONE_IN", 1)):
        monkeypatch.setattr(grain, name, value)
    notes = run("SELECT avg(lots) FROM trades", question="What is the average of lots per account?").notes
    assert "AVG(lots) takes each row of trades as one, and one account_id has several rows" in notes


@pytest.mark.parametrize(("select", "value", "note"), [
    ("SELECT count(*) FROM trades WHERE status = 'Filled'", 3, "read 'Filled' as 'FILLED'"),
    ("SELECT count(*) FROM trades WHERE lower(status) = 'Filled'", 3, "read 'Filled' as 'filled'"),
    ("SELECT count(*) FROM trades WHERE status IN ('FILLED', 'DONE')", 3, "these values matched: 'FILLED'"),
    ("SELECT count(*) FROM accounts WHERE segment = 'Private_Bank'", 1, "'private bank'"),
    ("SELECT sum(t.lots) FROM trades t JOIN accounts a ON t.account_id = a.account_id", 10, ""),
    ("SELECT count(DISTINCT a.account_id) FROM accounts a JOIN trades t ON t.account_id = a.account_id", 3, ""),
    ("SELECT sum(a.balance) FROM accounts a WHERE EXISTS (SELECT 1 FROM trades t WHERE t.account_id = a.account_id)", 175, ""),
    ("SELECT count(*) FROM trades WHERE status = 'CANCELLED' AND side = 'SELL'", 0, "no row meets all of these conditions"),
    ("WITH t AS (SELECT status AS s FROM trades) SELECT count(*) FROM t WHERE s = 'filled'", 3, "'FILLED'"),
    ("SELECT sum(amount) FROM trades WHERE currency = 'USD'", 80, ""),
    ("SELECT sum(fee) FROM covers WHERE valid_from <= '2023-03-01' AND valid_to > '2023-03-01'", 7, "covers.valid_to is missing in some rows"),
    ("SELECT sum(fee) FROM covers WHERE '2023-02-01' BETWEEN valid_from AND coalesce(valid_to, '9999-12-31')", 14, ""),
    ("SELECT sum(income_ytd) FROM region_months WHERE month_end = '2023-02-28'", 12, ""),
    ("SELECT sum(income) FROM region_months", 12, ""),
    ("SELECT a.account_id, count(t.trade_id) AS n FROM accounts a LEFT JOIN trades t ON t.account_id = a.account_id WHERE t.side = 'BUY' GROUP BY a.account_id ORDER BY 1", 1,
     "leaves out each account_id without such a row of trades"),
])  # fmt: skip
def test_what_is_right_or_put_right_is_answered(run: Run, select: str, value: float, note: str) -> None:
    checked = run(select)
    assert checked.frame.data.iat[0, 0] == pytest.approx(value)
    assert note in "; ".join(checked.notes)


@pytest.mark.parametrize(("select", "error", "said"), [
    ("SELECT count(*) FROM trades WHERE status = 'Executed'", UnknownValue, "no value 'Executed' in trades.status"),
    ("SELECT count(*) FROM trades WHERE status IN ('DONE', 'EXECUTED')", UnknownValue, "no value 'DONE'"),
    ("SELECT count(*) FROM trades WHERE status LIKE 'Exec%'", UnknownValue, "no value is like"),
    ("SELECT sum(a.balance) FROM accounts a JOIN trades t ON t.account_id = a.account_id", QueryError, "adds up each row of a"),
    ("SELECT avg(a.balance) FROM accounts a JOIN trades t ON t.account_id = a.account_id", QueryError, "weighs each row of a"),
    ("SELECT sum(t.lots) FROM trades t JOIN symbols s ON s.symbol = t.symbol", QueryError, "adds up each row of t"),
    ("SELECT count(*) FROM trades WHERE amount > 1000", NoRows, "amount > 1000 matches no row of trades"),
    ("SELECT count(*) FROM trades WHERE executed_at >= '2031-01-01'", NoRows, "matches no row of trades"),
    ("SELECT count(*) FROM symbols WHERE symbol NOT IN (SELECT symbol FROM trades)", QueryError, "NOT IN holds a NULL"),
    ("SELECT count(*) FROM notes", NoRows, "notes has no rows"),
    ("SELECT trade_id FROM trades", CutFrame, "more than 4 rows"),
    ("SELECT sum(amount) FROM trades", QueryError, "several currencies"),
    ("SELECT max(units) FROM trades", QueryError, "holds numbers as texts"),
    ("SELECT count(*) FROM trades WHERE booked_dt >= '2023-01-01'", QueryError, "dates as texts YYYYMMDD"),
    ("SELECT max(shown_date) FROM trades", QueryError, "DD/MM/YYYY do not sort by time"),
    ("SELECT count(*) FROM trades WHERE settle_date <= '2023-02-30'", QueryError, "'2023-02-30' is no day: the last one of that month is 2023-02-28"),
    ("SELECT count(*) FROM trades WHERE settle_date BETWEEN '2023-02-01' AND '2023-02-29'", QueryError, "'2023-02-29' is no day"),
    ("SELECT count(*) FROM trades WHERE executed_at < '2023-13-01 00:00'", QueryError, "a year has 12 months"),
    ("SELECT count(*) FROM trades WHERE settle_date > CAST('2023/04/31' AS DATE)", QueryError, "the last one of that month is 2023/04/30"),
    ("SELECT sum(s) FROM (SELECT lots AS s FROM trades WHERE side = 'BUY' UNION ALL SELECT lots FROM trades WHERE status = 'FILLED') u", QueryError, "adds up rows twice"),
    ("SELECT sum(amount_usd) FROM (SELECT DISTINCT amount_usd FROM fees) u", QueryError, "counts equal rows once"),
    ("SELECT sum(fee) FROM covers WHERE '2023-03-01' BETWEEN valid_from AND valid_to", QueryError, "finds two rows of covers on the day of a change"),
    ("SELECT sum(c.fee) FROM region_months m JOIN covers c ON c.account_id = 1 AND m.month_end >= c.valid_from AND m.month_end <= c.valid_to WHERE m.month_end > '2024-01-01'",
     NoRows, "matches no row of region_months"),
    ("SELECT sum(income_ytd) FROM region_months", QueryError, "region_months.income_ytd says what was there on each"),
    ("SELECT region, sum(headcount) AS n FROM region_months GROUP BY region", QueryError, "region_months.headcount says what was there on each"),
    ("SELECT sum(a.balance * t.discount_pct) FROM accounts a JOIN terms t ON t.account_id = a.account_id", QueryError, "which holds percent"),
])  # fmt: skip
def test_what_is_no_ground_for_an_answer_goes_back(run: Run, select: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        run(select)


@pytest.mark.parametrize(("select", "value"), [
    ("SELECT 100 * count(CASE WHEN status = 'FILLED' THEN 1 END) / count(*) FROM trades WHERE trade_id < 4", 200 / 3),
    ("SELECT (SELECT count(*) FROM trades WHERE status = 'FILLED') / (SELECT count(*) FROM trades)", 0.6),
    ("WITH a AS (SELECT count(*) AS n FROM accounts), t AS (SELECT count(*) AS n FROM trades) SELECT a.n / t.n FROM a, t", 0.8),
    ("SELECT (max(trade_id) - min(account_id)) / max(account_id) FROM trades", 4 / 3),
    ("SELECT sum(coalesce(account_id, 0)) / sum(trade_id) FROM trades", 10 / 15),
    ("SELECT sum(CASE WHEN status = 'FILLED' THEN 1 ELSE 0 END) / count(DISTINCT account_id) FROM trades WHERE trade_id <> 1", 2 / 3),
])  # fmt: skip
def test_a_division_of_whole_numbers_gives_the_quotient_or_goes_back(
    run: Run, brokerage: SQLWarehouse, select: str, value: float
) -> None:
    if brokerage.dialect == "mysql":
        assert run(select).frame.data.iat[0, 0] == pytest.approx(value, rel=1e-12)
        return
    with pytest.raises(QueryError, match="divides whole numbers"):
        run(select)


@pytest.mark.parametrize(("select", "value"), [
    ("SELECT 100.0 * count(CASE WHEN status = 'FILLED' THEN 1 END) / count(*) FROM trades", 60),
    ("SELECT avg(account_id) / count(*) FROM trades", 0.4),
    ("SELECT 1.0 * max(trade_id) / 30000 FROM trades", 5 / 30000),
    ("SELECT sum(lots) / count(*) FROM trades", 2),
    ("WITH a AS (SELECT 1.0 * count(*) AS n FROM accounts), t AS (SELECT count(*) AS n FROM trades) SELECT a.n / t.n FROM a, t", 0.8),
    ("SELECT floor(max(trade_id) / 2) FROM trades", 2),
])  # fmt: skip
def test_a_quotient_keeps_its_digits(run: Run, select: str, value: float) -> None:
    assert run(select).frame.data.iat[0, 0] == pytest.approx(value, rel=1e-12)


def test_a_limit_that_keeps_missing_values_goes_back(run: Run, brokerage: SQLWarehouse) -> None:
    first = "DESC" if brokerage.dialect == "postgres" else "ASC"
    for select in (
        "SELECT account_id FROM accounts ORDER BY balance {} LIMIT 1",
        "SELECT balance AS b FROM accounts ORDER BY b {} LIMIT 2",
    ):
        with pytest.raises(QueryError, match="balance is missing, since these come first here"):
            run(select.format(first))
    last = "ASC" if first == "DESC" else "DESC"
    assert run(f"SELECT account_id FROM accounts ORDER BY balance {last} LIMIT 1").frame.data.iat[0, 0] == (
        3 if last == "ASC" else 1
    )
    for select in (
        f"SELECT account_id FROM accounts WHERE balance IS NOT NULL ORDER BY balance {first} LIMIT 1",
        f"SELECT balance FROM accounts ORDER BY balance {first} LIMIT 9",
    ):
        assert not run(select).frame.data.empty


@pytest.mark.parametrize("select", [
    "SELECT count(*) FROM trades WHERE executed_at BETWEEN '2024-01-01 00:00:00' AND '2024-01-10'",
    "SELECT count(*) FROM trades t JOIN fees f ON f.account_id = t.account_id AND f.fee_date = t.executed_at",
])  # fmt: skip
def test_a_moment_that_is_compared_with_a_day_goes_back_in_words_of_the_engine(
    run: Run, brokerage: SQLWarehouse, select: str
) -> None:
    with pytest.raises(QueryError, match=r"holds moments later on") as caught:
        run(select)
    assert ("CAST(" in str(caught.value) or "DATE '" in str(caught.value)) == (brokerage.dialect != "sqlite")


@pytest.mark.parametrize(("form", "cut"), [("{}", False), ("{} 00:00:00", True), ("{} 10:00", True)])
@pytest.mark.parametrize("select", [
    "SELECT count(*) AS n FROM visits WHERE seen_at BETWEEN '2023-01-01' AND '2023-01-10'",
    "SELECT count(*) AS n FROM visits WHERE seen_at <= '2023-01-10'",
    "SELECT count(*) AS n FROM visits v JOIN days d ON d.day = v.seen_at AND d.day <= '2023-01-10'",
])  # fmt: skip
def test_sqlite_compares_moments_as_texts(tmp_path: Path, select: str, form: str, cut: bool) -> None:
    days = [f"2023-01-{day:02d}" for day in range(1, 29)]
    rows = "; ".join(
        f"INSERT INTO visits (seen_at) VALUES ('{form.format(day)}'); INSERT INTO days VALUES ('{day}')" for day in days
    )
    url = f"sqlite:///{tmp_path / 'visits.db'}"
    fill(
        url,
        f"CREATE TABLE visits (visit_id INTEGER PRIMARY KEY, seen_at DATETIME); CREATE TABLE days (day DATE PRIMARY KEY); {rows}",
    )
    with SQLWarehouse(url) as opened:
        if not cut:
            assert Checks(opened, seconds=10).run(select).frame.data.iat[0, 0] == 10
            return
        with pytest.raises(QueryError, match="holds moments later on"):
            Checks(opened, seconds=10).run(select)


@pytest.mark.parametrize(("select", "told"), [
    ("SELECT rating, count(*) AS n FROM symbols GROUP BY rating ORDER BY rating", True),
    ("SELECT count(DISTINCT rating) FROM symbols", True),
    ("SELECT DISTINCT rating FROM symbols ORDER BY rating", True),
    ("SELECT asset_class, count(*) AS n FROM symbols GROUP BY asset_class ORDER BY asset_class", False),
    ("SELECT upper(rating) AS r, count(*) AS n FROM symbols GROUP BY upper(rating) ORDER BY 1", False),
])  # fmt: skip
def test_spellings_that_are_grouped_as_one_are_told(run: Run, brokerage: SQLWarehouse, select: str, told: bool) -> None:
    notes = [note for note in run(select).notes if "symbols.rating is grouped whatever its case" in note]
    assert bool(notes) == (told and brokerage.dialect == "mysql")


def test_as_of_hides_what_came_later_and_says_by_which_column(run: Run) -> None:
    checked = run("SELECT count(*) FROM trades WHERE status = 'FILLED'", as_of=dt.date(2023, 12, 31))
    assert checked.frame.data.iat[0, 0] == 2
    assert any("trades is seen up to 2023-12-31 by executed_at" in note for note in checked.notes)
    # A trade of the day itself is in.
    for day, count in ((9, 0), (10, 1)):
        frame = run("SELECT count(*) + 1 AS n FROM trades", as_of=dt.date(2023, 1, day)).frame
        assert frame.data["n"].item() == count + 1
    with pytest.raises(AsOfError, match="maturity_date tells when a row became known"):
        run("SELECT count(*) FROM bonds", as_of=dt.date(2023, 12, 31))


def test_keys_come_from_the_catalogue_or_are_inferred(brokerage: SQLWarehouse) -> None:
    trades = next(table for table in brokerage.tables if table.name == "trades")
    assert [(key.columns, key.table, key.inferred) for key in trades.foreign_keys] == [
        (("account_id",), "accounts", True)
    ]
    assert next(table for table in brokerage.tables if table.name == "accounts").primary_key == ("account_id",)
    kinds = {column.name: column.dates for column in trades.columns if column.type.startswith("VARCHAR")}
    assert (kinds["booked_dt"], kinds["shown_date"], kinds["status"]) == ("compact", "dmy", "")


def test_nothing_but_the_names_of_columns_is_told_of_a_failure(run: Run) -> None:
    for select in (
        "SELECT CAST(note AS DATE) FROM notes",
        "SELECT statuss FROM trades",
        "SELECT nosuch(status) FROM trades",
    ):
        with pytest.raises(QueryError) as caught:
            run(select)
        assert "FILLED" not in str(caught.value)


def test_the_file_is_a_snapshot_of_its_own(tmp_path: Path, brokerage_tables: str) -> None:
    url = f"sqlite:///{tmp_path / 'desk.db'}"
    fill(url, brokerage_tables)
    with SQLWarehouse(url, cache=tmp_path / "cache") as first:
        before, tables = first.snapshot(), first.tables
    with SQLWarehouse(url, cache=tmp_path / "cache") as again:
        assert (again.snapshot(), again.tables) == (before, tables)
    assert len([*(tmp_path / "cache").iterdir()]) == 1
    fill(url, "INSERT INTO notes VALUES ('later')")
    with SQLWarehouse(url) as later:
        assert later.snapshot() != before


@pytest.mark.parametrize(("select", "value"), [
    ("SELECT sum(price) / count(*) FROM lots", None),
    ("SELECT avg(price / units) FROM lots", None),
    ("SELECT CAST(sum(units) AS DECIMAL) / 3 FROM lots", None),
    ("SELECT 1.0 * sum(price) / count(*) FROM lots", 10.5),
    ("SELECT CAST(sum(units) AS REAL) / 3 FROM lots", 7 / 3),
    ("SELECT sum(rate) / count(*) FROM lots", 0.75),
])  # fmt: skip
def test_decimals_that_sqlite_keeps_as_whole_numbers_are_not_divided_in_silence(
    tmp_path: Path, select: str, value: float | None
) -> None:
    url = f"sqlite:///{tmp_path / 'lots.db'}"
    fill(
        url,
        "CREATE TABLE lots (lot_id INTEGER PRIMARY KEY, price DECIMAL(10, 2), units NUMERIC, rate DECIMAL(4, 2));"
        "INSERT INTO lots VALUES (1, 10.00, 4, 0.25), (2, 11.00, 3, 1.25)",
    )
    with SQLWarehouse(url) as opened:
        checks = Checks(opened, seconds=10)
        if value is not None:
            assert checks.run(select).frame.data.iat[0, 0] == pytest.approx(value)
            return
        with pytest.raises(QueryError, match="divides whole numbers"):
            checks.run(select)
