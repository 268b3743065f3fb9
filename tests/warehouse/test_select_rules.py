"""What a SELECT may not do, and what it may: a new case is a line in a table."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from finexpert.errors import QueryError
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

REFUSED = [
    ("", "0 statements"),
    ("-- nothing", "0 statements"),
    ("SELECT 1; SELECT 2", "2 statements"),
    ("SELECT 1; DROP TABLE cpi", "2 statements"),
    ("DROP TABLE cpi", "DROP statement"),
    ("DELETE FROM cpi", "DELETE statement"),
    ("UPDATE cpi SET value = 0", "UPDATE statement"),
    ("INSERT INTO cpi SELECT * FROM cpi", "INSERT statement"),
    ("CREATE TABLE x AS SELECT * FROM cpi", "CREATE statement"),
    ("CREATE TEMP MACRO f() AS 1", "CREATE statement"),
    ("WITH gone AS (DELETE FROM cpi RETURNING *) SELECT * FROM gone", "a DELETE inside of WITH"),
    ("WITH gone AS (UPDATE cpi SET value = 0 RETURNING *) SELECT * FROM gone", "a UPDATE inside of WITH"),
    ("WITH gone AS (INSERT INTO cpi SELECT * FROM cpi RETURNING *) SELECT * FROM gone", "a INSERT inside of WITH"),
    ("WITH gone AS (COPY cpi TO '/tmp/stolen.csv') SELECT 1", "a COPY inside of WITH"),
    ("COPY cpi TO '/tmp/stolen.csv'", "COPY statement"),
    ("COPY (SELECT * FROM cpi) TO '/tmp/stolen.parquet'", "COPY statement"),
    ("EXPORT DATABASE '/tmp/stolen'", "statement is not allowed"),
    ("ATTACH '/tmp/other.duckdb' AS other", "ATTACH statement"),
    ("ATTACH ':memory:' AS other", "ATTACH statement"),
    ("DETACH finexpert_attached_file", "DETACH statement"),
    ("INSTALL httpfs", "statement is not allowed"),
    ("LOAD httpfs", "LOAD statement"),
    ("SET threads = 8", "SET statement"),
    ("SET VARIABLE finexpert_as_of = NULL", "SET statement"),
    ("RESET VARIABLE finexpert_as_of", "statement is not allowed"),
    ("PRAGMA database_list", "not allowed"),
    ("EXPLAIN SELECT 1", "EXPLAIN statement"),
    ("CALL duckdb_settings()", "CALL statement"),
    ("USE finexpert_attached_file", "statement is not allowed"),
    ("PREPARE p AS SELECT 1", "PREPARE statement"),
    ("DESCRIBE cpi", "SELECT"),
    ("SHOW TABLES", "SELECT"),
    ("SUMMARIZE cpi", "SELECT"),
    ("SELECT * FROM (DESCRIBE cpi)", "DESCRIBE, SHOW and SUMMARIZE"),
    ("SELECT * FROM (SHOW TABLES)", "DESCRIBE, SHOW and SUMMARIZE"),
    ("SELECT * FROM (SUMMARIZE firms)", "DESCRIBE, SHOW and SUMMARIZE"),
    ("VALUES (1)", "exactly one SELECT"),
    ("SELECT * FROM read_csv('/etc/passwd')", "read_csv() is not allowed in FROM"),
    ("SELECT * FROM read_text('/etc/passwd')", "read_text() is not allowed in FROM"),
    ("SELECT * FROM read_parquet('https://example.com/x.parquet')", "read_parquet() is not allowed in FROM"),
    ("SELECT * FROM glob('/*')", "glob() is not allowed in FROM"),
    ("SELECT * FROM '/etc/passwd'", "there is no table"),
    ("SELECT * FROM 'cpi.csv'", "there is no table"),
    ("SELECT * FROM duckdb_settings()", "duckdb_settings() is not allowed in FROM"),
    ("SELECT * FROM duckdb_settings", "there is no table"),
    ("SELECT * FROM pragma_table_info('cpi')", "pragma_table_info() is not allowed in FROM"),
    ("SELECT * FROM query('SELECT 1')", "query() is not allowed in FROM"),
    ("SELECT * FROM query_table('cpi')", "query_table() is not allowed in FROM"),
    ("SELECT * FROM sqlite_master", "there is no table"),
    ("SELECT * FROM information_schema.tables", "there is no table"),
    ("SELECT * FROM pg_catalog.pg_class", "there is no table"),
    ("SELECT * FROM cpi JOIN sqlite_master ON true", "there is no table"),
    ("SELECT (SELECT count(*) FROM sqlite_master)", "there is no table"),
    ("SELECT 1 FROM cpi WHERE EXISTS (SELECT 1 FROM duckdb_tables)", "there is no table"),
    ("SELECT date FROM cpi UNION SELECT sql FROM sqlite_master", "there is no table"),
    ("WITH a AS (SELECT * FROM sqlite_master), sqlite_master AS (SELECT 1) SELECT * FROM a", "there is no table"),
    ("SELECT * FROM (WITH sqlite_master AS (SELECT 1) SELECT 1) AS x, sqlite_master", "there is no table"),
    ("WITH sqlite_master AS (SELECT * FROM sqlite_master) SELECT * FROM sqlite_master", "there is no table"),
    ("SELECT * FROM finexpert_attached_file.main.cpi", "write cpi"),
    ("SELECT * FROM finexpert_attached_file.cpi", "write cpi"),
    ("SELECT * FROM memory.main.cpi", "write cpi"),
    ("SELECT * FROM _finexpert", "there is no table"),
    ("SELECT * FROM finexpert_attached_file.main._finexpert", "there is no table"),
    ("SELECT current_setting('memory_limit')", "current_setting() is not allowed"),
    ("SELECT getvariable('finexpert_as_of')", "getvariable() is not allowed"),
    ("SELECT getenv('HOME')", "getenv() is not allowed"),
    ("SELECT version()", "version() is not allowed"),
    ("SELECT json_serialize_sql('SELECT 1')", "json_serialize_sql() is not allowed"),
    ("SELECT max(value) FILTER (WHERE random() < 0.5) FROM cpi", "random() is not allowed"),
    ("SELECT now()", "now() is not allowed"),
    ("SELECT today()", "today() is not allowed"),
    ("SELECT current_date", "current_date differs from run to run"),
    ("SELECT * FROM cpi WHERE date > CURRENT_DATE - INTERVAL 1 YEAR", "current_date differs from run to run"),
    ("SELECT age(TIMESTAMP '2020-01-01')", "age() is not allowed"),
    ("SELECT uuid()", "uuid() is not allowed"),
    ("SELECT * FROM cpi USING SAMPLE 10 ROWS", "SAMPLE"),
    ("SELECT * FROM cpi TABLESAMPLE 10%", "SAMPLE"),
    ("SELECT error(symbol) FROM firms", "error() is not allowed"),
    ("SELECT sleep_ms(100000)", "sleep_ms() is not allowed"),
    ("SELECT repeat('a', 1000000000)", "repeat() is not allowed"),
    ("SELECT lpad('a', 1000000000, 'b')", "lpad() needs a length"),
    ("SELECT lpad('a', employees, 'b') FROM firms", "lpad() needs a length"),
    ("SELECT array_to_string(range(100000000), ',')", "range() as a value"),
    ("SELECT len(generate_series(1, employees)) FROM firms", "generate_series() as a value"),
    ("SELECT printf('%1000000000d', 1)", "printf() is not allowed"),
    ("PIVOT cpi ON cpi_index USING sum(value)", "PIVOT needs the values"),
    ("SELECT * FROM cpi WHERE date = ?", "parameter"),
    ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "cannot be parsed"),
    ("SELECT 1 " + "+ 1" * 3000, "cannot be parsed"),
    ("SELECT '" + "a" * 30_000 + "'", "characters"),
    ("SELECT '\ud800'", "cannot be parsed"),
]

ALLOWED = [
    "SELECT 1 AS one",
    "SELECT 1;",
    "SELECT 1 -- with a remark",
    "FROM cpi SELECT date, value",
    "SELECT * FROM CPI",
    'SELECT "Date", c."VALUE" FROM "cpi" AS c',
    "SELECT main.cpi.value FROM main.cpi",
    "WITH cpi AS (SELECT * FROM jobs) SELECT unrate FROM cpi",
    "WITH a AS (SELECT date, value FROM cpi), b AS (SELECT max(date) AS last FROM a) SELECT * FROM a JOIN b ON a.date = b.last",
    "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 5) SELECT * FROM r",
    "SELECT value * 2 AS twice, twice + 1 AS more FROM cpi",
    "SELECT date, value - lag(value, 12) OVER (PARTITION BY cpi_index ORDER BY date) AS change FROM cpi ORDER BY ALL",
    "SELECT * FROM cpi QUALIFY row_number() OVER (PARTITION BY cpi_index ORDER BY date DESC) = 1",
    "SELECT date FROM cpi UNION SELECT date FROM jobs EXCEPT SELECT date FROM rates",
    "SELECT a.date, b.dgs10 FROM cpi AS a ASOF JOIN rates AS b ON a.date >= b.date",
    "SELECT date_trunc('quarter', date) AS q, avg(value) AS v FROM cpi GROUP BY ALL ORDER BY q",
    "SELECT arg_max(date, value) AS d, median(value), quantile_cont(value, 0.9), stddev_samp(value) FROM cpi",
    "SELECT * EXCLUDE (value) REPLACE (upper(cpi_index) AS cpi_index) FROM cpi",
    "SELECT max(COLUMNS(*)) FROM jobs",
    "SELECT DISTINCT ON (cpi_index) * FROM cpi ORDER BY cpi_index, date DESC",
    "SELECT t.i FROM range(1, 4) AS t(i)",
    "SELECT unnest(generate_series(DATE '2020-01-01', DATE '2020-06-01', INTERVAL 1 MONTH)) AS month",
    "SELECT unnest(generate_series(min(date), max(date), INTERVAL '1 month')) AS month FROM cpi",
    "SELECT u.x FROM (SELECT list(value) AS l FROM cpi), unnest(l) AS u(x)",
    "SELECT s.a.b AS deep FROM (SELECT {'b': 1} AS a) AS s",
    "SELECT * FROM (PIVOT cpi ON cpi_index IN ('CPI', 'Core CPI') USING max(value))",
    "SELECT j.unrate, x.best FROM jobs AS j, LATERAL (SELECT max(value) AS best FROM cpi WHERE cpi.date <= j.date) AS x",
    "SELECT CASE WHEN value > 260 THEN 'high' ELSE 'low' END AS level, count(*) FILTER (WHERE value > 255) FROM cpi GROUP BY 1",
    "SELECT extract(year FROM date) || '-' || lpad(CAST(month(date) AS VARCHAR), 2, '0') AS label FROM cpi",
    "SELECT date FROM cpi WHERE date BETWEEN DATE '2024-09-30' - INTERVAL 1 YEAR AND DATE '2024-09-30'",
    "WITH p AS (SELECT DATE '2024-09-30' AS current_date) SELECT current_date FROM p",
    "SELECT count(*) FROM cpi AS a JOIN cpi AS b USING (date, cpi_index)",
    "SELECT regexp_matches(cpi_index, '^Core') AS is_core, ln(value), round(value, 1), coalesce(value, 0) FROM cpi",
    "SELECT * FROM cpi WHERE (date, value) IN (SELECT date, max(value) FROM cpi GROUP BY date)",
    "SELECT date, age(date, DATE '2000-01-01') > INTERVAL 1 DAY AS old FROM cpi",
]


@pytest.mark.parametrize(("select", "said"), REFUSED, ids=lambda text: text[:60].encode("ascii", "replace").decode())
def test_refused(warehouse: DuckDBWarehouse, select: str, said: str) -> None:
    with pytest.raises(QueryError, match=re.escape(said)):
        warehouse.query(select)


@pytest.mark.parametrize("select", ALLOWED, ids=lambda text: text[:60])
def test_allowed(warehouse: DuckDBWarehouse, select: str) -> None:
    assert len(warehouse.query(select).data) > 0


WORDS = ["SELECT", "FROM", "cpi", "value", "*", "(", ")", ",", "'a'", '"', "1", ";", "WITH", "AS", "x", "JOIN", "ON", "UNION",
         "ORDER BY", "date", "--", "/*", "[", "{", "->", "\x00", "é", "$$", "PIVOT", "SHOW", "::INT", "%"]  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.sampled_from(WORDS), max_size=14), noise=st.text(max_size=8))
def test_any_text_gives_rows_or_a_query_error(warehouse: DuckDBWarehouse, words: list[str], noise: str) -> None:
    with contextlib.suppress(QueryError):
        assert warehouse.query(" ".join(words) + noise).select
