SELECT median(unrate) AS m FROM jobs -- MEDIAN|PERCENTILE CONT has no translation
SELECT max_by(date, value) AS d FROM cpi -- number the rows with row_number
SELECT a.date FROM jobs AS a FULL JOIN rates AS b ON a.date = b.date -- FULL JOIN has no translation
SELECT a.date FROM jobs AS a SEMI JOIN rates AS b ON a.date = b.date -- SEMI JOIN has no translation
SELECT a.date FROM jobs AS a ASOF JOIN rates AS b ON a.date >= b.date -- ASOF JOIN has no translation
SELECT date FROM cpi UNION BY NAME SELECT date FROM jobs -- UNION BY NAME
SELECT * FROM (PIVOT cpi ON cpi_index IN ('CPI') USING max(value)) -- no translation
SELECT dayname(date) AS d FROM jobs -- not allowed on mysql
SELECT value || '' AS s FROM cpi -- digits after the point as text
SELECT CAST(date::TIMESTAMP AS VARCHAR) AS s FROM jobs -- a time as text
SELECT unrate // 2 AS s FROM jobs -- not whole
SELECT unemploy / (unrate - 4) AS s FROM jobs -- divides by zero
SELECT unemploy % (unemploy - unemploy) AS s FROM jobs -- divides by zero
SELECT unemploy // (unemploy - unemploy) AS s FROM jobs -- divides by zero
SELECT sqrt(-value) AS s FROM cpi -- out of the range
SELECT ln(value - value) AS s FROM cpi -- divides by zero
SELECT exp(value * 10) AS s FROM cpi -- out of the range
SELECT (value * 1e30)::BIGINT AS s FROM cpi -- no bigint|out of the range
SELECT TRY_CAST(cpi_index AS DOUBLE) AS s FROM cpi -- does not have the form
SELECT cpi_index::DATE AS s FROM cpi -- does not have the form
SELECT make_date(2024, 13, 1) AS s FROM cpi -- does not have the form
SELECT count(*) AS n FROM jobs WHERE cast('' AS DOUBLE) > 1 -- does not have the form
SELECT left(cpi_index, -1) AS s FROM cpi -- write a number from 0 on
SELECT substring(cpi_index, 0, 2) AS s FROM cpi -- write a number from 1 on
SELECT regexp_matches(cpi_index, 'C.*') AS s FROM cpi -- use LIKE
SELECT cpi_index, max(value) AS m FROM cpi GROUP BY ROLLUP (cpi_index) -- group in several SELECTs
SELECT list(value) AS l FROM cpi -- has the type list
SELECT date_trunc('decade', date) AS d FROM jobs -- the unit decade has no translation
SELECT strftime(date, '%A') AS d FROM jobs -- this form of a date
SELECT lpad(cpi_index, 1000, 'x') AS d FROM cpi -- not allowed on mysql
SELECT split_part(cpi_index, ' ', 1) AS d FROM cpi -- not allowed on mysql
SELECT initcap(cpi_index) AS d FROM cpi -- not allowed on mysql|does not exist|no function
