"""A PostgreSQL database with tables in several schemas: read together, under both names, hidden and exported as those of one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

from finexpert.errors import AsOfError, ConfigurationError, DataError, QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse
from finexpert.warehouse.semantic_model.document import SemanticModel

MADE = """
CREATE SCHEMA core; CREATE SCHEMA fin; CREATE SCHEMA "Odd Name"; CREATE SCHEMA empty;
CREATE TABLE core.policies (policy_id integer PRIMARY KEY, begun date, kind text);
INSERT INTO core.policies VALUES (1, '2020-01-01', 'home'), (2, '2020-02-01', 'car'), (3, '2020-03-01', 'car');
CREATE TABLE fin.premiums (policy_id integer REFERENCES core.policies, booked date, amount numeric(18, 2));
INSERT INTO fin.premiums VALUES (1, '2020-01-31', 10), (2, '2020-02-29', 20), (2, '2020-03-31', 40), (3, '2020-03-31', 80);
CREATE TABLE fin.codes (code text, policy_id integer REFERENCES core.policies); INSERT INTO fin.codes VALUES ('x', 1);
CREATE TABLE "Odd Name".codes (code text); INSERT INTO "Odd Name".codes VALUES ('y'), ('z');
CREATE VIEW fin.by_kind AS SELECT p.kind, f.booked, f.amount FROM core.policies p JOIN fin.premiums f USING (policy_id);
COMMENT ON TABLE fin.premiums IS 'booked premiums';
"""
JOINED = "SELECT sum(f.amount) AS total FROM core.policies p JOIN fin.premiums f ON f.policy_id = p.policy_id WHERE p.kind = 'car'"
DAY = dt.date(2020, 3, 15)


@pytest.fixture(scope="module")
def database(postgres: str) -> Callable[[str, str], str]:
    """Makes a database of a name by statements, and gives its URL."""

    def make(name: str, statements: str) -> str:
        with sa.create_engine(postgres, poolclass=sa.pool.NullPool).connect() as server:
            server.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(f"CREATE DATABASE {name}")
        url = postgres.replace("/postgres?", f"/{name}?")
        with sa.create_engine(url, poolclass=sa.pool.NullPool).begin() as connection:
            connection.exec_driver_sql(statements)
        return url

    return make


@pytest.fixture(scope="module")
def url(database: Callable[[str, str], str]) -> str:
    return database("several", MADE)


@pytest.fixture(scope="module")
def opened(url: str) -> Iterator[SQLWarehouse]:
    with SQLWarehouse(url) as warehouse:
        yield warehouse


def names(warehouse: SQLWarehouse) -> list[str]:
    return [table.name for table in warehouse.tables]


def test_all_schemas_with_tables_are_read_where_none_is_named(opened: SQLWarehouse) -> None:
    assert sorted(names(opened)) == ["Odd Name.codes", "core.policies", "fin.by_kind", "fin.codes", "fin.premiums"]
    card = opened.schema_card()
    assert "table fin.premiums: booked premiums" in card
    assert "policy_id INTEGER -> core.policies.policy_id\n" in card
    assert not opened.notes


@pytest.mark.parametrize(
    ("select", "found"),
    [
        (JOINED, 140),
        ("SELECT sum(amount) FROM fin.premiums", 150),
        ('SELECT sum(premiums.amount) FROM "fin"."premiums"', 150),
        ("SELECT sum(fin.premiums.amount) FROM fin.premiums", 150),
        ("SELECT sum(amount) FROM premiums", 150),
        ("SELECT count(*) FROM fin.codes", 1),
        ('SELECT count(*) FROM "Odd Name".codes', 2),
        ("WITH premiums AS (SELECT 1 AS amount) SELECT sum(amount) FROM premiums", 1),
        ("SELECT sum(amount) FROM fin.by_kind WHERE kind = 'car'", 140),
    ],
)
def test_a_table_by_both_names_or_by_one_that_is_its_alone(opened: SQLWarehouse, select: str, found: int) -> None:
    assert opened.query(select).data.iat[0, 0] == found


@pytest.mark.parametrize(
    "select",
    [
        "SELECT count(*) FROM codes",
        "SELECT count(*) FROM core.premiums",
        "SELECT count(*) FROM public.policies",
        "SELECT count(*) FROM pg_catalog.pg_class",
        "SELECT count(*) FROM information_schema.tables",
        "SELECT count(*) FROM several.core.policies",
    ],
)
def test_no_other_table_is_read(opened: SQLWarehouse, select: str) -> None:
    with pytest.raises(QueryError, match="there is no table"):
        opened.query(select)


@pytest.mark.parametrize("select", [JOINED, JOINED.replace("core.policies", "policies")])
def test_later_rows_are_hidden_in_each(opened: SQLWarehouse, select: str) -> None:
    assert opened.query(select, as_of=DAY).data.iat[0, 0] == 20
    with pytest.raises(AsOfError, match=r"fin\.by_kind cannot be seen"):
        opened.query("SELECT sum(amount) FROM fin.by_kind", as_of=DAY)


@pytest.mark.parametrize("kind", ["motor", "Car"])
@pytest.mark.parametrize("table", ["core.policies", "policies"])
def test_a_select_is_checked_as_over_one_schema(opened: SQLWarehouse, kind: str, table: str) -> None:
    checks, select = Checks(opened), f"SELECT count(*) AS n FROM {table} p WHERE p.kind = '{kind}'"
    if kind == "Car":
        assert checks.run(select, answers=True).frame.data.iat[0, 0] == 2
        return
    with pytest.raises(QueryError, match=r"no value 'motor' in core\.policies\.kind"):
        checks.run(select, answers=True)


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ("fin", ["by_kind", "codes", "premiums"]),
        ("core,fin", ["core.policies", "fin.by_kind", "fin.codes", "fin.premiums"]),
        (" core , Odd Name ", ["Odd Name.codes", "core.policies"]),
        ("*", ["Odd Name.codes", "core.policies", "fin.by_kind", "fin.codes", "fin.premiums"]),
    ],
)
def test_some_are_named(url: str, schema: str, found: list[str]) -> None:
    with SQLWarehouse(f"{url}&schema={schema}") as warehouse:
        assert sorted(names(warehouse)) == found
        assert warehouse.address is not None
    with SQLWarehouse(url, schema=schema) as warehouse:
        assert sorted(names(warehouse)) == found


def test_public_is_read_alone_and_the_others_are_said(database: Any) -> None:
    url = database("with_public", MADE + "CREATE TABLE public.accounts (account_id integer)")
    with SQLWarehouse(url) as warehouse:
        assert names(warehouse) == ["accounts"]
        assert warehouse.notes == [
            f"schema {name} is left out: ?schema=public,Odd Name reads both, and ?schema=* all"
            for name in ("Odd Name", "core", "fin")
        ]
    with SQLWarehouse(f"{url}&schema=*") as warehouse:
        assert "public.accounts" in names(warehouse)
        assert warehouse.query("SELECT count(*) FROM accounts").data.iat[0, 0] == 0


def test_what_is_said_of_tables_names_their_schema(url: str) -> None:
    said: dict[str, Any] = {
        "tables": ["core.policies", "fin.premiums"],
        "comments": {"core.policies": "contracts"},
        "date_columns": {"fin.premiums": "booked"},
        "categories": ["core.policies.kind"],
    }
    with SQLWarehouse(url, **said) as warehouse:
        assert names(warehouse) == ["core.policies", "fin.premiums"]
        card = warehouse.schema_card()
        assert "table core.policies: contracts" in card
        assert "car" in card
    wrong: list[dict[str, Any]] = [
        {"tables": ["policies"]},
        {"comments": {"policies": "x"}},
        {"categories": ["policies.kind"]},
    ]
    for given in wrong:
        with pytest.raises(DataError, match=r"write schema\.table"):
            SQLWarehouse(url, **given)
    with pytest.raises(DataError, match='no schema "nope"'):
        SQLWarehouse(url, schema="core,nope")


def test_a_model_of_one_schema_holds_for_its_table(url: str) -> None:
    model = SemanticModel.model_validate(
        {"name": "m", "datasets": [{"name": "policies", "source": "policies", "description": "contracts of customers"}]}
    )
    with SQLWarehouse(url, model=model) as warehouse:
        assert "table core.policies: contracts of customers" in warehouse.schema_card()


def test_an_exported_source_gives_the_same(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    for day, found in ((None, 140), (DAY, 20)):
        with SQLWarehouse(url, schema="core,fin") as warehouse:
            made: dict[str, Any] = {"pd": pd}
            exec(warehouse.python_source(day), made)  # noqa: S102 - it is what a reader of the export runs
        for select in (JOINED, JOINED.replace("core.", ""), JOINED.replace("fin.premiums", '"fin"."premiums"')):
            assert made["query"](select).iat[0, 0] == found
        made["database"].dispose()
    with SQLWarehouse(url) as warehouse, pytest.raises(ConfigurationError, match="two schemas have a table codes"):
        warehouse.python_source(DAY)


ODD = """
CREATE TABLE trades (day date NOT NULL, amount money, qty numeric) PARTITION BY RANGE (day);
CREATE TABLE trades_2023 PARTITION OF trades FOR VALUES FROM ('2023-01-01') TO ('2024-01-01');
CREATE TABLE trades_2024 PARTITION OF trades FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
INSERT INTO trades VALUES ('2023-05-01', 5, 1), ('2024-05-01', 7, 2);
CREATE TABLE salaries (id integer, name text, pay numeric); INSERT INTO salaries VALUES (1, 'a', 100);
CREATE TABLE secret (n integer); CREATE SCHEMA closed; CREATE TABLE closed.hidden (n integer); CREATE SCHEMA apart; CREATE TABLE apart.kept (n integer);
DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
GRANT SELECT ON trades, trades_2023 TO reader; GRANT SELECT (id, name) ON salaries TO reader;
GRANT SELECT ON closed.hidden, apart.kept TO reader; GRANT USAGE ON SCHEMA apart TO reader;
"""


@pytest.fixture(scope="module")
def reader(database: Any) -> str:
    """The URL for a user who may read some tables, and some columns."""
    return str(database("odd", ODD)).replace("postgres@", "reader@")


def test_what_the_user_may_not_read_is_no_table(reader: str) -> None:
    with SQLWarehouse(reader) as warehouse:
        assert names(warehouse) == ["salaries", "trades"]
        assert [column.name for column in warehouse.tables[0].columns] == ["id", "name"]
        assert warehouse.notes == [
            "public: secret is left out: the database user may not read it",
            "schema apart is left out: ?schema=public,apart reads both, and ?schema=* all",
        ]
        with pytest.raises(QueryError, match='there is no table "secret"'):
            warehouse.query("SELECT count(*) FROM secret")
    with pytest.raises(DataError, match="may read none of the 1 tables of the schema closed: grant SELECT"):
        SQLWarehouse(reader, schema="closed")


def test_partitions_are_in_their_table(reader: str) -> None:
    with SQLWarehouse(reader) as warehouse:
        assert warehouse.query("SELECT sum(qty) FROM trades").data.iat[0, 0] == 3
        with pytest.raises(QueryError, match="nearest: trades"):
            warehouse.query("SELECT sum(qty) FROM trades_2023")
    with SQLWarehouse(reader, tables=["trades_2023"]) as warehouse:
        assert warehouse.query("SELECT sum(qty) FROM trades_2023").data.iat[0, 0] == 1


@pytest.mark.parametrize(
    "select", ["SELECT amount FROM trades", "SELECT sum(amount) AS amount FROM trades AS t WHERE qty > 9"]
)
def test_money_is_written_in_a_language_and_is_no_number(reader: str, select: str) -> None:
    with SQLWarehouse(reader) as warehouse:
        with pytest.raises(QueryError, match='column "amount" has the type money: write CAST'):
            warehouse.query(select)
        warehouse.query(
            select.replace("SELECT amount FROM", "SELECT amount::numeric FROM").replace(
                "sum(amount) AS", "sum(amount::numeric) AS"
            )
        )


@pytest.mark.parametrize(
    "call",
    [
        "count(*) FROM policies, jsonb_each('{\"a\": 1}')",
        "jsonb_path_query_first('[3]', '$[0]')::int",
        "cardinality(regexp_split_to_array('a;b;c', ';'))",
    ],
)
def test_json_and_texts_are_taken_apart(opened: SQLWarehouse, call: str) -> None:
    assert opened.query(f"SELECT {call}").data.iat[0, 0] == 3
