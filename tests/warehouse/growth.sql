-- Statements that make texts and lists of any size, which DuckDB's own limit of memory does not count, or take time that no
-- interrupt ends. They are run without the rules of growth: one a line, each must end in a QueryError.
WITH a AS (SELECT 'aaaaaaaa' AS s), b AS (SELECT s || s || s || s || s || s || s || s AS s FROM a), c AS (SELECT s || s || s || s || s || s || s || s AS s FROM b), d AS (SELECT s || s || s || s || s || s || s || s AS s FROM c), e AS (SELECT s || s || s || s || s || s || s || s AS s FROM d), f AS (SELECT s || s || s || s || s || s || s || s AS s FROM e), g AS (SELECT s || s || s || s || s || s || s || s AS s FROM f), h AS (SELECT s || s || s || s || s || s || s || s AS s FROM g), i AS (SELECT s || s || s || s || s || s || s || s AS s FROM h), j AS (SELECT s || s || s || s || s || s || s || s AS s FROM i) SELECT length(s || s || s || s || s || s || s || s) AS n FROM j
SELECT length(replace(replace(replace(replace(replace(replace(symbol, 'Z', 'ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ'), 'Z', 'ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ'), 'Z', 'ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ'), 'Z', 'ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ'), 'Z', 'ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ'), 'Z', 'ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ')) AS n FROM firms
SELECT length(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(symbol))))))))))))))))))))))))))))))) AS n FROM firms
SELECT length(regexp_replace(regexp_replace(regexp_replace(lpad('a', 1000, 'a'), 'a', lpad('b', 1000, 'b'), 'g'), 'b', lpad('c', 1000, 'c'), 'g'), 'c', lpad('d', 1000, 'd'), 'g')) AS n
SELECT len(list_transform(range(10000), lambda x: list_transform(range(10000), lambda y: range(100)))) AS n
SELECT len(list_transform(range(10000), lambda x: range(10000))) AS n, len(list_transform(range(10000), lambda x: range(9999))) AS m
SELECT len(flatten(list_transform(range(10000), lambda x: range(10000)))) AS n
SELECT length(list_reduce(list_transform(range(60), lambda x: 'abcdefgh'), lambda a, b: a || a || b)) AS n
SELECT len(list_reduce(list_transform(range(60), lambda x: [x]), lambda a, b: list_concat(list_concat(a, a), b))) AS n
SELECT length(string_agg(lpad('', 1000, 'x'), ',')) AS n FROM range(100000000)
SELECT length(array_to_string(list_transform(range(10000), lambda x: lpad('', 1000, 'x') || lpad('', 1000, 'y') || lpad('', 1000, 'z')), lpad('', 1000, '-'))) AS n, array_to_string(list(i), lpad('', 1000, '-')) AS s FROM range(10000000) AS t(i)
SELECT max(length(s)) AS n FROM (SELECT array_to_string(list_transform(range(10000), lambda x: lpad('', 1000, 'x')), ',') || i AS s FROM range(1000) AS t(i))
WITH RECURSIVE r AS (SELECT 'aaaaaaaa' AS s UNION ALL SELECT s || s || s || s FROM r) SELECT count(*) AS n FROM r
WITH RECURSIVE r AS (SELECT [1, 2, 3] AS s UNION ALL SELECT list_concat(s, s) FROM r) SELECT count(*) AS n FROM r
WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + k FROM r, range(3) AS t(k)) SELECT count(*) AS n FROM r
SELECT len(list(i)) AS n FROM range(10000000000) AS t(i)
SELECT max(len(s)) AS n FROM (SELECT list(a.i) AS s FROM range(30000) AS a(i), range(30000) AS b(i) GROUP BY b.i)
SELECT length(to_json(list_transform(range(10000), lambda x: range(10000)))::VARCHAR) AS n
SELECT len(string_split(array_to_string(list_transform(range(10000), lambda x: lpad('', 1000, 'a,')), ','), ',')) AS n, len(string_split(array_to_string(list_transform(range(10000), lambda x: lpad('', 1000, 'a')), ''), '')) AS m
SELECT levenshtein(array_to_string(list_transform(range(1000), lambda x: lpad('', 1000, 'a')), ''), array_to_string(list_transform(range(1000), lambda x: lpad('', 1000, 'b')), '')) AS n
SELECT map_from_entries(list_transform(range(10000), lambda x: {'k': x, 'v': list_transform(range(10000), lambda y: y::VARCHAR)}))[1] IS NULL AS n
SELECT histogram(i) IS NULL AS n FROM range(10000000000) AS t(i)
SELECT lpad(a.cpi_index, 1000, 'x') AS x, lpad(b.cpi_index, 1000, 'y') AS y FROM cpi a, cpi b, range(99) AS t(i)
SELECT length(CAST(list(s) AS VARCHAR)) AS n FROM (SELECT lpad('', 1000, 'x') AS s FROM range(100000000))
SELECT max(md5(a.s || b.i)) AS n FROM (SELECT array_to_string(range(10000), ',') AS s) AS a, (SELECT i FROM range(10000000) AS t(i)) AS b
