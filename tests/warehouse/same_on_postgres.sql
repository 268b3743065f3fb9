SELECT round(avg(value), 2) AS r, median(value) AS m, quantile_cont(value, 0.9) AS q FROM cpi
SELECT arg_max(date, value) AS d, arg_min(value, date) FILTER (WHERE cpi_index = 'CPI') AS v FROM cpi
SELECT cpi_index, max_by(date, value) AS d FROM cpi GROUP BY cpi_index ORDER BY 1
SELECT i FROM range(1, 10) AS t(i) ORDER BY i
SELECT d FROM generate_series(DATE '2020-01-01', DATE '2020-05-01', INTERVAL 1 MONTH) AS t(d) ORDER BY d
SELECT make_date(2020, 1, 1) AS a, last_day(date) AS b, week(date) AS w FROM jobs ORDER BY date
SELECT cpi_index, stddev(value) AS s, corr(value, value) AS c, ln(max(value)) AS l, pow(max(value), 2) AS p, greatest(1, 2) AS g, log10(max(value)) AS lt, log(max(value)) AS lo FROM cpi GROUP BY cpi_index ORDER BY 1
SELECT cpi_index, any_value(cpi_index) AS a FROM cpi GROUP BY 1 ORDER BY 1
SELECT j.date, x.last FROM jobs AS j, LATERAL (SELECT max(date) AS last FROM cpi WHERE cpi.date > j.date) AS x ORDER BY 1
SELECT sum(unemploy > 6030) AS n FROM jobs
SELECT string_agg(cpi_index, ',' ORDER BY cpi_index) AS s FROM (SELECT DISTINCT cpi_index FROM cpi)
SELECT concat(cpi_index, '-', year(date)) AS c, left(cpi_index, 2) AS lf FROM cpi ORDER BY date, cpi_index
SELECT regr_slope(value, unemploy) AS s, covar_samp(value, unemploy) AS c, var_pop(value) AS v FROM jobs JOIN cpi USING (date)
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, s) ORDER BY n
SELECT epoch(date) AS e FROM jobs ORDER BY 1
