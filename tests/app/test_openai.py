"""The program as a model of OpenAI's API: listed, asked, streamed, gone on with, asked back."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from starlette.testclient import TestClient

from finexpert.app.server import create_app

ASKED = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "How many months?"}]


def said(client: Any, messages: Any, **more: Any) -> dict[str, Any]:
    reply = client.post("/v1/chat/completions", json={"model": "finexpert", "messages": messages, **more})
    assert reply.status_code == 200, reply.text
    return reply.json()  # type: ignore[no-any-return]


def words(completion: dict[str, Any]) -> str:
    return completion["choices"][0]["message"]["content"]  # type: ignore[no-any-return]


def test_models(client: Any) -> None:
    assert [each["id"] for each in client.get("/v1/models").json()["data"]] == ["finexpert", "finexpert/Sales"]
    assert client.get("/v1/models/finexpert/Sales").json()["object"] == "model"
    assert client.get("/v1/models/gpt-5").status_code == 404


def test_an_answer(client: Any) -> None:
    told = said(client, ASKED, temperature=0.3, user="x")
    assert words(told).startswith("**6**")
    assert "/record" in words(told)
    assert told["choices"][0]["finish_reason"] == "stop"
    assert told["usage"]["total_tokens"] > 0


def test_a_table_and_a_chart(client: Any, office: Any) -> None:
    office.model.says("planning", office.model.plan("", kind="table"))
    shown = words(said(client, ASKED))
    assert shown.startswith("| date | region | amount |\n| :-- | :-- | --: |\n| 2020-01-01 | north |")
    code = "fig, ax = plt.subplots()\nax.plot(sales['date'], sales['amount'])\nanswer = len(sales)"
    office.model.says("planning", office.model.plan(code))
    shown = words(said(client, [{"role": "user", "content": "Plot it"}]))
    address = shown.partition("![Chart 1](")[2].partition(")")[0]
    assert client.get(address).content.startswith(b"\x89PNG")


def test_a_chat_goes_on_in_its_conversation(client: Any, office: Any) -> None:
    model = office.model
    model.says("planning", model.plan(), model.plan("answer = len(sales) * 2", select=None))
    first = said(client, ASKED)
    more = [*ASKED, {"role": "assistant", "content": words(first)}, {"role": "user", "content": "Twice that?"}]
    second = words(said(client, more))
    assert second.startswith("**12**")
    assert "were not asked here" not in second
    # The same chat once more, from its first answer on: another conversation, which knows the question alone.
    model.says("planning", model.plan("answer = len(sales) * 3"))
    again = words(said(client, more))
    assert "were not asked here" in again
    assert "How many months?" in model.prompts[-1]


def test_a_long_chat_goes_on_in_its_conversation_and_what_is_told_of_it_is_short(client: Any, office: Any) -> None:
    model = office.model
    model.says("planning", model.plan(), model.plan("answer = len(sales) * 2", select=None))
    began = [{"role": "user", "content": f"{number} {'x' * 900}"} for number in range(500)]
    first = said(client, [*began, *ASKED])
    assert "were not asked here" in words(first)
    assert 3_900 < model.prompts[-1].count("x") < 4_100
    more = [*began, *ASKED, {"role": "assistant", "content": words(first)}, {"role": "user", "content": "Twice that?"}]
    second = words(said(client, more))
    assert second.startswith("**12**")
    assert "were not asked here" not in second


def test_a_question_back_is_replied_to_by_number(client: Any, office: Any) -> None:
    wrong = "SELECT date, region, amount FROM sales WHERE region = 'nroth' ORDER BY date"
    office.model.says("planning", office.model.plan(select=wrong))
    asked = words(said(client, ASKED))
    assert "1. north" in asked
    more = [*ASKED, {"role": "assistant", "content": asked}, {"role": "user", "content": "1"}]
    assert words(said(client, more)).startswith("**3**")


@pytest.mark.parametrize("number", ["\u00b2", "9" * 5_000, "0", "2,5"])
def test_a_reply_that_is_no_number_of_the_list_is_words(client: Any, office: Any, number: str) -> None:
    wrong = "SELECT date, region, amount FROM sales WHERE region = 'nroth' ORDER BY date"
    office.model.says("planning", office.model.plan(select=wrong))
    asked = words(said(client, ASKED))
    more = [*ASKED, {"role": "assistant", "content": asked}, {"role": "user", "content": number}]
    office.model.says("sql_extraction", office.model.fields(selects=[]))
    assert client.post("/v1/chat/completions", json={"messages": more}).status_code == 200


def test_streaming(client: Any) -> None:
    body = {"model": "finexpert", "messages": ASKED, "stream": True, "stream_options": {"include_usage": True}}
    with client.stream("POST", "/v1/chat/completions", json=body) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        lines = [line.removeprefix("data: ") for line in reply.iter_lines() if line]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas).startswith("**6**")
    assert any("Planning" in delta.get("reasoning_content", "") for delta in deltas)
    assert chunks[-1]["usage"]["total_tokens"] > 0
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks if chunk["choices"]][-1] == "stop"


def test_a_stream_is_never_silent_for_long(client: Any, office: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("finexpert.app.openai_api._PAUSE_SECONDS", 0.05)
    plan = office.model.plan()

    def slow(prompt: str) -> str:
        time.sleep(0.5)
        return str(plan)

    office.model.says("planning", slow)
    body = {"messages": ASKED, "stream": True}
    with client.stream("POST", "/v1/chat/completions", json=body) as reply:
        lines = [line for line in reply.iter_lines() if line]
    assert lines.count(": a model is at work") >= 3
    # A comment of the protocol, which no client reads as a chunk.
    assert all(line.startswith(("data: ", ": ")) for line in lines)
    assert lines[-1] == "data: [DONE]"


def test_a_day_and_an_error_in_the_stream(client: Any, office: Any) -> None:
    assert words(said(client, ASKED, as_of="2020-03-31")).startswith("**3**")

    def gone(prompt: str) -> str:
        raise RuntimeError("no model")

    office.model.says("planning", gone)
    with client.stream("POST", "/v1/chat/completions", json={"messages": ASKED, "stream": True}) as reply:
        assert any('"error"' in line for line in reply.iter_lines())


@pytest.mark.parametrize(
    "body", [{}, {"messages": []}, {"messages": ASKED, "n": 2}, {"messages": ASKED, "model": "gpt-5"}]
)
def test_what_cannot_be_asked(client: Any, body: dict[str, Any]) -> None:
    reply = client.post("/v1/chat/completions", json=body)
    assert 400 <= reply.status_code < 500
    assert reply.json()["error"]["message"]


def test_the_state_is_read_beside_the_loop(client: Any, office: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that is slow holds up who asks it, and nobody else."""
    read_in_loop, sources = [], office.desk.sources

    def slow(person: Any) -> Any:
        try:
            asyncio.get_running_loop()
            read_in_loop.append(person)
        except RuntimeError:
            pass
        return sources(person)

    monkeypatch.setattr(office.desk, "sources", slow)
    said(client, ASKED)
    assert not read_in_loop


def test_a_question_that_is_refused_leaves_no_conversation(office: Any, make_office: Any) -> None:
    busy = make_office(questions_per_minute=1)
    with TestClient(create_app(busy.desk, close=False), base_url="http://127.0.0.1:8400") as client:
        assert words(said(client, ASKED)).startswith("**6**")
        assert client.post("/v1/chat/completions", json={"messages": ASKED}).status_code == 429
        assert [each["answers"] for each in client.get("/api/conversations").json()] == [1]
