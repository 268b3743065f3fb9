"""The processes of the house set: what their definitions say at the edges."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import cast

import pandas as pd
import pytest

from finexpert.datasets.desk import process_definitions as desk
from finexpert.datasets.desk.house import house_questions, house_transcripts
from finexpert.datasets.desk.process_lessons import LESSONS
from finexpert.datasets.desk.process_near_misses import NEAR_MISSES
from finexpert.datasets.desk.process_references import PROCESS_REFERENCES
from finexpert.datasets.desk.transcripts import Line, read_transcript, resolve_expect
from finexpert.datasets.evaluations.answer_matching import matches
from finexpert.datasets.fred.tables import FredTables
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

AS_OF = dt.date(2024, 9, 30)
QUESTIONS = {question.id: question for question in house_questions(half="processes")}
ASKED = {name: question for name, question in QUESTIONS.items() if question.needs}
TRANSCRIPTS = [path for path in house_transcripts() if path.name.startswith("p")]
WORDS = [
    "amber",
    "turning",
    "anvil",
    "ladder",
    "lantern",
    "brake",
    "plateau",
    "ripple",
    "shoulder",
    "quilt",
    "tide",
    "hinge",
]


def word_of(heading: str) -> str:
    return next(word for word in WORDS if word in heading.lower())


@pytest.fixture(scope="module")
def tables(data: DuckDBWarehouse) -> FredTables:
    return FredTables(data, AS_OF)


class Made:
    """Series by FRED's id, from their values alone: quarterly, daily or monthly from 2000 on."""

    def __init__(self, series: dict[str, list[float]]) -> None:
        self._series = series

    def __getitem__(self, name: str) -> pd.Series:
        values = self._series[name]
        step = {"GDPC1": "QS", "GDPPOT": "QS", "DGS5": "D", "DGS10": "D"}.get(name, "MS")
        return pd.Series(values, index=pd.date_range("2000-01-01", periods=len(values), freq=step))


def made(**series: list[float]) -> FredTables:
    return cast(FredTables, Made(series))


def months_of(flags: pd.Series) -> list[int]:
    """The places of the True flags, from 0."""
    return [int(place) for place in flags.to_numpy().nonzero()[0]]


def test_each_question_and_each_near_miss_has_its_reference() -> None:
    assert set(QUESTIONS) - set(ASKED) == set(NEAR_MISSES)
    assert set(PROCESS_REFERENCES) - set(NEAR_MISSES) - set(LESSONS) == set(ASKED)


def test_each_process_is_asked_for_four_times_and_missed_once() -> None:
    asked = [word_of(heading) for question in ASKED.values() for heading in question.needs]
    missed = [word_of(heading) for question in QUESTIONS.values() for heading in question.must_not_use]
    assert sorted(asked) == sorted(WORDS * 4)
    assert sorted(missed) == sorted(WORDS)


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_meaningful(tables: FredTables, name: str) -> None:
    value = QUESTIONS[name].answer_format.coerce(PROCESS_REFERENCES[name](tables))
    if isinstance(value, list):
        assert len(value) >= 4
    elif isinstance(value, int):
        assert value > 15
    elif isinstance(value, float):
        assert abs(value) > 0.05


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcripts_build_up_to_a_value_and_a_heading(data: DuckDBWarehouse, path: Path) -> None:
    *messages, last = read_transcript(path)
    assert last.remember is not None
    assert word_of(last.remember) in path.stem
    assert 2 <= len(messages) <= 4
    assert messages[-1].expects
    for line in messages:
        assert line.action == "message"
        assert not line.expects or resolve_expect(line, data, AS_OF)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_what_a_transcript_expects_does_not_hang_on_its_today(data: DuckDBWarehouse, path: Path) -> None:
    line: Line = read_transcript(path)[-2]
    assert line.answer_format is not None
    assert matches(resolve_expect(line, data, AS_OF), resolve_expect(line, data), line.answer_format)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_no_question_gives_a_number_of_the_definition_away(path: Path) -> None:
    *messages, last = read_transcript(path)
    taught = {number for line in messages for number in re.findall(r"\d+\.\d+", line.text or "")}
    for question in ASKED.values():
        if last.remember in question.needs:
            assert not taught & set(re.findall(r"\d+\.\d+", question.question))


# The edges of the definitions, on series made for them


def test_amber_needs_more_than_the_rise_and_less_employment() -> None:
    rate, employed = [4.0] * 12 + [4.4, 4.5, 4.5], [60.0] * 12 + [60.0, 59.9, 60.0]
    assert months_of(desk.amber_months(made(UNRATE=rate, EMRATIO=employed))) == [13]


def test_turning_is_the_quarter_after() -> None:
    gdp = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 105.1, 105.2, 107.0]
    assert months_of(desk.turning_quarters(made(GDPC1=gdp))) == [8]


@pytest.mark.parametrize(
    ("rises", "found"),
    [
        ([1, 1], []),
        ([1, 1, 1], [(2, 5)]),
        ([1, 1, 0, 0, 1], [(2, 7)]),
        ([1, 1, 0, 0, 0, 1, 1], []),
    ],
)
def test_ladders_bridge_one_month_and_need_four_rungs(rises: list[int], found: list[tuple[int, int]]) -> None:
    rate = [1.0, 1.0]
    for rise in [*rises, 0, 0, 0]:
        rate.append(rate[-1] + 0.25 * rise)
    ladders = desk.ladders(made(DFF=rate))
    assert [(start.month - 1, end.month - 1) for start, end in ladders.itertuples(index=False)] == found


def test_lantern_leaves_out_three_highest_and_the_lowest_from_february_to_january() -> None:
    income = [999.0, 1.0, *[10.0] * 7, 20.0, 30.0, 40.0, 18.0, 999.0]
    lantern = desk.lantern_income(made(DSPIC96=income))
    assert lantern.to_dict() == {2000: 11.0}


def test_brake_needs_saving_up_and_sales_below_their_high() -> None:
    saving, sales = [5.0] * 5 + [5.6, 5.8, 5.8], [1.0, 1, 1, 3, 1, 1, 2, 3]
    assert months_of(desk.brake_months(made(PSAVERT=saving, RRSFS=sales))) == [6]


def test_plateaus_are_sought_again_from_the_month_after_a_dropped_start() -> None:
    rate = [5.2, 5.0, *[4.9] * 7, *[4.6] * 8, 5.0, *[4.9] * 6]
    found = desk.plateaus(made(UNRATE=rate))
    assert [(start.month, end.month, end.year) for start, end in found.itertuples(index=False)] == [
        (2, 9, 2000),
        (10, 5, 2001),
    ]


def test_ripple_leaves_out_the_two_highest_and_the_lowest() -> None:
    prices = [100.0]
    for change in (9, 8, -5, 1, 1, 1, 2, 2, 2):
        prices.append(prices[-1] * (1 + change / 100))
    ripple = desk.ripple_inflation(made(CPILFESL=prices)).dropna()
    assert ripple.to_list() == pytest.approx([18.0])


def test_shoulder_needs_a_small_gap_and_a_fall() -> None:
    gdp, potential = [100.75, 101.0, 101.0, 100.3, 100.4, 98.8, 100.0, 98.9], [100.0] * 8
    found = desk.shoulder_quarters(made(GDPC1=gdp, GDPPOT=potential))
    assert months_of(found) == [3, 7]


def test_the_tide_comes_in_later_than_it_goes_out() -> None:
    spread = [0.4] * 15 + [0.0] * 15 + [0.25] * 20 + [0.4] * 15
    tide = desk.low_tide(made(DGS10=spread, DGS5=[0.0] * len(spread)))
    out = months_of(tide)
    line = desk.tide_line(made(DGS10=spread, DGS5=[0.0] * len(spread)))
    assert out == list(range(out[0], out[-1] + 1))
    assert line.iloc[out[0]] < 0.175 <= line.iloc[out[0] - 1]
    assert line.iloc[out[-1]] <= 0.305 < line.iloc[out[-1] + 1]
    assert any(0.175 < line.iloc[place] < 0.305 for place in out)


def test_hinge_is_the_month_of_the_low() -> None:
    durables = [10.0] * 10 + [9.0, 9.1, 9.2, 9.2, 9.22, 9.3]
    found = desk.hinge_months(made(PCEDG=durables, PCE=[100.0] * len(durables)))
    assert months_of(found) == [10]
