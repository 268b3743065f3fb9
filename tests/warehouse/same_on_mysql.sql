SELECT date, dgs10 FROM rates ORDER BY dgs10 NULLS FIRST, date LIMIT 5 OFFSET 3
SELECT date FROM jobs ORDER BY date OFFSET 50
SELECT round(dff * 10.0 + 0.25, 1) AS a, round(-dff, 1) AS b, round(dff * 50) AS c, CAST(dff * 50 AS INT) AS d, trunc(dff) AS e, round(unemploy / 8, 2) AS f, round(value * 2) AS g FROM rates, jobs, cpi WHERE rates.date < '2023-12-24' AND jobs.date < '2020-04-01' AND cpi.date = '2021-04-01' ORDER BY ALL
SELECT unemploy / 7 / 3 AS a, (unemploy + 1) / (unemploy - 1) AS b, avg(unemploy) OVER (ORDER BY date) AS c, unemploy // 7 AS d, -unemploy % 7 AS e, -unemploy // 7 AS f FROM jobs ORDER BY date
SELECT avg(unemploy) AS a, stddev(unemploy) AS s, var_pop(unemploy) AS v, variance(unrate) AS w, stddev_pop(value) AS p, sum(unemploy) AS t, avg(CAST(unemploy AS DECIMAL(10, 2))) AS d FROM jobs JOIN cpi USING (date)
SELECT count(*) FILTER (WHERE value > 260) AS a, count(DISTINCT date) FILTER (WHERE value > 260) AS b, avg(value) FILTER (WHERE cpi_index = 'CPI') AS c, count_if(value > 270) AS d, bool_and(value > 1) AS e, bool_or(value > 279) AS f FROM cpi
SELECT string_agg(cpi_index, '; ' ORDER BY cpi_index DESC) AS s, string_agg(DISTINCT cpi_index, ',' ORDER BY cpi_index) AS d FROM cpi WHERE date = '2020-01-01'
SELECT greatest(dgs10, dff) AS g, least(dgs10, 4.05, dff) AS l, coalesce(dgs10, -1) AS c FROM rates ORDER BY date
SELECT date_trunc('month', date) AS m, date_trunc('year', date) AS y, date_trunc('day', date) AS d, date_trunc('week', date + INTERVAL 3 DAY) AS w, date_trunc('quarter', date - 40) AS q FROM rates ORDER BY date
SELECT year(date + INTERVAL 1 MONTH) AS a, month(date_trunc('quarter', date)) AS b, isodow(date) AS c, week(date) AS d, dayofyear(date + 5) AS e, date_part('quarter', date) AS f, extract(dow FROM date) AS g, day(last_day(date)) AS h, epoch(date) AS i FROM rates ORDER BY date
SELECT date_diff('week', min(date), max(date)) AS w, date_diff('month', DATE '2019-12-31', min(date)) AS m, date_diff('year', DATE '2019-12-31', min(date)) AS y, date_diff('quarter', date_trunc('quarter', min(date)), max(date)) AS q FROM rates
SELECT date + INTERVAL (month(date)) DAY AS a, date - INTERVAL 3 WEEK AS b, date + INTERVAL '2 months' AS c, make_date(year(date), month(date), 1) AS d FROM rates ORDER BY date
SELECT date FROM jobs WHERE date IN (SELECT date FROM cpi WHERE value > 252 ORDER BY value DESC, date LIMIT 3) ORDER BY date
SELECT date FROM jobs WHERE date NOT IN (SELECT max(date) FROM cpi) AND date > (SELECT min(date) FROM cpi) + INTERVAL 1 YEAR ORDER BY 1 DESC LIMIT 4
SELECT year(date) AS y, month(date) AS m, sum(unemploy) AS s FROM jobs GROUP BY 1, 2 HAVING sum(unemploy) > 6010 ORDER BY 1 DESC, 2
SELECT date_trunc('quarter', date) AS q, cpi_index, max(value) - min(value) AS d, count(*) AS n FROM cpi GROUP BY q, cpi_index ORDER BY q, cpi_index
SELECT cpi_index, date, value FROM cpi QUALIFY row_number() OVER (PARTITION BY cpi_index, year(date) ORDER BY value DESC) <= 2 ORDER BY value DESC, cpi_index LIMIT 7
SELECT DISTINCT ON (year(date)) date, unemploy FROM jobs ORDER BY year(date) DESC, date DESC
SELECT x.y, x.v FROM (SELECT year(date) AS y, avg(value) AS v FROM cpi GROUP BY 1 QUALIFY rank() OVER (ORDER BY avg(value) DESC) <= 2) AS x ORDER BY x.y
SELECT 'a' || cpi_index || year(date) AS a, concat(cpi_index, NULL, 1) AS b, concat_ws('-', cpi_index, NULL, month(date)) AS c, (value > 255)::VARCHAR AS d, date::VARCHAR AS e, lower(cpi_index) AS f, replace(cpi_index, 'C', 'c') AS g, substring(cpi_index, 2, 3) AS h, right(cpi_index, 2) AS i, trim(cpi_index) AS j FROM cpi ORDER BY date, cpi_index
SELECT count(*) AS n FROM cpi WHERE cpi_index = 'cpi' OR cpi_index = 'CPI ' OR cpi_index LIKE 'c%' OR cpi_index LIKE '%\'
SELECT sqrt(value) AS a, ln(value) AS b, log10(value) AS c, log(2, value) AS d, exp(value / 100) AS e, pow(value, 0.5) AS f, abs(-value) AS g, sign(-value) AS h, value ** 2 AS i FROM cpi ORDER BY value
SELECT a.date, a.value - b.value AS gap FROM cpi AS a LEFT JOIN cpi AS b ON a.date = b.date + INTERVAL 1 YEAR AND a.cpi_index = b.cpi_index ORDER BY gap, a.date, a.value
SELECT date FROM jobs INTERSECT SELECT date FROM rates ORDER BY date
(SELECT date, 'a' AS k FROM jobs ORDER BY date DESC LIMIT 2) UNION ALL (SELECT date, 'b' AS k FROM rates ORDER BY date LIMIT 2) ORDER BY k, date
SELECT first_value(unemploy) OVER (PARTITION BY year(date) ORDER BY date) AS f, last_value(unemploy) OVER (PARTITION BY year(date) ORDER BY date ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l, percent_rank() OVER (ORDER BY unemploy) AS p, sum(unemploy) OVER (ORDER BY date ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS s FROM jobs ORDER BY date
SELECT date, dff, CASE WHEN dgs10 IS NULL THEN 'none' ELSE 'some' END AS k, dgs10 IS NOT DISTINCT FROM 4 AS e, dgs10 IS DISTINCT FROM 4 AS i FROM rates ORDER BY k, dff DESC
SELECT date::TIMESTAMP + INTERVAL 90 MINUTE AS t, hour(date::TIMESTAMP + INTERVAL 90 MINUTE) AS h, dff::DECIMAL(10, 3) AS d, CAST(unemploy AS DOUBLE) AS u FROM rates, (SELECT max(unemploy) AS unemploy FROM jobs) ORDER BY 1
WITH yearly AS (SELECT year(date) AS y, avg(unemploy) AS u FROM jobs GROUP BY 1), last AS (SELECT max(y) AS y FROM yearly) SELECT a.y, a.u, b.u AS before, a.u / b.u - 1 AS growth FROM yearly a LEFT JOIN yearly b ON a.y = b.y + 1 WHERE a.y <= (SELECT y FROM last) ORDER BY a.y
SELECT DISTINCT cpi_index FROM cpi ORDER BY cpi_index
SELECT DISTINCT year(date) AS y FROM jobs ORDER BY y DESC
SELECT strftime(date, '%b %Y') AS a, strftime(date, '%d.%m.%y %H:%M:%S') AS b, strftime(date, '%B, %j') AS c FROM jobs ORDER BY date
