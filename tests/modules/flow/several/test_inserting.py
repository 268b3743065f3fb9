"""Values of an earlier part in the words of a later one: those that a model may see."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from finexpert.errors import PlanError, Unanswerable
from finexpert.modules.flow.several.inserting import Fetched, inserted
from finexpert.modules.flow.several.warehouse_part import published
from finexpert.signatures.source_planning import SourcePart

TOP = pd.DataFrame({"company": ["Oakgate", "Marlow"], "exposure": [2.0, 1.0]})


def part(question: str = "Covenants of {top.company}?", **given: Any) -> SourcePart:
    return SourcePart(source="filings", name="said", question=question, **given)


def test_values_of_pages_stand_in_question_companies_and_searches() -> None:
    made = inserted(
        part(companies=["{top.company}", "Delmont"], searches=["debt of {top.company}"]), {"top": Fetched(TOP)}
    )
    assert made.question == "Covenants of Oakgate, Marlow?"
    assert made.companies == ["Oakgate", "Marlow", "Delmont"]
    assert made.searches == ["debt of Oakgate, Marlow"]


def test_of_a_warehouse_only_published_values() -> None:
    values = frozenset({"Oakgate", "Marlow", "Delmont"})
    made = inserted(part(), {"top": Fetched(TOP, {"company": values})})
    assert made.question == "Covenants of Oakgate, Marlow?"
    for known in ({}, {"company": frozenset({"Oakgate"})}, {"exposure": values}):
        with pytest.raises(Unanswerable, match="not published") as refused:
            inserted(part(), {"top": Fetched(TOP, known)})
        assert "Oakgate" not in str(refused.value)


def test_what_names_no_part_or_too_much_is_sent_back() -> None:
    with pytest.raises(PlanError, match="names no earlier part"):
        inserted(part(), {})
    with pytest.raises(PlanError, match="has only the columns"):
        inserted(part("{top.name}"), {"top": Fetched(TOP)})
    many = pd.DataFrame({"company": [f"c{n}" for n in range(11)]})
    with pytest.raises(PlanError, match="gives 11 values"):
        inserted(part(), {"top": Fetched(many)})


@pytest.mark.parametrize(
    ("select", "shown"),
    [
        ("SELECT region FROM sales GROUP BY region ORDER BY sum(amount) DESC LIMIT 3", True),
        ("SELECT s.region FROM (SELECT region, amount FROM sales) AS s", True),
        ("SELECT CASE region WHEN 'EMEA' THEN 'Europe' ELSE 'Rest' END AS region FROM sales", True),
        ("SELECT CASE WHEN amount > 1 THEN 'Europe' ELSE 'Rest' END AS region FROM sales", False),
        ("SELECT CASE WHEN note = 'x' THEN 'Europe' ELSE 'Rest' END AS region FROM sales", False),
        ("SELECT note AS region FROM sales", False),
        ("SELECT note || region AS region FROM sales", False),
        ("SELECT upper(region) AS region FROM sales", False),
        ("SELECT CASE WHEN amount > 1 THEN note ELSE region END AS region FROM sales", False),
        ("SELECT region FROM sales UNION ALL SELECT note FROM sales", False),
    ],
)
def test_a_column_is_published_where_it_is_the_published_column_itself(
    warehouse: Any, select: str, shown: bool
) -> None:
    assert bool(published(select, ["region"], warehouse)) is shown
