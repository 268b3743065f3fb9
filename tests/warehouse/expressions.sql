SELECT [1, 2, 3][1] AS n
SELECT [1, 2, 3][-1] AS n, len([1, 2, 3][1:2]) AS m, len([1, 2, 3][:2]) AS k, len([1, 2, 3, 4][1:-1:2]) AS j
SELECT map {'a': 1}['a'] AS n, map([1], [2])[1] AS m, cardinality(map {'a': 1}) AS c
SELECT {'a': 1}['a'] AS n, {'a': {'b': 2}}.a.b AS m, row(1, 2)[1] AS k, struct_pack(a := 1).a AS j
SELECT 'abc'[1] AS first, 'abc'[1:2] AS two, string_split('a,b', ',')[2] AS last
SELECT x[1] AS n, x[len(x)] AS m FROM (SELECT [1, 2] AS x) AS t
SELECT list(employees ORDER BY employees)[1] AS n FROM firms
SELECT quantile_cont(value, [0.25, 0.5])[2] AS q FROM cpi
SELECT [x + 1 for x in [1, 2, 3] if x > 1][1] AS n
SELECT list_transform([1, 2], lambda x: x + 1)[1] AS n, list_filter([1, 2], lambda x: x > 1)[1] AS m, list_reduce([1, 2], lambda a, b: a + b) AS k
SELECT '{"a": [1]}'::JSON->'a'->0 AS j, '{"a": 1}'::JSON->>'$.a' AS k, ('{"a": 1}'::JSON).a AS m, '{"a": [5]}'::JSON['a'][0] AS n
SELECT map_extract(map {'a': 1}, 'a')[1] AS n, map_keys(map {'a': 1})[1] AS k, map_values(map {'a': 1})[1] AS v
SELECT array_value(1, 2)[1] AS n, [1, 2]::INTEGER[2][2] AS m, CAST([1] AS BIGINT[])[1] AS k
SELECT union_extract(union_value(k := 1), 'k') AS n
SELECT UNNEST([1, 2]) AS n
SELECT * FROM UNNEST([1, 2]) AS t(n) ORDER BY n
SELECT UNNEST({'a': 1, 'b': 2})
SELECT date_diff('day', DATE '2024-01-01', DATE '2024-02-01') AS a, make_date(2024, 1, 1) AS b, last_day(DATE '2024-01-01') AS c, dayname(DATE '2024-01-01') AS d
SELECT time_bucket(INTERVAL 1 MONTH, DATE '2024-01-15') AS a, epoch(TIMESTAMP '2024-01-01') AS b, to_timestamp(1) AS c, strptime('2024', '%Y') AS d
SELECT TIMESTAMP '2024-01-01' AT TIME ZONE 'America/New_York' AS t, TIMESTAMPTZ '2024-01-01 00:00:00+02' AS u
SELECT date_part(['year', 'month'], DATE '2024-03-01').month AS m
SELECT DATE '2024-01-01' + INTERVAL '1 month' * 2 AS d, DATE '2024-03-31' - DATE '2024-01-31' AS n, INTERVAL 1 DAY > INTERVAL 1 HOUR AS b
SELECT substring('abc' FROM 2 FOR 1) AS a, position('a' IN 'ba') AS b, trim(BOTH 'a' FROM 'aba') AS c, 'a' COLLATE NOCASE = 'A' AS d, overlay('abc' PLACING 'x' FROM 2) AS e
SELECT 'a' LIKE 'A%' AS a, 'a' ILIKE 'A%' AS b, 'a' SIMILAR TO 'a|b' AS c, 'a' GLOB 'a*' AS d, 'a' ~ 'a' AS e, regexp_extract('a1', '(\w)(\d)', 2) AS f, regexp_extract('a1', '(\w)(\d)', ['l', 'd']).d AS g
SELECT 0x1F AS a, 1_000 AS b, 1e3 AS c, e'a\n' AS d, $$x$$ AS e, 7 // 2 AS f, 2 ** 3 AS g, 5 & 4 AS h, ~1 AS i, 1 << 2 AS j, 4! AS k, @(-1) AS l
SELECT n IS DISTINCT FROM 2 AS a, n BETWEEN 1 AND 2 AS b, n IN (1, 2) AS c, n > ANY (SELECT 0) AS d, n = ALL (SELECT 1) AS e, EXISTS (SELECT 1) AS f FROM (SELECT 1 AS n) AS t
SELECT CASE employees WHEN 20 THEN 'a' ELSE 'b' END AS a, if(employees > 20, 1, 2) AS b, TRY_CAST(symbol AS INTEGER) AS c, coalesce(NULL, employees) AS d FROM firms ORDER BY symbol
SELECT (1, 2) = (1, 2) AS a, (1, 2) < (1, 3) AS b
SELECT grouping(symbol) AS g, symbol, sum(employees) AS n FROM firms GROUP BY ROLLUP (symbol) ORDER BY ALL
SELECT symbol, sum(employees) AS n FROM firms GROUP BY GROUPING SETS ((symbol), ()) ORDER BY ALL
SELECT symbol, sum(employees) AS n FROM firms GROUP BY CUBE (symbol) ORDER BY ALL
SELECT arg_max(symbol, employees) AS a, first(employees ORDER BY employees) AS b, mode(employees) AS c, string_agg(symbol, ',' ORDER BY symbol) AS d, max(employees, 2)[1] AS e, histogram(employees)[20] AS f FROM firms
SELECT value, sum(value) OVER w AS s, first_value(value) IGNORE NULLS OVER w AS f, nth_value(value, 2) OVER (w ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) AS n FROM cpi WINDOW w AS (PARTITION BY cpi_index ORDER BY date RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND CURRENT ROW) ORDER BY ALL LIMIT 5
SELECT * REPLACE (value + 1 AS value) FROM cpi ORDER BY ALL LIMIT 3
SELECT * RENAME (value AS level) FROM cpi ORDER BY ALL LIMIT 3
SELECT max(COLUMNS('v.*')) FROM cpi
SELECT COLUMNS(lambda c: c LIKE 'v%') FROM cpi ORDER BY ALL LIMIT 3
SELECT COLUMNS(* EXCLUDE (date, cpi_index)) + 1 FROM cpi ORDER BY ALL LIMIT 3
PIVOT cpi ON cpi_index IN ('CPI', 'Core CPI') USING max(value)
SELECT * FROM (PIVOT cpi ON cpi_index IN ('CPI', 'Core CPI') USING max(value) GROUP BY date) ORDER BY date LIMIT 3
SELECT * FROM (UNPIVOT jobs ON unrate, unemploy INTO NAME measure VALUE amount) ORDER BY ALL LIMIT 3
FROM cpi SELECT date WHERE value > 252 ORDER BY ALL
SELECT jobs.date, cpi.value FROM jobs ASOF JOIN cpi ON jobs.date >= cpi.date ORDER BY ALL LIMIT 3
SELECT count(*) AS n FROM firms POSITIONAL JOIN (SELECT 1 AS one)
SELECT symbol FROM firms SEMI JOIN (SELECT 'BBB' AS symbol) USING (symbol)
SELECT symbol FROM firms ANTI JOIN (SELECT 'BBB' AS symbol) USING (symbol)
SELECT symbol, k FROM firms, LATERAL (SELECT employees + 1 AS k) ORDER BY ALL
SELECT symbol FROM firms NATURAL JOIN (SELECT 'BBB' AS symbol)
SELECT date FROM cpi UNION BY NAME SELECT date, dff FROM rates ORDER BY ALL LIMIT 3
(SELECT 1 AS a) INTERSECT ALL (SELECT 1)
WITH a AS MATERIALIZED (SELECT 1 AS n), b AS NOT MATERIALIZED (SELECT 2 AS n) SELECT * FROM a, b
WITH RECURSIVE t(n, path) AS (SELECT 1, [1] UNION ALL SELECT n + 1, list_append(path, n + 1) FROM t WHERE n < 3) SELECT n, path[1] AS first FROM t ORDER BY n
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, s) ORDER BY n
SELECT symbol FROM firms ORDER BY employees DESC NULLS LAST, 1 LIMIT 50% OFFSET 0
SELECT #1 AS a FROM firms ORDER BY ALL
SELECT f.employees AS e, f AS whole FROM firms AS f ORDER BY ALL
SELECT e: employees, s: symbol FROM firms ORDER BY ALL
SELECT x'41'::BLOB AS b, '101'::BIT AS c, 12345678901234567890123::HUGEINT AS d, 1.23::DECIMAL(38, 10) AS e, 'NaN'::DOUBLE AS f
SELECT hash('a') AS a, md5('a') AS b, sha256('a') AS c, strip_accents('é') AS d, nfc_normalize('é') AS e, unicode('é') AS f, chr(233) AS g, translate('a', 'a', 'b') AS h
SELECT symbol::ENUM('ZQXCANARY1', 'BBB') AS e FROM firms ORDER BY ALL
SELECT TRY(CAST(symbol AS INTEGER)) AS n FROM firms
SELECT ? AS n
SELECT $1 AS n
SELECT list_slice([1, 2, 3], 1, 2)[2] AS n, list_extract([1], 1) AS m, array_extract('abc', 1) AS k, struct_extract({'a': 1}, 'a') AS j, element_at(map {'a': 1}, 'a') AS i
SELECT a.b[1].c AS n FROM (SELECT {'b': [{'c': 7}]} AS a) AS t
SELECT (SELECT [1, 2])[2] AS n, ([1, 2] || [3])[3] AS m, (CASE WHEN true THEN [9] END)[1] AS k
SELECT list_transform([1, 2], x -> x * 2) AS l, list_sum(list_transform([1, 2], x -> x * 2)) AS n
SELECT list_sum(list_transform([1, 2], x -> x * 2)) AS n, list_filter([1, 2], x -> x > 1)[1] AS m, list_reduce([1, 2], (a, b) -> a + b) AS k
SELECT list_sum(list_transform([3, 4], (x, i) -> x * i)) AS n, list_transform([[1], [2]], x -> list_transform(x, y -> y + 1))[2][1] AS m
SELECT '{"a": {"b": 2}}'::JSON -> 'a' ->> 'b' AS j, '{"a": 1}'::JSON->'$.a' AS k
SELECT sum(list_sum(list_transform([employees, 1], e -> e + 1))) AS n FROM firms
