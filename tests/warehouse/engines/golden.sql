-- What is sent to each engine: as-of 2024-06-30 by kinds of dates, a limit, and a look at the values of a column.
-- clickhouse, trades
SELECT count(*) AS n FROM (SELECT "executed_at", "fee", "status" FROM "desk"."trades" WHERE "executed_at" < CAST('2024-07-01 00:00:00' AS DateTime64(6))) AS t
-- clickhouse, prices
SELECT count(*) AS n FROM (SELECT "day" FROM "desk"."prices" WHERE "day" <= CAST('2024-06-30' AS Nullable(Date32))) AS t
-- clickhouse, flows
SELECT count(*) AS n FROM (SELECT "booked" FROM "desk"."flows" WHERE (match(TRIM("booked"), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9]$') OR match(TRIM("booked"), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T]([01][0-9]|2[0-3]|[0-9]:)[0-9:.,]*( ?([Zz]|UTC|[AaPp][Mm]|[+][0-9:]+))*$') OR (match(TRIM("booked"), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T].*$') AND SUBSTRING(CONCAT(SUBSTRING(TRIM("booked"), 7, 4), SUBSTRING(TRIM("booked"), 4, 2), SUBSTRING(TRIM("booked"), 1, 2)), 1, 8) < '20240630')) AND CONCAT(SUBSTRING(TRIM("booked"), 7, 4), SUBSTRING(TRIM("booked"), 4, 2), SUBSTRING(TRIM("booked"), 1, 2)) < '20240701') AS t
-- clickhouse, orders
SELECT count(*) AS n FROM (SELECT "placed" FROM "desk"."orders" WHERE match(TRIM("placed"), '^[0-3][0-9][ -][A-Za-z][A-Za-z][A-Za-z][ -][12][0189][0-9][0-9]$') AND CONCAT(SUBSTRING(TRIM("placed"), 8, 4), CASE LOWER(SUBSTRING(TRIM("placed"), 4, 3)) WHEN 'jan' THEN '01' WHEN 'feb' THEN '02' WHEN 'mar' THEN '03' WHEN 'apr' THEN '04' WHEN 'may' THEN '05' WHEN 'jun' THEN '06' WHEN 'jul' THEN '07' WHEN 'aug' THEN '08' WHEN 'sep' THEN '09' WHEN 'oct' THEN '10' WHEN 'nov' THEN '11' WHEN 'dec' THEN '12' ELSE '99' END, SUBSTRING(TRIM("placed"), 1, 2)) < '20240701') AS t
-- clickhouse, moments
SELECT count(*) AS n FROM (SELECT "at" FROM "desk"."moments" WHERE "at" < CAST('2024-07-01 00:00:00' AS DateTime64(6))) AS t
-- clickhouse, quarters
SELECT count(*) AS n FROM (SELECT "period" FROM "desk"."quarters" WHERE match(UPPER(REPLACE(REPLACE(TRIM("period"), '-', ''), ' ', '')), '^[12][0189][0-9][0-9]Q[1-4]$') AND UPPER(REPLACE(REPLACE(TRIM("period"), '-', ''), ' ', '')) <= '2024Q2') AS t
-- clickhouse, limit
SELECT fee FROM "desk"."trades" AS "trades" ORDER BY fee DESC LIMIT 3
-- clickhouse, values of a column
SELECT DISTINCT "status" FROM (SELECT "executed_at", "fee", "status" FROM "desk"."trades" WHERE "executed_at" < CAST('2024-07-01 00:00:00' AS DateTime64(6))) AS "trades" WHERE NOT ("status" IS NULL) LIMIT 1001
-- spark, trades
SELECT COUNT(*) AS n FROM (SELECT `executed_at`, `fee`, `status` FROM `desk`.`trades` WHERE `executed_at` < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS t
-- spark, prices
SELECT COUNT(*) AS n FROM (SELECT `day` FROM `desk`.`prices` WHERE `day` <= CAST('2024-06-30' AS DATE)) AS t
-- spark, flows
SELECT COUNT(*) AS n FROM (SELECT `booked` FROM `desk`.`flows` WHERE (TRIM(`booked`) RLIKE '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9]$' OR TRIM(`booked`) RLIKE '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T]([01][0-9]|2[0-3]|[0-9]:)[0-9:.,]*( ?([Zz]|UTC|[AaPp][Mm]|[+][0-9:]+))*$' OR (TRIM(`booked`) RLIKE '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T].*$' AND SUBSTRING(CONCAT(SUBSTRING(TRIM(`booked`), 7, 4), SUBSTRING(TRIM(`booked`), 4, 2), SUBSTRING(TRIM(`booked`), 1, 2)), 1, 8) < '20240630')) AND CONCAT(SUBSTRING(TRIM(`booked`), 7, 4), SUBSTRING(TRIM(`booked`), 4, 2), SUBSTRING(TRIM(`booked`), 1, 2)) < '20240701') AS t
-- spark, orders
SELECT COUNT(*) AS n FROM (SELECT `placed` FROM `desk`.`orders` WHERE TRIM(`placed`) RLIKE '^[0-3][0-9][ -][A-Za-z][A-Za-z][A-Za-z][ -][12][0189][0-9][0-9]$' AND CONCAT(SUBSTRING(TRIM(`placed`), 8, 4), CASE LOWER(SUBSTRING(TRIM(`placed`), 4, 3)) WHEN 'jan' THEN '01' WHEN 'feb' THEN '02' WHEN 'mar' THEN '03' WHEN 'apr' THEN '04' WHEN 'may' THEN '05' WHEN 'jun' THEN '06' WHEN 'jul' THEN '07' WHEN 'aug' THEN '08' WHEN 'sep' THEN '09' WHEN 'oct' THEN '10' WHEN 'nov' THEN '11' WHEN 'dec' THEN '12' ELSE '99' END, SUBSTRING(TRIM(`placed`), 1, 2)) < '20240701') AS t
-- spark, moments
SELECT COUNT(*) AS n FROM (SELECT `at` FROM `desk`.`moments` WHERE `at` < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS t
-- spark, quarters
SELECT COUNT(*) AS n FROM (SELECT `period` FROM `desk`.`quarters` WHERE UPPER(REPLACE(REPLACE(TRIM(`period`), '-', ''), ' ', '')) RLIKE '^[12][0189][0-9][0-9]Q[1-4]$' AND UPPER(REPLACE(REPLACE(TRIM(`period`), '-', ''), ' ', '')) <= '2024Q2') AS t
-- spark, limit
SELECT fee FROM `desk`.`trades` AS `trades` ORDER BY fee DESC LIMIT 3
-- spark, values of a column
SELECT DISTINCT `status` FROM (SELECT `executed_at`, `fee`, `status` FROM `desk`.`trades` WHERE `executed_at` < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS `trades` WHERE NOT `status` IS NULL LIMIT 1001
-- snowflake, trades
SELECT COUNT(*) AS N FROM (SELECT "executed_at", "fee", "status" FROM "desk"."trades" WHERE "executed_at" < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS T
-- snowflake, prices
SELECT COUNT(*) AS N FROM (SELECT "day" FROM "desk"."prices" WHERE "day" <= CAST('2024-06-30' AS DATE)) AS T
-- snowflake, flows
SELECT COUNT(*) AS N FROM (SELECT "booked" FROM "desk"."flows" WHERE (REGEXP_LIKE(TRIM("booked"), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9]$') OR REGEXP_LIKE(TRIM("booked"), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T]([01][0-9]|2[0-3]|[0-9]:)[0-9:.,]*( ?([Zz]|UTC|[AaPp][Mm]|[+][0-9:]+))*$') OR (REGEXP_LIKE(TRIM("booked"), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T].*$') AND SUBSTRING(CONCAT(SUBSTRING(TRIM("booked"), 7, 4), SUBSTRING(TRIM("booked"), 4, 2), SUBSTRING(TRIM("booked"), 1, 2)), 1, 8) < '20240630')) AND CONCAT(SUBSTRING(TRIM("booked"), 7, 4), SUBSTRING(TRIM("booked"), 4, 2), SUBSTRING(TRIM("booked"), 1, 2)) < '20240701') AS T
-- snowflake, orders
SELECT COUNT(*) AS N FROM (SELECT "placed" FROM "desk"."orders" WHERE REGEXP_LIKE(TRIM("placed"), '^[0-3][0-9][ -][A-Za-z][A-Za-z][A-Za-z][ -][12][0189][0-9][0-9]$') AND CONCAT(SUBSTRING(TRIM("placed"), 8, 4), CASE LOWER(SUBSTRING(TRIM("placed"), 4, 3)) WHEN 'jan' THEN '01' WHEN 'feb' THEN '02' WHEN 'mar' THEN '03' WHEN 'apr' THEN '04' WHEN 'may' THEN '05' WHEN 'jun' THEN '06' WHEN 'jul' THEN '07' WHEN 'aug' THEN '08' WHEN 'sep' THEN '09' WHEN 'oct' THEN '10' WHEN 'nov' THEN '11' WHEN 'dec' THEN '12' ELSE '99' END, SUBSTRING(TRIM("placed"), 1, 2)) < '20240701') AS T
-- snowflake, moments
SELECT COUNT(*) AS N FROM (SELECT "at" FROM "desk"."moments" WHERE "at" < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS T
-- snowflake, quarters
SELECT COUNT(*) AS N FROM (SELECT "period" FROM "desk"."quarters" WHERE REGEXP_LIKE(UPPER(REPLACE(REPLACE(TRIM("period"), '-', ''), ' ', '')), '^[12][0189][0-9][0-9]Q[1-4]$') AND UPPER(REPLACE(REPLACE(TRIM("period"), '-', ''), ' ', '')) <= '2024Q2') AS T
-- snowflake, limit
SELECT FEE FROM "desk"."trades" AS "TRADES" ORDER BY FEE DESC NULLS LAST LIMIT 3
-- snowflake, values of a column
SELECT DISTINCT "status" FROM (SELECT "executed_at", "fee", "status" FROM "desk"."trades" WHERE "executed_at" < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS "trades" WHERE NOT "status" IS NULL LIMIT 1001
-- bigquery, trades
SELECT count(*) AS n FROM (SELECT `executed_at`, `fee`, `status` FROM `desk`.`trades` WHERE `executed_at` < CAST('2024-07-01 00:00:00' AS DATETIME)) AS t
-- bigquery, prices
SELECT count(*) AS n FROM (SELECT `day` FROM `desk`.`prices` WHERE `day` <= CAST('2024-06-30' AS DATE)) AS t
-- bigquery, flows
SELECT count(*) AS n FROM (SELECT `booked` FROM `desk`.`flows` WHERE (REGEXP_CONTAINS(TRIM(`booked`), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9]$') OR REGEXP_CONTAINS(TRIM(`booked`), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T]([01][0-9]|2[0-3]|[0-9]:)[0-9:.,]*( ?([Zz]|UTC|[AaPp][Mm]|[+][0-9:]+))*$') OR (REGEXP_CONTAINS(TRIM(`booked`), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T].*$') AND SUBSTRING(CONCAT(SUBSTRING(TRIM(`booked`), 7, 4), SUBSTRING(TRIM(`booked`), 4, 2), SUBSTRING(TRIM(`booked`), 1, 2)), 1, 8) < '20240630')) AND CONCAT(SUBSTRING(TRIM(`booked`), 7, 4), SUBSTRING(TRIM(`booked`), 4, 2), SUBSTRING(TRIM(`booked`), 1, 2)) < '20240701') AS t
-- bigquery, orders
SELECT count(*) AS n FROM (SELECT `placed` FROM `desk`.`orders` WHERE REGEXP_CONTAINS(TRIM(`placed`), '^[0-3][0-9][ -][A-Za-z][A-Za-z][A-Za-z][ -][12][0189][0-9][0-9]$') AND CONCAT(SUBSTRING(TRIM(`placed`), 8, 4), CASE LOWER(SUBSTRING(TRIM(`placed`), 4, 3)) WHEN 'jan' THEN '01' WHEN 'feb' THEN '02' WHEN 'mar' THEN '03' WHEN 'apr' THEN '04' WHEN 'may' THEN '05' WHEN 'jun' THEN '06' WHEN 'jul' THEN '07' WHEN 'aug' THEN '08' WHEN 'sep' THEN '09' WHEN 'oct' THEN '10' WHEN 'nov' THEN '11' WHEN 'dec' THEN '12' ELSE '99' END, SUBSTRING(TRIM(`placed`), 1, 2)) < '20240701') AS t
-- bigquery, moments
SELECT count(*) AS n FROM (SELECT `at` FROM `desk`.`moments` WHERE `at` < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS t
-- bigquery, quarters
SELECT count(*) AS n FROM (SELECT `period` FROM `desk`.`quarters` WHERE REGEXP_CONTAINS(UPPER(REPLACE(REPLACE(TRIM(`period`), '-', ''), ' ', '')), '^[12][0189][0-9][0-9]Q[1-4]$') AND UPPER(REPLACE(REPLACE(TRIM(`period`), '-', ''), ' ', '')) <= '2024Q2') AS t
-- bigquery, limit
SELECT fee FROM `desk`.`trades` AS `trades` ORDER BY fee DESC LIMIT 3
-- bigquery, values of a column
SELECT DISTINCT `status` FROM (SELECT `executed_at`, `fee`, `status` FROM `desk`.`trades` WHERE `executed_at` < CAST('2024-07-01 00:00:00' AS DATETIME)) AS `trades` WHERE NOT `status` IS NULL LIMIT 1001
-- databricks, trades
SELECT COUNT(*) AS n FROM (SELECT `executed_at`, `fee`, `status` FROM `desk`.`trades` WHERE `executed_at` < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS t
-- databricks, prices
SELECT COUNT(*) AS n FROM (SELECT `day` FROM `desk`.`prices` WHERE `day` <= CAST('2024-06-30' AS DATE)) AS t
-- databricks, flows
SELECT COUNT(*) AS n FROM (SELECT `booked` FROM `desk`.`flows` WHERE (REGEXP_LIKE(TRIM(`booked`), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9]$') OR REGEXP_LIKE(TRIM(`booked`), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T]([01][0-9]|2[0-3]|[0-9]:)[0-9:.,]*( ?([Zz]|UTC|[AaPp][Mm]|[+][0-9:]+))*$') OR (REGEXP_LIKE(TRIM(`booked`), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T].*$') AND SUBSTRING(CONCAT(SUBSTRING(TRIM(`booked`), 7, 4), SUBSTRING(TRIM(`booked`), 4, 2), SUBSTRING(TRIM(`booked`), 1, 2)), 1, 8) < '20240630')) AND CONCAT(SUBSTRING(TRIM(`booked`), 7, 4), SUBSTRING(TRIM(`booked`), 4, 2), SUBSTRING(TRIM(`booked`), 1, 2)) < '20240701') AS t
-- databricks, orders
SELECT COUNT(*) AS n FROM (SELECT `placed` FROM `desk`.`orders` WHERE REGEXP_LIKE(TRIM(`placed`), '^[0-3][0-9][ -][A-Za-z][A-Za-z][A-Za-z][ -][12][0189][0-9][0-9]$') AND CONCAT(SUBSTRING(TRIM(`placed`), 8, 4), CASE LOWER(SUBSTRING(TRIM(`placed`), 4, 3)) WHEN 'jan' THEN '01' WHEN 'feb' THEN '02' WHEN 'mar' THEN '03' WHEN 'apr' THEN '04' WHEN 'may' THEN '05' WHEN 'jun' THEN '06' WHEN 'jul' THEN '07' WHEN 'aug' THEN '08' WHEN 'sep' THEN '09' WHEN 'oct' THEN '10' WHEN 'nov' THEN '11' WHEN 'dec' THEN '12' ELSE '99' END, SUBSTRING(TRIM(`placed`), 1, 2)) < '20240701') AS t
-- databricks, moments
SELECT COUNT(*) AS n FROM (SELECT `at` FROM `desk`.`moments` WHERE `at` < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS t
-- databricks, quarters
SELECT COUNT(*) AS n FROM (SELECT `period` FROM `desk`.`quarters` WHERE REGEXP_LIKE(UPPER(REPLACE(REPLACE(TRIM(`period`), '-', ''), ' ', '')), '^[12][0189][0-9][0-9]Q[1-4]$') AND UPPER(REPLACE(REPLACE(TRIM(`period`), '-', ''), ' ', '')) <= '2024Q2') AS t
-- databricks, limit
SELECT fee FROM `desk`.`trades` AS `trades` ORDER BY fee DESC LIMIT 3
-- databricks, values of a column
SELECT DISTINCT `status` FROM (SELECT `executed_at`, `fee`, `status` FROM `desk`.`trades` WHERE `executed_at` < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS `trades` WHERE NOT `status` IS NULL LIMIT 1001
-- tsql, trades
SELECT COUNT(*) AS n FROM (SELECT [executed_at] AS [executed_at], [fee] AS [fee], [status] AS [status] FROM [desk].[trades] WHERE [executed_at] < CAST('2024-07-01 00:00:00' AS DATETIME2)) AS t
-- tsql, prices
SELECT COUNT(*) AS n FROM (SELECT [day] AS [day] FROM [desk].[prices] WHERE [day] <= CAST('2024-06-30' AS DATE)) AS t
-- tsql, flows
SELECT COUNT(*) AS n FROM (SELECT [booked] AS [booked] FROM [desk].[flows] WHERE (TRIM([booked]) LIKE '[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9]' OR ((TRIM([booked]) LIKE '[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T][01][0-9]%' OR TRIM([booked]) LIKE '[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T]2[0-3]%' OR TRIM([booked]) LIKE '[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T][0-9]:%') AND NOT TRIM([booked]) LIKE '[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T]%[^0-9:.,+ZzUTCAPMapm ]%' AND NOT TRIM([booked]) LIKE '[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T]%[ACMPacmp]T%') OR (TRIM([booked]) LIKE '[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T]%' AND SUBSTRING(SUBSTRING(TRIM([booked]), 7, 4) + SUBSTRING(TRIM([booked]), 4, 2) + SUBSTRING(TRIM([booked]), 1, 2), 1, 8) < '20240630')) AND SUBSTRING(TRIM([booked]), 7, 4) + SUBSTRING(TRIM([booked]), 4, 2) + SUBSTRING(TRIM([booked]), 1, 2) < '20240701') AS t
-- tsql, orders
SELECT COUNT(*) AS n FROM (SELECT [placed] AS [placed] FROM [desk].[orders] WHERE TRIM([placed]) LIKE '[0-3][0-9][ -][A-Za-z][A-Za-z][A-Za-z][ -][12][0189][0-9][0-9]' AND SUBSTRING(TRIM([placed]), 8, 4) + CASE LOWER(SUBSTRING(TRIM([placed]), 4, 3)) WHEN 'jan' THEN '01' WHEN 'feb' THEN '02' WHEN 'mar' THEN '03' WHEN 'apr' THEN '04' WHEN 'may' THEN '05' WHEN 'jun' THEN '06' WHEN 'jul' THEN '07' WHEN 'aug' THEN '08' WHEN 'sep' THEN '09' WHEN 'oct' THEN '10' WHEN 'nov' THEN '11' WHEN 'dec' THEN '12' ELSE '99' END + SUBSTRING(TRIM([placed]), 1, 2) < '20240701') AS t
-- tsql, moments
SELECT COUNT(*) AS n FROM (SELECT [at] AS [at] FROM [desk].[moments] WHERE [at] < CAST('2024-07-01 00:00:00' AS DATETIME2)) AS t
-- tsql, quarters
SELECT COUNT(*) AS n FROM (SELECT [period] AS [period] FROM [desk].[quarters] WHERE UPPER(REPLACE(REPLACE(TRIM([period]), '-', ''), ' ', '')) LIKE '[12][0189][0-9][0-9]Q[1-4]' AND UPPER(REPLACE(REPLACE(TRIM([period]), '-', ''), ' ', '')) <= '2024Q2') AS t
-- tsql, limit
SELECT TOP 3 fee FROM [desk].[trades] AS [trades] ORDER BY fee DESC
-- tsql, values of a column
SELECT DISTINCT TOP 1001 [status] FROM (SELECT [executed_at] AS [executed_at], [fee] AS [fee], [status] AS [status] FROM [desk].[trades] WHERE [executed_at] < CAST('2024-07-01 00:00:00' AS DATETIME2)) AS [trades] WHERE NOT [status] IS NULL
-- trino, trades
SELECT COUNT(*) AS n FROM (SELECT "executed_at", "fee", "status" FROM "desk"."trades" WHERE "executed_at" < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS t
-- trino, prices
SELECT COUNT(*) AS n FROM (SELECT "day" FROM "desk"."prices" WHERE "day" <= CAST('2024-06-30' AS DATE)) AS t
-- trino, flows
SELECT COUNT(*) AS n FROM (SELECT "booked" FROM "desk"."flows" WHERE (REGEXP_LIKE(TRIM("booked"), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9]$') OR REGEXP_LIKE(TRIM("booked"), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T]([01][0-9]|2[0-3]|[0-9]:)[0-9:.,]*( ?([Zz]|UTC|[AaPp][Mm]|[+][0-9:]+))*$') OR (REGEXP_LIKE(TRIM("booked"), '^[0-3][0-9][/.-][01][0-9][/.-][12][0189][0-9][0-9][ T].*$') AND SUBSTR(CONCAT(CAST(SUBSTR(TRIM("booked"), 7, 4) AS VARCHAR), CAST(SUBSTR(TRIM("booked"), 4, 2) AS VARCHAR), CAST(SUBSTR(TRIM("booked"), 1, 2) AS VARCHAR)), 1, 8) < '20240630')) AND CONCAT(CAST(SUBSTR(TRIM("booked"), 7, 4) AS VARCHAR), CAST(SUBSTR(TRIM("booked"), 4, 2) AS VARCHAR), CAST(SUBSTR(TRIM("booked"), 1, 2) AS VARCHAR)) < '20240701') AS t
-- trino, orders
SELECT COUNT(*) AS n FROM (SELECT "placed" FROM "desk"."orders" WHERE REGEXP_LIKE(TRIM("placed"), '^[0-3][0-9][ -][A-Za-z][A-Za-z][A-Za-z][ -][12][0189][0-9][0-9]$') AND CONCAT(CAST(SUBSTR(TRIM("placed"), 8, 4) AS VARCHAR), CAST(CASE LOWER(SUBSTR(TRIM("placed"), 4, 3)) WHEN 'jan' THEN '01' WHEN 'feb' THEN '02' WHEN 'mar' THEN '03' WHEN 'apr' THEN '04' WHEN 'may' THEN '05' WHEN 'jun' THEN '06' WHEN 'jul' THEN '07' WHEN 'aug' THEN '08' WHEN 'sep' THEN '09' WHEN 'oct' THEN '10' WHEN 'nov' THEN '11' WHEN 'dec' THEN '12' ELSE '99' END AS VARCHAR), CAST(SUBSTR(TRIM("placed"), 1, 2) AS VARCHAR)) < '20240701') AS t
-- trino, moments
SELECT COUNT(*) AS n FROM (SELECT "at" FROM "desk"."moments" WHERE "at" < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS t
-- trino, quarters
SELECT COUNT(*) AS n FROM (SELECT "period" FROM "desk"."quarters" WHERE REGEXP_LIKE(UPPER(REPLACE(REPLACE(TRIM("period"), '-', ''), ' ', '')), '^[12][0189][0-9][0-9]Q[1-4]$') AND UPPER(REPLACE(REPLACE(TRIM("period"), '-', ''), ' ', '')) <= '2024Q2') AS t
-- trino, limit
SELECT fee FROM "desk"."trades" AS "trades" ORDER BY fee DESC LIMIT 3
-- trino, values of a column
SELECT DISTINCT "status" FROM (SELECT "executed_at", "fee", "status" FROM "desk"."trades" WHERE "executed_at" < CAST('2024-07-01 00:00:00' AS TIMESTAMP)) AS "trades" WHERE NOT "status" IS NULL LIMIT 1001
