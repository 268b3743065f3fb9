"""Real servers: one that is killed under load loses no finished answer, and one that is told to end waits for what is under way."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from finexpert.app.load import LoadServer

OPTIONS = {"questions_per_minute": 100_000, "requests_per_minute": 100_000, "questions_each": 100}
QUESTION = "How many months had an unemployment rate above 5.0 percent?"


async def ask_until_it_dies(server: LoadServer, people: int, answers: int) -> tuple[list[str], dict[str, Any]]:
    """The conversations, and every answer that was shown before the server was killed in the middle."""
    shown: dict[str, Any] = {}
    enough = asyncio.Event()
    conversations = []

    async def person(client: httpx.AsyncClient, conversation: str) -> None:
        while True:
            try:
                reply = await client.post(f"/api/conversations/{conversation}/ask", json={"question": QUESTION})
            except httpx.HTTPError:
                return
            assert reply.status_code == 200, reply.text
            shown[reply.json()["id"]] = reply.json()
            if len(shown) >= answers:
                enough.set()

    async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        source = (await client.get("/api/sources")).json()[0]["id"]
        for _ in range(people):
            conversations.append((await client.post("/api/conversations", json={"source": source})).json()["id"])
        asking = [asyncio.create_task(person(client, each)) for each in conversations]
        await asyncio.wait_for(enough.wait(), 120)
        server.kill()
        await asyncio.gather(*asking)
    return conversations, shown


@pytest.mark.timeout(400)
def test_a_killed_server_loses_no_answer(tmp_path: Path) -> None:
    with LoadServer(tmp_path, 0.3, **OPTIONS) as server:
        server.wait()
        conversations, shown = asyncio.run(ask_until_it_dies(server, 8, 30))
    assert len(shown) >= 30
    with LoadServer(tmp_path, 0.1, **OPTIONS) as server, httpx.Client(base_url=server.address, timeout=60) as client:
        server.wait()
        kept = {
            each["id"]: each for one in conversations for each in client.get(f"/api/conversations/{one}/answers").json()
        }
        assert {id: kept[id] for id in shown} == shown
        given_back = [each for each in kept.values() if each["id"] not in shown]
        assert {each["state"] for each in given_back} <= {"interrupted", "finished"}
        assert any(each["state"] == "interrupted" for each in given_back)
        # Each conversation goes on, from the turns that were finished.
        for conversation in conversations:
            reply = client.post(f"/api/conversations/{conversation}/ask", json={"question": QUESTION})
            assert reply.json()["value"] == next(iter(shown.values()))["value"]


@pytest.mark.timeout(300)
def test_a_server_that_ends_waits_for_what_is_under_way(tmp_path: Path) -> None:
    async def asked_while_it_ends(server: LoadServer) -> httpx.Response:
        async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
            source = (await client.get("/api/sources")).json()[0]["id"]
            conversation = (await client.post("/api/conversations", json={"source": source})).json()["id"]
            asking = asyncio.create_task(
                client.post(f"/api/conversations/{conversation}/ask", json={"question": QUESTION})
            )
            await asyncio.sleep(1)
            server.process.send_signal(signal.SIGTERM)
            return await asking

    with LoadServer(tmp_path, 3, grace_seconds=30, **OPTIONS) as server:
        server.wait()
        reply = asyncio.run(asked_while_it_ends(server))
        assert reply.json()["status"] == "answered"
        assert server.process.wait(60) in (0, -signal.SIGTERM)
