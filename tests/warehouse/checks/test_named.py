"""What is read by name, as whoever reads it sees it."""

from __future__ import annotations

from finexpert.warehouse.checks.reading.named import columns_given
from finexpert.warehouse.named_selects import NamedSelect
from finexpert.warehouse.schema import Column, TableSchema

TABLES = [TableSchema("sales", "", (Column("day", "DATE"), Column("amount", "DOUBLE")))]
HIGH = NamedSelect("high", "SELECT day, amount FROM sales WHERE amount > <least>", "P", {"least": "5"})
COUNTED = NamedSelect("counted", "SELECT count(*) AS n FROM high", "P", {"least": "5"}, frozenset({"high"}))
ALL = NamedSelect("all_days", "SELECT * FROM sales", "P")


def test_the_columns_are_those_of_the_data_today() -> None:
    named = {one.name: one for one in (HIGH, COUNTED, ALL)}
    assert columns_given(COUNTED, named, TABLES, "duckdb") == [("n", "number")]
    assert columns_given(HIGH, {}, TABLES, "duckdb") == [("day", "day"), ("amount", "number")]
    assert columns_given(ALL, named, TABLES, "duckdb") == [("day", "day"), ("amount", "number")]
    assert columns_given(NamedSelect("x", "SELECT * FROM nowhere", "P"), {}, TABLES, "duckdb") == []
