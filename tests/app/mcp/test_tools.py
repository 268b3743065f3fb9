"""Every tool and resource, as a client of the SDK sees them, with both kinds of the protocol."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextResourceContents

MODES = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
Call = Callable[..., CallToolResult]

CHART = """
figure, axes = plt.subplots()
axes.plot(sales["amount"])
answer = len(sales)
"""


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


@MODES
def test_the_tools_are_those_that_are_promised(talk: Any, mode: str) -> None:
    async def act(client: Client) -> Any:
        return (await client.list_tools()).tools, (await client.list_resource_templates()).resource_templates

    tools, templates = talk(act, mode=mode)
    assert {tool.name for tool in tools} == {
        "ask", "search_filings", "read_page", "show_schema", "lookup_term", "list_processes", "replay", "verify",
    }  # fmt: skip
    assert all(tool.annotations.read_only_hint is (tool.name != "verify") for tool in tools)
    assert all(tool.output_schema for tool in tools)
    assert {template.name for template in templates} == {"record", "chart", "page"}


@MODES
def test_an_answer_has_words_facts_progress_and_addresses(desk: Any, talk: Any, mode: str) -> None:
    desk.says("planning", desk.plan())
    stages: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        stages.append(message)

    async def act(client: Client) -> CallToolResult:
        return await client.call_tool("ask", {"question": "How many sales?"}, progress_callback=hear)

    result: CallToolResult = talk(act, mode=mode)
    facts = result.structured_content
    assert facts is not None
    assert (facts["status"], facts["value"], facts["text"]) == ("answered", 6, "6")
    assert "**6**" in text_of(result)
    assert stages[0] == "understanding"
    assert "planning" in stages
    (link,) = [block for block in result.content if block.type == "resource_link"]
    assert link.uri == facts["record"] == f"finexpert://records/{facts['id']}"


def test_a_table_is_cut_and_says_so(desk: Any, call: Call) -> None:
    select = "SELECT range AS n, 'a|b' AS t FROM range(120)"
    desk.says("planning", desk.plan(code="answer = n", kind="table", select=select, columns=("n", "t"), frame="n"))
    result = call("ask", {"question": "Which numbers?"})
    facts = result.structured_content
    assert facts is not None
    assert (facts["value"], facts["row_count"], len(facts["rows"])) == (None, 120, 50)
    assert "The first 50 of 120 rows." in text_of(result)
    assert "a\\|b" in text_of(result)


def test_a_chart_is_a_picture_and_a_resource(desk: Any, talk: Any) -> None:
    desk.says("planning", desk.plan(code=CHART))

    async def act(client: Client) -> Any:
        result = await client.call_tool("ask", {"question": "Plot the sales."})
        return result, await client.read_resource(result.structured_content["charts"][0])

    result, chart = talk(act)
    (picture,) = [block for block in result.content if block.type == "image"]
    assert base64.b64decode(picture.data).startswith(b"\x89PNG")
    assert chart.contents[0].blob == picture.data


def test_a_follow_up_knows_what_was_asked(desk: Any, talk: Any) -> None:
    desk.says("planning", desk.plan())

    async def act(client: Client) -> Any:
        first = await client.call_tool("ask", {"question": "How many sales?"})
        id = first.structured_content["conversation"]
        again = await client.call_tool("ask", {"question": "And in the north?", "conversation": id})
        fresh = await client.call_tool("ask", {"question": "And in the south?"})
        return id, again.structured_content["conversation"], fresh.structured_content["conversation"]

    first, again, fresh = talk(act)
    assert first == again != fresh
    _, second, third = desk.of("planning")
    assert "How many sales?" in second
    assert "How many sales?" not in third


def test_as_of_goes_with_the_question(desk: Any, call: Call) -> None:
    desk.says("planning", desk.plan())
    facts = call("ask", {"question": "How many sales?", "as_of": "2020-03-01"}).structured_content
    assert facts is not None
    assert facts["value"] == 3


def test_no_answer_is_said_to_be_none(desk: Any, call: Call) -> None:
    desk.says("planning", desk.plan(select="SELECT nothing FROM nowhere"))
    desk.says("sql_extraction", desk.fields(selects=[]))
    result = call("ask", {"question": "How many sales?"})
    assert not result.is_error
    assert result.structured_content is not None
    assert result.structured_content["status"] == "failed"
    assert "There is no answer (failed). Do not make one up." in text_of(result)


def test_filings_are_asked_searched_and_read(desk: Any, talk: Any) -> None:
    steps = [{"kind": "cell", "id": 1, "row": "net revenue", "column": "2022"}]
    desk.says("page", desk.fields(answers="true", entity="net revenue", steps=steps, answer="step 1"))

    async def act(client: Client) -> Any:
        asked = await client.call_tool(
            "ask", {"question": "What was the net revenue of Harborlight Ferries in 2022?", "source": "library"}
        )
        found = await client.call_tool(
            "search_filings", {"phrases": ["net revenue"], "company": "Harborlight", "year": 2022, "limit": 1}
        )
        page = found.structured_content["pages"][0]["page"]
        read = await client.call_tool("read_page", {"page": page})
        resource = await client.read_resource(f"finexpert://pages/library/{page}")
        schema = await client.call_tool("show_schema", {"source": "library"})
        again = await client.call_tool("replay", {"id": asked.structured_content["id"]})
        return asked, page, read, resource, schema, again

    asked, page, read, resource, schema, again = talk(act)
    facts = asked.structured_content
    assert (facts["value"], facts["unit"], facts["text"]) == (412.0, "million USD", "412.00 million USD [1]")
    assert facts["citations"][0]["page"] == page == "HRBX/2022/page_4.pdf"
    assert "**412.00 million USD \\[1\\]**" in text_of(asked)
    assert "1. Harborlight Ferries Inc., FY 2022, p. 4: net revenue / 2022" in text_of(asked)
    assert "net revenue | c1=$ 412" in read.structured_content["text"]
    assert resource.contents[0].text == read.structured_content["text"]
    assert "3 filings" in schema.structured_content["text"]
    assert again.structured_content == {"same": True, "text": "412.00 million USD", "missing": [], "differences": []}


def test_a_search_embeds_nothing_while_a_client_waits(
    library: Any, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def embedded(*_: object) -> None:
        raise AssertionError("a chunk was embedded")

    assert library.chunks_to_index()
    monkeypatch.setattr(type(library._embedder), "embed", embedded)
    found = call("search_filings", {"phrases": ["net revenue"]}).structured_content
    assert found is not None
    assert found["pages"]


def test_a_long_page_is_read_in_parts(backend: Any, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = backend.page("library", "HRBX/2022/page_4.pdf").text
    monkeypatch.setattr("finexpert.app.mcp.looking._MOST_TEXT", 100)
    parts, start = [], 0
    while start is not None:
        read = call("read_page", {"page": "HRBX/2022/page_4.pdf", "start": start}).structured_content
        assert read is not None
        parts.append(read["text"])
        start = read["next"]
    assert "".join(parts) == whole


def test_a_schema_lists_sources_and_columns_and_no_value(desk: Any, call: Call) -> None:
    shown = call("show_schema", {}).structured_content
    assert shown is not None
    assert [source["name"] for source in shown["sources"]] == ["data", "library"]
    assert "note" in shown["text"]
    assert not any(canary in json.dumps(shown) for canary in desk.canaries)


def test_terms_and_processes_are_shown(desk: Any, backend: Any, call: Call) -> None:
    from finexpert.knowledge.glossary import Keyword
    from finexpert.knowledge.process import Process, ProcessStep

    store = backend._taught
    store.glossary.define(Keyword(term="stress month", meaning="a month with few sales"), by="anna")
    store.memory.add(Process(heading="Month count", steps=[ProcessStep(text="Count the months.")]), by="anna")
    terms = call("lookup_term", {"term": "How many stress months were there?"}).structured_content
    assert terms is not None
    assert terms["found"] == [
        {
            "term": "stress month",
            "kind": "term",
            "meaning": "a month with few sales",
            "aliases": [],
            "taught_by": terms["found"][0]["taught_by"],
        }
    ]
    processes = call("list_processes", {}).structured_content
    assert processes is not None
    assert [(each["heading"], each["status"]) for each in processes["processes"]] == [("Month count", "draft")]
    assert processes["all"] == 1


def test_what_is_proposed_is_a_draft_that_answers_nothing(desk: Any, backend: Any, call: Call) -> None:
    select = "SELECT count(*) AS n FROM sales WHERE region = 'north'"
    desk.says("planning", desk.plan("", "integer", select, ("n",), "months"))
    facts = call("ask", {"question": "How many months in the north?"}).structured_content
    assert facts is not None
    proposed = call("verify", {"id": facts["id"]}).structured_content
    assert proposed is not None
    assert "finexpert verified activate" in proposed["next"]
    assert [query.status for query in backend._taught.verified.items()] == ["draft"]
    before = len(desk.calls)
    call("ask", {"question": "How many months in the north?"})
    assert len(desk.calls) > before
    backend._taught.verified.activate(proposed["id"], "anna")
    before = len(desk.calls)
    call("ask", {"question": "How many months in the north?"})
    assert len(desk.calls) == before


def test_a_record_is_read_and_computed_again(desk: Any, talk: Any) -> None:
    desk.says("planning", desk.plan())

    async def act(client: Client) -> Any:
        facts = (await client.call_tool("ask", {"question": "How many sales?"})).structured_content
        assert facts is not None
        record = await client.read_resource(facts["record"])
        again = await client.call_tool("replay", {"id": facts["id"]})
        return record.contents[0], again.structured_content

    contents, again = talk(act)
    assert isinstance(contents, TextResourceContents)
    record = json.loads(contents.text)
    assert (record["question"], record["value"]) == ("How many sales?", 6)
    assert not any(canary in contents.text for canary in desk.canaries)
    assert again == {"same": True, "text": "6", "missing": [], "differences": []}


def test_the_oldest_conversation_is_forgotten(desk: Any, talk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("finexpert.app.mcp.talks.MOST_TALKS", 2)
    desk.says("planning", desk.plan())

    async def act(client: Client) -> Any:
        ids = []
        for _ in range(3):
            result = await client.call_tool("ask", {"question": "How many sales?"})
            ids.append(result.structured_content["conversation"])
        return [await client.call_tool("ask", {"question": "Again?", "conversation": id}) for id in ids]

    oldest, *rest = talk(act)
    assert oldest.is_error
    assert "there is no conversation 'c1' any more: ask without one" in text_of(oldest)
    assert not any(result.is_error for result in rest)
