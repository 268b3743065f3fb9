"""Reference answers: pinned on the sample economy, and found again in SQL, by another road."""

from __future__ import annotations

import datetime as dt
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.evaluations.answer_matching import matches
from finexpert.datasets.fred import database as fred
from finexpert.datasets.fred.questions import gold, load_questions
from finexpert.datasets.fred.tables import FredTables
from finexpert.errors import DataError
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

AS_OF = dt.date(2024, 9, 30)
QUESTIONS = {question.id: question for question in load_questions()}

ON_THE_SAMPLE: dict[str, Any] = {
    "latest_recession": [2018, 7, 6],
    "unemployment_at_recession_start": 5.7,
    "recessions_in_thirty_years": 3,
    "share_of_quarters_above_potential": 35.0,
    "gdp_crossings_of_20000_billion": 3,
    "unemployment_crossings_of_8_percent": 6,
    "unemployment_far_from_recessions": 6.03,
    "unemployment_against_ten_years": "lower",
    "year_cpi_rose_above_200": 2004,
    "month_of_highest_inflation": dt.date(2022, 9, 1),
    "inflation_and_breakeven": 0.95,
    "spells_of_falling_cpi": 2,
    "food_and_energy_in_march_2022": 1.2,
    "latest_yield_curve_inversion": dt.date(2021, 11, 15),
    "funds_rate_and_unemployment": -0.08,
    "nasdaq_over_latest_recession": -25.45,
    "sentiment_in_recessions": 4.52,
    "fall_of_gdp_in_longest_recession": 6.29,
    "funds_rate_over_recessions": [0.99, -1.25, -0.75, -0.0, -2.75, -0.99],
    "money_in_year_of_highest_saving": 7.46,
    "days_of_deepest_nasdaq_drawdown": 5744,
    "year_of_lowest_sentiment": 1981,
    "sentiment_above_five_years": True,
    "months_of_falling_real_income": 12,
    "share_of_durables": [12.48, 11.91, 12.27],
    "years_gold_beat_prices": 17,
    "velocity_of_money": 1.36,
    "days_with_30_year_below_5_year": 675,
    "best_stock_index": "NASDAQCOM",
    "longest_run_of_falling_participation": 92,
}

# Facts of the past that a revision of the data would hardly move.
ON_FRED: dict[str, Any] = {
    "latest_recession": [2020, 4, 3],
    "year_cpi_rose_above_200": 2006,
    "month_of_highest_inflation": dt.date(2022, 6, 1),
    "latest_yield_curve_inversion": dt.date(2022, 11, 10),
    "nasdaq_over_latest_recession": 30.63,
    "days_of_deepest_nasdaq_drawdown": 5522,
    "year_of_lowest_sentiment": 2022,
    "best_stock_index": "NASDAQCOM",
}

# The same answers by SQL: another engine, other steps.
IN_SQL = {
    "share_of_quarters_above_potential": """
        SELECT 100.0 * count(*) FILTER (WHERE r.value > p.value) / count(*) FROM gdp r JOIN gdp p ON r.date = p.date
        AND r.gdp_index = 'Real GDP' AND p.gdp_index = 'Real Potential GDP' WHERE r.date > DATE '2004-09-30'""",
    "gdp_crossings_of_20000_billion": """
        SELECT count(*) FROM (SELECT value, lag(value) OVER (ORDER BY date) AS before FROM gdp WHERE gdp_index = 'GDP')
        WHERE (before <= 20000 AND value > 20000) OR (before > 20000 AND value <= 20000)""",
    "unemployment_crossings_of_8_percent": """
        WITH a AS (SELECT date, sum(CAST(10 * unrate AS INTEGER)) OVER w AS tenths, count(*) OVER w AS n FROM unemployment
        WHERE unrate IS NOT NULL WINDOW w AS (ORDER BY date ROWS 5 PRECEDING))
        SELECT count(*) FROM (SELECT tenths > 480 AS up, lag(tenths > 480) OVER (ORDER BY date) AS before FROM a WHERE n = 6)
        WHERE up <> before""",
    "year_cpi_rose_above_200": "SELECT year(min(date)) FROM cpi WHERE cpi_index = 'CPI' AND value > 200",
    "month_of_highest_inflation": """
        SELECT arg_max(c.date, c.value / b.value) FROM cpi c JOIN cpi b ON b.date = c.date - INTERVAL 1 YEAR
        AND c.cpi_index = 'CPI' AND b.cpi_index = 'CPI' WHERE c.date >= DATE '2004-10-01'""",
    "inflation_and_breakeven": """
        WITH i AS (SELECT c.date, c.value / b.value AS x FROM cpi c JOIN cpi b ON b.date = c.date - INTERVAL 1 YEAR
        AND c.cpi_index = 'CPI' AND b.cpi_index = 'CPI' WHERE c.date >= DATE '2014-10-01'),
        e AS (SELECT date_trunc('month', date) AS date, avg(t5yie) AS y FROM rates GROUP BY 1)
        SELECT corr(x, y) FROM i JOIN e USING (date)""",
    "spells_of_falling_cpi": """
        WITH f AS (SELECT date, value < lag(value) OVER (ORDER BY date) AS f FROM cpi WHERE cpi_index = 'CPI'),
        w AS (SELECT date, f, row_number() OVER (ORDER BY date) - row_number() OVER (PARTITION BY f ORDER BY date) AS run
        FROM f WHERE date >= DATE '2014-10-01')
        SELECT count(*) FROM (SELECT run FROM w WHERE f GROUP BY run HAVING count(*) >= 2)""",
    "latest_yield_curve_inversion": """
        SELECT max(date) FROM (SELECT date, dgs10 < dtb3 AS now, lag(dgs10 < dtb3) OVER (ORDER BY date) AS before FROM rates
        WHERE dgs10 IS NOT NULL AND dtb3 IS NOT NULL) WHERE now AND NOT before""",
    "funds_rate_and_unemployment": """
        SELECT corr(f, unrate) FROM (SELECT date_trunc('month', date) AS date, avg(dff) AS f FROM rates GROUP BY 1)
        JOIN unemployment USING (date)""",
    "days_with_30_year_below_5_year": "SELECT count(*) FROM rates WHERE dgs30 < dgs5 AND date >= DATE '2014-10-01'",
    "days_of_deepest_nasdaq_drawdown": """
        WITH n AS (SELECT date, value, max(value) OVER (ORDER BY date) AS high FROM stock WHERE stock_index = 'NASDAQCOM'),
        low AS (SELECT arg_min(date, value / high) AS day, arg_min(high, value / high) AS high FROM n),
        top AS (SELECT min(n.date) AS day FROM n, low WHERE n.value = low.high AND n.date < low.day)
        SELECT date_diff('day', any_value(top.day), min(n.date)) FROM n, low, top WHERE n.date > low.day AND n.value >= low.high""",
    "months_of_falling_real_income": """
        SELECT count(*) FROM income a JOIN income b ON b.date = a.date - INTERVAL 1 YEAR
        WHERE a.dspic96 < b.dspic96 AND a.date >= DATE '2014-10-01'""",
    "year_of_lowest_sentiment": """
        SELECT arg_min(y, m) FROM (SELECT year(date) AS y, avg(umcsent) AS m FROM consumer_sentiment
        WHERE year(date) BETWEEN 1978 AND 2023 GROUP BY 1)""",
    "velocity_of_money": """
        SELECT (SELECT value FROM gdp WHERE gdp_index = 'GDP' AND date = DATE '2024-04-01')
        / (SELECT avg(value) FROM money WHERE money_index = 'M2' AND date BETWEEN DATE '2024-04-01' AND DATE '2024-06-30')""",
    "longest_run_of_falling_participation": """
        WITH f AS (SELECT a.date, a.civpart < b.civpart AS f FROM unemployment a
        JOIN unemployment b ON b.date = a.date - INTERVAL 1 YEAR),
        w AS (SELECT f, row_number() OVER (ORDER BY date) - row_number() OVER (PARTITION BY f ORDER BY date) AS run FROM f)
        SELECT max(n) FROM (SELECT count(*) AS n FROM w WHERE f GROUP BY run)""",
    "recessions_in_thirty_years": """
        WITH f AS (SELECT date, value < lag(value) OVER (ORDER BY date) AS f FROM gdp WHERE gdp_index = 'Real GDP'),
        l AS (SELECT date, f, lag(f) OVER w AS f1, lag(f, 2) OVER w AS f2 FROM f WINDOW w AS (ORDER BY date))
        SELECT count(*) FROM l WHERE f AND f1 AND NOT coalesce(f2, false) AND date >= DATE '1994-10-01'""",
    "unemployment_at_recession_start": """
        WITH f AS (SELECT date, value < lag(value) OVER (ORDER BY date) AS f FROM gdp WHERE gdp_index = 'Real GDP'),
        l AS (SELECT date, f, lag(f) OVER w AS f1, lag(f, 2) OVER w AS f2 FROM f WINDOW w AS (ORDER BY date))
        SELECT unrate FROM unemployment WHERE date = (SELECT max(date) FROM l WHERE f AND f1 AND NOT coalesce(f2, false))""",
}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    folder = os.environ.get("FINEXPERT_TEST_FRED_DIR")
    if not folder:
        pytest.skip("set FINEXPERT_TEST_FRED_DIR to a folder of FRED's CSV files")
    path = fred.build(fred.load_folder(Path(folder)), tmp_path_factory.mktemp("real") / "fred.duckdb")
    with DuckDBWarehouse(path) as warehouse:
        yield warehouse


def by_sql(name: str, warehouse: DuckDBWarehouse) -> Any:
    return warehouse.query(IN_SQL[name], as_of=AS_OF).data.iloc[0, 0]


def test_every_question_is_pinned() -> None:
    assert set(ON_THE_SAMPLE) == set(QUESTIONS)


@pytest.mark.parametrize("name", QUESTIONS)
def test_on_the_sample_economy(sample: DuckDBWarehouse, name: str) -> None:
    assert matches(gold(QUESTIONS[name], sample), ON_THE_SAMPLE[name], QUESTIONS[name].answer_format)


@pytest.mark.parametrize("name", IN_SQL)
def test_sql_finds_the_same(sample: DuckDBWarehouse, name: str) -> None:
    assert matches(by_sql(name, sample), gold(QUESTIONS[name], sample), QUESTIONS[name].answer_format)


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_meaningful(sample: DuckDBWarehouse, name: str) -> None:
    value = gold(QUESTIONS[name], sample)
    elements = value if isinstance(value, list) else [value]
    assert elements
    for element in elements:
        if isinstance(element, int | float) and not isinstance(element, bool):
            assert math.isfinite(element)
            assert element != 0


def test_later_data_do_not_count(sample: DuckDBWarehouse) -> None:
    then = FredTables(sample, AS_OF)
    assert then["GDPPOT"].index.max() == then["GDP"].index.max()
    assert FredTables(sample, None)["GDPPOT"].index.max().year == 2036
    early = QUESTIONS["recessions_in_thirty_years"].model_copy(update={"as_of": dt.date(2009, 3, 31)})
    assert gold(early, sample) < gold(QUESTIONS["recessions_in_thirty_years"], sample)


def test_a_cut_series_gives_no_gold(sample: DuckDBWarehouse) -> None:
    with (
        DuckDBWarehouse(sample.path, row_cap=100) as small,
        pytest.raises(DataError, match="FINEXPERT_ROW_CAP above 100"),
    ):
        gold(QUESTIONS["year_cpi_rose_above_200"], small)


@pytest.mark.parametrize("name", ON_FRED)
def test_on_fred(real: DuckDBWarehouse, name: str) -> None:
    assert matches(gold(QUESTIONS[name], real), ON_FRED[name], QUESTIONS[name].answer_format)


@pytest.mark.parametrize("name", IN_SQL)
def test_sql_finds_the_same_on_fred(real: DuckDBWarehouse, name: str) -> None:
    assert matches(by_sql(name, real), gold(QUESTIONS[name], real), QUESTIONS[name].answer_format)
