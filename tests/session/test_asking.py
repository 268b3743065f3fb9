"""What a session does with a question before anybody answers it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from finexpert.errors import Refused, StoreError
from finexpert.knowledge.taught import Taught
from finexpert.session import Session
from finexpert.settings import Settings


@pytest.mark.parametrize("question", ["", " \n"])
def test_an_empty_question_is_refused_with_an_example(desk: Any, question: str) -> None:
    with pytest.raises(Refused, match="write it in words, such as"):
        desk.session(memory=False).ask(question)
    assert not desk.calls


@pytest.mark.parametrize("day", [None, "2020-12-31"])
def test_what_is_computed_again_is_of_a_given_day_where_the_first_was(desk: Any, day: str | None) -> None:
    desk.says("planning", desk.plan())
    session = desk.session(memory=False, as_of=day)
    first = session.ask("How many months?")
    again = session.ask("Compute it again.")
    assert first.record.as_of_given == again.record.as_of_given == (day is not None)


def test_what_is_computed_again_is_of_the_day_that_was_asked_for(desk: Any) -> None:
    """Also in a conversation that was saved and taken up; another day counts where it is said."""
    desk.says("planning", desk.plan())
    session = desk.session(memory=False)
    first = session.ask("How many months?", as_of=dt.date(2020, 3, 15))
    assert first.value == 3
    session.save("days")
    for asked in (session, desk.session(memory=False)):
        asked.resume("days")
        again = asked.ask("Compute it again.")
        assert (again.value, again.record.as_of, again.record.as_of_given) == (3, dt.date(2020, 3, 15), True)
    assert session.ask("Compute it again.", as_of=dt.date(2020, 4, 15)).value == 4
    assert session.ask("Compute it again.").value == 4


def test_what_was_opened_is_closed_where_the_rest_cannot_be(
    desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []

    def opened(*_: Any, **__: Any) -> Any:
        monkeypatch.setattr(type(desk.warehouse), "close", lambda warehouse: closed.append(warehouse))
        return desk.warehouse

    def broken(settings: Settings) -> Taught:
        raise StoreError("the store is broken")

    monkeypatch.setattr("finexpert.session.base.open_data", opened)
    monkeypatch.setattr(Taught, "from_settings", broken)
    with pytest.raises(StoreError, match="the store is broken"):
        Session(tmp_path / "sales.csv", models=desk.models, sandbox=desk.sandbox)
    assert closed == [desk.warehouse]
