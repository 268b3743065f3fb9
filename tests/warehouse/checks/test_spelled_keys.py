"""A join over keys that are spelled otherwise on its two sides goes back; keys that are folded, and keys that are missing altogether, do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE country (code VARCHAR PRIMARY KEY, name VARCHAR);
INSERT INTO country VALUES ('DE', 'Germany'), ('FR', 'France');
CREATE TABLE party (id INTEGER PRIMARY KEY, code VARCHAR, tidy VARCHAR, owed DOUBLE);
INSERT INTO party VALUES (1, 'DE', 'DE', 10), (2, 'de', 'DE', 20), (3, 'FR ', 'FR', 5), (4, NULL, NULL, 1), (5, 'XX', 'XX', 2);
"""
SUM = "SELECT c.name, sum(p.owed) AS owed FROM party p {} GROUP BY c.name"


@pytest.fixture(scope="module")
def parties(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    path: Path = tmp_path_factory.mktemp("keys") / "parties.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    with DuckDBWarehouse(path) as opened:
        yield opened


@pytest.mark.parametrize(
    "join",
    [
        "JOIN country c ON c.code = p.code",
        "JOIN country c ON p.code = c.code",
        "LEFT JOIN country c ON c.code = p.code",
        ", country c WHERE c.code = p.code",
        "JOIN (SELECT code, name FROM country) c ON c.code = p.code",
    ],
)
def test_keys_that_are_spelled_otherwise_go_back(parties: DuckDBWarehouse, join: str) -> None:
    with pytest.raises(QueryError, match=r"party\.code holds keys of country\.code in another case or with blanks"):
        Checks(parties).run(SUM.format(join), "f")


def test_a_key_that_a_subquery_takes_one_of_several_is_a_key(parties: DuckDBWarehouse) -> None:
    select = "WITH p AS (SELECT id, any_value(code) AS code FROM party GROUP BY id) SELECT c.name, count(*) AS n FROM p JOIN country c ON c.code = p.code GROUP BY c.name"
    with pytest.raises(QueryError, match=r"party\.code holds keys of country\.code"):
        Checks(parties).run(select, "f")


@pytest.mark.parametrize(
    "join",
    [
        "JOIN country c ON c.code = p.tidy",
        "JOIN country c ON upper(trim(c.code)) = upper(trim(p.code))",
        "JOIN country c ON c.code = trim(upper(p.code))",
    ],
)
def test_keys_that_are_alike_or_folded_pass(parties: DuckDBWarehouse, join: str) -> None:
    assert len(Checks(parties).run(SUM.format(join), "f").frame.data) == 2
