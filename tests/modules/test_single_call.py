"""The single call: one SELECT gives the value, or the reason why there is none; nothing is asked twice."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from finexpert.core.answers import Answer, AnswerFormat
from finexpert.modules.baselines.select import SingleCall
from finexpert.modules.calling import using

DAY = dt.date(2020, 12, 31)


@pytest.fixture
def asked(scripted: Any, warehouse: Any) -> Any:
    def ask(text: str, kind: Any = "number") -> tuple[Answer, list[str]]:
        models, prompts = scripted([f"[[ ## select_query ## ]]\n{text}\n\n[[ ## completed ## ]]"])
        with using(models):
            made = SingleCall()(
                question="how large were sales at most?",
                source=warehouse,
                answer_format=AnswerFormat(kind=kind),
                as_of=DAY,
            )
        return made.answer, prompts

    return ask


def test_the_value_is_what_the_select_gives(asked: Any, warehouse: Any) -> None:
    right = float(warehouse.query("SELECT max(amount) AS most FROM sales", as_of=DAY).data.iat[0, 0])
    answer, prompts = asked("```sql\nSELECT max(amount) AS most FROM sales;\n```")
    assert (answer.status, answer.value) == ("answered", right)
    assert [citation.place for citation in answer.citations] == ["SELECT max(amount) AS most FROM sales"]
    assert answer.usage.by_layer == {"single_call": 1}
    assert "DuckDB" in prompts[0]
    assert "table sales" in prompts[0]


def test_a_table_keeps_all_of_its_columns(asked: Any) -> None:
    answer, _ = asked("SELECT min(amount) AS least, max(amount) AS most FROM sales", "table")
    assert list(answer.value.columns) == ["least", "most"]


@pytest.mark.parametrize(
    ("text", "status", "kind", "message"),
    [
        ("NOT ANSWERABLE: no table of customers", "not_found", "not in the sources", "no table of customers"),
        ("Not answerable", "not_found", "not in the sources", "the model does not say what is missing"),
        ("SELECT nothing FROM sales", "failed", "sql", "nothing"),
        ("SELECT amount FROM sales", "failed", "sql", "rows where one value is asked for"),
    ],
)
def test_what_gives_no_value_is_no_answer(asked: Any, text: str, status: str, kind: str, message: str) -> None:
    """And nothing is repaired: a second question to the model would find no reply."""
    answer, prompts = asked(text)
    assert (answer.status, answer.value, answer.failure.kind) == (status, None, kind)
    assert message in answer.failure.message
    assert len(prompts) == 1
