"""`/mcp` of a server, with the SDK's own client over HTTP: the demos, questions back, who may do what, and who sees what."""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
import uvicorn
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import CallToolResult, ElicitResult
from served import running

from finexpert.app.desk import Desk as Server
from finexpert.app.desk import GivenSource, local_person
from finexpert.app.options import ServeOptions
from finexpert.app.people.people import Role
from finexpert.app.server import create_app
from finexpert.filings.library.library import Library
from finexpert.settings import Settings

MODES = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
Act = Callable[[Client], Awaitable[Any]]


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


class Served:
    """A server on a free port, and clients of it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.stack = ExitStack()
        self.stack.callback(server.close)
        config = uvicorn.Config(create_app(server, close=False), port=0, log_level="error")
        host, port = self.stack.enter_context(running(config))
        self.address = f"http://{host}:{port}/mcp"

    def talk(self, act: Act, token: str | None = None, **options: Any) -> Any:
        headers = {"authorization": f"Bearer {token}"} if token else {}

        async def main() -> Any:
            http = create_mcp_http_client(headers=headers)
            async with http, Client(streamable_http_client(self.address, http_client=http), **options) as client:
                return await act(client)

        return asyncio.run(main())

    def call(self, tool: str, arguments: dict[str, Any], token: str | None = None, **options: Any) -> CallToolResult:
        async def act(client: Client) -> CallToolResult:
            return await client.call_tool(tool, arguments)

        result: CallToolResult = self.talk(act, token, **options)
        return result

    def token(self, name: str, role: Role) -> str:
        _, secret = self.server.make_token(local_person(), name, role=role, days=1)
        return secret

    def close(self) -> None:
        self.stack.close()


@pytest.fixture
def serve(desk: Any, library: Library, own_home: Any) -> Iterator[Callable[..., Served]]:
    opened: list[Served] = []

    def start(**options: Any) -> Served:
        settings = Settings(as_of=dt.date(2020, 12, 31), cache=False, embedder="words", ask_below=0)
        given = [
            GivenSource("sales", "data", str(desk.warehouse.path)),
            GivenSource("filings", "library", str(library.folder)),
        ]
        server = Server(settings, ServeOptions(**options), given=given, models=desk.models, sandbox=desk.sandbox)
        opened.append(Served(server))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


@MODES
def test_tables_and_filings_are_asked(desk: Any, serve: Callable[..., Served], mode: str) -> None:
    steps = [{"kind": "cell", "id": 1, "row": "net revenue", "column": "2022"}]
    desk.says("planning", desk.plan())
    desk.says("page", desk.fields(answers="true", entity="net revenue", steps=steps, answer="step 1"))
    stages: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        stages.append(message)

    async def act(client: Client) -> Any:
        schema = await client.call_tool("show_schema", {})
        sales = await client.call_tool("ask", {"question": "How many sales?"}, progress_callback=hear)
        again = await client.call_tool("replay", {"id": sales.structured_content["id"]})
        record = await client.read_resource(sales.structured_content["record"])
        filing = await client.call_tool(
            "ask", {"question": "What was the net revenue of Harborlight Ferries in 2022?", "source": "filings"}
        )
        found = await client.call_tool("search_filings", {"phrases": ["net revenue"], "company": "HRBX", "year": 2022})
        page = await client.read_resource("finexpert://pages/filings/HRBX/2022/page_4.pdf")
        return schema, sales, again, record, filing, found, page

    schema, sales, again, record, filing, found, page = serve().talk(act, mode=mode)
    assert [each["name"] for each in schema.structured_content["sources"]] == ["sales", "filings"]
    assert (sales.structured_content["value"], text_of(sales).count("**6**")) == (6, 1)
    assert "planning" in stages
    assert again.structured_content == {"same": True, "text": "6", "missing": [], "differences": []}
    assert '"How many sales?"' in record.contents[0].text
    assert filing.structured_content["text"] == "412.00 million USD [1]"
    assert found.structured_content["pages"][0]["page"] == "HRBX/2022/page_4.pdf"
    assert "$ 412" in page.contents[0].text


def test_the_sample_economy_is_asked_with_recorded_completions(own_home: Any) -> None:
    server = Server(Settings(as_of=dt.date(2024, 9, 30), lm="recorded"), ServeOptions())
    served = Served(server)
    try:
        question = "How many recessions have there been in the last 30 years?"
        facts = served.call("ask", {"question": question, "assume": True}).structured_content
    finally:
        served.close()
    assert facts is not None
    assert (facts["text"], facts["flags"]) == ("3 recessions", ["sample economy: made-up numbers"])


@MODES
def test_a_question_back_is_a_form_over_http_too(desk: Any, serve: Callable[..., Served], mode: str) -> None:
    desk.says("planning", desk.plan(unclear="harbour months"))
    asked: list[Any] = []

    async def reply(context: Any, params: Any) -> ElicitResult:
        asked.append(params)
        return ElicitResult(action="accept", content={"meaning": "a month with two ships"})

    served = serve()
    result = served.call("ask", {"question": "How many harbour months?"}, mode=mode, elicitation_callback=reply)
    facts = result.structured_content
    assert facts is not None
    assert (len(asked), facts["status"], facts["value"]) == (1, "answered", 6)
    assert "a month with two ships" in desk.of("planning")[-1]
    assert not served.server.terms(local_person())


@MODES
def test_a_value_is_chosen_by_the_person_over_http_too(desk: Any, serve: Callable[..., Served], mode: str) -> None:
    desk.says("planning", desk.plan(select="SELECT date, region, amount FROM sales WHERE note = 'nowhere'"))

    async def reply(context: Any, params: Any) -> ElicitResult:
        (value, *_) = params.requested_schema["properties"]["meaning"]["enum"]
        return ElicitResult(action="accept", content={"meaning": value})

    served = serve()
    chosen = served.call("ask", {"question": "How many nowhere?"}, mode=mode, elicitation_callback=reply)
    assert chosen.structured_content is not None
    assert chosen.structured_content["value"] == 1
    asked = served.call("ask", {"question": "How many nowhere?"}, mode=mode)
    assert asked.structured_content is not None
    assert asked.structured_content["status"] == "needs_clarification"
    assert not any(canary in asked.model_dump_json() for canary in desk.canaries)


def test_a_follow_up_goes_on_in_the_conversation_of_the_page(desk: Any, serve: Callable[..., Served]) -> None:
    desk.says("planning", desk.plan())
    served = serve()
    first = served.call("ask", {"question": "How many sales?"}).structured_content
    assert first is not None
    served.call("ask", {"question": "And in the north?", "conversation": first["conversation"]})
    (conversation,) = served.server.conversations(local_person())
    assert (conversation.id, conversation.answers) == (first["conversation"], 2)


def test_without_a_token_nothing_is_answered(serve: Callable[..., Served]) -> None:
    served = serve(login=True)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for headers in ({}, {"authorization": "Bearer fx_wrong"}, {"authorization": "Basic YTpi"}):
        reply = httpx.post(served.address, json=message, headers=headers)
        assert reply.status_code == 401
        assert "ask" not in reply.text.replace("asked", "")


def test_a_page_of_another_site_and_another_host_are_refused(serve: Callable[..., Served]) -> None:
    served = serve()
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for headers in ({"origin": "https://evil.example"}, {"host": "evil.example"}):
        assert httpx.post(served.address, json=message, headers=headers).status_code in (400, 403)


def test_what_belongs_to_another_person_is_not_there(desk: Any, serve: Callable[..., Served]) -> None:
    desk.says("planning", desk.plan(code="plt.plot([1, 2])\nanswer = len(sales)"))
    served = serve(login=True)
    ann, eve = served.token("ann", "owner"), served.token("eve", "owner")
    facts = served.call("ask", {"question": "How many sales?"}, ann).structured_content
    assert facts is not None
    for tool, arguments in (
        ("replay", {"id": facts["id"]}),
        ("ask", {"question": "And now?", "conversation": facts["conversation"]}),
    ):
        refused = served.call(tool, arguments, eve)
        assert refused.is_error
        unknown = served.call(
            tool, {name: "x" if name != "question" else text for name, text in arguments.items()}, eve
        )
        assert text_of(refused).split("'")[0] == text_of(unknown).split("'")[0]

    async def act(client: Client) -> list[str]:
        said = []
        for address in (facts["record"], *facts["charts"]):
            try:
                await client.read_resource(address)
            except MCPError as error:
                said.append(str(error))
        return said

    assert len(served.talk(act, eve)) == 2
    assert served.talk(act, ann) == []


def test_a_session_is_of_who_began_it(serve: Callable[..., Served]) -> None:
    served = serve(login=True)
    ann, eve = served.token("ann", "owner"), served.token("eve", "owner")
    accept = {"accept": "application/json, text/event-stream"}
    first = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    begun = httpx.post(served.address, json=first, headers=accept | {"authorization": f"Bearer {ann}"})
    assert begun.status_code == 200
    session = {"mcp-session-id": begun.headers["mcp-session-id"]}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    codes = [
        httpx.post(
            served.address, json=listing, headers=accept | session | {"authorization": f"Bearer {token}"}
        ).status_code
        for token in (eve, ann)
    ]
    assert codes == [404, 200]


def test_a_reader_asks_and_teaches_nothing(desk: Any, serve: Callable[..., Served]) -> None:
    desk.says("planning", desk.plan(unclear="harbour months"))

    async def reply(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"meaning": "a month with two ships", "keep": True})

    served = serve(login=True)
    question = {"question": "How many harbour months?"}
    reader = served.call("ask", question, served.token("eve", "reader"), mode="legacy", elicitation_callback=reply)
    assert reader.structured_content is not None
    assert reader.structured_content["status"] == "answered"
    assert not served.server.terms(local_person())
    # What a form brings is kept for nobody: a client can fill it in without its person.
    served.call("ask", question, served.token("ben", "teacher"), mode="legacy", elicitation_callback=reply)
    assert not served.server.terms(local_person())


def test_who_goes_away_cancels_the_question(desk: Any, serve: Callable[..., Served]) -> None:
    begun = threading.Event()

    def slow(prompt: str) -> str:
        begun.set()
        time.sleep(1)
        return str(desk.plan())

    desk.says("planning", slow)
    served = serve()

    async def act(client: Client) -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.call_tool("ask", {"question": "How many sales?"}), 0.5)
        await asyncio.to_thread(begun.wait, 10)

    served.talk(act)
    for _ in range(200):
        (conversation,) = served.server.conversations(local_person())
        answers = served.server.conversation(local_person(), conversation.id)
        if answers and answers[0].state != "running":
            break
        time.sleep(0.05)
    assert answers[0].state == "cancelled"


def test_a_large_request_is_refused(serve: Callable[..., Served]) -> None:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "ask", "arguments": {"question": "x" * 1_100_000}},
    }
    assert httpx.post(serve().address, json=message).status_code == 413


def test_a_question_that_is_refused_leaves_no_conversation(desk: Any, serve: Callable[..., Served]) -> None:
    desk.says("planning", desk.plan())
    served = serve(questions_per_minute=1)
    assert not served.call("ask", {"question": "How many months?"}).is_error
    refused = served.call("ask", {"question": "How many months?"})
    assert refused.is_error
    assert "in a minute" in text_of(refused)
    assert len(served.server.conversations(local_person())) == 1
