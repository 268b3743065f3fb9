"""The house set: what is in it, and that no question gives a definition away."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections import Counter
from typing import Any

import pandas as pd
import pytest

from finexpert.datasets.desk.house import HALVES, KINDS, Half, gold, house_questions, house_transcripts, kind_of
from finexpert.datasets.desk.keyword_references import KEYWORD_REFERENCES
from finexpert.datasets.desk.process_references import PROCESS_REFERENCES
from finexpert.datasets.desk.references import REFERENCES
from finexpert.datasets.desk.transcripts import Line, read_transcript
from finexpert.datasets.evaluations.answer_matching import matches
from finexpert.datasets.fred.questions import Question, load_questions
from finexpert.datasets.fred.references import REFERENCES as FRED_REFERENCES
from finexpert.datasets.fred.tables import FredTables
from finexpert.errors import QuestionFileError
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

AS_OF = dt.date(2024, 9, 30)
QUESTIONS = {question.id: question for question in house_questions()}
NEEDING = [question for question in QUESTIONS.values() if question.needs]
LESSONS = {path.stem: read_transcript(path) for path in house_transcripts()}
NUMBER = (
    r"\d+(?:\.\d+)?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|first|second|third|fourth|fifth"
)
YEAR = r"(19|20)\d\d"


def taught(lines: list[Line]) -> list[str]:
    """The names that a transcript teaches."""
    terms = [line.define.term for line in lines if line.define]
    return terms + [line.remember for line in lines if line.remember]


TRANSCRIPT_OF = {name: stem for stem, lines in LESSONS.items() for name in taught(lines)}
TERMS = sorted(TRANSCRIPT_OF)


def words(lines: list[Line]) -> str:
    """All that a transcript says of its definition; a question at the end of a message is an example of its use."""
    return " ".join(line.define.meaning if line.define else line.text or "" for line in lines)


def thresholds(text: str) -> set[str]:
    """The numbers of a text with the word that follows them, but not its dates: '9 percent', 'seven months'."""
    found = re.findall(rf"\b({NUMBER})[\s-]+([a-z]+)", text.casefold())
    days = {month.casefold() for month in calendar.month_name}
    return {f"{number} {word}" for number, word in found if word not in days and not re.fullmatch(YEAR, number)}


@pytest.fixture(scope="module")
def tables(data: DuckDBWarehouse) -> FredTables:
    return FredTables(data, AS_OF)


@pytest.fixture(scope="module")
def sample_tables(sample: DuckDBWarehouse) -> FredTables:
    return FredTables(sample, AS_OF)


def test_ninety_six_questions_of_four_kinds() -> None:
    assert Counter(kind_of(question) for question in QUESTIONS.values()) == dict.fromkeys(KINDS, 24)
    for half in HALVES:
        assert [len(house_questions(kind, half)) for kind in KINDS] == [12] * 4
    assert len(house_questions()) == 96
    assert {question.as_of for question in QUESTIONS.values()} == {AS_OF}
    assert not [question.id for question in QUESTIONS.values() if question.gold is not None]


def test_no_id_stands_twice() -> None:
    assert len(QUESTIONS) == len(house_questions())
    assert len({question.question for question in QUESTIONS.values()}) == len(QUESTIONS)
    own = len(REFERENCES) - len(FRED_REFERENCES) - 1
    assert own == len(KEYWORD_REFERENCES) + len(PROCESS_REFERENCES)
    assert not set(QUESTIONS) & {question.id for question in load_questions()}


def test_every_name_is_taught_by_one_transcript_and_none_by_two() -> None:
    assert len(LESSONS) == len(TERMS) == 24
    assert all(len(taught(lines)) == 1 for lines in LESSONS.values())
    kinds = {stem[0]: {lines[-1].action for key, lines in LESSONS.items() if key[0] == stem[0]} for stem in LESSONS}
    assert kinds == {"k": {"define"}, "p": {"remember"}}


def test_questions_need_what_is_taught() -> None:
    for question in QUESTIONS.values():
        assert set(question.needs) | set(question.must_not_use) <= set(TERMS), question.id
        assert bool(question.must_not_use) == (not question.needs), question.id
    for kind, times in (("alone", 1), ("part", 1), ("together", 2)):
        needed = Counter(name for q in QUESTIONS.values() if kind_of(q) == kind for name in q.needs)
        assert needed == dict.fromkeys(TERMS, times), kind


@pytest.mark.parametrize("half", HALVES)
def test_two_together_are_of_one_half(half: Half) -> None:
    for question in house_questions("together", half):
        assert {TRANSCRIPT_OF[name][0] for name in question.needs} == {half[0]}


def test_near_misses_sound_close() -> None:
    for question in house_questions("near_miss"):
        text = question.question.casefold()
        for name in question.must_not_use:
            assert any(word[:5] in text for word in name.casefold().split()), question.id


def test_thresholds_are_found() -> None:
    assert thresholds("Since 1 May 2000 at least 0.91 times, 10-year, in seven months, 5, of 2008 to 2010.") == {
        "0.91 times",
        "10 year",
        "seven months",
    }
    # The rate drift has no number in it: its edges are months.
    assert [name for name, lines in LESSONS.items() if not thresholds(words(lines))] == ["k08_rate_drift"]


# The name of a series is no threshold.
SERIES_WORDS = {"10 year", "5 year", "30 year", "3 month"}


@pytest.mark.parametrize("question", NEEDING, ids=lambda question: question.id)
def test_a_question_does_not_give_its_definition_away(question: Question) -> None:
    asked = thresholds(question.question) - SERIES_WORDS
    for name in question.needs:
        assert not asked & thresholds(words(LESSONS[TRANSCRIPT_OF[name]])), name


def test_every_question_has_a_reference_and_none_is_left_over() -> None:
    expected = {
        line.expect["reference"] for lines in LESSONS.values() for line in lines if isinstance(line.expect, dict)
    }
    assert set(KEYWORD_REFERENCES) | set(PROCESS_REFERENCES) == set(QUESTIONS) | expected


@pytest.mark.parametrize("name", QUESTIONS)
def test_gold_can_be_computed_everywhere(name: str, sample_tables: FredTables, tables: FredTables) -> None:
    answer_format = QUESTIONS[name].answer_format
    assert answer_format.kind not in ("boolean", "text")
    for fred_tables in (sample_tables, tables):
        value = answer_format.coerce(REFERENCES[name](fred_tables))
        assert value != []
        if answer_format.kind == "integer":
            assert value > 2, "a small count is right by chance too often"


NASDAQ = "SELECT date, value FROM stock WHERE stock_index = 'NASDAQCOM'"
# The keywords by SQL: another engine, other steps.
IN_SQL = {
    "stress_months_1975_to_2019": f"""
        WITH m AS (SELECT date_trunc('month', date) AS d, min(value) AS low, max(value) AS high FROM ({NASDAQ}) GROUP BY 1)
        SELECT count(*) FROM m a JOIN m b ON b.d = a.d - INTERVAL 1 MONTH
        WHERE a.low <= 0.91 * b.high AND year(a.d) BETWEEN 1975 AND 2019""",
    "trimmed_spread_of_march_1995": """
        SELECT avg(gap) FROM (SELECT dgs10 - dff AS gap, row_number() OVER (ORDER BY dgs10 - dff) AS up, row_number() OVER
        (ORDER BY dgs10 - dff DESC) AS down FROM rates WHERE date BETWEEN DATE '1995-03-01' AND DATE '1995-03-31'
        AND dgs10 IS NOT NULL AND dff IS NOT NULL) WHERE up > 3 AND down > 3""",
    "calm_quarters_1980_to_2019": f"""
        SELECT count(*) FROM (SELECT date_trunc('quarter', date) FROM (SELECT date, abs(value / lag(value) OVER
        (ORDER BY date) - 1) > 0.022 AS wild FROM ({NASDAQ})) WHERE year(date) BETWEEN 1980 AND 2019
        GROUP BY 1 HAVING count(*) FILTER (WHERE wild) <= 2)""",
    "yield_squeeze_of_1989": "SELECT max(dtb3) - min(dgs5) FROM rates WHERE year(date) = 1989",
    "money_pulse_of_june_2003": """
        WITH m AS (SELECT date_trunc('month', date) AS d, avg(value) AS v FROM money WHERE money_index = 'M2' GROUP BY 1)
        SELECT 100 * (max(v) FILTER (WHERE d = DATE '2003-06-01') / max(v) FILTER (WHERE d = DATE '2002-11-01') - 1) FROM m""",
    "sentiment_cushion_of_january_2015": """
        SELECT max(umcsent) FILTER (WHERE date = DATE '2015-01-01') - min(umcsent) FILTER (WHERE date < DATE '2015-01-01')
        FROM consumer_sentiment WHERE date BETWEEN DATE '2013-07-01' AND DATE '2015-01-01'""",
    "rate_drift_of_ten_year_yield_in_1994": """
        SELECT avg(dgs10) FILTER (WHERE month(date) >= 10) - avg(dgs10) FILTER (WHERE month(date) IN (4, 5, 6)) FROM rates
        WHERE year(date) = 1994""",
    "crunch_weeks_1995_to_2019": """
        SELECT count(*) FROM money a JOIN money b ON b.date = a.date - INTERVAL 35 DAY AND a.money_index = 'M2'
        AND b.money_index = 'M2' WHERE a.value <= 0.998 * b.value AND year(a.date) BETWEEN 1995 AND 2019""",
    "ember_months_2004_to_2019": """
        SELECT count(*) FROM (SELECT date_trunc('month', date) FROM rates WHERE year(date) BETWEEN 2004 AND 2019 GROUP BY 1
        HAVING round(arg_max(t5yie, date) FILTER (WHERE t5yie IS NOT NULL) - min(t5yie), 6) >= 0.15)""",
    "harbour_months_2008_to_2012": """
        SELECT arg_max(a.date, a.value / b.value) FROM money a JOIN money b ON b.date = a.date - INTERVAL 2 MONTH
        AND a.money_index = b.money_index WHERE a.money_index = 'Gold Import Price' AND month(a.date) BETWEEN 3 AND 11
        AND year(a.date) BETWEEN 2008 AND 2012 GROUP BY year(a.date) ORDER BY 1""",
    "kettle_reading_of_october_2000": """
        SELECT (SELECT umcsent FROM consumer_sentiment WHERE date = DATE '2000-10-01')
        - 10 * (SELECT avg(dgs5) FROM rates WHERE date BETWEEN DATE '2000-07-01' AND DATE '2000-07-31')""",
}


@pytest.mark.parametrize("name", IN_SQL)
def test_sql_finds_the_same(name: str, data: DuckDBWarehouse) -> None:
    question = QUESTIONS[name]
    found: list[Any] = data.query(IN_SQL[name], as_of=AS_OF).data.iloc[:, 0].to_list()
    assert matches(
        found if question.answer_format.kind == "list" else found[0], gold(question, data), question.answer_format
    )


def test_flash_days_one_by_one(tables: FredTables) -> None:
    close, last, found = tables["NASDAQCOM"], dt.date.min, 0
    closes = [(day.date(), float(value)) for day, value in zip(pd.DatetimeIndex(close.index), close, strict=True)]
    for (_, before), (day, value) in zip(closes, closes[3:], strict=False):
        if value <= 0.96 * before and day > last + dt.timedelta(days=10):
            last, found = day, found + (1996 <= day.year <= 2015)
    assert found == REFERENCES["flash_days_1996_to_2015"](tables)


def test_gold_of_the_file_comes_first(sample: DuckDBWarehouse) -> None:
    question = QUESTIONS["flash_days_1996_to_2015"]
    assert gold(question.model_copy(update={"gold": {"ask": ["flash day"]}}), sample) == {"ask": ["flash day"]}
    with pytest.raises(QuestionFileError, match="'moons' has no gold"):
        gold(question.model_copy(update={"id": "moons"}), sample)
