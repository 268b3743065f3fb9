"""REST: a person's whole way over HTTP, with events as they come."""

from __future__ import annotations

import json
from typing import Any

import pytest


def events(reply: Any) -> list[tuple[str, Any]]:
    found, kind = [], ""
    for line in reply.iter_lines():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            found.append((kind, json.loads(line.removeprefix("data: "))))
    return found


def test_the_whole_way(client: Any, office: Any) -> None:
    model = office.model
    me = client.get("/api/me").json()
    assert me["rights"] == ["read", "ask", "teach", "manage"]
    (source,) = client.get("/api/sources").json()
    assert client.get(f"/api/sources/{source['id']}/schema").json()["tables"][0]["name"] == "sales"
    assert "north" in client.get(f"/api/sources/{source['id']}/columns/sales.region/values").json()
    place = f"/api/conversations/{client.post('/api/conversations', json={'source': source['id']}).json()['id']}"
    with client.stream("POST", f"{place}/ask/events", json={"question": "How many months?"}) as reply:
        told = events(reply)
    assert {kind for kind, _ in told} == {"progress", "answer"}
    answer = told[-1][1]
    assert answer["value"] == 6
    assert client.get(f"{place}/answers").json() == [answer]
    model.says("planning", model.plan("answer = len(sales) * 2", select=None))
    assert client.post(f"{place}/ask", json={"question": "Twice that?"}).json()["value"] == 12
    again = f"/api/answers/{answer['id']}"
    assert client.post(f"{again}/replay").json()["same"]
    assert "answer = len(sales)" in client.get(f"{again}/export").text
    assert client.get(f"{again}/record").json()["question"] == "How many months?"
    edited = client.post(f"{again}/select", json={"sql": model.good.replace("ORDER", "WHERE region = 'north' ORDER")})
    assert (edited.status_code, edited.json()["value"]) == (201, 3)
    assert client.put(f"{again}/feedback", json={"up": True}).status_code == 204
    assert client.get(again).json()["liked"] is True
    assert client.patch(place, json={"name": "Months"}).json()["name"] == "Months"
    assert client.get("/api/conversations", params={"search": "twice"}).json()[0]["name"] == "Months"
    assert client.post(f"{place}/cancel").json() is False
    with client.stream("GET", f"{place}/events") as reply:
        assert events(reply) == []
    assert client.delete(place).status_code == 204
    assert client.get(place).status_code == 404


def test_teaching(client: Any, office: Any) -> None:
    model = office.model
    kept = client.post("/api/terms", json={"term": "stress month", "meaning": "a month in which sales fall"}).json()
    assert client.get("/api/terms").json() == [kept]
    assert client.get("/api/terms/stress month/history").json()[0]["action"] == "define"
    own = {"term": "dull month", "meaning": "below 5", "source": office.source}
    assert (kept["scope"], client.post("/api/terms", json=own).json()["scope"]) == ("", "sales")
    changed = client.post("/api/terms", json={"term": "dull month", "meaning": "below 4"}).json()
    assert (changed["scope"], changed["version"]) == ("sales", 2)
    assert client.post("/api/terms", json=own | {"source": "nobody's"}).status_code == 404
    assert client.delete(f"/api/terms/{kept['id']}").json()["status"] == "retired"
    place = f"/api/conversations/{office.desk.create(_me(client), office.source).id}"
    client.post(f"{place}/ask", json={"question": "How many months?"}).raise_for_status()
    model.says("memorization", model.process())
    remembered = client.post(f"{place}/remember", json={"heading": "Month count"}).json()
    assert remembered["stored"]
    id = remembered["process"]["id"]
    changed = client.patch(f"/api/processes/{id}", json={"aliases": ["months"], "version": 1}).json()
    assert changed["version"] == 2
    assert client.patch(f"/api/processes/{id}", json={"aliases": ["x"], "version": 1}).status_code == 409
    assert client.patch(f"/api/processes/{id}", json={"steps": [], "version": 2}).status_code == 400
    assert [each["version"] for each in client.get(f"/api/processes/{id}/history").json()] == [2, 1]
    assert client.post(f"/api/processes/{id}/revert/1").json()["aliases"] == ["count of months"]
    assert client.post(f"{place}/remember", json={"heading": "Month count"}).json()["clash"]["id"] == id
    assert client.post(f"{place}/decide", json={"decision": "replace"}).json()["stored"]
    assert client.delete(f"/api/processes/{id}").json()["status"] == "retired"


def _me(client: Any) -> Any:
    from finexpert.app.people.people import local_person

    return local_person()


def test_an_error_while_a_question_is_under_way_is_an_event(client: Any, office: Any) -> None:
    def gone(prompt: str) -> str:
        raise RuntimeError("no model")

    office.model.says("planning", gone)
    place = f"/api/conversations/{client.post('/api/conversations', json={'source': office.source}).json()['id']}"
    with client.stream("POST", f"{place}/ask/events", json={"question": "How many?"}) as reply:
        assert events(reply)[-1][0] == "error"
    assert client.post(f"{place}/ask", json={"question": "How many?"}).status_code == 502


def test_metrics(client: Any, office: Any) -> None:
    client.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": "How many months?"}]})
    said = client.get("/metrics").text
    assert 'finexpert_questions_ended_total{outcome="answered"} 1.0' in said
    assert 'route="/v1/chat/completions",status="200"} 1.0' in said
    assert "months" not in said


def test_ready_until_it_ends(client: Any, office: Any) -> None:
    assert client.get("/readyz").status_code == 200
    office.desk.draining = True
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200


def test_a_file_that_is_sent_is_asked(client: Any, office: Any) -> None:
    content = b"date,amount\n2020-01-01,1\n2020-02-01,2\n"
    sent = client.post("/api/sources/file", files={"file": ("my trades.csv", content)}, data={"name": "Trades"})
    assert sent.status_code == 201, sent.text
    model = office.model
    model.says(
        "planning",
        model.plan(
            "answer = len(t)", select="SELECT date, amount FROM my_trades", columns=("date", "amount"), frame="t"
        ),
    )
    made = client.post("/api/conversations", json={"source": sent.json()["id"]}).json()
    assert client.post(f"/api/conversations/{made['id']}/ask", json={"question": "How many?"}).json()["value"] == 2
    assert client.delete(f"/api/sources/{sent.json()['id']}").status_code == 204
    assert client.post(f"/api/conversations/{made['id']}/ask", json={"question": "How many?"}).status_code == 404
    assert len(client.get(f"/api/conversations/{made['id']}/answers").json()) == 2


def test_what_a_message_explains_is_kept_where_the_person_says_so(client: Any, office: Any) -> None:
    model = office.model
    lesson = {"term": "slow months", "quotes": ["those below five"]}
    model.says("listening", model.lessons(lesson))
    place = f"/api/conversations/{office.desk.create(_me(client), office.source).id}"
    said = "By slow months we mean those below five. How many?"
    answer = client.post(f"{place}/ask", json={"question": said}).json()
    assert [offer["meaning"] for offer in answer["offers"]] == ["those below five"]
    assert client.get("/api/terms").json() == []
    assert client.post(f"/api/answers/{answer['id']}/offers/2/keep", json={}).status_code == 404
    kept = client.post(f"/api/answers/{answer['id']}/offers/1/keep", json={"everywhere": True}).json()
    assert (kept["meaning"], kept["status"], kept["scope"]) == ("those below five", "draft", "")
    client.put(f"/api/answers/{answer['id']}/feedback", json={"up": True})
    assert client.get("/api/terms/slow months").json()["status"] == "active"
    model.says("listening", model.lessons(lesson | {"term": "dull months"}))
    client.post(f"{place}/ask", json={"question": said.replace("slow", "dull")})
    assert client.post(f"{place}/ask", json={"question": "Keep it."}).json()["status"] == "noted"
    assert client.get("/api/terms/dull months").json()["meaning"] == "those below five"


def test_a_reply_that_says_nothing_is_not_kept_and_one_that_rambles_is_listened_to(client: Any, office: Any) -> None:
    model = office.model
    plan = model.plan()
    model.says("planning", model.plan(unclear="grubby"), plan, model.plan(unclear="mucky"), plan)
    place = f"/api/conversations/{office.desk.create(_me(client), office.source).id}"
    client.post(f"{place}/ask", json={"question": "How many grubby months?"})
    reply = {"term": "grubby", "meaning": "no clue, ask Petra"}
    assert client.post(f"{place}/reply", json=reply).json()["status"] == "answered"
    assert client.get("/api/terms").json() == []
    assert "no clue, ask Petra" in model.of("planning")[-1]
    client.post(f"{place}/ask", json={"question": "How many mucky months?"})
    model.says("listening", model.lessons({"term": "mucky", "quotes": ["below 4"]}))
    client.post(f"{place}/reply", json={"term": "mucky", "meaning": "hmm, below 4 I think"})
    assert [each["meaning"] for each in client.get("/api/terms").json()] == ["below 4"]


@pytest.mark.parametrize(
    "body",
    [
        rb'{"term": "a\ud800b", "meaning": "x"}',
        rb'{"term": "ab", "meaning": "x\u0000"}',
        rb'{"term": "ab", "meaning": "x", "aliases": ["\u202e"]}',
        rb'{"term": "ab", "meaning": "x", "aliases": ["month"]}',
        rb'{"term": "g\u0434p", "meaning": "x"}',
        b'{"term": "ab", "meaning": "%s"}' % (b"x" * 100_000),
        b'{"term": %s1%s, "meaning": "x"}' % (b"[" * 50, b"]" * 50),
        b'{"term": " ", "meaning": "x"}',
    ],
)
def test_a_term_that_cannot_be_kept_is_the_fault_of_who_sent_it(client: Any, body: bytes) -> None:
    refused = client.post("/api/terms", content=body, headers={"content-type": "application/json"})
    assert (refused.status_code, refused.json()["error"]["type"] in ("NotKept", "Refused")) == (422, True)
    assert client.get("/api/terms").json() == []


def test_a_meaning_is_kept_to_the_letter_over_http(client: Any) -> None:
    said = "a \"month\" \u2014 with \u201clow\u201d sales,\n  i.e. below '5' %"
    assert client.post("/api/terms", json={"term": "dull month", "meaning": said}).json()["meaning"] == said
