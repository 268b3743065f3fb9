"""A batch over several sources: the parts of each answer meet, and a run goes on only where all sources are as they were."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
from tests.modules.flow.several.conftest import amounts, library, planned, revenue, rows  # noqa: F401 - fixtures
from tests.modules.flow.several.test_question import BOTH, TOGETHER

from finexpert.answers.records import Record
from finexpert.answers.sources import parts
from finexpert.batch.ask_all import ask_all
from finexpert.filings.library.library import Library
from finexpert.settings import Settings


def test_rows_of_a_frame_are_asked_of_both(
    desk: Any, library: Library, planned: Any, amounts: Any, revenue: Any, rows: Any, own_home: Path  # noqa: F811
) -> None:  # fmt: skip
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows()))
    desk.says("planning", desk.plan())
    settings = Settings(memory=False, cache=False, embedder="words", as_of=dt.date(2021, 6, 1), budget_run_calls=2)
    given: dict[str, Any] = {"models": desk.models, "sandbox": desk.sandbox, "threads": 1}
    questions = pd.DataFrame({"question": [BOTH, "How many months of sales are there?"]}, index=["a", "b"])
    sources = {"sales": desk.warehouse, "filings": library}
    first = ask_all(sources, questions, settings=settings, **given)
    assert first.status.tolist() == ["answered", "not_asked"]
    answers = ask_all(sources, questions, settings=settings, **given)
    assert answers.status.tolist() == ["answered", "answered"]
    assert len(desk.calls) == 3
    assert answers.number.tolist() == [sum(918273645.5 + n for n in range(6)) / 400, 6]
    assert any("Oakgate Water Inc." in line for line in answers.citations["a"])
    kept = Record.load(own_home / "records" / f"{answers.record['a']}.json")
    assert parts.replay(kept, sources, desk.sandbox).same


def test_a_run_starts_over_where_one_of_the_sources_changed(
    desk: Any, library: Library, planned: Any, amounts: Any, revenue: Any, rows: Any, own_home: Path  # noqa: F811
) -> None:  # fmt: skip
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows()))
    desk.says("planning", desk.plan())
    settings = Settings(memory=False, cache=False, embedder="words", as_of=dt.date(2021, 6, 1), budget_run_calls=2)
    given: dict[str, Any] = {"models": desk.models, "sandbox": desk.sandbox, "settings": settings, "threads": 1}
    sources, questions = [desk.warehouse, library], [BOTH, "How many months of sales are there?"]
    assert ask_all(sources, questions, **given).status.tolist() == ["answered", "not_asked"]
    library.remove("oakgate/2021")
    ask_all(sources, questions, **given)
    # Both are asked anew, of the sales alone: no library knows the company now.
    assert desk.layers[2:] == ["planning", "planning"]
