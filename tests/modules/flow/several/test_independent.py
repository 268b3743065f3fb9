"""An answer over parts with empty cells: given where it is the same whatever they hold, and not where a rank, a sum or a missing row may change it."""

from __future__ import annotations

import pandas as pd
import pytest

from finexpert.modules.flow.several.independent import is_independent

INCOME = pd.DataFrame({"company": ["Oak", "Elm", "Ash"], "growth": [3.0, 9.0, 1.0]})
STAFF = pd.DataFrame(
    {"company": ["Oak", "Elm", "Ash"], "staff": [None, 120.0, None], "customer": [None, "Big Stores", None]}
)
JOINED = "FROM income JOIN staff USING (company)"


@pytest.mark.parametrize(
    ("select", "same"),
    [
        (f"SELECT company, staff {JOINED} ORDER BY growth DESC LIMIT 1", True),
        (f"SELECT company, customer {JOINED} ORDER BY growth DESC LIMIT 1", True),
        (f"SELECT company, staff {JOINED} ORDER BY growth LIMIT 1", False),
        (f"SELECT company {JOINED} ORDER BY staff DESC NULLS LAST LIMIT 1", False),
        (f"SELECT sum(staff) AS staff {JOINED}", False),
        (f"SELECT count(*) AS n {JOINED} WHERE staff > 100", False),
        (f"SELECT max(growth / staff) AS most {JOINED}", False),
        ("SELECT nosuch FROM income", False),
    ],
)
def test_the_answer_rests_on_no_empty_cell(select: str, same: bool) -> None:
    assert is_independent(select, {"income": INCOME, "staff": STAFF}) is same


def test_a_row_that_is_missing_may_be_the_one() -> None:
    frames = {"income": INCOME, "staff": STAFF[STAFF["company"] != "Ash"]}
    assert not is_independent(f"SELECT company, staff {JOINED} ORDER BY growth DESC LIMIT 1", frames)


def test_nothing_is_empty() -> None:
    assert not is_independent(
        "SELECT growth FROM income", {"income": INCOME, "staff": STAFF.assign(staff=1.0, customer="x")}
    )
