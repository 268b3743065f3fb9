"""The day that counts as today: chosen in the question box, and kept for whoever asks the same question again."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from finexpert.app.people.people import local_person
from finexpert.errors import FinexpertError

HTMX = {"hx-request": "true"}


def asked(client: Any, office: Any, **given: str) -> Any:
    """The answer to the first question of a new conversation that the page opens."""
    said = {"question": "How many months?", "source": office.source, **given}
    reply = client.post("/ask", data=said, headers=HTMX)
    assert reply.status_code == 204, reply.text
    return ended(office, reply.headers["HX-Redirect"].rpartition("/")[2])


def ended(office: Any, conversation: str) -> Any:
    until = time.monotonic() + 60
    while (last := office.desk.conversation(local_person(), conversation)[-1]).state == "running":
        assert time.monotonic() < until
        time.sleep(0.02)
    return last


def test_a_question_is_of_the_day_that_was_chosen(client: Any, office: Any) -> None:
    answer = asked(client, office, as_of="2020-02-29")
    assert (str(answer.as_of), answer.as_of_given) == ("2020-02-29", True)
    # The box of its conversation goes on with that day.
    assert re.search(r'name="as_of"[^>]*value="2020-02-29"', client.get(f"/c/{answer.conversation}").text)
    assert not asked(client, office).as_of_given


def test_what_is_no_day_is_refused_in_words(client: Any, office: Any) -> None:
    reply = client.post("/ask", data={"question": "q", "source": office.source, "as_of": "soon"}, headers=HTMX)
    assert (reply.status_code, "2024-01-31" in reply.json()["error"]["message"]) == (400, True)
    assert office.desk.conversations(local_person()) == []


def test_a_question_that_failed_is_asked_again_as_of_its_day(
    client: Any, office: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = asked(client, office)

    def failing(*given: Any) -> Any:
        raise FinexpertError("the model cannot be reached")

    monkeypatch.setattr(office.desk, "_answered", failing)
    place = f"/c/{first.conversation}/ask"
    client.post(place, data={"question": "And then?", "as_of": "2020-02-29"}, headers=HTMX)
    failed = ended(office, first.conversation)
    assert (failed.state, str(failed.as_of), failed.as_of_given) == ("failed", "2020-02-29", True)
    shown = client.get(f"/c/{first.conversation}").text
    assert "The model cannot be reached" in shown
    forms = re.findall(r'<form hx-post="(/ask|/c/[^"]+/ask)".*?</form>', shown, re.DOTALL)
    assert [each for each in forms if each != place] == ["/ask"]
    assert shown.count('<input type="hidden" name="as_of" value="2020-02-29">') == 2
