"""`finexpert chat` over the warehouse: teaching in words, clashes, taking back, and taking up again."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from finexpert.cli.chat import commands as chat_commands
from finexpert.cli.chat.commands import carry_out
from finexpert.cli.chat.conversation import Chat

SELECT = "SELECT date, value FROM cpi WHERE cpi_index = 'CPI' ORDER BY date"
CODE = "answer = int((cpi.value > 200).sum())"
STEP = {"text": "Count the months in which CPI stands above 200.", "sql": SELECT, "code": CODE}


@pytest.fixture
def chat(finexpert: Any, scripted: Any, desk: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Holds a conversation over the sample economy with these lines as input."""
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    monkeypatch.setenv("FINEXPERT_BY", "anna")
    plan = desk.plan(CODE, "integer", SELECT, ("date", "value"), "cpi")
    desk.says("planning", plan)
    desk.says("memorization", desk.process(heading="High months", aliases=["months above 200"], steps=[STEP]))
    desk.says("judge", desk.judged(1))
    scripted(desk.reply)
    desk.lend_sandbox(monkeypatch, "finexpert.session.base")

    def hold(*lines: str, options: tuple[str, ...] = ()) -> Any:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return finexpert("chat", "--as-of", "2020-12-31", *options)

    return hold


ASKED = "How many months had CPI above 200?"


def test_a_whole_lesson(chat: Any, desk: Any) -> None:
    ran = chat(ASKED, "Now remember this process for me against 'High Months'.", "processes", "quit", "not asked")
    assert ran.code == 0
    assert "remembered: 'High Months' gave the accepted result when tried on its own" in ran.out
    assert "1. Count the months in which CPI stands above 200." in ran.out
    assert "High Months  (active, version 1, anna)" in ran.out
    assert desk.layers == ["planning", "memorization", "planning"]
    desk.says("planning", desk.plan(CODE, "integer", SELECT, ("date", "value"), "cpi", follows=(1,)))
    again = chat("What are the high months of CPI?", "why")
    assert "Follows: High Months" in again.out
    assert "Process: High Months" in desk.of("planning")[-1]
    assert "SELECT date, value FROM cpi" in again.out  # shown by `why`


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("remember", "High months"),
        ("/remember", "High months"),
        ("remember this", "High months"),
        ("Remember that.", "High months"),
        ("please remember the process", "High months"),
        ("Now, please remember the analysis for me!", "High months"),
        ("remember Recession Calculation", "Recession Calculation"),
        ("/remember Recession Calculation", "Recession Calculation"),
        ("REMEMBER the recession rule.", "the recession rule"),
        ("Remember this as 'Recession Calculation'.", "Recession Calculation"),
        ("remember it under \u201cRecession Calculation\u201d!", "Recession Calculation"),
        ("Ok, remember this process for me against the heading Recession Calculation", "Recession Calculation"),
    ],
)
def test_sentences_that_remember(chat: Any, desk: Any, line: str, heading: str) -> None:
    ran = chat(ASKED, line)
    assert f"remembered: '{heading}' gave" in ran.out
    assert desk.layers == ["planning", "memorization", "planning"]


@pytest.mark.parametrize(
    "line",
    [
        "Remember when CPI crossed 200? How long ago is that?",
        "remember how many months had CPI above 200 and add one",
        "Remember that the base year is 1982. How many months had CPI above 200?",
        "Remember to leave out 2020",
        "why did CPI rise above 200?",
        "Why is it so high",
        "new highs of CPI since 2000?",
        "terms of trade in 2010?",
        "undo the last correction and use 210",
        "Forget about 2020 and count again",
        "help me count the months",
        "define it by month instead",
        "processes of price formation?",
    ],
)
def test_questions_that_only_begin_like_a_command(chat: Any, desk: Any, line: str) -> None:
    ran = chat(line)
    assert ran.code == 0
    assert "Answer: " in ran.out
    assert "planning" in desk.layers
    assert "memorization" not in desk.layers
    assert line in desk.of("planning")[0]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("remember",), "there is nothing to remember"),
        (("define stress month = CPI below 50.",), "kept: stress month = CPI below 50."),
        (('define "stress month" = "red" or \'amber\'.',), "kept: stress month = \"red\" or 'amber'."),
        (("/define stress month = a", "define 'Stress Months' = b"), "kept: Stress Months = b (version 2)"),
        (("define stress month = a", "terms"), "stress month = a"),
        (("terms",), "no term has been explained yet"),
        (("/glossary",), "no term has been explained yet"),
        (("processes",), "nothing has been taught yet"),
        (("define stress month = a", "forget the stress-months", "terms"), "'the stress-months' is retired"),
        (("forget nothing",), "there is no process or term 'nothing'"),
        (("why",), "nothing has been asked yet"),
        (("/why?",), "nothing has been asked yet"),
        (("undo",), "there is no turn to take back"),
        (("/open",), "the last answer has no figure"),
        (("schema",), "cpi"),
        (("/bogus now",), "there is no /bogus; remember [HEADING]"),
        (("?",), "remember [HEADING], define TERM = MEANING"),
        (("define ?? = a",), "'??' cannot be kept: term: is empty"),
        (("save a/b",), "'a/b' cannot name a conversation"),
        (("define x\x1b[31m = a",), "cannot be seen"),
    ],
)
def test_commands_that_ask_no_model(chat: Any, desk: Any, lines: tuple[str, ...], said: str) -> None:
    ran = chat(*lines)
    assert ran.code == 0
    assert said in ran.out
    assert "\x1b" not in ran.out
    assert desk.calls == []


def test_an_alias_is_not_defined_over_and_the_talk_goes_on(chat: Any, home: Any) -> None:
    from finexpert.knowledge.glossary import Keyword
    from finexpert.knowledge.taught import Taught
    from finexpert.settings import Settings

    with Taught.from_settings(Settings()) as taught:
        taught.glossary.define(Keyword(term="stress month", meaning="a", aliases=["tense month"]), "ben")
    ran = chat("define tense month = b", "define calm month = c")
    assert ran.code == 0
    assert "'tense month' is an alias of the term 'stress month'" in ran.out
    assert "kept: calm month = c" in ran.out


def test_a_draft_says_what_is_wrong(chat: Any, desk: Any) -> None:
    desk.says("planning", desk.plan(CODE, "integer", SELECT, ("date", "value"), "cpi"), desk.plan(
        "answer = 1", "integer", SELECT, ("date", "value"), "cpi"))  # fmt: skip
    ran = chat(ASKED, "remember", "processes")
    assert "kept as a draft, not used: 'High months'" in ran.out
    assert "it gave 1 where " in ran.out
    assert "High months  (draft, version 1, anna)" in ran.out


# Clashes.

OTHER = "Tally of highs"


@pytest.mark.parametrize(
    ("replies", "said", "headings"),
    [
        (("replace",), "remembered: 'High months'", ["High months (2)"]),
        (("REPLACE",), "remembered: 'High months'", ["High months (2)"]),
        (("ignore",), "nothing was changed", ["High months (1)"]),
        (("",), "nothing was changed", ["High months (1)"]),
        ((), "nothing was changed", ["High months (1)"]),
        ((OTHER,), f"remembered: '{OTHER}'", ["High months (1)", f"{OTHER} (1)"]),
        (("high month", OTHER), f"remembered: '{OTHER}'", ["High months (1)", f"{OTHER} (1)"]),
        (("?!",), "cannot be kept", ["High months (1)"]),
    ],
)
def test_a_clash_is_shown_and_decided(
    chat: Any, desk: Any, replies: tuple[str, ...], said: str, headings: list[str]
) -> None:
    chat(ASKED, "remember")
    step = STEP | {"text": "Count them otherwise."}
    desk.says("memorization", desk.process(heading="High months", aliases=[], steps=[step]))
    ran = chat(ASKED, "remember", *replies)
    assert ran.code == 0
    assert "known: High months, version 1, active" in ran.out
    assert "new: active" in ran.out
    assert "Count them otherwise." in ran.out
    assert said in ran.out
    assert shown() == headings


def shown() -> list[str]:
    from finexpert.knowledge.taught import Taught
    from finexpert.settings import Settings

    with Taught.from_settings(Settings()) as taught:
        return [f"{process.heading} ({process.version})" for process in taught.memory.processes()]


# Words that are asked about.


@pytest.mark.parametrize(
    ("replies", "said", "flag"),
    [
        (("months above 200",), "kept: grubby months = months above 200", False),
        (("",), "", True),
        ((), "", True),
        (("x" * 3000,), "cannot be kept", True),
    ],
)
def test_an_unknown_term_is_asked_about_once(
    chat: Any, desk: Any, replies: tuple[str, ...], said: str, flag: bool
) -> None:

    def plan(prompt: str) -> str:
        known = desk.known_here(prompt)
        told = {"follows": tuple(known.values())} if "grubby months" in known else {"unclear": "grubby months"}
        return str(desk.plan(CODE, "integer", SELECT, ("date", "value"), "cpi", **told))

    desk.says("planning", plan)
    ran = chat("How many grubby months?", *replies)
    assert ran.code == 0
    assert ran.out.count("What do you mean by 'grubby months'?") == 1
    assert said in ran.out
    assert "it does not say what the term means" not in ran.out
    assert ("nobody has explained 'grubby months'" in ran.out) == flag
    assert "Answer: " in ran.out
    if replies == ("",):
        return
    again = chat("How many grubby months?")
    assert ("What do you mean by" in again.out) == flag


def test_a_number_chooses_what_is_known(chat: Any, desk: Any) -> None:
    chat("define high month = CPI above 200")
    plan = [CODE, "integer", SELECT, ("date", "value"), "cpi"]
    desk.says("planning", desk.plan(*plan, unclear="lofty months"), desk.plan(*plan, follows=(1,)))
    ran = chat("How many lofty months?", "1", "terms")
    assert "  1. high month" in ran.out
    assert "kept: high month = CPI above 200" in ran.out
    assert "high month: CPI above 200" in ran.out  # the answer rests on it


# Taking up again.


def test_a_named_conversation_is_taken_up(chat: Any, desk: Any) -> None:
    first = chat(ASKED + " [/bold]", options=("--name", "desk"))
    assert "a new conversation named 'desk'" in first.out
    ran = chat("undo", "undo", options=("--name", "desk"))
    assert f"'desk' goes on after 1 turns; the last was: {ASKED} [/bold]" in ran.out
    assert ran.out.count("the last turn is taken back") == 1
    assert "there is no turn to take back" in ran.out
    assert desk.layers == ["planning"]


def test_a_conversation_may_be_saved_in_the_middle(chat: Any, desk: Any) -> None:
    ran = chat(ASKED, "save desk", "new", "save other")
    assert "`finexpert chat --name 'desk'` takes it up again" in ran.out
    assert "a new subject: earlier turns and frames are forgotten" in ran.out
    assert "'desk' stays as it was saved" in ran.out
    desk.says("planning", desk.plan("answer = len(cpi)", select=None))
    assert "Answer: " in chat("And in all?", options=("--name", "desk")).out
    assert f"turn 1: {ASKED}" in desk.prompts[-1]
    assert "goes on after 0 turns" in chat(options=("--name", "other")).out


def test_a_conversation_that_cannot_be_read(chat: Any, home: Any) -> None:
    path = home / "sessions" / "desk.json"
    path.parent.mkdir()
    path.write_text("{")
    ran = chat(options=("--name", "desk"))
    assert ran.code == 1
    assert f"{path} is damaged" in ran.err
    assert "move it away to begin anew" in ran.err


def test_every_command_stands_in_the_help() -> None:
    assert chat_commands.HELP.startswith("remember [HEADING]")
    for word in ("define", "forget", "processes", "terms", "why", "undo", "new", "page", "open", "save", "help"):
        assert word in chat_commands.HELP
        assert any(pattern.fullmatch(f"/{word}") or pattern.match(f"{word} x") or pattern.match(f"{word} x = y")
                   for pattern, _ in chat_commands._COMMANDS)  # fmt: skip


def test_a_plain_question_is_no_command() -> None:
    assert not carry_out("What was the highest CPI?", Chat(session=None))  # type: ignore[arg-type]


def test_an_answer_is_verified_in_a_word(chat: Any, desk: Any) -> None:
    select = "SELECT count(*) AS n FROM cpi WHERE cpi_index = 'CPI' AND value > 200"
    desk.says("planning", desk.plan("", "integer", select, ("n",), "months"))
    ran = chat("verify", ASKED, "/verify that", ASKED)
    assert "nothing has been asked yet" in ran.out
    assert "is answered by its SELECT from now on; other values of number=200" in ran.out
    before = len(desk.calls)
    assert "rests on a verified query" in chat(ASKED.replace("200", "210")).out
    assert len(desk.calls) == before
    assert "stands 0 times" in chat(f"{ASKED} Please", "verify year=1999").out


def test_a_thumb_is_kept_for_the_queue(chat: Any, finexpert: Any) -> None:
    assert "nothing has been computed yet" in chat("/wrong").out
    assert "kept at home" in chat(ASKED, "/wrong counts years, not months").out
    (entry,) = finexpert("feedback", "list", "--json").json
    assert (entry["reason"], entry["door"], entry["question"]) == ("counts years, not months", "chat", ASKED)


LESSON = {"term": "high months", "quotes": ['"CPI above 200", all items']}
SAID = 'By high months we mean "CPI above 200", all items. How many were there?'


@pytest.mark.parametrize(
    ("reply", "options", "kept", "scope"),
    [
        (("y",), (), '"CPI above 200", all items', "sample-economy"),
        (("all",), (), '"CPI above 200", all items', ""),
        (("e", "CPI above 201"), (), "CPI above 201", "sample-economy"),
        (("n",), (), None, ""),
        ((), (), None, ""),
        ((), ("--yes",), '"CPI above 200", all items', "sample-economy"),
    ],
)
def test_what_is_explained_in_passing_is_kept_where_the_person_agrees(
    chat: Any, desk: Any, finexpert: Any, reply: tuple[str, ...], options: tuple[str, ...], kept: str | None, scope: str
) -> None:
    desk.says("listening", desk.lessons(LESSON))
    ran = chat(SAID, *reply, options=options)
    assert 'explained: high months = "CPI above 200", all items' in ran.out
    listed = json.loads(finexpert("glossary", "list", "--json").out) if kept else []
    assert [(each["meaning"], each["scope"], each["status"]) for each in listed] == (
        [(kept, scope, "draft")] if kept else []
    )


def test_a_question_in_place_of_a_yes_is_asked_and_nothing_is_kept(chat: Any, desk: Any) -> None:
    desk.says("listening", desk.lessons(LESSON))
    ran = chat(SAID, ASKED)
    assert (ran.out.count("Answer:"), "kept" in ran.out) == (2, False)
