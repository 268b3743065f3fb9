"""Several guesses at what rows are called: in two columns, as patterns, and in the branches of a CASE. What no guess meets goes back."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.errors import UnknownValue
from finexpert.warehouse.checks.checked import Checks

TABLES = """
CREATE TABLE accounts (acct VARCHAR, nm VARCHAR, typ VARCHAR);
INSERT INTO accounts VALUES ('400000', 'Earned premium', 'PL'), ('500000', 'Claims paid', 'PL'), ('510000', 'Change in case reserves', 'PL'),
  ('600000', 'Commission to brokers', 'PL'), ('700000', 'Salaries', 'PL'), ('800000', 'Premium ceded to reinsurers', 'PL');
CREATE TABLE balances (acct VARCHAR, amount DOUBLE);
INSERT INTO balances SELECT acct, row_number() OVER () * 10 FROM accounts;
"""
RATIO = """WITH cls AS (SELECT acct, CASE {branches} ELSE 'OTHER' END AS grp FROM accounts)
SELECT sum(amount) FILTER (WHERE grp IN ('CLAIMS', 'COMM')) / sum(amount) FILTER (WHERE grp = 'EARNED') AS ratio
FROM balances JOIN cls USING (acct)"""
RULES = [
    "WHEN nm ILIKE '%ceded%' THEN 'RI'",
    "WHEN nm ILIKE '%earned%' THEN 'EARNED'",
    "WHEN nm ILIKE '%claim%' OR nm ILIKE '%reserve%' OR nm ILIKE '%salvage%' THEN 'CLAIMS'",
    "WHEN nm ILIKE '%commission%' THEN 'COMM'",
]


def ratio(*first: str, rules: list[str] = RULES) -> str:
    return RATIO.format(branches=" ".join([*first, *rules]))


@pytest.mark.parametrize(
    ("select", "note"),
    [
        # What is left out of the groups that are asked for: as ELSE, or under a name that no condition asks for.
        (ratio("WHEN nm ILIKE '%tax%' OR nm ILIKE '%levy%' THEN 'OTHER'"), "nm ILIKE '%tax%' meets no row: the other branches decide"),
        (ratio("WHEN upper(typ) IN ('BS', 'ASSET', 'EQUITY') THEN 'BS'"), "UPPER(typ) IN ('BS', 'ASSET', 'EQUITY') meets no row: the other branches decide"),
        # One text looked for in two columns, each with guesses of its own.
        (ratio("WHEN regexp_matches(nm, '(reins|retroc|ceded)') OR regexp_matches(typ, '(reins|\\bri\\b)') THEN 'RI'", rules=RULES[1:]), ""),
        ("SELECT count(*) FROM accounts WHERE nm ILIKE '%salar%' OR nm ILIKE '%wage%' OR typ ILIKE '%wage%' OR typ ILIKE '%sal%'", ""),
    ],
)  # fmt: skip
def test_a_guess_that_meets_nothing_is_no_mistake_beside_what_decides(source: Any, select: str, note: str) -> None:
    checked = Checks(source).run(select, answers=True)
    assert float(str(checked.frame.data.iat[0, 0])) > 0
    assert note in ["", *checked.notes]


@pytest.mark.parametrize(
    "select",
    [
        # A group that is asked for has no row: it would count as none.
        ratio("WHEN nm ILIKE '%levy%' THEN 'CLAIMS'"),
        ratio(rules=[*RULES[:3], "WHEN nm ILIKE '%brokerage%' THEN 'COMM'"]),
        # Its name is shown.
        "SELECT CASE WHEN nm ILIKE '%tax%' THEN 'TAX' WHEN nm ILIKE '%claim%' THEN 'CLAIMS' ELSE 'OTHER' END AS grp, count(*) AS n FROM accounts GROUP BY 1",
        # There is no other branch, nothing is asked of the CASE, or the texts of the two columns have nothing in common.
        "SELECT sum(CASE WHEN nm ILIKE '%levy%' THEN 0 ELSE 1 END) AS n FROM accounts",
        "SELECT count(*) AS n FROM accounts WHERE nm ILIKE '%salar%' OR typ ILIKE '%balance%'",
        "SELECT count(*) AS n FROM accounts WHERE (nm ILIKE '%salar%' OR nm ILIKE '%claim%') AND typ ILIKE '%salar%'",
    ],
)
def test_a_guess_that_decides_goes_back(source: Any, select: str) -> None:
    with pytest.raises(UnknownValue, match="no value is like"):
        Checks(source).run(select, answers=True)


def test_a_branch_that_brings_spellings_together_is_a_caution(source: Any) -> None:
    spelled = "CASE WHEN upper(nm) IN ('QQ', 'QU') THEN 'QQ' WHEN nm = 'Salaries' THEN 'Salaries' ELSE nm END"
    assert Checks(source).run(f"SELECT {spelled} AS kind, count(*) AS n FROM accounts GROUP BY 1 ORDER BY 1", "f")
    with pytest.raises(UnknownValue):
        Checks(source).run(
            f"SELECT {spelled.replace('ELSE nm', 'ELSE NULL')} AS kind, count(*) AS n FROM accounts GROUP BY 1 ORDER BY 1",
            "f",
        )
    with pytest.raises(UnknownValue):
        Checks(source).run(
            f"SELECT count(*) AS n FROM (SELECT {spelled} AS kind FROM accounts) WHERE kind <> 'QQ'", "f"
        )
