SELECT * EXCLUDE (value) FROM CPI AS c ORDER BY ALL
SELECT cpi_index, avg(value) AS a FROM cpi GROUP BY ALL HAVING a > 3 ORDER BY a DESC
SELECT date_trunc('quarter', date) AS q, avg(unemploy) AS u FROM jobs GROUP BY q ORDER BY q
SELECT date_trunc('week', date) AS q, avg(dff) AS u FROM rates GROUP BY ALL ORDER BY q
SELECT date_diff('month', min(date), max(date)) AS a, datediff('day', min(date), max(date)) AS b, date_diff('year', min(date), max(date)) AS c, date_diff('quarter', min(date), max(date)) AS d FROM jobs
SELECT * FROM cpi QUALIFY row_number() OVER (PARTITION BY cpi_index ORDER BY date DESC) = 1 ORDER BY ALL
SELECT year(date) AS y, strftime(date, '%Y-%m') AS m, extract(year FROM date) AS e, date_part('month', date) AS p FROM jobs WHERE date >= '2024-01-01'::DATE - INTERVAL 2 YEAR ORDER BY date
SELECT extract(quarter FROM date) AS q, month(date) AS m, dayofweek(date) AS w, dayofyear(date) AS y FROM rates ORDER BY date
FROM jobs ORDER BY date
WITH cpi AS (SELECT * FROM jobs) SELECT max(date) AS last, count(*) AS n FROM cpi
WITH jobs AS (SELECT * FROM cpi), cpi AS (SELECT 1 AS date) SELECT max(date) AS last FROM jobs
WITH cpi AS (SELECT * FROM cpi WHERE value > 100) SELECT count(*) AS n FROM cpi
WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 5) SELECT * FROM r ORDER BY i
SELECT j.date, (SELECT max(c.date) FROM cpi AS c WHERE c.date >= j.date) AS later FROM jobs AS j ORDER BY 1
SELECT count(*) AS n FROM cpi AS a JOIN cpi AS b USING (date)
SELECT date, lead(unemploy) OVER (ORDER BY date) AS nx, avg(unemploy) OVER (ORDER BY date ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS ma FROM jobs ORDER BY date
SELECT max(main.cpi.date) AS last FROM main.cpi
SELECT 7 // 2 AS a, 7 % 2 AS b, year(date)::VARCHAR AS v, count_if(value > 3) AS c, sum(value) FILTER (WHERE value > 2) AS d FROM cpi WHERE value < 252 GROUP BY value, date ORDER BY value
SELECT date + 5 AS c, date - INTERVAL '1 month' AS d, date + INTERVAL 1 YEAR AS e FROM rates ORDER BY 1
SELECT date - DATE '2020-01-01' AS gap FROM jobs ORDER BY 1
SELECT value AS x, x * 2 AS y FROM cpi WHERE y > 3 ORDER BY 1, 2
SELECT count(*) AS n FROM cpi WHERE cpi_index LIKE 'core%' OR cpi_index ILIKE '%ORE%' OR contains(cpi_index, 'C') AND starts_with(cpi_index, 'X')
SELECT unemploy / 7 AS a, unemploy / (unemploy + 1) AS b, unemploy * 1.5 AS c FROM jobs ORDER BY 1
SELECT DISTINCT ON (cpi_index) * FROM cpi ORDER BY cpi_index, date DESC
SELECT date FROM cpi UNION SELECT date FROM jobs UNION ALL SELECT date FROM rates ORDER BY 1
SELECT a.date, b.date FROM jobs AS a JOIN cpi AS b ON a.date = b.date WHERE b.cpi_index = 'CPI' ORDER BY 1
SELECT CAST(dff * 10 AS INT) AS i, round(dff * 10) AS r, round(dff, 1) AS r1, floor(dff) AS f, ceil(dff) AS c FROM rates ORDER BY date
SELECT date, cpi_index, value / lag(value, 12) OVER (PARTITION BY cpi_index ORDER BY date) - 1 AS yoy FROM cpi ORDER BY yoy DESC, date, cpi_index LIMIT 20
SELECT date, CASE WHEN dgs10 > 4 THEN 'high' WHEN dgs10 IS NULL THEN NULL ELSE 'low' END AS k, dgs10 > 4 AS b FROM rates ORDER BY date
SELECT cpi_index, date FROM cpi ORDER BY cpi_index DESC, date LIMIT 5
SELECT j.date, c.value FROM cpi AS c JOIN jobs AS j ON j.date = c.date + INTERVAL 2 MONTH WHERE c.cpi_index = 'CPI' ORDER BY 1
SELECT count(DISTINCT date_trunc('year', date)) AS n FROM cpi WHERE date BETWEEN '2021-01-01' AND '2023-12-31'
SELECT date::TIMESTAMP AS t FROM jobs WHERE date::TIMESTAMP <= '2021-01-01' ORDER BY 1
SELECT dff, dgs10, coalesce(dgs10, dff, 0) AS c, nullif(dff, 5) AS n FROM rates WHERE date IN ('2024-01-02', '2024-01-03') ORDER BY date
SELECT date, dgs10 FROM rates ORDER BY dgs10 DESC, date
SELECT max(unrate) AS m FROM jobs WHERE date >= (SELECT max(date) FROM jobs) - INTERVAL 10 YEAR
SELECT rank() OVER (ORDER BY unemploy DESC) AS r, ntile(4) OVER (ORDER BY unemploy) AS q, date FROM jobs QUALIFY r <= 5 ORDER BY r
SELECT upper(cpi_index) AS u, length(cpi_index) AS l, cpi_index || 'x' AS x FROM cpi ORDER BY date, cpi_index
SELECT date FROM rates EXCEPT SELECT date FROM jobs ORDER BY 1
SELECT (SELECT max(value) FROM cpi) - (SELECT min(value) FROM cpi) AS d
SELECT * FROM firms ORDER BY symbol
