"""Two people at once, over REST and MCP of one real server, each with files of their own under one name: neither is given anything of the other's."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import ElicitResult
from served import running

from finexpert.app.people import access
from finexpert.app.serving import config_of, listen

PEOPLE = {"ann": ("annssecret", 11111), "eve": ("evessecret", 22222)}
ROUNDS = 4


def file_of(name: str) -> bytes:
    """The same table for everybody, but for a word, a number and the name of a column."""
    word, number = PEOPLE[name]
    return f"date,word,{word}column\n2020-01-01,{word},{number}\n2020-02-01,{word},{number}\n".encode()


def planned(desk: Any, prompt: str) -> str:
    """A plan over whichever table the prompt knows."""
    (name,) = [name for name, (word, _) in PEOPLE.items() if f"{word}column" in prompt]
    column = f"{PEOPLE[name][0]}column"
    select = f"SELECT date, word, {column} FROM mine"
    code = f"fig, ax = plt.subplots()\nax.plot(mine['{column}'])\nanswer = int(mine['{column}'].max())"
    unclear = "unclear months" if "unclear months" in prompt and "the user means" not in prompt else ""
    return str(desk.plan(code, select=select, columns=("date", "word", column), frame="mine", unclear=unclear))


class Person:
    """One person's clients; everything that they are told is kept."""

    def __init__(self, base: str, name: str, token: str) -> None:
        self.name, self.base, self.told = name, base, [""]
        self.headers = {"authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=base, headers=self.headers, timeout=60)

    def get(self, path: str) -> Any:
        reply = self.http.get(path)
        self.told.append(reply.text)
        return reply.json() if reply.headers.get("content-type", "").startswith("application/json") else reply.text

    def post(self, path: str, **body: Any) -> Any:
        reply = self.http.post(path, json=body)
        self.told.append(reply.text)
        assert reply.status_code < 400, reply.text
        return reply.json()

    def send(self) -> None:
        sent = self.http.post(
            "/api/sources/file", files={"file": ("mine.csv", file_of(self.name))}, data={"name": "Mine"}
        )
        assert sent.status_code == 201, sent.text

    def over_rest(self, number: int) -> None:
        conversation = self.post("/api/conversations", source="Mine", name=f"{self.name} {number}")["id"]
        answer = self.post(f"/api/conversations/{conversation}/ask", question=f"How many of {self.name}, {number}?")
        assert answer["value"] == PEOPLE[self.name][1], answer
        self.http.put(
            f"/api/answers/{answer['id']}/feedback", json={"up": False, "reason": f"{PEOPLE[self.name][0]} said"}
        )
        for path in ("", "/record", "/export", "/figures/1.png"):
            self.get(f"/api/answers/{answer['id']}{path}")
        for path in (
            "/api/conversations",
            f"/api/conversations?search={self.name}",
            "/api/answers/feedback",
            "/api/sources",
            "/knowledge",
            "/",
        ):
            self.get(path)

    def over_mcp(self, number: int, mode: str) -> None:
        asked: list[str] = []

        async def reply(context: Any, params: Any) -> ElicitResult:
            asked.append(str(params))
            return ElicitResult(action="accept", content={"meaning": f"months of {PEOPLE[self.name][0]}"})

        async def main() -> None:
            http = create_mcp_http_client(headers=self.headers)
            client = Client(
                streamable_http_client(f"{self.base}/mcp", http_client=http), mode=mode, elicitation_callback=reply
            )
            async with http, client:
                question = f"How many unclear months of {self.name}, {number}?"
                answer = await client.call_tool("ask", {"question": question, "source": "Mine"})
                self.told += [answer.model_dump_json(), *asked]
                facts = answer.structured_content or {}
                assert facts.get("value") == PEOPLE[self.name][1], facts
                for address in (facts["record"], *facts["charts"]):
                    self.told.append((await client.read_resource(address)).model_dump_json())
                for tool in ("show_schema", "lookup_term"):
                    self.told.append(
                        (await client.call_tool(tool, {"term": "months"} if "term" in tool else {})).model_dump_json()
                    )

        asyncio.run(main())
        assert len(asked) == 1


@pytest.mark.timeout(180)
def test_nobody_is_given_anything_of_who_asks_beside_them(make_office: Any, desk: Any) -> None:
    listening = listen("127.0.0.1", 0)
    base = f"http://127.0.0.1:{listening.getsockname()[1]}"
    office = make_office(login=True, questions_per_minute=1_000)
    desk.says("planning", lambda prompt: planned(desk, prompt))
    made: dict[str, Person] = {}
    with running(config_of(office.desk), listening):
        for name in PEOPLE:
            _, token = access.make_token(office.desk.state, name, role="owner", team="local", days=1, made_by="test")
            made[name] = Person(base, name, token)
            made[name].send()
        with ThreadPoolExecutor(8) as pool:
            under_way = [
                pool.submit(act, *given)
                for number in range(ROUNDS)
                for person in made.values()
                for act, given in (
                    (person.over_rest, (number,)),
                    (person.over_mcp, (number, ("legacy", "2026-07-28")[number % 2])),
                )
            ]
            for each in under_way:
                each.result()
        for person in made.values():
            person.http.close()
    for name, person in made.items():
        (other,) = set(PEOPLE) - {name}
        said = "\n".join(person.told)
        assert PEOPLE[name][0] in said
        for secret in (PEOPLE[other][0], str(PEOPLE[other][1]), f"of {other}", f'"{other} '):
            assert secret not in said, json.dumps([text for text in person.told if secret in text])[:2_000]
