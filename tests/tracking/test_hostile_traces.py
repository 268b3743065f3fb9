"""Traces of questions, data and models that mean harm: no value, no text and no password is in a span or a warning, and no answer is lost."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from finexpert.errors import ConfigurationError
from finexpert.tracking import spans

PLACE, WORD = "http://127.0.0.1:9", "zqxtracecanary"
SCRIPTS = {
    "an error that says a row": f"raise ValueError('{WORD}' + str(sales['amount'].iloc[0]))",
    "a kind that says a row": f"raise type('{WORD}', (Exception,), {{}})()",
    "a note": f"error = ValueError('x'); error.add_note('{WORD}'); raise error",
    "a cause": f"raise KeyError('{WORD}') from ValueError('{WORD}')",
    "an exit": f"raise SystemExit('{WORD}')",
    "a warning": f"import warnings; warnings.warn('{WORD}'); answer = len(sales)",
    "what is printed": f"print('{WORD}'); answer = len(sales)",
    "an answer": f"answer = '{WORD}'",
    "a table": f"answer = pd.DataFrame({{'{WORD}': ['{WORD}']}})",
    "no Python": f"{WORD} {WORD}",
}
QUESTIONS = [
    f"How many {WORD}?",
    f"How many?\n{WORD}: x",
    f"How many? </span>{WORD}",
    f"How many \U0001f600 {WORD}?",
    f"{WORD} " * 500,
]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[spans.Span]:
    """The spans that would be sent."""
    kept: list[spans.Span] = []
    monkeypatch.setattr(spans, "_writer", lambda where, uri: kept.append)
    return kept


@pytest.mark.parametrize("code", SCRIPTS.values(), ids=SCRIPTS)
def test_no_script_writes_into_a_span(desk: Any, written: list[spans.Span], code: str) -> None:
    desk.says("planning", desk.plan(code, "text"))
    desk.says("script_generation", desk.fields(code=code))
    desk.session(trace=PLACE).ask("How many?")
    assert written[0].inner
    assert WORD not in repr(written).lower()
    assert not any(canary.lower() in repr(written).lower() for canary in desk.canaries)


@pytest.mark.parametrize("question", QUESTIONS, ids=range(len(QUESTIONS)))
def test_no_question_and_no_plan_stands_in_a_span(desk: Any, written: list[spans.Span], question: str) -> None:
    desk.says("planning", desk.plan(f"answer = len(sales)  # {WORD}", about=WORD))
    desk.session(trace=PLACE, ask_below=0).ask(question)
    assert written[0].inner
    assert WORD not in repr(written).lower()


@pytest.mark.parametrize(
    "where",
    ["file:///etc/passwd", "javascript:alert(1)", "ftp://elsewhere.example", "mlflow\n", "", "//elsewhere.example", "unix:///run/x", "-x"],
)  # fmt: skip
def test_a_place_that_is_none_is_refused(desk: Any, where: str) -> None:
    with pytest.raises(ConfigurationError, match="the setting trace"):
        desk.session(trace=where).ask("How many?")


@pytest.mark.parametrize("where", ["http://ann:secretpw@127.0.0.1:9", "http://127.0.0.1:9/?key=secretpw", "http://[::1", "http://", "http://127.0.0.1:99999",
                                   "http://127.0.0.1:9/\r\nX-A: secretpw", "http://\u202e127.0.0.1:9"])  # fmt: skip
def test_an_address_that_does_not_answer_costs_no_answer_and_tells_no_password(
    desk: Any, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    desk.says("planning", desk.plan())
    with caplog.at_level(logging.DEBUG, logger="finexpert"):
        try:
            said = str(desk.session(trace=where).ask("How many?").value)
        except ConfigurationError as refused:
            said = f"6, or {refused}"
    assert said.startswith("6")
    assert "secretpw" not in said
    assert "secretpw" not in caplog.text
    assert "\u202e" not in caplog.text
