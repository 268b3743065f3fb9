"""Every hostile statement that ships with the package, on a DuckDB warehouse; and what a SELECT may make longer."""

from __future__ import annotations

import pytest

from finexpert.attacks.cases import Case, cases
from finexpert.attacks.scripts import Result
from finexpert.attacks.statements import Peak, run_statements
from finexpert.errors import QueryError
from finexpert.isolation.guests.zygote import problem
from finexpert.warehouse.isolated.growth_rules import Growth
from finexpert.warehouse.local import duckdb_warehouse as warehouses
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

_STATEMENTS = cases("statements")
MOST_BYTES = 100 << 20


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    with Peak() as peak:
        found = {result.case.name: result for result in run_statements()}
    assert peak.bytes < MOST_BYTES or problem()
    return found


@pytest.mark.parametrize("case", _STATEMENTS, ids=[case.name for case in _STATEMENTS])
def test_statement_is_held(results: dict[str, Result], case: Case) -> None:
    result = results[case.name]
    assert result.held, f"{result.wrong}: {result.said[:500]}"


def test_statements_that_need_time_and_memory_are_held_in_this_process_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no process can be locked in, the rules alone hold them: those with a refusal before anything runs."""
    monkeypatch.setattr(warehouses, "problem", lambda: "not here")
    chosen = [case for case in _STATEMENTS if case.group == "time and memory" and case.name.startswith("a text")]
    assert len(chosen) >= 8
    wrong = [(result.case.name, result.wrong) for result in run_statements(chosen) if not result.held]
    assert not wrong


def test_the_suite_is_whole() -> None:
    assert len({case.name for case in _STATEMENTS}) == len(_STATEMENTS) >= 200
    assert all(case.expected and case.code for case in _STATEMENTS)


def test_what_is_not_held_is_noticed() -> None:
    """The runner itself: rows that should not come, and an error that should be none."""
    leaks = [
        Case("", "rows", frozenset(), "QueryError", "SELECT * FROM sales"),
        Case("", "error", frozenset(), "rows", "SELECT nothing FROM sales"),
        Case("", "as it must", frozenset(), "rows: 3$", "SELECT * FROM sales"),
    ]
    assert [result.held for result in run_statements(leaks)] == [False, False, True]


LONGER = [
    "SELECT hex(hex(hex(symbol))) AS h FROM firms",
    "SELECT date || ' ' || cpi_index || ' ' || value AS label FROM cpi",
    "SELECT " + ", ".join(f"year(date) || '-Q' || quarter(date) AS q{n}" for n in range(12)) + " FROM cpi",
    "SELECT string_agg(DISTINCT cpi_index, ', ' ORDER BY cpi_index) AS names FROM cpi",
    "SELECT replace(replace(replace(symbol, '.', ''), ',', ''), ' ', '-') AS s FROM firms",
    "SELECT list_sum(list_transform(list(value), lambda x: x * 2)) AS s FROM cpi",
    "SELECT list_sum(list(value)) AS s FROM cpi",
    "SELECT " + ", ".join(f"unrate + unemploy AS s{n}" for n in range(40)) + " FROM jobs",
    "WITH RECURSIVE r AS (SELECT 'a' AS p, 1 AS i UNION ALL SELECT p || '/' || i, i + 1 FROM r WHERE i < 9) SELECT p FROM r",
]


@pytest.mark.parametrize("select", LONGER, ids=lambda text: text[:50])
def test_ordinary_joining_of_texts_is_allowed(warehouse: DuckDBWarehouse, select: str) -> None:
    assert len(warehouse.query(select).data) > 0


def test_thirteen_doublings_are_too_many() -> None:
    growth = Growth()
    for _ in range(12):
        growth.add({"function_name": "hex", "arguments": []})
    with pytest.raises(QueryError, match="far too long"):
        growth.add({"function_name": "hex", "arguments": []})
