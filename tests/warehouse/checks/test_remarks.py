"""What a person is told of rows that count, or do not, though the SELECT means what it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE orders (order_id INTEGER, region VARCHAR, channel VARCHAR, deleted_at DATE, is_archived BOOLEAN);
INSERT INTO orders VALUES (1, 'EMEA', 'web', NULL, FALSE), (2, 'AMER', 'web', '2024-01-01', FALSE), (3, NULL, 'shop', NULL, FALSE);
CREATE TABLE entries (entry_id INTEGER, direction VARCHAR, amount DOUBLE);
INSERT INTO entries VALUES (1, 'DR', 10), (2, 'CR', 5);
CREATE TABLE visits (visit_id INTEGER, page VARCHAR, seconds DOUBLE, clicks INTEGER);
INSERT INTO visits VALUES (1, 'home', 10, 1), (2, 'home', NULL, 2), (3, 'shop', 20, 3);
"""


@pytest.fixture
def source(tmp_path: Path) -> Iterator[DuckDBWarehouse]:
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(TABLES)
    with DuckDBWarehouse(tmp_path / "shop.duckdb", isolated=False) as opened:
        yield opened


MISSING = "SUM(seconds) / COUNT(*) divides by all rows, also by those in which seconds is missing: avg(seconds) leaves them out"
DELETED = "orders.deleted_at marks some rows, and the SELECT does not look at it: they count like the others"


@pytest.mark.parametrize(
    ("select", "notes"),
    [
        ("SELECT count(*) FROM orders", [DELETED]),
        ("SELECT count(*) FROM orders WHERE deleted_at IS NULL", []),
        ("SELECT count(*) FROM orders WHERE deleted_at IS NOT NULL AND region NOT IN ('EMEA')", ["orders.region is missing in some rows, which NOT region IN ('EMEA') leaves out"]),
        ("SELECT count(*) FROM orders WHERE deleted_at IS NOT NULL AND region <> 'EMEA'", ["orders.region is missing in some rows, which region <> 'EMEA' leaves out"]),
        ("SELECT count(*) FROM orders WHERE deleted_at IS NULL AND channel <> 'web'", []),
        ("SELECT count(*) FROM orders WHERE deleted_at IS NOT NULL AND region NOT LIKE 'EM%'", [
            "of orders.region, these values matched: 'EMEA'", "orders.region is missing in some rows, which region NOT LIKE 'EM%' leaves out"]),
        ("SELECT count(*) FROM orders WHERE NOT is_archived AND deleted_at IS NULL", []),
        ("SELECT count(region) AS n FROM orders WHERE deleted_at IS NULL", ["COUNT(region) leaves out the rows in which orders.region is missing"]),
        ("SELECT count(channel) AS n FROM orders WHERE deleted_at IS NULL", []),
        ("SELECT count(region) AS n FROM orders WHERE deleted_at IS NOT NULL", []),
        ("SELECT count(*) FROM orders WHERE deleted_at IS NULL AND (region <> 'EMEA' OR region IS NULL)", []),
        ("SELECT sum(amount) FROM entries", ["entries.amount is added up for every entries.direction"]),
        ("SELECT sum(amount) FROM entries WHERE direction = 'CR'", []),
        ("SELECT max(amount) FROM entries", []),
        ("SELECT sum(seconds) / count(*) FROM visits", [MISSING]),
        ("SELECT page, 100.0 * sum(seconds) / NULLIF(count(1), 0) AS share FROM visits GROUP BY page ORDER BY page", [
            "100.0 * SUM(seconds) / NULLIF(COUNT(1), 0) divides by all rows, also by those in which seconds is missing: avg(seconds) leaves them out"]),
        ("SELECT sum(seconds) / count(*) FROM visits WHERE page = 'shop'", []),
        ("SELECT sum(clicks) / count(*) FROM visits", []),
        ("SELECT page FROM visits ORDER BY clicks DESC LIMIT 1", []),
        ("SELECT channel, count(*) AS n FROM orders WHERE deleted_at IS NULL GROUP BY channel ORDER BY n DESC, channel LIMIT 1", [
            "LIMIT 1 leaves out a row that is equal to the last one kept in COUNT(*)"]),
        ("SELECT channel, count(*) AS n FROM orders WHERE deleted_at IS NULL GROUP BY channel ORDER BY 2 DESC, 1 LIMIT 2", []),
        ("WITH c AS (SELECT page, count(*) AS n FROM visits GROUP BY page) SELECT page FROM c ORDER BY n DESC LIMIT 1", []),
        ("WITH c AS (SELECT visit_id, 1 AS n FROM visits) SELECT visit_id FROM c ORDER BY n DESC, visit_id LIMIT 2", [
            "LIMIT 2 leaves out a row that is equal to the last one kept in n"]),
        ("SELECT sum(clicks * seconds / 100) AS s FROM visits", ["SUM(clicks * seconds / 100) leaves out the rows in which visits.seconds is missing"]),
        ("SELECT page, sum(seconds) AS s FROM visits WHERE clicks <> 2 GROUP BY page", []),
        ("SELECT sum(v.seconds) AS s FROM visits v LEFT JOIN entries e ON e.entry_id = v.visit_id", []),
        ("SELECT count(*) FROM orders WHERE deleted_at IS NULL AND region LIKE '%E%' AND region NOT LIKE 'non%E'", [
            "of orders.region, these values matched: 'AMER', 'EMEA'", "region NOT LIKE 'non%E' leaves out nothing",
            "orders.region is missing in some rows, which region NOT LIKE 'non%E' leaves out"]),
        ("SELECT sum(seconds) / count(seconds) FROM visits", []),
        ("SELECT sum(coalesce(seconds, 0)) / count(*) FROM visits", []),
        ("SELECT sum(CASE WHEN seconds > 15 THEN 1 END) / count(*) FROM visits", []),
    ],
)  # fmt: skip
def test_a_person_is_told(source: DuckDBWarehouse, select: str, notes: list[str]) -> None:
    assert list(Checks(source).run(select).notes) == notes
