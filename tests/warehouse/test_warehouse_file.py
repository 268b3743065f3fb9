"""Files: written whole or not at all, and read whoever wrote them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from finexpert.errors import DataError
from finexpert.warehouse.local import building
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A file that somebody else made: no metadata, two schemas, a view, odd names."""
    path = tmp_path / "foreign.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE prices (observation_date DATE, kind VARCHAR, price DECIMAL(10, 2))")
        connection.execute(
            "INSERT INTO prices VALUES ('2024-01-01', 'b', 1.5), ('2024-02-01', 'a', 2.5), (NULL, NULL, 9)"
        )
        connection.execute("COMMENT ON TABLE prices IS 'it''s foreign'; COMMENT ON COLUMN prices.price IS 'EUR'")
        connection.execute('CREATE SCHEMA staging; CREATE TABLE staging.prices ("Date" TIMESTAMP, n INT)')
        connection.execute("INSERT INTO staging.prices VALUES ('2024-03-01 10:00', 7), ('2025-01-01', 8)")
        connection.execute(
            'CREATE TABLE "odd ""table" ("a b" INT, start_of_contract DATE); INSERT INTO "odd ""table" VALUES (1, \'2030-01-01\')'
        )
        connection.execute("CREATE VIEW dear AS SELECT * FROM prices WHERE price > 2")
        connection.execute("COMMENT ON VIEW dear IS 'prices above 2'")
    return path


def test_a_foreign_file(foreign: Path) -> None:
    with DuckDBWarehouse(foreign, categories={"prices.kind"}) as opened:
        assert set(opened.columns()) == {"prices", "dear", 'odd "table', "staging.prices"}
        card = opened.schema_card()
        assert (
            "table prices: it's foreign\n  observation_date DATE (date column)\n  kind VARCHAR: one of 'a', 'b'" in card
        )
        assert "table dear: prices above 2" in card
        assert 'table "odd ""table"\n  "a b" INTEGER\n  start_of_contract DATE (date column)' in card
        assert opened.label is None
        assert len(opened.query('SELECT "a b" FROM "odd ""table"', as_of=dt.date(2030, 1, 1)).data) == 1
        assert opened.query("SELECT sum(price) AS s FROM prices").data["s"].item() == 13.0


def test_as_of_reaches_every_schema_and_hides_undated_rows(foreign: Path) -> None:
    with DuckDBWarehouse(foreign) as opened:
        as_of = dt.date(2024, 3, 1)
        assert opened.query("SELECT n FROM staging.prices", as_of=as_of).data["n"].tolist() == [7]
        assert opened.query("SELECT p.n FROM staging.prices AS p JOIN prices ON true", as_of=as_of).data[
            "n"
        ].tolist() == [7, 7]
        assert opened.query("SELECT count(*) AS n FROM prices", as_of=as_of).data["n"].item() == 2
        assert opened.query("SELECT count(*) AS n FROM dear", as_of=dt.date(2024, 1, 31)).data["n"].item() == 0


def test_infinity_among_dates_does_not_keep_a_file_from_being_opened(tmp_path: Path) -> None:
    path = tmp_path / "endless.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (fiscal_year DOUBLE, ends_at TIMESTAMP, ended_on DATE)")
        connection.execute("INSERT INTO t VALUES ('inf', 'infinity', 'infinity'), (2020, '2020-01-01', '2020-01-01')")
    with DuckDBWarehouse(path) as opened:
        assert opened.tables[0].columns[0].dates == ""
        assert opened.query("SELECT count(*) AS n FROM t WHERE ended_on > DATE '2020-01-01'").data["n"].item() == 1


def test_a_date_column_may_be_declared(foreign: Path) -> None:
    with DuckDBWarehouse(foreign, date_columns={'odd "table': "start_of_contract"}) as opened:
        assert opened.query('SELECT * FROM "odd ""table"', as_of=dt.date(2024, 1, 1)).data.empty


@pytest.mark.parametrize("name", ["prices.nosuch", "kind", "nosuch.kind"])
def test_an_unknown_category_column_is_named(foreign: Path, name: str) -> None:
    with pytest.raises(DataError, match=f'"{name}" is no column of this warehouse'):
        DuckDBWarehouse(foreign, categories={name})


def test_a_build_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = build_warehouse(tmp_path / "w.duckdb", [Table("t", pd.DataFrame({"n": [1]}))])
    before = path.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(building, "_selected", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build_warehouse(path, [Table("t", pd.DataFrame({"n": [2]}))])
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["w.duckdb"]


def test_a_build_replaces_a_file_that_is_open(tmp_path: Path) -> None:
    path = build_warehouse(tmp_path / "w.duckdb", [Table("t", pd.DataFrame({"n": [1]}))])
    with DuckDBWarehouse(path) as older:
        build_warehouse(path, [Table("t", pd.DataFrame({"n": [2]}))])
        with DuckDBWarehouse(path) as newer:
            assert (
                older.query("SELECT n FROM t").data["n"].item(),
                newer.query("SELECT n FROM t").data["n"].item(),
            ) == (1, 2)


def test_columns_keep_their_kind(tmp_path: Path) -> None:
    data = pd.DataFrame(
        {
            "day": pd.to_datetime(["2024-01-01", "NaT"]),
            "moment": pd.to_datetime(["2024-01-01 10:00", "2024-01-02 00:00"]),
            "plain": [dt.date(2024, 1, 1), None],
            "kind": pd.Categorical(["a", "b"]),
            "x": [1.5, float("nan")],
            "order": [1, 2],
        }
    )
    path = build_warehouse(tmp_path / "w.duckdb", [Table("select", data, "it's", {"order": "a 'quoted' unit"})])
    with DuckDBWarehouse(path) as opened:
        card = opened.schema_card()
        assert (
            "day DATE\n  moment TIMESTAMP\n  plain DATE\n  kind VARCHAR\n  x DOUBLE\n  \"order\" BIGINT: a 'quoted' unit"
            in card
        )
        assert opened.query('SELECT count(x) AS n FROM "select"').data["n"].item() == 1


@pytest.mark.parametrize(
    "wrong", [{"date_column": "day"}, {"categories": ["day"]}, {"column_comments": {"day": "unit"}}]
)
def test_a_declared_column_must_exist(tmp_path: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(DataError, match='table t has no column "day": it has n'):
        build_warehouse(tmp_path / "w.duckdb", [Table("t", pd.DataFrame({"n": [1]}), **wrong)])  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
