"""The stream of events that the page follows: it ends with the turn, whatever happens, so that no browser opens it again and again."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.app.page.turns import Turns
from finexpert.app.people.people import local_person


def test_the_stream_ends_with_the_turn_even_where_it_cannot_be_shown(
    client: Any, office: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answer = office.ask("How many months?", office.conversation(local_person()), person=local_person())
    place = f"/c/{answer.conversation}/events/{answer.id}"
    assert client.get(place).text.count("event: done") == 1

    def broken(*given: Any, **more: Any) -> Any:
        raise ZeroDivisionError("a secret of the program")

    monkeypatch.setattr(Turns, "given", broken)
    shown = client.get(place).text
    assert shown.count("event: done") == 1
    assert f'id="turn-{answer.id}"' in shown
    assert "sse-connect" not in shown
    assert "reload the page" in shown
    assert "secret" not in shown
    assert "ZeroDivisionError" in caplog.text


def test_the_stream_of_a_deleted_conversation_ends(client: Any, office: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = office.ask("How many months?", office.conversation(local_person()), person=local_person())
    place = f"/c/{answer.conversation}/events/{answer.id}"
    read = office.desk.answer
    left = [answer]

    def gone_after_the_first(person: Any, id: str) -> Any:
        return left.pop() if left else read(person, "nothing")

    monkeypatch.setattr(office.desk, "answer", gone_after_the_first)
    shown = client.get(place).text
    assert shown.count("event: done") == 1
    assert "There is no answer" in shown
