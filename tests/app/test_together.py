"""Several sources of one conversation at the doors: who may ask which together, and what is had of their answers."""

from __future__ import annotations

import asyncio
import datetime as dt
import io
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.modules.flow.several.conftest import amounts, library, page, planned, revenue, rows  # noqa: F401 - fixtures
from tests.modules.flow.several.test_question import BOTH, TOGETHER

from finexpert.answers.sources.sources import Sources
from finexpert.app.actions.asking import Wish
from finexpert.app.actions.pages import _cited
from finexpert.app.desk import GivenSource
from finexpert.app.mcp.at_desk import DeskBackend
from finexpert.app.mcp.backend import Ask, Reply
from finexpert.app.mcp.local import LocalBackend
from finexpert.app.mcp.results import of_reply
from finexpert.app.server import create_app
from finexpert.core.answers import Citation
from finexpert.errors import NotFound, RecordError
from finexpert.filings.library.library import Library
from finexpert.settings import Settings

TIMES = sum(918273645.5 + n for n in range(6)) / 400


@pytest.fixture
def both(make_office: Any, library: Library) -> Any:  # noqa: F811
    """A desk over the sales and a library of filings."""
    return make_office(further=[GivenSource("Filings", "library", str(library.folder))])


@pytest.fixture
def says(desk: Any, planned: Any, amounts: Any, revenue: Any, rows: Any) -> None:  # noqa: F811
    """The model plans both parts, and reads the page."""
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows()))


def test_an_answer_of_both_is_kept_shown_on_its_page_and_computed_again(both: Any, says: None) -> None:
    desk, ann = both.desk, both.ann
    talk = desk.create(ann, "all")
    answer = both.ask(BOTH, talk.id)
    assert answer.value == TIMES
    assert list(answer.sources) == ["sales", "filings"]
    assert desk.names_of(ann, talk.source) == "Sales, Filings"
    places = [(citation.page, citation.place) for citation in answer.citations]
    number = next(place for place, (page, _) in enumerate(places, 1) if page == "oakgate/2021/page_1")
    assert any("FROM sales" in place for _, place in places)
    assert desk.cited(ann, answer.id, number).id == "oakgate/2021/page_1"
    again = desk.replay(ann, answer.id)
    assert (again.same, again.differences, again.value) == (True, [], TIMES)
    with pytest.raises(RecordError, match="of several sources, sales, filings"):
        desk.export(ann, answer.id)
    with pytest.raises(RecordError, match="of several sources, sales, filings"):
        desk.run_select(ann, answer.id, "SELECT 1", "result")


def test_a_citation_shows_the_page_of_its_own_library(library: Library, tmp_path: Any) -> None:  # noqa: F811
    with Library.open(tmp_path / "older", embedder=library._embedder, make=True) as older:
        older.add([page(1, (), "As it was before")], library.filing("oakgate/2021"))
        together = Sources({"filings": library, "older": older})
        for name, asked in together.libraries.items():
            cited = Citation(source="p. 1", place="x", page="oakgate/2021/page_1", library=name)
            assert _cited(together, cited)[0] is asked
        with pytest.raises(NotFound):
            _cited(together, cited.model_copy(update={"library": "gone"}))


def test_a_question_of_one_is_asked_as_over_that_one_alone(both: Any) -> None:
    desk, ann, question = both.desk, both.ann, "How many months of sales are there by region?"
    alone = both.ask(question)
    talk = desk.create(ann, "Filings, Sales")
    answer = both.ask(question, talk.id)
    assert both.model.layers == ["planning", "planning"]
    assert both.model.prompts[0] == both.model.prompts[1]
    assert (answer.value, list(answer.sources), alone.sources) == (6, ["sales"], {})
    assert desk.replay(ann, answer.id).same
    assert "SELECT" in desk.export(ann, answer.id)
    edited = desk.run_select(ann, answer.id, "SELECT date FROM sales LIMIT 2")
    assert edited.sources == answer.sources
    desk.sessions.close()
    both.model.says("planning", both.model.plan("answer = len(sales) * 2"))
    assert both.ask("And twice the months of sales?", talk.id).value == 12
    assert question in both.model.prompts[-1]


def test_who_may_see_one_of_the_sources_gets_that_one_alone(both: Any) -> None:
    desk, ann, eve = both.desk, both.ann, both.eve
    own = desk.add_source(ann, "Own", file=io.BytesIO(b"a,b\n1,2\n"), filename="own.csv")
    given = [each.id for each in desk.sources(eve)]
    assert desk.create(eve, "all").source == ",".join(given)
    assert desk.create(ann, "all").source == ",".join([*given, own.id])
    for words in (own.id, "Own", f"{given[0]},{own.id}", "Sales,Own"):
        with pytest.raises(NotFound) as theirs:
            desk.create(eve, words)
        nobodys = words.replace(own.id, "x").replace("Own", "x")
        with pytest.raises(NotFound) as nothing:
            desk.create(eve, nobodys)
        assert str(theirs.value).replace(own.id, "x").replace("Own", "x") == str(nothing.value)


def test_no_name_of_a_shared_source_takes_the_place_of_others(both: Any) -> None:
    desk, ann, eve = both.desk, both.ann, both.eve
    for name in ("all", "Sales,Filings", "Sales"):
        desk.add_source(ann, name, file=io.BytesIO(b"a,b\n1,2\n"), filename="a.csv", shared=True)
    sales, filings, *named = [each.id for each in desk.sources(eve)]
    assert desk.meant(eve, "Sales") == sales
    assert desk.meant(eve, "Sales,Filings") == f"{sales},{filings}"
    assert desk.meant(eve, "all") == ",".join([sales, filings, *named])


def test_a_source_that_is_taken_out_is_asked_no_more(both: Any, says: None) -> None:
    """Also by a conversation that was begun while it was there, and whose session is open."""
    desk, ann, ben = both.desk, both.ann, both.ben
    shared = desk.add_source(ann, "Team", file=io.BytesIO(b"a,b\n1,2\n"), filename="team.csv", shared=True)
    talk = desk.create(ben, f"Sales,Filings,{shared.id}")
    first = both.ask(BOTH, talk.id, ben)
    assert first.value == TIMES
    desk.remove_source(ann, shared.id)
    running = desk.start(ben, talk.id, Wish("And now?"))
    assert running.done.wait(20)
    assert "there is no source" in desk.conversation(ben, talk.id)[-1].error
    assert desk.names_of(ben, talk.source) == "Sales, Filings, a source that was removed"
    # What rests on the others is still computed and shown.
    assert desk.replay(ben, first.id).same


def test_rest_and_the_models_of_openai(both: Any, says: None) -> None:
    with TestClient(create_app(both.desk, close=False), base_url="http://127.0.0.1:8400") as client:
        names = [each["id"] for each in client.get("/v1/models").json()["data"]]
        assert names == ["finexpert", "finexpert/Sales", "finexpert/Filings", "finexpert/all"]
        made = client.post("/api/conversations", json={"source": "Sales,Filings"}).json()
        answer = client.post(f"/api/conversations/{made['id']}/ask", json={"question": BOTH}).json()
        assert (answer["value"], list(answer["sources"])) == (TIMES, ["sales", "filings"])
        asked = {"model": "finexpert/all", "messages": [{"role": "user", "content": BOTH}]}
        words = client.post("/v1/chat/completions", json=asked).json()["choices"][0]["message"]["content"]
        assert words.splitlines()[0].endswith(r"\[2\] \[3\]**")
        assert "- [2] Oakgate Water Inc." in words
        assert "FROM sales" in words
        home = client.get("/?source=all", headers={"accept": "text/html"}).text
        assert '<option value="all" selected>All sources</option>' in home
        shown = client.get(f"/c/{made['id']}", headers={"accept": "text/html"}).text
        assert '<b>Sources</b> <span class="untrusted">Sales, Filings</span>' in shown
        assert ("Run again" in shown, "export.py" in shown, "/remember" in shown) == (False, False, False)


def test_mcp_at_the_server(both: Any, says: None) -> None:
    backend = DeskBackend(both.desk, both.ann)

    async def asked(request: Ask) -> Reply:
        told: Any = [each async for each in backend.ask(request)]
        return told[-1]  # type: ignore[no-any-return]

    reply = asyncio.run(asked(Ask(BOTH, source="all")))
    assert reply.facts.value == TIMES
    assert any("Oakgate Water Inc." in line for line in reply.parts.citations)
    on = Ask(BOTH, conversation=reply.facts.conversation, source="Filings,Sales")
    assert asyncio.run(asked(on)).facts.conversation == reply.facts.conversation
    with pytest.raises(NotFound, match="over another source"):
        asyncio.run(asked(Ask(BOTH, conversation=reply.facts.conversation, source="Sales")))


def test_mcp_over_stdio(desk: Any, library: Library, says: None, own_home: Any, monkeypatch: Any) -> None:  # noqa: F811
    desk.lend_sandbox(monkeypatch, "finexpert.app.mcp.talks")
    settings = Settings(as_of=dt.date(2020, 12, 31), cache=False, embedder="words", memory=False)
    backend = LocalBackend({"sales": desk.warehouse, "filings": library}, settings=settings, models=desk.models)

    async def asked(request: Ask) -> Reply:
        told: Any = [each async for each in backend.ask(request)]
        return told[-1]  # type: ignore[no-any-return]

    reply = asyncio.run(asked(Ask(BOTH, source="all")))
    assert reply.facts.value == TIMES
    assert any("Oakgate Water Inc." in line for line in reply.parts.citations)
    assert backend.replay(reply.facts.id).same
    with pytest.raises(NotFound, match="there is no source 'x'"):
        asyncio.run(asked(Ask(BOTH, source="sales,x")))
    backend._talks.close()


NOT_THERE = "missing from filings: What were Oakgate Water's net sales in 2020 and 2021?"


@pytest.fixture
def in_part(desk: Any, planned: Any, amounts: Any, revenue: Any, rows: Any) -> None:  # noqa: F811
    """The model plans both parts, and the pages do not say what is read."""
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows(numbers=[], rows=[], answers="false", missing="net sales")))


def test_a_part_of_an_answer_says_at_every_door_of_a_server_what_is_missing(both: Any, in_part: None) -> None:
    with TestClient(create_app(both.desk, close=False), base_url="http://127.0.0.1:8400") as client:
        made = client.post("/api/conversations", json={"source": "Sales,Filings"}).json()
        answer = client.post(f"/api/conversations/{made['id']}/ask", json={"question": BOTH}).json()
        assert (answer["status"], answer["rows"][0][0]) == ("partial", 2020)
        assert [each["source"] for each in answer["missing"]] == ["filings"]
        assert answer["flags"][0].startswith(NOT_THERE)
        asked = {"model": "finexpert/all", "messages": [{"role": "user", "content": BOTH}]}
        words = client.post("/v1/chat/completions", json=asked).json()["choices"][0]["message"]["content"]
        assert words.startswith("Answered in part.")
        assert "> Note: missing from filings: What were Oakgate" in words
        shown = client.get(f"/c/{made['id']}", headers={"accept": "text/html"}).text
        assert "Answered in part." in shown
        assert "Missing from filings: What were Oakgate" in shown
        assert "918273645" not in shown.replace(",", "").split("Answered in part.")[0]
        assert ("/replay" in shown, "/verify" in shown) == (True, False)
        written = client.get(f"/api/answers/{answer['id']}/table.csv").content.decode("utf-8-sig").splitlines()
        assert (written[0], "missing from filings" in written[1]) == ("year,amount,missing", True)
        again = client.post(f"/api/answers/{answer['id']}/replay").json()
        assert (again["same"], [each["source"] for each in again["missing"]]) == (True, ["filings"])


def test_and_over_mcp(
    both: Any, in_part: None, desk: Any, library: Library, own_home: Any, monkeypatch: Any  # noqa: F811
) -> None:  # fmt: skip
    desk.lend_sandbox(monkeypatch, "finexpert.app.mcp.talks")
    settings = Settings(as_of=dt.date(2020, 12, 31), cache=False, embedder="words", memory=False)
    local = LocalBackend({"sales": desk.warehouse, "filings": library}, settings=settings, models=desk.models)
    for backend in (DeskBackend(both.desk, both.ann), local):

        async def asked(of: Any = backend) -> Reply:
            told: Any = [each async for each in of.ask(Ask(BOTH, source="all"))]
            return told[-1]  # type: ignore[no-any-return]

        reply = asyncio.run(asked())
        assert (reply.facts.status, reply.facts.rows[0][0]) == ("partial", 2020)
        assert [each.source for each in reply.facts.missing] == ["filings"]
        words = str(getattr(of_reply(reply).content[0], "text", ""))
        assert words.startswith("The question is answered in part. Say what is missing")
        assert "missing from filings" in words
        again = backend.replay(reply.facts.id)
        assert (again.same, [each.source for each in again.missing]) == (True, ["filings"])
    local._talks.close()
