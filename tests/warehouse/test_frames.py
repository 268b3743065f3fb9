"""Column types from the database to pandas, and the fingerprint of a frame."""

from __future__ import annotations

from random import Random

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.errors import QueryError
from finexpert.warehouse.frames import Frame, frame_columns, to_pandas
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TYPES = [
    ("1::UTINYINT", "int64"),
    ("1::HUGEINT", "int64"),
    ("sum(1)", "int64"),
    ("1.25::DECIMAL(10, 2)", "float64"),
    ("CAST(NULL AS INTEGER)", "float64"),
    ("NULL", "float64"),
    ("1::FLOAT", "float64"),
    ("true", "bool"),
    ("CAST(NULL AS BOOLEAN)", "boolean"),
    ("'text'", "str"),
    ("CAST(NULL AS VARCHAR)", "str"),
    ("TIME '10:00'", "str"),
    ("'a'::ENUM('a', 'b')", "str"),
    ("DATE '2024-01-02'", "datetime64[us]"),
    ("CAST(NULL AS DATE)", "datetime64[us]"),
    ("TIMESTAMP '2024-01-02 03:04:05'", "datetime64[us]"),
    ("TIMESTAMP_NS '2024-01-02 03:04:05.123456789'", "datetime64[us]"),
    ("TIMESTAMPTZ '2024-01-02 03:00:00+02'", "datetime64[us]"),
    ("DATE '2024-01-02' + INTERVAL 1 DAY", "datetime64[us]"),
]
REFUSED = [
    "[1]",
    "{'a': 1}",
    "INTERVAL 1 DAY",
    "'a'::BLOB",
    "MAP {1: 2}",
    "'101'::BIT",
    "1::BIGNUM",
    "array_value(1, 2)",
]


@pytest.mark.parametrize(("expression", "dtype"), TYPES)
def test_types(warehouse: DuckDBWarehouse, expression: str, dtype: str) -> None:
    assert str(warehouse.query(f"SELECT {expression} AS x").data.dtypes["x"]) == dtype


def test_an_empty_result_keeps_its_types(warehouse: DuckDBWarehouse) -> None:
    data = warehouse.query("SELECT date, cpi_index, value, value > 1 AS big FROM cpi WHERE value < 0").data
    assert [str(dtype) for dtype in data.dtypes] == ["datetime64[us]", "str", "float64", "bool"]
    assert len(data) == 0


@pytest.mark.parametrize("expression", REFUSED)
def test_nested_types_are_refused_by_name(warehouse: DuckDBWarehouse, expression: str) -> None:
    with pytest.raises(QueryError, match='column "x" has the type'):
        warehouse.query(f"SELECT 1 AS a, {expression} AS x")


def test_values_survive(warehouse: DuckDBWarehouse) -> None:
    data = warehouse.query("SELECT * FROM rates ORDER BY date LIMIT 2").data
    assert data["dff"].tolist() == [5.0, 5.01]
    assert np.isnan(data["dgs10"].iloc[0])
    assert data["date"].tolist() == [pd.Timestamp("2023-12-20"), pd.Timestamp("2023-12-21")]
    zoned = warehouse.query("SELECT TIMESTAMPTZ '2024-01-02 03:00:00+02' AS t").data["t"].item()
    assert zoned == pd.Timestamp("2024-01-02 01:00:00")


@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"])
@pytest.mark.parametrize("end", ["infinity", "-infinity"])
def test_a_date_that_no_frame_holds_is_refused(warehouse: DuckDBWarehouse, type_: str, end: str) -> None:
    with pytest.raises(QueryError, match=r'column "d" of type (date|timestamp)'):
        warehouse.query(f"SELECT CAST('{end}' AS {type_}) AS d")


def test_columns_are_unique(warehouse: DuckDBWarehouse) -> None:
    data = warehouse.query("SELECT a.date, b.date, 1 AS date_1 FROM cpi AS a JOIN jobs AS b USING (date) LIMIT 1").data
    assert len(set(data.columns)) == 3


@given(st.lists(st.sampled_from(["a", "a_1", "a_1_1", "b", "a_2"]), max_size=8))
def test_frame_columns_are_unique_and_keep_first_names(names: list[str]) -> None:
    result = frame_columns(names)
    assert len(set(result)) == len(names)
    assert [result[names.index(name)] for name in set(names)] == list(set(names))


def print_of(data: pd.DataFrame) -> str:
    return Frame(data, False, "", 0.0).fingerprint


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.floats(allow_nan=True), st.sampled_from(["x", "y", None])), max_size=6),
    st.randoms(),
)
def test_fingerprint_ignores_order_and_last_digits(rows: list[tuple[int, float, str | None]], random: Random) -> None:
    shuffled = [*rows]
    random.shuffle(shuffled)
    types = {"n": "int64", "f": "float64", "s": "str"}
    one = pd.DataFrame(rows, columns=[*types]).astype(types)
    other = pd.DataFrame(shuffled, columns=[*types]).astype(types)
    assert print_of(one) == print_of(other)


@pytest.mark.parametrize(("left", "right"), [
    ([1.0], [1.0 + 1e-9]), ([1.0], [None]), ([1.0], [1]), (["a"], ["b"]), (["None"], [None]), ([1, 2], [1, 2, 2]), ([0.0], [float("inf")]),
    ([True], [False]), ([pd.Timestamp("2024-01-01")], [pd.Timestamp("2024-01-02")]), ([0.1], [-0.1]), ([1e300], [1e299]),
])  # fmt: skip
def test_fingerprint_tells_contents_apart(left: list[object], right: list[object]) -> None:
    assert print_of(pd.DataFrame({"x": left})) != print_of(pd.DataFrame({"x": right}))


def test_fingerprint_tolerates_another_order_of_addition() -> None:
    forward, backward = pd.DataFrame({"x": [0.1 + 0.2 + 0.3]}), pd.DataFrame({"x": [0.3 + 0.2 + 0.1]})
    assert forward["x"].item() != backward["x"].item()
    assert print_of(forward) == print_of(backward)
    assert print_of(pd.DataFrame({"x": [0.0]})) == print_of(pd.DataFrame({"x": [-0.0]}))


def test_fingerprint_keeps_columns_apart() -> None:
    both = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert (
        len({print_of(both), print_of(both.rename(columns={"a": "b", "b": "a"})), print_of(both.assign(b=[4, 3]))}) == 3
    )


@pytest.mark.parametrize(
    ("select", "kept"),
    [
        ("SELECT 9007199254740993 AS n", 9007199254740993),
        ("SELECT 9223372036854775807 AS n", 9223372036854775807),
        ("SELECT sum(x) AS n FROM (VALUES (9007199254740992), (1)) AS t(x)", 9007199254740993),
        ("SELECT * FROM (VALUES (1), (NULL)) AS t(n)", 1),
        ("SELECT n FROM (VALUES (9007199254740992), (NULL)) AS t(n) ORDER BY n NULLS LAST", 9007199254740992),
        ("SELECT NULL::BIGINT AS n", None),
        ("SELECT n FROM (VALUES (9007199254740993), (NULL)) AS t(n)", "beside missing ones"),
        ("SELECT n FROM (VALUES (-9007199254740993), (NULL)) AS t(n)", "beside missing ones"),
        ("SELECT 9223372036854775808::HUGEINT AS n", "beyond 64 bits"),
        ("SELECT 18446744073709551615::UBIGINT AS n", "beyond 64 bits"),
        ("SELECT 340282366920938463463374607431768211455::UHUGEINT AS n", r"above 2\^127"),
        ("SELECT sum(x) AS n FROM (VALUES (9223372036854775807), (9223372036854775807)) AS t(x)", "beyond 64 bits"),
        ("SELECT 9223372036854775808::HUGEINT::DOUBLE AS n", float(1 << 63)),
    ],
)
def test_no_integer_is_rounded_without_a_word(select: str, kept: object) -> None:
    relation = duckdb.connect().sql(select)
    table = relation.to_arrow_table()
    kinds = [str(kind.id) for kind in relation.types]
    if isinstance(kept, str):
        with pytest.raises(QueryError, match=kept):
            to_pandas(table.to_batches(), table.schema, relation.columns, kinds)
        return
    value = to_pandas(table.to_batches(), table.schema, relation.columns, kinds)["n"].iloc[0]
    assert value == kept or (kept is None and pd.isna(value))
