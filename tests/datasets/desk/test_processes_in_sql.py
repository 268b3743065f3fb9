"""The processes of the house set by another road: what each transcript says, word by word, as SQL or as a plain loop."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from finexpert.datasets.desk.house import house_transcripts
from finexpert.datasets.desk.transcripts import read_transcript, resolve_expect
from finexpert.datasets.evaluations.answer_matching import matches
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

AS_OF = dt.date(2024, 9, 30)
YEARS = "BETWEEN DATE '2000-01-01' AND DATE '2023-12-31'"
FUNDS = "SELECT date_trunc('month', date) AS d, avg(dff) AS r FROM rates WHERE dff IS NOT NULL GROUP BY 1"
CORE = "SELECT date AS d, value AS c FROM cpi WHERE cpi_index = 'Core CPI'"
REAL = "SELECT date AS d, value AS y FROM gdp WHERE gdp_index = 'Real GDP'"
# Neighbouring True flags of (d, f) get the same run.
RUNS = "SELECT d, f, row_number() OVER (ORDER BY d) - row_number() OVER (PARTITION BY f ORDER BY d) AS run"

IN_SQL = {
    "p01_amber_month": f"""
        WITH s AS (SELECT date, emratio, avg(unrate) OVER (ORDER BY date ROWS 2 PRECEDING) AS s FROM unemployment),
        l AS (SELECT *, min(s) OVER (ORDER BY date ROWS BETWEEN 9 PRECEDING AND 1 PRECEDING) AS low FROM s)
        SELECT count(*) FROM l JOIN unemployment b ON b.date = l.date - INTERVAL 5 MONTH
        WHERE l.date {YEARS} AND s - low > 0.15 AND l.emratio < b.emratio""",
    "p02_turning_quarter": f"""
        WITH p AS (SELECT a.d, 100 * (a.y / b.y - 1) AS pace FROM ({REAL}) a JOIN ({REAL}) b ON b.d = a.d - INTERVAL 6 MONTH)
        SELECT p.d + INTERVAL 3 MONTH AS t FROM p WHERE pace < 0.85 AND p.d + INTERVAL 3 MONTH {YEARS} AND 3 =
        (SELECT count(*) FROM p q WHERE q.d < p.d AND q.d >= p.d - INTERVAL 9 MONTH AND q.pace >= 0.85) ORDER BY 1""",
    "p03_anvil_spell": f"""
        WITH c AS (SELECT a.d, 100 * ((a.c / b.c) ** (12.0 / 7) - 1) AS i FROM ({CORE}) a JOIN ({CORE}) b
        ON b.d = a.d - INTERVAL 7 MONTH),
        g AS (SELECT f.d, r - i < -0.35 AS f FROM ({FUNDS}) f JOIN c ON c.d = f.d - INTERVAL 2 MONTH),
        s AS (SELECT min(d) AS a, max(d) AS b FROM ({RUNS} FROM g) WHERE f GROUP BY run HAVING count(*) >= 5)
        SELECT unnest([a, b]) AS t FROM s WHERE a {YEARS} AND b {YEARS} ORDER BY 1""",
    "p04_rate_ladder": f"""
        WITH g AS (SELECT a.d FROM ({FUNDS}) a JOIN ({FUNDS}) b ON b.d = a.d - INTERVAL 2 MONTH WHERE a.r >= b.r + 0.185),
        n AS (SELECT d, lag(d) OVER (ORDER BY d) IS NULL OR d > lag(d) OVER (ORDER BY d) + INTERVAL 2 MONTH AS new FROM g),
        l AS (SELECT d, count(*) FILTER (WHERE new) OVER (ORDER BY d) AS ladder FROM n),
        s AS (SELECT min(d) AS a, max(d) AS b FROM l GROUP BY ladder HAVING count(*) >= 4)
        SELECT unnest([a, b]) AS t FROM s WHERE a {YEARS} AND b {YEARS} ORDER BY 1""",
    "p05_lantern_income": """
        SELECT avg(v) FROM (SELECT dspic96 AS v, row_number() OVER (ORDER BY dspic96) AS n FROM income
        WHERE date BETWEEN DATE '2015-02-01' AND DATE '2016-01-31') WHERE n BETWEEN 2 AND 9""",
    "p06_brake_month": f"""
        WITH w AS (SELECT date, psavert - avg(psavert) OVER (ORDER BY date ROWS BETWEEN 5 PRECEDING AND 1 PRECEDING) AS up,
        rrsfs < max(rrsfs) OVER (ORDER BY date ROWS BETWEEN 4 PRECEDING AND 1 PRECEDING) AS down FROM income)
        SELECT count(*) FROM w WHERE up > 0.65 AND down AND date {YEARS}""",
    "p08_ripple_inflation": f"""
        WITH m AS (SELECT d, 100 * (c / lag(c) OVER (ORDER BY d) - 1) AS m FROM ({CORE})),
        n AS (SELECT a.d, b.m, row_number() OVER (PARTITION BY a.d ORDER BY b.m) AS n FROM m a JOIN m b
        ON b.d <= a.d AND b.d > a.d - INTERVAL 9 MONTH WHERE a.d {YEARS})
        SELECT avg(r) FROM (SELECT 12 * avg(m) AS r FROM n WHERE n BETWEEN 2 AND 7 GROUP BY d)""",
    "p09_shoulder_quarter": f"""
        WITH g AS (SELECT d, 100 * (y / p.value - 1) AS g FROM ({REAL}) JOIN gdp p ON p.date = d
        AND p.gdp_index = 'Real Potential GDP')
        SELECT a.d FROM g a JOIN g b ON b.d = a.d - INTERVAL 9 MONTH
        WHERE a.g BETWEEN -1.15 AND 0.35 AND b.g - a.g >= 0.4 AND a.d {YEARS} ORDER BY 1""",
    "p10_quilt_index": f"""
        WITH t AS (SELECT date_trunc('month', date) AS d, avg(dgs10) AS t FROM rates GROUP BY 1)
        SELECT avg(u.unrate + 1.5 * 100 * (a.c / b.c - 1) - t / 2) FROM ({CORE}) a
        JOIN ({CORE}) b ON b.d = a.d - INTERVAL 10 MONTH JOIN unemployment u ON u.date = a.d - INTERVAL 2 MONTH
        JOIN t ON t.d = a.d WHERE a.d {YEARS}""",
    "p12_hinge_month": f"""
        WITH s AS (SELECT date AS d, 100 * pcedg / pce AS s FROM income WHERE pcedg IS NOT NULL AND pce IS NOT NULL),
        l AS (SELECT d, s, min(s) OVER (ORDER BY d ROWS 10 PRECEDING) AS low FROM s)
        SELECT l.d FROM l JOIN s ON s.d = l.d + INTERVAL 4 MONTH WHERE l.s = low AND s.s >= l.s + 0.21 AND l.d {YEARS} ORDER BY 1""",
}
TRANSCRIPTS = {path.stem: path for path in house_transcripts() if path.stem.startswith("p")}


def agree(name: str, data: DuckDBWarehouse, found: Any) -> bool:
    line = read_transcript(TRANSCRIPTS[name])[-2]
    assert line.answer_format is not None
    return matches(found, resolve_expect(line, data, AS_OF), line.answer_format)


@pytest.mark.parametrize("name", IN_SQL)
def test_sql_finds_what_the_transcript_expects(data: DuckDBWarehouse, name: str) -> None:
    found = data.query(IN_SQL[name], as_of=AS_OF).data.iloc[:, 0].to_list()
    assert agree(name, data, found if len(found) > 1 else found[0])


def test_plateaus_month_by_month(data: DuckDBWarehouse) -> None:
    rows = data.query("SELECT date, unrate FROM unemployment WHERE unrate IS NOT NULL ORDER BY 1", as_of=AS_OF).data
    months = [day.date() for day in rows["date"]]
    tenths = [round(10 * rate) for rate in rows["unrate"]]
    bounds: list[dt.date] = []
    first = 0
    while first < len(months):
        last = first
        while last + 1 < len(months) and max(tenths[first : last + 2]) - min(tenths[first : last + 2]) <= 2:
            last += 1
        if last - first + 1 < 8:
            first += 1
            continue
        if months[first].year >= 2000 and months[last].year <= 2023:
            bounds += [months[first], months[last]]
        first = last + 1
    assert agree("p07_jobless_plateau", data, bounds)


def test_tides_day_by_day(data: DuckDBWarehouse) -> None:
    both = "WHERE dgs10 IS NOT NULL AND dgs5 IS NOT NULL"
    rows = data.query(f"SELECT date, dgs10, dgs5 FROM rates {both} ORDER BY 1", as_of=AS_OF).data
    hundredths = [round(100 * (long - short)) for long, short in zip(rows["dgs10"], rows["dgs5"], strict=True)]
    out, found = False, 0
    for place in range(14, len(hundredths)):
        total = sum(hundredths[place - 14 : place + 1])
        if total < 15 * 17.5:
            out = True
        elif total > 15 * 30.5:
            out = False
        found += out and 2000 <= rows["date"][place].year <= 2023
    assert agree("p11_low_tide", data, found)


def test_every_process_goes_by_another_road() -> None:
    assert set(TRANSCRIPTS) == {*IN_SQL, "p07_jobless_plateau", "p11_low_tide"}
