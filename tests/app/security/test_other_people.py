"""What belongs to another person is not found: at every door, with no difference to what is not there."""

from __future__ import annotations

import io
from typing import Any

import pytest
from starlette.testclient import TestClient

from finexpert.app.people import access
from finexpert.app.people.people import Person
from finexpert.app.shared import Shares
from finexpert.errors import Forbidden, NotFound


@pytest.fixture
def things(house: Any) -> dict[str, str]:
    """A conversation, an answer and a source of Ann's."""
    office = house.office
    conversation = office.conversation(office.ann)
    answer = office.ask("How many months?", conversation, office.ann)
    source = office.desk.add_source(office.ann, "Mine", file=io.BytesIO(b"a,b\n1,2\n"), filename="mine.csv")
    return {"conversation": conversation, "answer": answer.id, "source": source.id}


@pytest.fixture
def eve(house: Any) -> TestClient:
    # An owner of the same team: more than that nobody is.
    return house.client("eve", "owner")  # type: ignore[no-any-return]


DOORS = [
    ("GET", "/api/conversations/{conversation}", None),
    ("PATCH", "/api/conversations/{conversation}", {"name": "x"}),
    ("DELETE", "/api/conversations/{conversation}", None),
    ("GET", "/api/conversations/{conversation}/answers", None),
    ("GET", "/api/conversations/{conversation}/events", None),
    ("POST", "/api/conversations/{conversation}/ask", {"question": "x"}),
    ("POST", "/api/conversations/{conversation}/ask/events", {"question": "x"}),
    ("POST", "/api/conversations/{conversation}/reply", {"term": "x"}),
    ("POST", "/api/conversations/{conversation}/cancel", None),
    ("POST", "/api/conversations/{conversation}/remember", {}),
    ("POST", "/api/conversations/{conversation}/decide", {"decision": "replace"}),
    ("GET", "/api/answers/{answer}", None),
    ("GET", "/api/answers/{answer}/table.csv", None),
    ("GET", "/api/answers/{answer}/table.xlsx", None),
    ("GET", "/api/answers/{answer}/figures/1.png", None),
    ("GET", "/api/answers/{answer}/record", None),
    ("GET", "/api/answers/{answer}/export", None),
    ("GET", "/api/answers/{answer}/citations/1/page", None),
    ("POST", "/api/answers/{answer}/replay", None),
    ("POST", "/api/answers/{answer}/select", {"sql": "SELECT 1"}),
    ("PUT", "/api/answers/{answer}/feedback", {"up": True}),
    ("GET", "/api/sources/{source}/schema", None),
    ("GET", "/api/sources/{source}/columns/mine.a/values", None),
    ("PUT", "/api/sources/{source}/columns/mine.a/published", None),
    ("PUT", "/api/sources/{source}/credentials", {"user": "x"}),
    ("DELETE", "/api/sources/{source}", None),
    ("GET", "/api/sources/{source}/search?text=x", None),
]


@pytest.mark.parametrize(("method", "path", "body"), DOORS, ids=[f"{method} {path}" for method, path, _ in DOORS])
def test_another_persons_is_not_found(
    things: dict[str, str], eve: TestClient, method: str, path: str, body: Any
) -> None:
    theirs = eve.request(method, path.format(**things), json=body)
    nobodys = eve.request(method, path.format(**dict.fromkeys(things, "nothing")), json=body)
    assert (theirs.status_code, nobodys.status_code) == (404, 404), theirs.text
    said = theirs.text
    for id in things.values():
        said = said.replace(id, "nothing")
    assert said == nobodys.text


def test_nothing_of_another_person_is_listed(things: dict[str, str], eve: TestClient) -> None:
    assert eve.get("/api/conversations").json() == []
    assert eve.get("/api/conversations", params={"search": "months"}).json() == []
    assert [each["name"] for each in eve.get("/api/sources").json()] == ["Sales"]
    assert eve.get("/api/answers/feedback").json() == []


def test_a_conversation_over_another_persons_source(things: dict[str, str], eve: TestClient) -> None:
    assert eve.post("/api/conversations", json={"source": things["source"]}).status_code == 404
    reply = eve.post(
        "/v1/chat/completions", json={"model": "finexpert/Mine", "messages": [{"role": "user", "content": "x"}]}
    )
    assert reply.status_code == 404


def test_a_shared_source_is_the_teams(house: Any) -> None:
    office = house.office
    source = office.desk.add_source(
        office.ann, "Ours", file=io.BytesIO(b"a,b\n1,2\n"), filename="ours.csv", shared=True
    )
    assert source.id in [each.id for each in office.desk.sources(office.eve)]
    assert source.id not in [each.id for each in office.desk.sources(office.tom)]
    with pytest.raises(NotFound):
        office.desk.schema(office.tom, source.id)


def test_what_a_source_of_every_team_means_is_said_by_the_servers_own(house: Any) -> None:
    source, desk = house.office.source, house.desk
    tom, ann = house.client("tom", "owner", "other"), house.client("ann", "owner")
    card = desk.schema(house.office.ann, source).card
    model = tom.get(f"/api/sources/{source}/model").json()
    doors = [
        ("PUT", f"/api/sources/{source}/columns/sales.note/published", None),
        ("DELETE", f"/api/sources/{source}/columns/sales.note/published", None),
        ("PUT", f"/api/sources/{source}/model", {"text": model["text"], "version": model["version"]}),
    ]
    for method, path, body in doors:
        assert tom.request(method, path, json=body).status_code == 403, path
    assert desk.schema(house.office.ann, source).card == card
    assert ann.put(f"/api/sources/{source}/columns/sales.note/published").status_code == 200
    # Back to the version before is a change as well.
    assert tom.post(f"/api/sources/{source}/model/revert", json={"version": 1}).status_code in (403, 404, 405)
    with pytest.raises(Forbidden, match="an owner of the team 'local'"):
        desk.revert_model(Person("token:tom", "tom", "owner", "other"), source, 1)
    # A source of their own they say themselves.
    own = tom.post(
        "/api/sources/file", files={"file": ("own.csv", io.BytesIO(b"a,b\n1,x\n"))}, data={"name": "own"}
    ).json()["id"]
    assert tom.put(f"/api/sources/{own}/columns/own.b/published").status_code == 200


def test_a_chat_of_another_person_is_not_gone_on_with(house: Any) -> None:
    said = [{"role": "user", "content": "How many months?"}]
    with house.client("ann") as ann, house.client("eve") as eve:
        ann.post("/v1/chat/completions", json={"messages": said}).raise_for_status()
        model = house.office.model
        before = len(model.calls)
        more = [*said, {"role": "assistant", "content": "6"}, {"role": "user", "content": "How many months again?"}]
        answer = eve.post("/v1/chat/completions", json={"messages": more}).json()["choices"][0]["message"]["content"]
        assert len(model.calls) > before
        assert "were not asked here" in answer
        assert len(house.desk.conversations(_person(house, "ann"))) == 1
        assert len(house.desk.conversations(_person(house, "eve"))) == 1


def _person(house: Any, name: str) -> Person:
    found = next(each for each in access.tokens(house.desk.state) if each.name == name)
    return Person(f"token:{found.id}", name)


@pytest.mark.parametrize("signed", ["x", "WyJ4Il0.x.y", "..%2f..%2fetc%2fpasswd", "a" * 5_000])
def test_an_address_that_was_not_made_here(house: Any, signed: str) -> None:
    with house.stranger() as stranger:
        assert stranger.get(f"/shared/{signed}").status_code == 404


def test_an_address_of_a_chart_shows_that_chart_alone(house: Any) -> None:
    office = house.office
    code = "fig, ax = plt.subplots()\nax.plot([1, 2])\nanswer = len(sales)"
    office.model.says("planning", office.model.plan(code))
    answer = office.ask("Plot it", person=office.ann)
    assert answer.figures == 1
    shares = Shares(office.desk)
    address = shares.address(house.base, office.ann, answer.id, "figures/1.png")
    with house.stranger() as stranger:
        assert stranger.get(address).content.startswith(b"\x89PNG")
        assert stranger.get(address[:-2] + "xx").status_code == 404
        other = shares.address(house.base, office.eve, answer.id, "figures/1.png")
        assert stranger.get(other).status_code == 404
    Shares(office.desk)
