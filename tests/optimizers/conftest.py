"""A scripted model that fills in whatever fields it is asked for, examples for the planner, and a current folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import dspy
import pytest

from finexpert.datasets.layers import examples as layer_examples
from finexpert.datasets.layers.records import SqlExtractionExample
from finexpert.language_models.scripted import Messages, ScriptedModel
from finexpert.optimizers.compiling.tasks import CompileBench
from finexpert.sandbox import Sandbox
from finexpert.settings import Settings
from finexpert.signatures.sql_extraction import DataFrameFromSQL

SELECTS = [{"df_name": "sales", "df_columns": ["date", "amount"], "select_query": "SELECT date, amount FROM sales"}]
TAUGHT = "Name every window."
TEXTS = {
    "selects": json.dumps(SELECTS),
    "frames": json.dumps([{"df_name": "sales", "purpose": "all", "df_columns": ["date", "amount"]}]),
    "steps": json.dumps([{"kind": "cell", "id": 1, "row": "net sales", "column": "2015"}]),
    "answer": "step 1",
    "answer_kind": "number",
    "code": "answer = sales.amount.max()",
}


def reply(messages: Messages) -> str:
    """The fields that the prompt asks for."""
    everything, last = "\n".join(m["content"] for m in messages), messages[-1]["content"]
    if "new_instruction" in everything:
        return json.dumps({"new_instruction": TAUGHT})
    names = re.findall(r"\[\[ ## (\w+) ## \]\]", last.rsplit("Respond with the corresponding output fields", 1)[-1])
    # The instruction that reflecting proposes is what makes answers right.
    found = TEXTS | {"interpretation": "with windows" if TAUGHT in everything else "as asked"}
    return "".join(f"[[ ## {name} ## ]]\n{found.get(name, TAUGHT)}\n\n" for name in names)


@pytest.fixture(scope="session")
def scripted() -> Callable[[], ScriptedModel]:
    return lambda: ScriptedModel(reply)


@pytest.fixture(scope="session")
def examples() -> list[dspy.Example]:
    """Labelled examples of the planner with drafts."""
    return [
        dspy.Example(
            question=f"By how much did the {name} rise?",
            schema_card="sales(date, amount)",
            today="2020-12-31",
            interpretation=f"the {name}, with windows",
            selects=[DataFrameFromSQL.model_validate(SELECTS[0])],
            code="answer = 1.0",
            answer_kind="number",
            unit="",
        ).with_inputs("question", "schema_card", "today")
        for name in ("sales", "costs", "profits", "debts", "taxes", "wages")
    ]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bench(sandbox: Sandbox, tmp_path: Path) -> CompileBench:
    """What examples are run with; the embedder needs no model."""
    folder = tmp_path / "bench"
    folder.mkdir()
    return CompileBench(sandbox, Settings(home=tmp_path / "home", embedder="words"), folder)


@pytest.fixture(scope="session")
def extractor() -> Callable[..., ScriptedModel]:
    """A model for SQL extraction that is right when told to be: `extractor(lambda question, prompt: True)`."""
    records = layer_examples.load("sql_extraction")
    by_question = {record.question: record for record in records if isinstance(record, SqlExtractionExample)}
    by_purpose = {
        (frame.purpose, ", ".join(frame.columns)): (record.question, frame.select)
        for record in by_question.values()
        for frame in record.frames
    }

    def one(right: Callable[[str, Messages], bool], messages: Messages) -> str:
        fields = dict(re.findall(r"\[\[ ## (\w+) ## \]\]\n(.*)", messages[-1]["content"]))
        question, select = by_purpose[fields["wanted"], fields["columns"]]
        written = select if right(question, messages) else "SELECT 1 AS nothing"
        return f"[[ ## select ## ]]\n{written}\n\n[[ ## completed ## ]]"

    def model(right: Callable[[str, Messages], bool]) -> ScriptedModel:
        def answer(messages: Messages) -> str:
            last = messages[-1]["content"]
            if "[[ ## select ## ]]" in last.rsplit("Respond with", 1)[-1]:
                return one(right, messages)
            if "[[ ## selects ## ]]" not in last.rsplit("Respond with", 1)[-1]:
                return reply(messages)  # it is asked for instructions
            record = next(record for question, record in by_question.items() if question in last)
            select = None if right(record.question, messages) else "SELECT 1 AS nothing"
            selects = [
                {"df_name": f.name, "df_columns": list(f.columns), "select_query": select or f.select}
                for f in record.frames
            ]
            return f"[[ ## selects ## ]]\n{json.dumps(selects)}\n\n[[ ## completed ## ]]"

        return ScriptedModel(answer)

    return model
