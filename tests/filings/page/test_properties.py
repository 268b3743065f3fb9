"""Whatever a page holds and a plan asks, the result is a value or an error of the documented kind."""

from __future__ import annotations

import math

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from finexpert.core.answers import Citation
from finexpert.core.plans import Cell, Quote
from finexpert.core.workspace import Value
from finexpert.errors import DataError, StepError
from finexpert.filings.page.filing import Filing
from finexpert.plans import operations

PIECES = ["net sales", "2017", "12/31/16", "$ ", "1,234", "-26 ( 26 )", "27% ( 27 % )", "(", ")", " ", "%", "-", ",", ".", "...", "( 1 )",
          "in millions", "fy", "per share", "2014", "n/a", "\u200b", "\u2212", "'", '"', "|", "c1=", "r0:", "\u05d0", "\u00b2", "0", "9" * 30, "1e5",
          "december 31 ,", "\x00", "total"]  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=6).map("".join)
TABLE = st.lists(st.lists(TEXT, max_size=5), max_size=6)
NUMBER = st.none() | st.integers(-2, 8)
CALM = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@CALM
@given(TABLE, st.lists(TEXT, max_size=3), TEXT, TEXT, NUMBER, NUMBER)
def test_any_cell_of_any_page(
    table: list[list[str]], texts: list[str], row: str, column: str, row_number: int | None, column_number: int | None
) -> None:
    page = Filing("a", texts, table, texts)
    step = Cell(id=1, row=row, column=column, row_number=row_number, column_number=column_number)
    for whole_row in (False, True):
        try:
            values = page.row(row) if whole_row else [page.cell(step)]
        except StepError:
            continue
        assert all(isinstance(v.value, float) and math.isfinite(v.value) and v.citations for v in values)
    assert page.page_text().startswith("TEXT BEFORE THE TABLE:")


@CALM
@given(st.lists(TEXT, max_size=4), TEXT, TEXT, st.data())
def test_any_quote_of_any_page(texts: list[str], words: str, value: str, data: st.DataObject) -> None:
    page = Filing("a", texts, [texts], [])
    whole = " ".join(texts)
    start = data.draw(st.integers(0, max(len(whole) - 1, 0)))
    for quoted in (words, whole[start : start + 20]):
        try:
            found = page.quote(Quote(id=1, quote=quoted, value=value))
        except StepError:
            continue
        assert isinstance(found.value, float)
        assert math.isfinite(found.value)


@CALM
@given(
    st.sampled_from([*operations.registry(), "no such operation", "+", ""]),
    st.lists(
        st.floats() | st.integers() | st.booleans() | st.sampled_from(["yes", "2017"]) | st.dates()
        | st.lists(st.floats(), max_size=4),
        max_size=6,
    ),
    st.lists(st.sampled_from([None, "USD", "fraction", "shares", "USD per share", "percent"]), min_size=6, max_size=6),
)  # fmt: skip
def test_any_operation_on_any_arguments(name: str, arguments: list[object], units: list[str | None]) -> None:
    cited = (Citation(source="a", place="b"),)
    values = [Value(v, unit=u, scale=1e6, citations=cited) for v, u in zip(arguments, units, strict=False)]  # type: ignore[arg-type]
    try:
        result = operations.apply(name, values)
    except StepError:
        return
    numbers = result.value if isinstance(result.value, list) else [result.value]
    assert all(isinstance(n, str) or math.isfinite(n) for n in numbers)  # type: ignore[arg-type]
    assert math.isfinite(result.scale)
    assert result.scale > 0


@CALM
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda x: st.lists(x, max_size=3),
        max_leaves=8,
    )
)
def test_any_record_is_a_page_or_a_data_error(value: object) -> None:
    for field in ("table", "pre_text", "post_text"):
        try:
            page = Filing.from_record({"id": "a", field: value})
        except DataError:
            continue
        assert page.page_text()
