"""SQL extraction asks for all frames at once, or for one at a time where it was compiled to."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import dspy
import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.core.plans import Extract
from finexpert.datasets.fred.database import open_fred
from finexpert.errors import NotInSources, OutputError
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import Messages, ScriptedModel
from finexpert.modules.calling import using
from finexpert.modules.flow.sql_only import SqlOnly
from finexpert.modules.sql_extraction import SqlExtraction, by_name
from finexpert.settings import Settings
from finexpert.testing import fields

FRAMES = [
    Extract(id=1, frame="output", purpose="real GDP", columns=["date", "value"]),
    Extract(id=2, frame="prices", purpose="consumer prices"),
]
DEMO = dspy.Example(wanted="wages", columns="date", select="SELECT date FROM wages")


def one_by_one() -> SqlExtraction:
    layer = SqlExtraction()
    layer.write_one.demos = [DEMO]
    return layer


def selects(layer: SqlExtraction, model: ScriptedModel, **told: str) -> dict[str, str]:
    with using(LanguageModels(model)):
        found = layer(question="How fast?", schema_card="table gdp", frames=FRAMES, today="2024-09-30", **told)
    return by_name(found.selects, FRAMES)


def test_one_call_a_frame_without_the_names_that_are_taken_for_tables() -> None:
    def answer(messages: Messages) -> str:
        table = "gdp" if "real GDP" in messages[-1]["content"] else "cpi"
        # A small model closes its output on the last line.
        return f"[[ ## select ## ]]\nSELECT date, value FROM {table}; [[ ## completed ## ]]"

    model = ScriptedModel(answer)
    written = selects(one_by_one(), model)
    assert written == {"output": "SELECT date, value FROM gdp", "prices": "SELECT date, value FROM cpi"}
    assert len(model.prompts) == 2
    assert all("output" not in prompt[-1]["content"].split("Respond with")[0] for prompt in model.prompts)
    assert all("How fast?" not in prompt[-1]["content"] for prompt in model.prompts)


def test_without_demonstrations_all_frames_are_asked_for_at_once() -> None:
    model = ScriptedModel(
        lambda messages: (
            '[[ ## selects ## ]]\n[{"df_name": "output", "select_query": "SELECT 1"}]\n[[ ## completed ## ]]'
        )
    )
    assert selects(SqlExtraction(), model) == {"output": "SELECT 1"}
    assert "output (date, value): real GDP" in model.prompts[0][-1]["content"]


def test_where_the_question_is_all_that_is_asked_it_is_told(tmp_path: Path) -> None:
    model = ScriptedModel(
        lambda messages: (
            "[[ ## select ## ]]\nSELECT 7 AS n\n\n[[ ## completed ## ]]"
            if "[[ ## wanted ## ]]" in messages[-1]["content"]
            else "[[ ## answer ## ]]\n7\n\n[[ ## completed ## ]]"
        )
    )
    with using(LanguageModels(model)), open_fred(settings=Settings(home=tmp_path)) as fred:
        asked = SqlOnly(one_by_one())(
            question="How many?", source=fred, answer_format=AnswerFormat(kind="integer"), as_of=dt.date(2024, 9, 30)
        )
    assert asked.answer.value == 7
    assert "[[ ## wanted ## ]]\nHow many? The rows" in model.prompts[0][-1]["content"]


def test_text_without_a_select_is_an_error() -> None:
    with pytest.raises(OutputError, match="not in the form asked for"):
        selects(one_by_one(), ScriptedModel(lambda messages: "I cannot."))


BOTH = [{"df_name": frame.frame, "select_query": "SELECT 1"} for frame in FRAMES]
FAILED = {"feedback": "SELECT date FROM wages\n\nfailed: there is no table wages"}


def test_who_writes_again_may_say_what_is_not_there() -> None:
    model = ScriptedModel([fields(absent="no table holds prices", selects=BOTH[:1])])
    with pytest.raises(NotInSources, match="no table holds prices"):
        selects(SqlExtraction(), model, **FAILED)
    assert "[[ ## absent ## ]]" in model.prompts[0][-1]["content"]


@pytest.mark.parametrize("said", ["None", "prices are not in gdp, but in cpi"])
def test_what_every_frame_has_a_select_for_is_not_missing(said: str) -> None:
    assert set(selects(SqlExtraction(), ScriptedModel([fields(absent=said, selects=BOTH)]), **FAILED)) == {
        "output",
        "prices",
    }


def test_who_writes_for_the_first_time_is_not_asked_what_is_missing() -> None:
    model = ScriptedModel([fields(selects=BOTH)])
    selects(SqlExtraction(), model)
    assert "absent" not in "".join(message["content"] for message in model.prompts[0])
