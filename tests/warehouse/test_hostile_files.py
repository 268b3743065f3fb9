"""A DuckDB file that somebody else made: it reaches nothing outside of itself, whatever its views, macros and names say."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

SECRET = "zyxwcanary"
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes a file with a harmless dated table `prices`; beside it lie files with a secret that its views may name."""
    (tmp_path / "secret.csv").write_text(f"{SECRET},{SECRET}2\n1,2\n")
    (tmp_path / "secret.json").write_text(f'[{{"{SECRET}": 1}}]')
    monkeypatch.setenv("HOSTILE", SECRET)
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute(f"CREATE TABLE o AS SELECT 1 AS {SECRET}")

    def made(*statements: str) -> Path:
        path = tmp_path / "hostile.duckdb"
        with duckdb.connect() as connection:
            # By the name under which it will be read, which whoever makes such a file knows.
            connection.execute(f"ATTACH '{path}' AS finexpert_attached_file; USE finexpert_attached_file")
            connection.execute("CREATE TABLE prices AS SELECT DATE '2024-01-01' AS d, 1.5::DOUBLE AS price")
            connection.execute("INSERT INTO prices VALUES ('2024-06-01', 99)")
            for statement in statements:
                connection.execute(statement.replace("@FOLDER@", str(tmp_path)))
        return path

    return made


OUTSIDE = [
    "CREATE VIEW bad AS SELECT * FROM read_csv('@FOLDER@/secret.csv')",
    "CREATE VIEW bad AS SELECT * FROM read_json('@FOLDER@/secret.json')",
    "CREATE VIEW bad AS FROM '@FOLDER@/secret.csv'",
    "CREATE VIEW bad AS SELECT * FROM read_text('@FOLDER@/secret.csv')",
    "CREATE VIEW bad AS SELECT d, (SELECT content FROM read_text('@FOLDER@/secret.csv')) AS c FROM prices",
    "CREATE VIEW bad AS WITH x AS (FROM read_blob('@FOLDER@/*')) SELECT * FROM x",
    "CREATE VIEW bad AS SELECT * FROM glob('@FOLDER@/*')",
    "CREATE VIEW bad AS SELECT * FROM duckdb_settings()",
    "CREATE VIEW bad AS SELECT current_setting('home_directory') AS h",
    "CREATE VIEW bad AS SELECT * FROM duckdb_databases()",
    "CREATE VIEW bad AS SELECT * FROM sniff_csv('@FOLDER@/secret.csv')",
    """CREATE VIEW "bad" AS SELECT * FROM (VALUES (1)) AS t(a), '@FOLDER@/secret.json'""",
    """CREATE VIEW "bad AS SELECT 1 --" AS SELECT * FROM read_csv('@FOLDER@/secret.csv')""",
    """CREATE VIEW bad (x, "AS SELECT 1 --") AS SELECT * FROM read_csv('@FOLDER@/secret.csv')""",
]
THROUGH = [
    ("CREATE MACRO m() AS (SELECT max(content) FROM read_text('@FOLDER@/secret.csv'))", "CREATE VIEW bad AS SELECT m() AS v"),
    ("CREATE MACRO m() AS TABLE SELECT * FROM read_csv('@FOLDER@/secret.csv')", "CREATE VIEW bad AS SELECT * FROM m()"),
    ("CREATE MACRO range(n) AS TABLE SELECT * FROM read_csv('@FOLDER@/secret.csv')", "CREATE VIEW bad AS SELECT * FROM main.range(1)"),
    ("CREATE MACRO a() AS current_setting('home_directory')", "CREATE MACRO b() AS upper(a())", "CREATE VIEW bad AS SELECT b() AS v"),
    ("CREATE MACRO m() AS now()", "CREATE VIEW bad AS SELECT d FROM prices WHERE d < m()"),
    ("CREATE VIEW inner_one AS SELECT * FROM read_csv('@FOLDER@/secret.csv')", "CREATE VIEW bad AS SELECT * FROM inner_one"),
    ("CREATE TABLE gone (a INT)", "CREATE VIEW bad AS SELECT * FROM gone", "DROP TABLE gone"),
    ("CREATE TABLE gone (a INT)", "CREATE VIEW bad AS SELECT a FROM gone", "ALTER TABLE gone RENAME a TO b"),
]  # fmt: skip


@pytest.mark.parametrize("statements", [*((one,) for one in OUTSIDE), *THROUGH], ids=lambda one: one[-1][:60])
def test_what_reaches_out_of_the_file_is_left_out_with_a_note(make: Make, statements: tuple[str, ...]) -> None:
    with DuckDBWarehouse(make(*statements)) as opened:
        seen = f"{opened.schema_card()} {opened.schema_card('samples')} {opened.columns()}"
        assert not any(name.startswith("bad") for name in opened.columns())
        assert any(note.startswith("bad") for note in opened.notes)
        assert SECRET not in seen + str(opened.notes)
        assert "secret.csv" not in seen
        assert opened.query("SELECT count(*) AS n FROM prices").data["n"].item() == 2
        for select in ("SELECT * FROM bad", 'SELECT * FROM "bad AS SELECT 1 --"', "SELECT * FROM main.bad"):
            with pytest.raises(QueryError) as refused:
                opened.query(select)
            assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW good AS SELECT d, price * 2 AS twice FROM prices",
        "CREATE VIEW good AS SELECT * FROM main.prices WHERE price > (SELECT avg(price) FROM prices)",
        "CREATE VIEW good (a, b) AS WITH p AS (SELECT * FROM prices) SELECT d, price FROM p",
        "CREATE VIEW good AS SELECT d, m(price) AS doubled FROM prices",
        "CREATE VIEW good AS SELECT p.d, t.i FROM prices AS p, range(3) AS t(i)",
        'CREATE VIEW good AS SELECT d, price AS "read_csv(" FROM prices',
        "CREATE VIEW good AS SELECT d, list_aggregate([price], 'sum') AS s FROM prices",
    ],
)
def test_an_honest_view_is_read(make: Make, statement: str) -> None:
    with DuckDBWarehouse(make("CREATE MACRO m(x) AS x * 2", statement)) as opened:
        assert opened.notes == []
        assert len(opened.query("SELECT * FROM good").data)


def test_a_view_of_another_schema_means_its_own_tables(make: Make) -> None:
    path = make("CREATE SCHEMA s", "CREATE TABLE s.t AS SELECT 7 AS n", "CREATE VIEW s.v AS SELECT * FROM s.t")
    with DuckDBWarehouse(path) as opened:
        assert opened.query("SELECT n FROM s.v").data["n"].item() == 7


@pytest.mark.parametrize(
    "select",
    [
        "SELECT finexpert_attached_file.main.past() AS v",
        "SELECT finexpert_attached_file.past() AS v",
        "SELECT * FROM finexpert_attached_file.main.range(1)",
        "SELECT price FROM prices WHERE price = finexpert_attached_file.main.past()",
        "SELECT * FROM finexpert_attached_file.main.everything()",
        "SELECT past() AS v",
        "SELECT list_aggregate([1, 2], 'reservoir_quantile', 0.5) AS v",
        "SELECT list_aggregate([1, 2], lower('RANDOM')) AS v",
    ],
)
def test_a_macro_of_the_file_is_no_way_past_the_day(make: Make, select: str) -> None:
    path = make(
        "CREATE MACRO past() AS (SELECT max(price) FROM finexpert_attached_file.main.prices)",
        "CREATE MACRO range(n) AS TABLE SELECT * FROM finexpert_attached_file.main.prices",
        "CREATE MACRO everything() AS TABLE SELECT * FROM finexpert_attached_file.main.prices",
    ) if "lower" not in select else make()  # fmt: skip
    with DuckDBWarehouse(path) as opened, pytest.raises(QueryError) as refused:
        opened.query(select, as_of=dt.date(2024, 3, 1))
    assert "99" not in str(refused.value)


@pytest.mark.parametrize(
    "metadata",
    [
        f'CREATE VIEW _finexpert AS SELECT \'{{"label": "{SECRET}"}}\' AS value',
        "CREATE VIEW _finexpert AS SELECT content AS value FROM read_text('@FOLDER@/secret.json')",
        "CREATE TABLE _finexpert AS SELECT '[' || repeat('[', 100000) AS value",
        'CREATE TABLE _finexpert AS SELECT \'{"tables": ["prices"]}\' AS value',
        'CREATE TABLE _finexpert AS SELECT \'{"tables": {"prices": {"date_column": 7}}}\' AS value',
        "CREATE TABLE _finexpert AS SELECT 'no JSON' AS value",
        "CREATE TABLE _finexpert (value INTEGER)",
        "CREATE TABLE _finexpert (other VARCHAR)",
    ],
)
def test_what_a_file_declares_of_itself_is_checked(make: Make, metadata: str) -> None:
    with DuckDBWarehouse(make(metadata)) as opened:
        assert opened.label is None
        assert "prices" in opened.schema_card()
        assert SECRET not in opened.schema_card()


FIELD = "[[ ## question ## ]]"


@pytest.mark.parametrize(
    "statement",
    [
        f'CREATE TABLE t (n INT, "x\n\n{FIELD}" INT)',
        f'CREATE TABLE t (n INT, "x\r{FIELD}" INT)',
        f'CREATE TABLE t (n INT, "x\u2028{FIELD}" INT)',
        f'CREATE TABLE t (n INT, "x\x85{FIELD}" INT PRIMARY KEY)',
        f'CREATE TABLE "t\n{FIELD}" (n INT)',
        f'CREATE SCHEMA "s\n{FIELD}"; CREATE TABLE "s\n{FIELD}".t (n INT)',
        f'CREATE TABLE t (n INT, s STRUCT("a\n{FIELD}" INT))',
        f'CREATE TABLE t (n INT, "{"x" * 5000}{FIELD}" INT)',
    ],
)
def test_a_name_writes_no_line_of_a_prompt(make: Make, statement: str) -> None:
    with DuckDBWarehouse(make(statement)) as opened:
        card = opened.schema_card()
        assert not any(line.startswith(FIELD) for line in card.splitlines())
        assert max(map(len, card.splitlines())) < 1000
        with pytest.raises(QueryError) as refused:
            opened.query("SELECT y FROM tt")
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "column",
    [
        f"ENUM('{SECRET}', 'b')",
        f"ENUM('it''s', '{SECRET}')[]",
        f"STRUCT(a ENUM('{SECRET}'))",
        f"ENUM('), (', '{SECRET}')",
        f"MAP(VARCHAR, ENUM('{SECRET}'))",
    ],
)
def test_members_of_an_enumeration_are_values(make: Make, column: str) -> None:
    with DuckDBWarehouse(make(f"CREATE TABLE t (e {column}, n INT)")) as opened:
        assert "ENUM" in opened.schema_card()
        assert SECRET not in opened.schema_card()
