-- One question a block, in DuckDB's SQL and in that of the others where it differs. All give the same rows.
duckdb: SELECT * FROM cpi AS c ORDER BY value DESC, date

duckdb: SELECT cpi_index, avg(value) AS a FROM CPI GROUP BY cpi_index HAVING avg(value) > 3 ORDER BY a DESC
mysql: SELECT cpi_index, avg(value) AS a FROM cpi GROUP BY cpi_index HAVING avg(value) > 3 ORDER BY a DESC

duckdb: SELECT date_trunc('quarter', date) AS q, avg(unemploy) AS u FROM jobs GROUP BY q ORDER BY q
postgres: SELECT date_trunc('quarter', date)::date AS q, avg(unemploy) AS u FROM jobs GROUP BY q ORDER BY q
sqlite: SELECT date(date, 'start of month', '-' || ((CAST(strftime('%m', date) AS INTEGER) - 1) % 3) || ' months') AS q, avg(unemploy) AS u FROM jobs GROUP BY q ORDER BY q
mysql: SELECT MAKEDATE(YEAR(date), 1) + INTERVAL QUARTER(date) QUARTER - INTERVAL 1 QUARTER AS q, AVG(unemploy) AS u FROM jobs GROUP BY q ORDER BY q

duckdb: SELECT date_diff('day', min(date), max(date)) AS d FROM jobs
postgres: SELECT max(date) - min(date) AS d FROM jobs
sqlite: SELECT CAST(julianday(max(date)) - julianday(min(date)) AS INTEGER) AS d FROM jobs
mysql: SELECT DATEDIFF(MAX(date), MIN(date)) AS d FROM jobs

duckdb: SELECT strftime(date, '%Y-%m') AS m, unemploy FROM jobs WHERE date >= DATE '2022-06-01' ORDER BY date
postgres: SELECT to_char(date, 'YYYY-MM') AS m, unemploy FROM jobs WHERE date >= '2022-06-01'::date ORDER BY date
sqlite: SELECT strftime('%Y-%m', date) AS m, unemploy FROM jobs WHERE date >= '2022-06-01' ORDER BY date
mysql: SELECT DATE_FORMAT(date, '%Y-%m') AS m, unemploy FROM jobs WHERE date >= '2022-06-01' ORDER BY date

duckdb: WITH cpi AS (SELECT * FROM jobs) SELECT max(date) AS last, count(*) AS n FROM cpi

duckdb: WITH jobs AS (SELECT * FROM cpi), cpi AS (SELECT 1 AS date) SELECT max(date) AS last FROM jobs

duckdb: WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 5) SELECT i FROM r ORDER BY i

duckdb: WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 5) SELECT r.i FROM r ORDER BY r.i

duckdb: SELECT j.date, (SELECT max(c.date) FROM cpi AS c WHERE c.date <= j.date) AS later FROM jobs AS j ORDER BY 1

duckdb: SELECT count(*) AS n FROM cpi AS a JOIN cpi AS b USING (date)

duckdb: SELECT date, lead(unemploy) OVER (ORDER BY date) AS nx, avg(unemploy) OVER (ORDER BY date ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS ma FROM jobs ORDER BY date

duckdb: SELECT sum(unemploy) AS s, count(*) AS n, min(date) AS first FROM jobs
-- Dates, numbers and gaps come as what they are.

duckdb: SELECT date, dff, dgs10, coalesce(dgs10, dff) AS c FROM rates ORDER BY date

duckdb: SELECT count(*) FILTER (WHERE value > 260) AS a, count(DISTINCT date) AS b FROM cpi
mysql: SELECT COUNT(IF(value > 260, 1, NULL)) AS a, COUNT(DISTINCT date) AS b FROM cpi

duckdb: SELECT x.cpi_index, x.n FROM (SELECT cpi_index, count(*) AS n FROM cpi GROUP BY cpi_index) AS x ORDER BY length(x.cpi_index)

duckdb: SELECT date FROM cpi UNION SELECT date FROM rates ORDER BY date

duckdb: SELECT upper(cpi_index) AS u, length(cpi_index) AS l, replace(cpi_index, 'C', 'c') AS r FROM cpi ORDER BY value, date

duckdb: SELECT round(CAST(value AS DECIMAL(10, 2)), 1) AS r FROM cpi ORDER BY value
postgres: SELECT round(value::numeric, 1) AS r FROM cpi ORDER BY value
sqlite: SELECT round(value, 1) AS r FROM cpi ORDER BY value

duckdb: SELECT symbol, employees FROM firms WHERE symbol IN ('BBB', 'CCC')

duckdb: SELECT date, CASE WHEN dgs10 > 4 THEN 'high' WHEN dgs10 IS NULL THEN NULL ELSE 'low' END AS k FROM rates ORDER BY date

duckdb: SELECT a.date, a.value / b.value - 1 AS yoy FROM cpi AS a JOIN cpi AS b ON b.cpi_index = a.cpi_index AND b.date = a.date - INTERVAL 1 YEAR ORDER BY a.value, a.date
postgres: SELECT a.date, a.value / b.value - 1 AS yoy FROM cpi AS a JOIN cpi AS b ON b.cpi_index = a.cpi_index AND b.date = a.date - INTERVAL '1 year' ORDER BY a.value, a.date
sqlite: SELECT a.date, a.value / b.value - 1 AS yoy FROM cpi AS a JOIN cpi AS b ON b.cpi_index = a.cpi_index AND b.date = date(a.date, '-1 year') ORDER BY a.value, a.date
mysql: SELECT a.date, a.value / b.value - 1 AS yoy FROM cpi AS a JOIN cpi AS b ON b.cpi_index = a.cpi_index AND b.date = DATE_SUB(a.date, INTERVAL 1 YEAR) ORDER BY a.value, a.date
