"""Plans over several sources that fit together, and those that are sent back."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.errors import NotInSources, OutputError
from finexpert.modules.calling import using
from finexpert.modules.source_planning import SourcePlanning
from finexpert.testing import fields

TABLE = {"source": "sales", "name": "a", "question": "q", "columns": [{"name": "n"}], "select": "SELECT 1 AS n"}
PAGES = {"source": "filings", "name": "b", "question": "q", "columns": [{"name": "m"}]}


def planned(scripted: Any, *parts: dict[str, Any], combine: str = "", **said: str) -> Any:
    given = {"understood": "u", "unclear": "", "missing": "", "parts": list(parts), "combine": combine}
    models, _ = scripted([fields(**given | {"answer_kind": "number", "unit": ""} | said)])
    with using(models):
        return SourcePlanning()(
            question="q?", sources="cards", databases=["sales"], libraries=["filings"], today="2024-01-01"
        )


def test_parts_and_how_they_meet(scripted: Any) -> None:
    made = planned(scripted, TABLE, PAGES, combine="```sql\nSELECT a.n / b.m FROM a, b;\n```")
    assert [part.name for part in made.parts] == ["a", "b"]
    assert made.combine == "SELECT a.n / b.m FROM a, b"
    assert made.answer_format.kind == "number"


def test_what_is_missing_ends_it(scripted: Any) -> None:
    with pytest.raises(NotInSources, match="no weather"):
        planned(scripted, missing="no weather")


@pytest.mark.parametrize(
    ("parts", "combine", "why"),
    [
        ([], "", "neither a part"),
        ([TABLE, PAGES], "", "no `combine`"),
        ([TABLE, PAGES | {"name": "A"}], "SELECT 1", "same name"),
        ([TABLE | {"source": "other"}], "", "no source 'other'"),
        ([TABLE | {"columns": []}, PAGES], "SELECT 1", "names no columns"),
        ([TABLE | {"select": ""}, PAGES], "SELECT 1", "has no SELECT"),
        ([PAGES | {"select": "SELECT 1"}], "", "know no SELECT"),
        ([TABLE | {"name": "result"}, PAGES], "SELECT 1", "another name"),
    ],
)
def test_what_does_not_fit_together_is_said(scripted: Any, parts: list[Any], combine: str, why: str) -> None:
    with pytest.raises(OutputError, match=why):
        planned(scripted, *parts, combine=combine)
