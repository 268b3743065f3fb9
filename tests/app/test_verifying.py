"""`verify` in every door of a server: kept for the team, by who may teach; what a program proposes waits for a person."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.app.people.people import local_person
from finexpert.app.state.feedback import of_server
from finexpert.errors import Forbidden, NotFound

HTMX = {"hx-request": "true"}
SELECT = (
    "SELECT count(*) AS n FROM sales WHERE region = 'north' AND date >= DATE '2020-01-01' AND date < DATE '2021-01-01'"
)
QUESTION = "How many months were there in the north region in 2020?"


def asked(office: Any, person: Any = None, question: str = QUESTION, select: str = SELECT) -> Any:
    office.model.says("planning", office.model.plan("", "integer", select, ("n",), "months"))
    person = person or office.ann
    return office.ask(question, office.conversation(person), person)


def rests(answer: Any) -> bool:
    return any(flag.startswith("rests on a verified query") for flag in answer.flags)


def test_a_team_shares_what_one_verified(office: Any) -> None:
    answer = asked(office)
    with pytest.raises(Forbidden):
        office.desk.verify(office.eve, answer.id)
    with pytest.raises(NotFound):
        office.desk.verify(office.ben, answer.id)
    kept = office.desk.verify(office.ann, answer.id)
    assert (kept.taught_by, [each.name for each in kept.variables]) == ("Ann", ["year", "region"])
    before = len(office.model.calls)
    south = asked(office, office.eve, QUESTION.replace("north", "south"))
    assert (south.value, rests(south), len(office.model.calls)) == (3, True, before)
    assert not rests(asked(office, office.tom))
    assert [each.question for each in office.desk.verified(office.eve)] == [kept.question]
    assert office.desk.retire_verified(office.ben, kept.id).status == "retired"
    assert not rests(asked(office, office.eve))


def test_what_a_program_proposes_waits_for_a_person(office: Any) -> None:
    answer = asked(office)
    draft = office.desk.verify(office.ann, answer.id, draft=True)
    assert draft.status == "draft"
    assert office.desk.verify(office.ann, answer.id, draft=True).id == draft.id
    assert not rests(asked(office))
    with pytest.raises(Forbidden):
        office.desk.activate_verified(office.eve, draft.id)
    assert office.desk.activate_verified(office.ben, draft.id).status == "active"
    assert rests(asked(office))


def test_an_edited_select_is_verified(office: Any) -> None:
    answer = asked(office)
    edited = office.desk.run_select(office.ann, answer.id, SELECT.replace("north", "south"))
    assert office.desk.verify(office.ann, edited.id, {}).sql == SELECT.replace("north", "south")
    assert rests(asked(office))


def test_rest(client: Any, office: Any) -> None:
    answer = asked(office, local_person())
    kept = client.post(f"/api/answers/{answer.id}/verify", json={"variables": {"year": "2020"}})
    assert (kept.status_code, [each["name"] for each in kept.json()["variables"]]) == (201, ["year"])
    assert client.get("/api/verified").json() == [kept.json()]
    place = f"/api/verified/{kept.json()['id']}"
    assert client.delete(place).json()["status"] == "retired"
    assert client.post(f"{place}/activate").json()["status"] == "active"
    assert client.post("/api/verified/none/activate").status_code == 404


def test_page(client: Any, office: Any) -> None:
    answer = asked(office, local_person())
    assert f'hx-post="/a/{answer.id}/verify"' in client.get(f"/c/{answer.conversation}").text
    said = client.post(f"/a/{answer.id}/verify", headers=HTMX).text
    assert "answered by its SELECT" in said
    assert "Other values of region (north here)" in said
    (query,) = office.desk.verified(local_person())
    assert QUESTION.rstrip("?") in client.get("/knowledge/verified").text
    client.post(f"/knowledge/verified/{query.id}/retire", headers=HTMX).raise_for_status()
    assert "No question was verified yet" in client.get("/knowledge/verified").text


def test_thumbs_and_edited_selects_stand_in_the_queue(office: Any) -> None:
    answer = asked(office)
    office.desk.feedback(office.ann, answer.id, False, "the south was meant")
    south = SELECT.replace("north", "south")
    edited = office.desk.run_select(office.ann, answer.id, south)
    found = {each.id: each for each in of_server(office.desk.settings)}
    assert (found[answer.id].reason, found[answer.id].up, found[answer.id].select) == (
        "the south was meant",
        False,
        SELECT,
    )
    assert found[edited.id].select == south
    assert office.desk.verified(office.ann) == []
