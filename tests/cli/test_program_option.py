"""`--program`: the same option wherever questions are asked, with the options that compiling chose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from finexpert.cli import common
from finexpert.cli.main import app
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling.trial import with_states
from finexpert.optimizers.program.artifact import save, states_of
from finexpert.optimizers.program.manifest import ChosenOptions
from finexpert.settings import Settings

MARK = "Plan it with the greatest care."
SELECT = "SELECT date, value FROM cpi WHERE cpi_index = 'CPI' ORDER BY date"
ASKING = {"ask", "chat", "eval fred", "eval convfinqa", "eval house", "eval lookup", "eval keywords"}


@pytest.fixture
def program(home: Path) -> FinancialExpert:
    """A program `careful` under runs/compiled: other instructions for the planner, and no drafts."""
    expert = FinancialExpert()
    states = {place: dict(state) for place, state in states_of(expert.planning).items()}
    for state in states.values():
        state["signature"] = {**state["signature"], "instructions": MARK}
    expert.planning = with_states(expert.planning, states)
    save(expert, Path("runs") / "compiled" / "careful", options=ChosenOptions(drafts=False, judge=False))
    return expert


def options(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for parameter in command.params:
        if "--program" in parameter.opts:
            yield " ".join(path), parameter
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, (*path, name))


def test_every_command_that_asks_has_it() -> None:
    found = dict(options(typer.main.get_command(app)))
    assert set(found) >= ASKING | {"eval layers"}
    assert {parameter.envvar for parameter in found.values()} == {"FINEXPERT_PROGRAM"}
    assert len({parameter.help for parameter in found.values()}) == 1


@pytest.mark.usefixtures("program")
def test_options_of_the_program_count_where_the_user_set_none() -> None:
    expert, settings = common.program_of("careful", Settings(judge=True))
    assert (settings.drafts, settings.judge) == (False, True)
    assert expert.manifest.name == "careful"
    assert common.program_words(expert).startswith("careful (")
    assert common.program_of(None, Settings())[1].drafts


@pytest.fixture
def asked(scripted: Any, desk: Any, monkeypatch: pytest.MonkeyPatch) -> list[list[dict[str, str]]]:
    """The messages of every call; each layer answers something that can be used."""
    from finexpert.language_models.roles import LanguageModels
    from finexpert.language_models.scripted import ScriptedModel

    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    desk.says("planning", desk.plan("answer = 7", "integer", SELECT, ("date", "value"), "cpi"))
    desk.says("script_generation", desk.fields(code="answer = 7"))
    desk.says("keyword_rephrasing", desk.terms())
    desk.says("generalise", desk.fields(variants=[], parts=[]))
    desk.says("judge", desk.judged())
    desk.says("memorization", "no")
    model = ScriptedModel(lambda messages: str(desk.reply(messages[-1]["content"])))
    monkeypatch.setattr(LanguageModels, "from_settings", lambda settings: LanguageModels(model))
    desk.lend_sandbox(monkeypatch, "finexpert.sandbox", "finexpert.session.base", "finexpert.datasets.desk.teaching")
    return model.prompts


@pytest.mark.usefixtures("tracked", "program")
@pytest.mark.parametrize("by", ["option", "environment"])
@pytest.mark.parametrize(
    "command",
    [
        ("ask", "How high was inflation in 2020?", "--assume"),
        ("eval", "fred", "--rungs", "+retries", "--no-baseline", "--only", "latest_recession"),
        ("eval", "convfinqa", "--sample", "1", "--threads", "1"),
        ("eval", "house", "--modes", "untaught", "--every", "90"),
    ],
    ids=["ask", "fred", "convfinqa", "house"],
)
def test_the_program_is_what_is_asked(
    finexpert: Any, asked: Any, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], by: str
) -> None:
    if by == "environment":
        monkeypatch.setenv("FINEXPERT_PROGRAM", "careful")
    finexpert(*command, *(("--program", "careful") if by == "option" else ()))
    careful = [messages for messages in asked if MARK in messages[0]["content"]]
    assert careful
    # Without drafts the planner is never asked for a script.
    assert not any("[[ ## code ## ]]" in messages[0]["content"] for messages in careful)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("command", sorted(ASKING))
def test_an_unknown_program_is_named(finexpert: Any, command: str) -> None:
    words = [*command.split(), *(["Why?"] if command == "ask" else [])]
    ran = finexpert(*words, "--program", "nothing", "--lm", "recorded")
    assert ran.code == 1
    assert "there is no compiled program 'nothing'" in ran.err
