"""`finexpert bench warehouse`: the program's answers are those of DuckDB, or it stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from finexpert.cli.bench import warehouse as bench_warehouse
from finexpert.core.answers import Answer
from finexpert.warehouse.made_up import SHAPES, build


def test_six_shapes_over_two_sizes(finexpert: Any, tmp_path: Path) -> None:
    given = ("--rows", "20000", "--rows", "40000", "-n", "3", "--folder", str(tmp_path / "kept"))
    ran = finexpert("bench", "warehouse", *given, "--json")
    assert ran.code == 0, ran.err
    assert [table["rows"] for table in ran.json["tables"]] == [20_000, 40_000]
    for table in ran.json["tables"]:
        assert list(table["shapes"]) == [shape.name for shape in SHAPES]
        assert all(0 < figures["outside"] < figures["in all"] for figures in table["shapes"].values())
        assert table["most memory, MB"] > 50
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["trades-20000.duckdb", "trades-40000.duckdb"]
    shown = finexpert("bench", "warehouse", *given)
    assert "every answer is DuckDB's" in shown.out
    assert "from 20,000 to 40,000 rows" in shown.out


def test_the_tables_are_the_same_every_time_and_every_shape_has_rows(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        with duckdb.connect(str(build(tmp_path / f"{name}.duckdb", 5_000))) as connection:
            found.append([connection.execute(shape.of(number)[1]).df() for shape in SHAPES for number in (0, 71)])
    for one, two in zip(*found, strict=True):
        pd.testing.assert_frame_equal(one, two)
        assert not one.empty


def test_an_answer_that_is_not_the_database_s_stops_the_measurement() -> None:
    answer = Answer(question="How many?", status="answered", value=3)
    bench_warehouse._same(answer, pd.DataFrame({"n": [3]}), "How many?")
    with pytest.raises(RuntimeError, match="the program and DuckDB differ"):
        bench_warehouse._same(answer, pd.DataFrame({"n": [4]}), "How many?")
