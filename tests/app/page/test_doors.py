"""The doors of the page where something goes wrong: what is shown then, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.app.page import evaluations
from finexpert.app.people.people import local_person
from finexpert.errors import DataError, FinexpertError


def remembered(client: Any, office: Any) -> tuple[str, str]:
    """A conversation whose process was remembered, and the process."""
    me, model = local_person(), office.model
    conversation = office.conversation(me)
    office.ask("How many months?", conversation, me)
    model.says("memorization", model.process())
    model.says("generalise", model.fields(variants=["x"]))
    return conversation, office.desk.remember(me, conversation).process.id


def test_a_trial_that_cannot_be_made_offers_no_form_over_a_conversation_that_is_gone(
    client: Any, office: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, process = remembered(client, office)
    before = len(office.desk.conversations(local_person()))

    def failing(*given: Any) -> Any:
        raise FinexpertError("the model cannot be reached")

    monkeypatch.setattr(office.desk, "try_again", failing)
    reply = client.post(f"/knowledge/processes/{process}/try", data={"source": office.source}, headers=HTMX)
    assert reply.status_code == 422
    assert reply.json()["error"]["message"] == "the model cannot be reached"
    assert len(office.desk.conversations(local_person())) == before


def test_a_decision_that_cannot_be_carried_out_leaves_the_clash_where_it_is(client: Any, office: Any) -> None:
    conversation, _ = remembered(client, office)
    again = client.post(f"/c/{conversation}/remember", data={"heading": "Month count"}, headers=HTMX)
    assert "The heading is taken" in again.text
    place = f"/c/{conversation}/decide"
    reply = client.post(place, data={"decision": "keep both", "heading": "x" * 5_000}, headers=HTMX)
    assert reply.status_code >= 400
    assert "Write it down and try it" not in reply.text
    settled = client.post(place, data={"decision": "replace"}, headers=HTMX)
    assert "Open it" in settled.text


def test_a_source_that_cannot_be_opened_shows_no_folder_of_the_server(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, home = house.desk, house.office.desk.settings.home

    def failing(*given: Any) -> Any:
        raise DataError(f"{home}/gone.csv does not exist")

    monkeypatch.setattr(desk, "schema", failing)
    with house.client("ann", "owner") as ann:
        shown = ann.get(f"/sources/{house.office.source}").text
    assert "gone.csv does not exist" in shown
    assert str(home) not in shown


def test_the_password_of_the_tracking_server_is_not_on_the_page(
    client: Any, office: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluations, "experiments_of", lambda settings: [])
    office.desk.settings = office.desk.settings.model_copy(update={"tracking_uri": "http://ann:hunter22@127.0.0.1:1"})
    shown = client.get("/evaluations").text
    assert "hunter22" not in shown
    assert 'href="http://ann@127.0.0.1:1"' in shown


def test_a_first_question_that_is_refused_leaves_no_conversation(client: Any, office: Any) -> None:
    reply = client.post("/ask", data={"question": "How\x07 many?", "source": office.source}, headers=HTMX)
    assert (reply.status_code, "control characters" in reply.text) == (400, True)
    assert office.desk.conversations(local_person()) == []


def test_a_reply_goes_under_way_and_takes_the_form_of_the_question_back(client: Any, office: Any) -> None:
    me, model = local_person(), office.model
    model.says("planning", model.plan(unclear="calm month"), model.plan(follows=(1,)))
    asked = office.ask("How many calm months were there?", office.conversation(me), me)
    assert asked.clarification is not None
    place = f"/c/{asked.conversation}/reply/{asked.id}"
    shown = client.post(place, data={"meaning": "a month with sales"}, headers=HTMX).text
    last = office.desk.conversation(me, asked.conversation)[-1]
    assert f'id="turn-{last.id}"' in shown
    assert f'id="turn-{asked.id}" hx-swap-oob="true"' in shown
    assert "<textarea" not in shown.split(f'id="turn-{asked.id}"')[1]
    assert client.get(f"/c/{asked.conversation}/events/{last.id}").text.count("event: done") == 1
    assert office.desk.answer(me, last.id).status == "answered"


HTMX = {"hx-request": "true"}


def test_what_was_explained_stands_in_a_form_and_is_kept_as_the_person_leaves_it(client: Any, office: Any) -> None:
    me, model = local_person(), office.model
    model.says("listening", model.lessons({"term": "dull months", "quotes": ["below <i> & five"]}))
    conversation = office.conversation(me)
    office.ask("By dull months we mean below <i> & five. How many?", conversation, me)
    (answer,) = office.desk.conversation(me, conversation)
    shown = client.get(f"/c/{conversation}").text
    assert f'hx-post="/a/{answer.id}/keep/1"' in shown
    assert "below &lt;i&gt; &amp; five</textarea>" in shown
    reply = client.post(f"/a/{answer.id}/keep/1", data={"meaning": "below\r\n6"}, headers=HTMX)
    assert "a draft of yours until a result with it is accepted" in reply.text
    assert office.desk.term(me, "dull months").meaning == "below\n6"
