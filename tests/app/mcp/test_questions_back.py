"""Questions back to the person: a form where the client can show one, with both kinds of the protocol, else the result of the tool."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult

from finexpert.app.mcp.local import LocalBackend
from finexpert.app.mcp.shown import for_models, record_text
from finexpert.app.state.stored import StoredAnswer
from finexpert.core.answers import Clarification, Failure
from finexpert.core.reviews import UNSURE
from finexpert.knowledge.collection import EVERY

MODES = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
QUESTION = "How many harbour months were there?"


class Person:
    """Replies to forms, and keeps what they were asked."""

    def __init__(self, *replies: ElicitResult) -> None:
        self.replies, self.asked = list(replies), list[ElicitRequestParams]()

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params)
        return self.replies.pop(0)


def accept(**content: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


def unknown_term(desk: Any) -> None:
    def plan(prompt: str) -> str:
        follows = tuple(desk.known_here(prompt).values())
        return str(desk.plan(follows=follows, unclear="" if "two ships" in prompt else "harbour months"))

    desk.says("planning", plan)


def unknown_value(desk: Any) -> None:
    wrong = "SELECT date, region, amount FROM sales WHERE note = 'nowhere'"
    desk.says("planning", desk.plan(select=wrong))


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


@pytest.fixture
def ask(talk: Callable[..., Any]) -> Callable[..., CallToolResult]:
    def run(arguments: dict[str, Any], person: Person | None = None, mode: str = "auto") -> CallToolResult:
        async def act(client: Client) -> CallToolResult:
            return await client.call_tool("ask", {"question": QUESTION} | arguments)

        result: CallToolResult = talk(act, mode=mode, elicitation_callback=person)
        return result

    return run


@MODES
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"keep": True},
        {"keep": "true"},
        {"keep": True, "status": "active", "by": "anna"},
        {"keep": True, "scope": ""},
        {"Keep": True, "offers": ["1"]},
    ],
    ids=str,
)
def test_a_term_is_asked_back_and_kept_nowhere_whatever_the_client_fills_in(
    desk: Any, backend: LocalBackend, ask: Any, mode: str, more: dict[str, Any]
) -> None:
    unknown_term(desk)
    person = Person(accept(meaning="a month with two ships", **more))
    result = ask({}, person, mode)
    facts = result.structured_content
    assert (facts["status"], facts["value"]) == ("answered", 6)
    (form,) = person.asked
    assert form.message == "What do you mean by 'harbour months'?"
    assert set(form.requested_schema["properties"]) == {"meaning"}  # type: ignore[union-attr]
    assert "a month with two ships" in desk.of("planning")[-1]
    ask({"conversation": facts["conversation"], "question": "And in all?"}, person, mode)  # to ask on accepts nothing
    assert kept_terms(backend) == {}


def kept_terms(backend: LocalBackend) -> dict[str, str]:
    """What stands in the glossary, in use or not."""
    return {each.term: each.status for each in backend._taught.glossary.keywords(EVERY)}  # type: ignore[union-attr]


@pytest.mark.parametrize("then", ["keep it", "Yes, keep it please", "keep 1", "keep them", "OK keep that"])
def test_what_a_client_explains_in_passing_is_not_offered_and_not_kept(
    desk: Any, backend: LocalBackend, ask: Any, then: str
) -> None:
    desk.says("planning", desk.plan())
    desk.says("keyword_rephrasing", desk.terms())
    desk.says("listening", desk.lessons({"term": "slow months", "quotes": ["those below five"]}))
    first = ask({"question": "By slow months we mean those below five. How many were there?"}).structured_content
    second = ask({"question": then, "conversation": first["conversation"]}).structured_content
    assert (first["status"], second["status"]) == ("answered", "answered")
    assert "listening" not in desk.layers
    assert kept_terms(backend) == {}


@MODES
def test_who_declines_gets_an_answer_on_an_assumption(desk: Any, ask: Any, mode: str) -> None:
    unknown_term(desk)
    result = ask({}, Person(ElicitResult(action="decline")), mode)
    assert result.structured_content["status"] == "answered"


def test_who_cancels_gets_the_question_back(desk: Any, ask: Any) -> None:
    unknown_term(desk)
    result = ask({}, Person(ElicitResult(action="cancel")), "legacy")
    assert result.structured_content["status"] == "needs_clarification"
    result = ask({}, Person(ElicitResult(action="cancel")), "2026-07-28")
    assert result.is_error
    assert "was not replied to" in text_of(result)


@MODES
def test_values_are_a_choice_for_the_person_and_never_in_the_result(desk: Any, ask: Any, mode: str) -> None:
    unknown_value(desk)
    person = Person(accept(meaning="zyxwcanary2"))
    result = ask({}, person, mode)
    choices = person.asked[0].requested_schema["properties"]["meaning"]["enum"]  # type: ignore[union-attr]
    assert set(choices) == {f"zyxwcanary{n}" for n in range(6)}
    assert result.structured_content["value"] == 1
    assert not any(canary in prompt for prompt in desk.prompts for canary in desk.canaries)


@MODES
@pytest.mark.parametrize("content", [{}, {"meaning": "zyxw of another column"}, {"meaning": 3}, {"meaning": " "}])
def test_a_reply_that_the_form_does_not_allow_is_refused(desk: Any, ask: Any, mode: str, content: Any) -> None:
    unknown_value(desk)
    assert ask({}, Person(accept(**content)), mode).is_error


def test_a_client_without_forms_gets_the_question_and_what_to_do(desk: Any, ask: Any) -> None:
    unknown_term(desk)
    result = ask({})
    facts = result.structured_content
    assert facts["status"] == "needs_clarification"
    assert facts["question_back"]["term"] == "harbour months"
    assert "Ask the person what is meant, do not guess it" in text_of(result)


def test_what_the_person_said_holds_in_the_conversation_alone(desk: Any, backend: LocalBackend, ask: Any) -> None:
    unknown_term(desk)
    id = ask({}).structured_content["conversation"]
    told = {"harbour months": "a month with two ships"}
    facts = ask({"conversation": id, "meanings": told}).structured_content
    assert (facts["status"], facts["value"]) == ("answered", 6)
    assert "a month with two ships" in desk.of("planning")[-1]
    assert backend._taught.glossary.empty  # type: ignore[union-attr]
    assert ask({}).structured_content["status"] == "needs_clarification"


def test_an_assumption_can_be_asked_for(desk: Any, ask: Any) -> None:
    unknown_term(desk)
    assert ask({"assume": True}).structured_content["status"] == "answered"


def test_a_client_without_forms_is_not_shown_the_values(desk: Any, ask: Any) -> None:
    unknown_value(desk)
    desk.says(
        "sql_extraction",
        desk.fields(
            selects=[
                {"df_name": "sales", "select_query": "SELECT date, region, amount FROM sales WHERE note = 'nowhere'"}
            ]
        ),
    )
    result = ask({})
    assert result.structured_content["status"] in ("needs_clarification", "failed")
    assert not any(canary in result.model_dump_json() for canary in desk.canaries)


CANARY = "zyxwcanary"
NOWHERE = "SELECT date, region, amount FROM sales WHERE note = 'nowhere'"
# Of a column that nobody published: an error, the end of a column, notes on what a condition met.
NAMED = [
    NOWHERE,
    "SELECT date, region, amount FROM sales WHERE note LIKE '%nowhere%'",
    "SELECT date, region, amount FROM sales WHERE note > 'zzzz'",
    "SELECT date, region, amount FROM sales WHERE note LIKE '%canary%'",
]


@MODES
@pytest.mark.parametrize("select", NAMED)
@pytest.mark.parametrize("arguments", [{}, {"assume": True}], ids=str)
def test_no_value_of_a_column_is_in_a_result(
    desk: Any, backend: LocalBackend, ask: Any, mode: str, select: str, arguments: dict[str, Any]
) -> None:
    desk.says("planning", desk.plan(select=select))
    desk.says("sql_extraction", desk.fields(selects=[{"df_name": "sales", "select_query": select}]))
    result = ask(arguments, mode=mode)
    assert CANARY not in result.model_dump_json()
    if (id := result.structured_content["id"]) and "LIKE" in select:
        assert CANARY not in backend.record(id)


@MODES
def test_who_cancels_is_told_no_values(desk: Any, ask: Any, mode: str) -> None:
    unknown_value(desk)
    result = ask({}, Person(ElicitResult(action="cancel")), mode)
    assert CANARY not in result.model_dump_json()
    assert "sales.note" in text_of(result)


@pytest.mark.parametrize(
    "kept",
    [
        {"failure": Failure(layer="x", kind="unknown value", message=f"no 'a'. t.c holds '{CANARY}'", for_models="no 'a'")},
        {"clarification": Clarification(kind="value", term="a", place="t.c", question=f"'{CANARY}' is x: which?", candidates=[CANARY])},
        {"flags": [f"of t.c, these values matched: '{CANARY}', ..."]},
    ],
    ids=str,
)  # fmt: skip
def test_a_kept_answer_of_a_server_tells_a_model_no_values(kept: dict[str, Any]) -> None:
    text = f"no answer: {kept['failure'].message}" if "failure" in kept else ""
    text = kept["clarification"].question if "clarification" in kept else text
    answer = StoredAnswer(
        id="a", conversation="c", number=1, question="q", state="finished", asked=dt.datetime.now(dt.UTC), text=text, **kept
    )  # fmt: skip
    seen = for_models(answer)
    assert CANARY not in seen.model_dump_json(exclude={"failure": {"for_models"}})
    assert bool(seen.text) is bool(text)
    assert for_models(seen) == seen


def test_what_a_record_tells_a_model_of_an_answer() -> None:
    of = f"{UNSURE}by code_table 'P' is '{CANARY} settled' in invoices.status, which is none of the words that were looked for"
    also = f"invoices.status also holds '{CANARY}', which is not the same text as 'open'"
    kept = {"seal": "x", "flags": [of, also, "rows were left out"], "parts": [{"record": {"flags": [also]}}]}
    told = record_text(kept)
    assert CANARY not in told
    assert "by code_table what was met in invoices.status is none of the words that were looked for" in told
    assert "also holds a text that is not the same as 'open'" in told
    assert "rows were left out" in told
    assert '"seal": ""' in told
    assert record_text({"seal": "x", "flags": []}) == '{\n "seal": "x",\n "flags": []\n}'


def test_the_state_of_a_question_is_sealed(desk: Any, talk: Any) -> None:
    unknown_value(desk)

    async def act(client: Client) -> Any:
        session = client.session
        first = await session.call_tool("ask", {"question": QUESTION}, allow_input_required=True)
        sealed = str(getattr(first, "request_state", ""))
        replies: dict[str, Any] = {"reply": accept(meaning="zyxwcanary2")}
        with pytest.raises(MCPError):
            await session.call_tool(
                "ask", {"question": QUESTION}, input_responses=replies, request_state=sealed[:-4] + "AAAA",
                allow_input_required=True,
            )  # fmt: skip
        with pytest.raises(MCPError):
            # The state of one question does not go with another.
            await session.call_tool(
                "ask",
                {"question": "Another?"},
                input_responses=replies,
                request_state=sealed,
                allow_input_required=True,
            )
        return sealed

    sealed = talk(act, mode="2026-07-28", elicitation_callback=Person())
    assert "zyxwcanary" not in sealed


def test_a_person_is_asked_a_few_times_and_no_more(desk: Any, ask: Any) -> None:
    terms = iter(["alpha", "beta", "gamma", "delta", "epsilon", "zeta"])
    desk.says("planning", lambda prompt: desk.plan(unclear=next(terms)))
    person = Person(*[accept(meaning="x") for _ in range(6)])
    result = ask({"question": "alpha beta gamma delta epsilon zeta?"}, person, "legacy")
    assert len(person.asked) == 3
    assert result.structured_content["status"] == "needs_clarification"
