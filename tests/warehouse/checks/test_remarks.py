"""What a person is told of rows that count, or do not, though the SELECT means what it says."""

from __future__ import annotations

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
CREATE TABLE holders (holder_id INTEGER PRIMARY KEY, full_name VARCHAR, state VARCHAR);
INSERT INTO holders VALUES (1, 'Ann Lee', 'CA'), (2, 'Bo Hill', 'ca'), (3, 'Cy Wood', 'NY'), (4, 'Ann Lee', 'CA');
CREATE TABLE covers (cover_id INTEGER PRIMARY KEY, holder_id INTEGER REFERENCES holders, kind VARCHAR, begun DATE, ended DATE, signed_at TIMESTAMPTZ, fee DOUBLE);
INSERT INTO covers VALUES (1, 1, 'home', '2022-02-01', '2023-02-01', '2022-01-31 23:00+00', 10), (2, 1, 'car', '2023-02-11', NULL, '2023-02-01 10:00+00', 20),
  (3, 2, 'car', '2023-03-01', '2024-02-01', '2023-02-01 10:00+00', 30), (4, 3, 'car', '2023-02-05', NULL, '2023-02-02 09:00+00', 70);
CREATE TABLE versions (holder_id INTEGER REFERENCES holders, version INTEGER, valid_from DATE, valid_to DATE, insured DOUBLE, PRIMARY KEY (holder_id, version));
INSERT INTO versions VALUES (1, 1, '2022-01-01', '2023-01-01', 100), (1, 2, '2023-01-01', '2100-01-01', 150), (2, 1, '2022-01-01', '2100-01-01', 70);
CREATE TABLE tries (try_id INTEGER PRIMARY KEY, is_test INTEGER, is_deleted INTEGER, test_day DATE);
INSERT INTO tries VALUES (1, 0, 0, '2023-01-01'), (2, 1, 0, '2023-01-02');
CREATE TABLE ratios (line VARCHAR, claims_count INTEGER, loss_ratio DOUBLE);
INSERT INTO ratios VALUES ('home', 10, 0.5), ('car', 90, 0.8);
"""


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


@pytest.mark.parametrize(
    ("select", "notes"),
    [
        ("SELECT count(*) FROM covers WHERE begun <= DATE '2023-06-01' AND ended > DATE '2023-06-01'", [
            "covers.ended is missing in some rows, which ended > CAST('2023-06-01' AS DATE) leaves out: they may have no end yet"]),
        ("SELECT count(*) FROM covers WHERE begun <= DATE '2023-06-01' AND (ended IS NULL OR ended > DATE '2023-06-01')", []),
        ("SELECT count(*) FROM covers WHERE DATE '2023-06-01' BETWEEN begun AND coalesce(ended, DATE '9999-12-31')", []),
        ("SELECT count(*) FROM covers WHERE ended > DATE '2022-06-01'", []),
        ("SELECT count(*) FROM covers WHERE month(begun) = 2", ["MONTH(begun) = 2 holds in several years, and no condition says which: all of them count"]),
        ("SELECT count(*) FROM covers WHERE month(begun) = 2 AND year(begun) = 2023", []),
        ("SELECT count(*) FROM covers WHERE month(begun) = 3", []),
        ("SELECT count(*) FROM covers WHERE signed_at >= TIMESTAMPTZ '2023-02-01 00:00+00'", ["covers.signed_at is kept with a time zone: a day of it begins at midnight in UTC"]),
        ("SELECT count(signed_at) FROM covers", []),
        ("SELECT full_name, sum(fee) AS fee FROM covers JOIN holders USING (holder_id) GROUP BY full_name ORDER BY 1", [
            "several rows of holders have one full_name: they are one group"]),
        ("SELECT h.holder_id, h.full_name, sum(fee) AS fee FROM covers c JOIN holders h ON h.holder_id = c.holder_id GROUP BY h.holder_id, h.full_name ORDER BY 1", []),
        ("SELECT sum(fee) FROM covers JOIN holders USING (holder_id) WHERE full_name = 'Ann Lee'", ["2 rows of holders have the full_name 'Ann Lee': all of them count"]),
        ("SELECT holder_id, sum(fee) FROM covers JOIN holders USING (holder_id) WHERE full_name = 'Ann Lee' GROUP BY 1 ORDER BY 1", []),
        ("SELECT count(*) FROM holders WHERE state = 'CA'", ["holders.state also holds 'ca', which is not the same text as 'CA'"]),
        ("SELECT avg(m) FROM (SELECT kind, avg(fee) AS m FROM covers GROUP BY kind)", [
            "AVG(m) is an average of AVG(fee): each group counts alike, whatever its number of rows"]),
        ("SELECT avg(n) FROM (SELECT kind, count(*) AS n FROM covers GROUP BY kind)", []),
        ("SELECT avg(n) FROM (SELECT holder_id, count(*) AS n FROM covers GROUP BY holder_id)", [
            "AVG(n) is over each holder_id of covers: what holders holds beside these is left out"]),
        ("SELECT avg(fee / cover_id) FROM covers", ["AVG(fee / cover_id) counts each quotient alike: it is not the sum of the first divided by the sum of the second"]),
        ("SELECT avg(fee / 100) FROM covers", []),
        ("SELECT max(date_diff('year', begun, ended)) FROM covers", [
            "DATE_DIFF('YEAR', begun, ended) counts how often a year begins between the two, and no whole years"]),
        ("SELECT max(date_diff('day', begun, ended)) FROM covers", []),
        ("SELECT max(2024 - year(begun)) FROM covers", ["2024 - YEAR(begun) counts how often a year begins between the two, and no whole years"]),
        ("SELECT max(year(begun)) - 1 FROM covers", []),
        ("SELECT count(*) FROM covers WHERE fee > 60 OR kind = 'car' AND begun < DATE '2023-02-20'", [
            "in fee > 60 OR kind = 'car' AND begun < CAST('2023-02-20' AS DATE), AND binds before OR"]),
        ("SELECT count(*) FROM covers WHERE fee > 60 OR (kind = 'car' AND begun < DATE '2023-02-20')", []),
        ("SELECT sum(insured) FROM versions", ["versions holds several rows of one holder_id, told apart by version, valid_from, valid_to: all of them count"]),
        ("SELECT sum(insured) FROM versions WHERE version = 1", []),
        ("SELECT sum(insured) FROM versions WHERE valid_from <= DATE '2023-06-01' AND valid_to > DATE '2023-06-01'", []),
        ("SELECT max(insured) FROM versions", []),
        ("SELECT count(*) FROM tries", ["tries.is_test marks some rows, and the SELECT does not look at it: they count like the others"]),
        ("SELECT count(*) FROM tries WHERE is_test = 0", []),
        ("SELECT avg(loss_ratio) FROM ratios", ["AVG(loss_ratio) counts each row of ratios alike, whatever its claims_count"]),
        ("SELECT sum(loss_ratio * claims_count) / sum(claims_count) FROM ratios", []),
        ("SELECT h.holder_id, count(c.cover_id) AS n FROM holders h LEFT JOIN covers c ON c.holder_id = h.holder_id WHERE c.kind = 'home' GROUP BY h.holder_id", [
            "c.kind = 'home' leaves out each holder_id without such a row of covers, which the LEFT JOIN keeps"]),
        ("SELECT h.holder_id, count(c.cover_id) AS n FROM holders h LEFT JOIN covers c ON c.holder_id = h.holder_id AND c.kind = 'home' GROUP BY h.holder_id", []),
        ("SELECT count(c.cover_id) AS n FROM holders h LEFT JOIN covers c ON c.holder_id = h.holder_id WHERE c.kind = 'home'", []),
        ("SELECT c.kind, count(*) AS n FROM holders h LEFT JOIN covers c ON c.holder_id = h.holder_id WHERE c.kind = 'home' GROUP BY c.kind", []),
    ],
)  # fmt: skip
def test_a_person_is_told_of_times_names_and_averages(source: DuckDBWarehouse, select: str, notes: list[str]) -> None:
    assert list(Checks(source).run(select).notes) == notes


@pytest.mark.parametrize(
    ("question", "select", "told"),
    [
        (
            "What percentage of covers is for cars?",
            "SELECT avg(1.0) * count(*) FILTER (WHERE kind = 'car') / count(*) FROM covers",
            True,
        ),
        (
            "What percentage of covers is for cars?",
            "SELECT 100.0 * count(*) FILTER (WHERE kind = 'car') / count(*) FROM covers",
            False,
        ),
        (
            "What share of covers is for cars?",
            "SELECT count(*) FILTER (WHERE kind = 'car') / count(*) FROM covers",
            False,
        ),
    ],
)
def test_a_share_is_no_percent(source: DuckDBWarehouse, question: str, select: str, told: bool) -> None:
    notes = Checks(source, question=question).run(select, answers=True).notes
    assert ("the answer is a share of 1, and no percent: 1 stands for 100 %" in notes) is told
    # A script may make percent of it.
    assert not Checks(source, question=question).run(select).notes


@pytest.mark.parametrize(
    "condition",
    [
        "ended < DATE '9999-12-31'",
        "begun <= DATE '9999-12-31'",
        "signed_at <= DATE '9999-12-31'",
        "begun >= DATE '0001-01-01'",
    ],
)
def test_the_ends_of_the_calendar_are_days_like_others(source: DuckDBWarehouse, condition: str) -> None:
    assert len(Checks(source).run(f"SELECT * FROM covers WHERE {condition}").frame.data) > 1
