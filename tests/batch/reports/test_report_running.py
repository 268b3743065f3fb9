"""A report run again and again: what needs a model, what changed, and what stands in the files."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from tests.modules.flow.several.conftest import amounts, library, planned, revenue, rows  # noqa: F401 - fixtures
from tests.modules.flow.several.test_partly import NOTHING_READ
from tests.modules.flow.several.test_question import BOTH, TOGETHER

from finexpert.answers.records import Record
from finexpert.batch.questions import BatchQuestion
from finexpert.batch.reports.earlier import Kept, again, rests_on_day
from finexpert.batch.reports.reading import read
from finexpert.batch.reports.running import Made, run
from finexpert.batch.reports.writing import html, workbook
from finexpert.settings import Settings
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse
from finexpert.warehouse.schema import Metric

HOSTILE = "<script>alert(1)</script>"


def sales(place: Path, months: int, region: str = "north") -> DuckDBWarehouse:
    days = pd.date_range("2020-01-01", periods=months, freq="MS")
    data = pd.DataFrame({"date": days, "region": [region] * months, "amount": [1.0 + n for n in range(months)]})
    return DuckDBWarehouse(build_warehouse(place, [Table("sales", data, "sales a month")]))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "sales.yaml"
    place.write_text(
        "title: Sales & <b>more</b>\nparameters: {unit: months}\nquestions:\n  - {name: Count, question: 'How many {unit} of sales?'}\n"
    )
    return place


@pytest.fixture
def made(desk: Any, file: Path, own_home: Path) -> Callable[..., Made]:
    desk.says("planning", desk.plan())

    def made(
        source: Any, given: tuple[str, ...] = (), as_of: dt.date | None = dt.date(2021, 6, 1), **more: Any
    ) -> Made:
        settings = Settings(memory=False, cache=False, embedder="words", as_of=as_of, **more.pop("settings", {}))
        opened = {"models": desk.models, "sandbox": desk.sandbox, "settings": settings}
        return run(read(file, given), file, source, threads=1, **opened, **more)

    return made


def test_other_data_need_no_model_and_the_change_is_said(made: Any, desk: Any, tmp_path: Path) -> None:
    (first,) = made(sales(tmp_path / "first.duckdb", 6)).sections
    assert (first.row.number, first.how, first.change, len(desk.calls)) == (6, "", "", 1)
    (same,) = made(sales(tmp_path / "again.duckdb", 6)).sections
    assert (same.row.number, same.change, same.how != "") == (6, "", True)
    (more,) = made(sales(tmp_path / "more.duckdb", 8)).sections
    today = dt.date.today()
    assert (more.row.number, more.change) == (8, f"was 6 in the run of {today}, up by 2")
    assert (more.row.calls, len(desk.calls)) == (0, 1)
    assert "Was 6 in the run of" in html(made(sales(tmp_path / "six.duckdb", 6))).replace("8", "6")


def test_where_more_than_data_changed_a_model_is_asked(made: Any, desk: Any, tmp_path: Path) -> None:
    source = sales(tmp_path / "sales.duckdb", 6)
    made(source)
    made(source, ("unit=rows",))
    assert len(desk.calls) == 2
    (other,) = made(source, settings={"retries": 1}).sections
    assert (len(desk.calls), other.change) == (3, "")
    made(source, settings={"retries": 1}, anew=True)
    assert len(desk.calls) == 4
    with DuckDBWarehouse(
        build_warehouse(tmp_path / "x.duckdb", [Table("sales", pd.DataFrame({"a": [1]}), "x")])
    ) as gone:
        desk.says("planning", desk.plan("answer = 7", select="SELECT a FROM sales", columns=("a",)))
        desk.says("sql_extraction", "[[ ## selects ## ]]\n[]")
        assert made(gone, settings={"retries": 1}).sections[0].row.number == 7


def test_a_metric_that_was_defined_anew_is_asked_of_a_model(made: Any, desk: Any, tmp_path: Path) -> None:
    source = sales(tmp_path / "sales.duckdb", 6)
    made(source)
    source.metrics = (Metric("volume", "sum(sales.amount)"),)
    made(source)
    assert len(desk.calls) == 2


def test_a_source_of_another_kind_is_asked_anew(
    made: Any, desk: Any, tmp_path: Path, own_home: Path, library: Any  # noqa: F811
) -> None:  # fmt: skip
    (first,) = made(sales(tmp_path / "sales.duckdb", 6)).sections
    kept = Kept(question="How many months of sales?", mark="", on=dt.date(2021, 6, 1), row=first.row)
    shared = {"source": library, "settings": Settings(as_of=dt.date(2021, 6, 1))}
    assert again(kept, BatchQuestion(kept.question), shared) is None


def test_what_rests_on_the_day_is_asked_anew_on_another(made: Any, desk: Any, tmp_path: Path, own_home: Path) -> None:
    source = sales(tmp_path / "sales.duckdb", 6)
    select = "SELECT date, region, amount FROM sales WHERE date >= '2020-03-01'"
    desk.says("planning", desk.plan(select=select))
    (first,) = made(source).sections
    record = Record.load(own_home / "records" / f"{first.row.record}.json")
    assert rests_on_day(record)
    assert not rests_on_day(record.model_copy(update={"question": "How many since March 2020?"}))
    assert rests_on_day(record.model_copy(update={"question": "Since 2020?", "as_of": dt.date(2020, 3, 20)}))
    made(source, as_of=dt.date(2021, 7, 1))
    assert len(desk.calls) == 2
    made(source, as_of=dt.date(2021, 7, 1))
    assert len(desk.calls) == 2


def test_refusals_and_hostile_texts_stand_in_the_files_as_texts(made: Any, desk: Any, tmp_path: Path) -> None:
    source = sales(tmp_path / "sales.duckdb", 40, region=HOSTILE)
    desk.says("planning", desk.plan("", kind="table", about="=1+1"))
    first = made(source)
    page = html(first)
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page
    assert "Sales &amp; &lt;b&gt;more" in page
    assert page.count("data:image/png;base64,") == 1
    assert "40 rows, 24 of them shown" in page
    book = openpyxl.load_workbook(io.BytesIO(workbook(first)))
    assert book.sheetnames == ["report", "answer 1"]
    assert (book["answer 1"].max_row, book["answer 1"]["A2"].value) == (41, dt.datetime(2020, 1, 1))
    assert len(book["answer 1"]._images) == 1
    desk.says("planning", desk.fields(interpretation="x", unclear="", missing="no such data", selects=[], code="", answer_kind="number", unit=""))  # fmt: skip
    refused = made(source, anew=True)
    (section,) = refused.sections
    assert section.row.status == "not_found"
    assert section.change.startswith("was another table, of 40 rows, in the run of")
    assert "Not in these data." in html(refused)
    sheet = openpyxl.load_workbook(io.BytesIO(workbook(refused)))["report"]
    assert [sheet.cell(2, column).value for column in (2, 11)] == ["not_found", section.row.reason]


def test_what_was_not_asked_leaves_what_was_there(made: Any, desk: Any, file: Path, tmp_path: Path) -> None:
    source = sales(tmp_path / "sales.duckdb", 6)
    made(source)
    file.write_text(file.read_text() + "  - Another?\n  - And another?\n")
    (_, _, late) = made(source, settings={"budget_run_calls": 1}).sections
    assert late.row.status == "not_asked"
    made(source)
    assert len(desk.calls) == 3


def test_over_several_sources_it_is_replayed_or_asked_anew(
    made: Any, desk: Any, file: Path, library: Any, planned: Any, amounts: Any, revenue: Any, rows: Any  # noqa: F811
) -> None:  # fmt: skip
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows()))
    file.write_text(f'title: Both\nquestions: ["{BOTH}"]\n')
    first = made([desk.warehouse, library])
    assert first.sections[0].answered
    assert "Oakgate Water Inc." in html(first)
    again = made([desk.warehouse, library], as_of=dt.date(2021, 7, 1))
    assert (again.sections[0].row.number, len(desk.calls)) == (first.sections[0].row.number, 2)
    library.remove("oakgate/2021")
    made([desk.warehouse, library])
    assert len(desk.calls) > 2


def test_a_part_of_an_answer_is_asked_anew_where_data_or_day_are_others(
    made: Any, desk: Any, file: Path, library: Any, planned: Any, amounts: Any, revenue: Any, rows: Any  # noqa: F811
) -> None:  # fmt: skip
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows(**NOTHING_READ)))
    file.write_text(f'title: Both\nquestions: ["{BOTH}"]\n')
    first = made([desk.warehouse, library]).sections[0]
    asked = len(desk.calls)
    same = made([desk.warehouse, library]).sections[0]
    assert (first.row.status, first.how) == ("partial", "")
    assert (same.row.status, same.row.calls, same.row.value) == ("partial", 0, first.row.value)
    assert same.how
    assert len(desk.calls) == asked
    made([desk.warehouse, library], as_of=dt.date(2021, 7, 1))
    assert len(desk.calls) == 2 * asked
    made([desk.warehouse, library], as_of=dt.date(2021, 7, 1))
    assert len(desk.calls) == 2 * asked
    library.remove("oakgate/2021")
    made([desk.warehouse, library], as_of=dt.date(2021, 7, 1))
    assert len(desk.calls) > 2 * asked
