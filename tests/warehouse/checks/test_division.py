"""Divisors that are zero in some rows or groups, which DuckDB answers with infinity or with what is no number."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks import division

RATIO = "sum(discount_pct) / sum(tax_rate)"


@pytest.mark.parametrize(
    ("select", "where"),
    [
        (f"SELECT account_id, {RATIO} AS r FROM terms GROUP BY account_id", "groups"),
        # Infinity comes first, or is above what a condition says, and is not in the result.
        (f"SELECT account_id FROM terms GROUP BY account_id ORDER BY {RATIO} DESC LIMIT 1", "groups"),
        (f"SELECT account_id FROM terms GROUP BY 1 HAVING {RATIO} > 10", "groups"),
        (f"SELECT count(*) FROM (SELECT {RATIO} AS r FROM terms GROUP BY account_id) WHERE r > 10", "groups"),
        (f"SELECT {RATIO} FROM terms WHERE account_id = 3", "groups"),
        ("SELECT account_id FROM trades GROUP BY account_id ORDER BY 1.0 / count(*) FILTER (WHERE side = 'SELL') DESC LIMIT 1", "groups"),
        ("SELECT account_id, sum(discount_pct / tax_rate) AS r FROM terms GROUP BY account_id", "rows"),
        ("SELECT account_id FROM terms ORDER BY tax_rate / lag(discount_pct) OVER (ORDER BY account_id) DESC LIMIT 1", "rows"),
    ],
)  # fmt: skip
def test_a_divisor_that_is_zero_goes_back(run: Any, select: str, where: str) -> None:
    with pytest.raises(QueryError, match=f"which is zero in some of the {where}: write NULLIF"):
        run(select)


@pytest.mark.parametrize(
    ("select", "value"),
    [
        ("SELECT round(max(r), 1) FROM (SELECT sum(discount_pct) / NULLIF(sum(tax_rate), 0) AS r FROM terms GROUP BY account_id)", 71.4),
        (f"SELECT round({RATIO}, 1) FROM terms", 115.4),
        (f"SELECT account_id FROM terms GROUP BY account_id HAVING sum(tax_rate) > 0 AND {RATIO} > 10", 2),
        (f"SELECT account_id FROM terms WHERE tax_rate > 0 GROUP BY account_id ORDER BY {RATIO} DESC LIMIT 1", 2),
        ("SELECT max(n) FROM (SELECT sum(lots) / count(*) AS n FROM trades GROUP BY account_id)", 3),
        ("SELECT sum(lots / CASE WHEN lots > 2 THEN 2 ELSE 1 END) FROM trades", 6.5),
    ],
)  # fmt: skip
def test_a_divisor_that_is_not_zero_passes(run: Any, select: str, value: float) -> None:
    assert run(select).frame.data.iat[0, 0] == value


@pytest.mark.parametrize(("select", "told"), [
    (f"SELECT account_id FROM terms GROUP BY account_id ORDER BY {RATIO} DESC LIMIT 1", True),
    ("SELECT count(*) FROM terms WHERE discount_pct / tax_rate > 0.5", True),
    ("SELECT median(discount_pct / tax_rate) FROM terms WHERE account_id < 3", True),
    (f"SELECT {RATIO} FROM terms", False),
    ("SELECT round(sum(discount_pct) / NULLIF(sum(tax_rate), 0), 2) FROM terms", False),
])  # fmt: skip
def test_a_divisor_that_is_not_looked_at_is_told(
    run: Any, monkeypatch: pytest.MonkeyPatch, select: str, told: bool
) -> None:
    monkeypatch.setattr(division, "SMALL", 2)
    notes = [note for note in run(select).notes if note.startswith("not looked at: whether ")]
    assert bool(notes) == told
    assert all("terms has more than 2 rows, or an unknown number" in note for note in notes)
