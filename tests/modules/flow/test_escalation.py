"""Cheap first: two draws of a cheap model, and the strong one where a check or the two leave a doubt."""

from __future__ import annotations

import datetime as dt
from typing import Any

import dspy
import pytest

from finexpert.core.answers import Answer, Citation, Sentence
from finexpert.errors import ConfigurationError
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.modes import MODES
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.modules.flow.escalation import doubt
from finexpert.session import Session
from finexpert.settings import Settings

RIGHT, WRONG = "SELECT max(amount) - min(amount) FROM sales", "SELECT max(amount) FROM sales"
BROKEN, EMPTY = "SELECT rise FROM sales", "SELECT amount FROM sales WHERE amount < 0"
QUESTION = "By how much did sales rise?"


def said(select: str) -> str:
    return (
        f"[[ ## select ## ]]\n{select}\n[[ ## answer_kind ## ]]\nnumber\n"
        "[[ ## unit ## ]]\nthousand USD\n[[ ## completed ## ]]"
    )


@pytest.fixture
def session(warehouse: Any, sandbox: Any) -> Any:
    """A session in the mode, and its two models."""

    def make(cheap: list[str], strong: list[str], **settings: Any) -> tuple[Session, ScriptedModel, ScriptedModel]:
        first, second = (ScriptedModel([said(select) for select in selects]) for selects in (cheap, strong))
        expert = FinancialExpert()
        expert.planning.warehouse_by_select.demos = [dspy.Example(question="Wages?", select="SELECT 1")]
        given = Settings(as_of=dt.date(2020, 12, 31), cache=False, mode="cheap-first", retries=0, **settings)
        models = LanguageModels(first, strong=second)
        return Session(warehouse, expert=expert, settings=given, models=models, sandbox=sandbox), first, second

    return make


def test_two_draws_that_agree_are_the_answer(session: Any) -> None:
    asked, cheap, strong = session([RIGHT, f"{RIGHT} WHERE amount > 0"], [])
    answer = asked.ask(QUESTION)
    assert (answer.value, answer.usage.calls, len(cheap.prompts), len(strong.prompts)) == (5.0, 2, 2, 0)
    assert cheap.prompts[0] == cheap.prompts[1], "the second draw saw the first"
    assert [turn.question for turn in asked.workspace.turns] == [QUESTION]
    assert not answer.flags


@pytest.mark.parametrize(
    ("cheap", "why"),
    [
        ([BROKEN], "the first model gave no answer (failed)"),
        ([EMPTY], "the first model gave no answer (failed)"),
        ([WRONG, RIGHT], "asked twice, the first model gave 918273650.5 and 5"),
        ([RIGHT, BROKEN], "asked twice, the first model gave an answer only once"),
    ],
)
def test_a_doubt_is_asked_of_the_strong_model(session: Any, cheap: list[str], why: str) -> None:
    asked, first, strong = session(cheap, [RIGHT])
    answer = asked.ask(QUESTION)
    assert (answer.status, answer.value) == ("answered", 5.0)
    assert f"asked of the strong model: {why}" in answer.flags
    assert answer.usage.calls == len(cheap) + 1
    assert strong.prompts == first.prompts[:1], "the strong model saw what the cheap one had done"
    assert answer.record is not None
    assert answer.record.usage.calls == len(cheap) + 1
    assert len(asked.workspace.turns) == 1


def test_an_answer_of_the_strong_model_stands_even_if_it_refuses(session: Any) -> None:
    asked, _, _ = session([WRONG, RIGHT], [BROKEN])
    answer = asked.ask(QUESTION)
    assert answer.status == "failed"
    assert answer.value is None


def test_where_the_budget_ends_before_it_the_first_answer_comes_with_low_confidence(session: Any) -> None:
    asked, _, strong = session([WRONG, RIGHT], [RIGHT], budget_calls=2)
    answer = asked.ask(QUESTION)
    assert (answer.value, answer.confidence, strong.prompts) == (918273650.5, 30, [])
    assert any("the budget ended before the strong model" in flag for flag in answer.flags)


def test_without_a_strong_model_the_error_names_the_setting(session: Any) -> None:
    asked, _, _ = session([RIGHT], [])
    asked.models = LanguageModels(ScriptedModel([said(RIGHT)]))
    with pytest.raises(ConfigurationError, match="FINEXPERT_STRONG_LM"):
        asked.ask(QUESTION)


@pytest.mark.parametrize(
    ("says", "page", "agrees"),
    [
        ("Yes: margins rose from 15.0% to 20.0%, as net sales grew.", "a/1", True),
        ("No: margins rose from 15.0% to 20.0%.", "a/1", False),
        ("Yes: margins rose from 15.0% to 21.0%.", "a/1", False),
        ("Yes: margins rose from 15.0% to 20.0%.", "a/2", False),
    ],
)
def test_words_from_filings_agree_in_pages_numbers_and_yes_or_no(says: str, page: str, agrees: bool) -> None:
    def answer(text: str, page: str) -> Answer:
        cited = [Citation(source="a", place="row / 2022", page=page)]
        return Answer(question="?", status="answered", value=text, sentences=[Sentence(says=text)], citations=cited)

    first = answer("Yes: it rose from 15.0% to 20.0%.", "a/1")
    assert (doubt(first, answer(says, page)) == "") is agrees


def test_it_answers_from_every_kind_of_source() -> None:
    assert MODES["cheap-first"].sources == MODES["checked"].sources
