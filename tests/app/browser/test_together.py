"""Several sources on the page: chosen under the question, and an answer with citations of both kinds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.modules.flow.several.conftest import amounts, library, planned, revenue, rows  # noqa: F401 - fixtures
from tests.modules.flow.several.test_question import BOTH, TOGETHER

from finexpert.app.desk import GivenSource
from finexpert.filings.library.library import Library

if TYPE_CHECKING:
    from tests.app.browser.conftest import Visitor


def test_chosen_sources_are_asked_together(
    make_desk: Callable[..., Any], serving: Callable[..., Any], visit: Callable[..., Visitor], faults: Callable[..., list[str]],
    desk: Any, warehouse: Any, tmp_path: Path,
    library: Library, planned: Any, amounts: Any, revenue: Any, rows: Any,  # noqa: F811
) -> None:  # fmt: skip
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows()))
    (tmp_path / "fees.csv").write_text("day,fee\n2021-01-04,1.5\n")
    sources = [GivenSource("Sales", place=str(warehouse.path)), GivenSource("Fees", place=str(tmp_path / "fees.csv"))]
    sources.append(GivenSource("Filings", "library", str(library.folder)))
    with serving(make_desk(sources=sources)) as server:
        visitor = visit(server.address, viewport={"width": 390, "height": 800})
        visitor.go()
        visitor.page.get_by_text("together with").click()
        visitor.page.get_by_label("Filings").check()
        assert faults(visitor.page) == []
        visitor.ask(BOTH)
        cited = visitor.last.get_by_label("Where it stands").inner_text()
        assert "Oakgate Water Inc." in cited
        visitor.last.get_by_role("button", name="amounts: its SELECT").click()
        assert "FROM sales" in visitor.last.locator("textarea[name=sql]").first.input_value()
        assert faults(visitor.page) == []
        visitor.last.get_by_role("button", name="Page of citation 2").click()
        visitor.page.locator("#panel").get_by_text("Consolidated Statements of Operations").wait_for()
