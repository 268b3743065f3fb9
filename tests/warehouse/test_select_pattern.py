"""The pattern that a server is held to: plain SELECTs over what may be read, and nothing that is not there."""

from __future__ import annotations

import re

import pytest

from finexpert.warehouse.select_pattern import Readable, pattern

MONTHS = Readable(
    "months",
    (("month", "day"), ("rate", "number"), ("is_high", "truth"), ("name", "text"), ("odd name", "number")),
    (("name", ["A B", "C.D", "it's"]),),
)
MEAN = Readable("mean_between('cpi', '2000-01-01', 5)", (("value", "number"),))
STRESS = Readable("stress", (("month", "day"), ("depth", "unknown")))
PATTERN = re.compile(pattern([MONTHS, MEAN, STRESS]))


@pytest.mark.parametrize(
    "select",
    [
        "SELECT count(*) FROM months",
        "SELECT avg(rate) FROM months WHERE month >= DATE '2000-01-01' AND is_high",
        "SELECT month FROM months ORDER BY rate DESC LIMIT 1",
        "SELECT year(month), avg(rate) FROM months GROUP BY year(month)",
        "SELECT count(*) FROM months WHERE month IN (SELECT month FROM stress)",
        "SELECT 100 * count(*) FILTER (WHERE is_high) / count(*) FROM months WHERE name = 'C.D'",
        "SELECT arg_max(month, rate) FROM months WHERE year(month) BETWEEN 1990 AND 1999",
        "SELECT corr(rate, rate) FROM months WHERE rate BETWEEN -1.5 AND 20",
        "SELECT 100 * (max(rate) FILTER (WHERE month = DATE '2010-01-01') / max(rate) FILTER (WHERE month = DATE '2000-01-01') - 1) FROM months",
        "SELECT stddev(rate) FROM months",
        "SELECT * FROM mean_between('gdp', '1999-10-01', 7)",
        "SELECT value FROM mean_between('gdp', '1999-10-01', 7.5)",
        "SELECT max(depth) FROM stress",
    ],
)
def test_what_is_plain_may_be_written(select: str) -> None:
    assert PATTERN.fullmatch(select)


@pytest.mark.parametrize(
    "select",
    [
        "SELECT x FROM months",
        "SELECT rate FROM stress",
        "SELECT count(*) FROM month",
        "SELECT count(*) FROM months WHERE date > DATE '2000-01-01'",
        "SELECT count(*) FROM months WHERE name = 'E'",
        "SELECT avg(name) FROM months",
        "SELECT * FROM mean_between('gdp', (SELECT 1), 7)",
        "SELECT * FROM mean_between('gdp', '1999-10-01')",
        "SELECT * FROM mean_between('x'' OR 1=1', '1999-10-01', 7)",
        "SELECT * FROM read_csv('x')",
        "SELECT count(*) FROM months; DROP TABLE months",
        "DELETE FROM months",
    ],
)
def test_nothing_else_may_be_written(select: str) -> None:
    assert not PATTERN.fullmatch(select)


def test_it_holds_no_sign_that_readers_of_patterns_read_differently() -> None:
    assert not re.search(r"\\|\(\?", pattern([MONTHS, MEAN, STRESS]))
