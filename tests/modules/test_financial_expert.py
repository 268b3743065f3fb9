"""A question through the whole program, with scripted models, a real warehouse and a real sandbox."""

from __future__ import annotations

import datetime as dt
import json
import random
from typing import Any

import pytest

from finexpert.answers import replaying
from finexpert.answers.export import script as exported
from finexpert.answers.records import Record
from finexpert.core.answers import AnswerFormat
from finexpert.errors import ModelUnreachable
from finexpert.language_models.budget import Budget
from finexpert.session import Session
from finexpert.settings import Settings

CANARY, NUMBER = "zyxwcanary", "918273645"


def drafts(select: str, code: str, kind: str = "number", unit: str = "") -> str:
    selects = json.dumps([{"df_name": "sales", "df_columns": ["date", "amount"], "select_query": select}])
    return (
        f"[[ ## interpretation ## ]]\nas asked\n[[ ## selects ## ]]\n{selects}\n[[ ## code ## ]]\n{code}\n"
        f"[[ ## answer_kind ## ]]\n{kind}\n[[ ## unit ## ]]\n{unit}\n[[ ## completed ## ]]"
    )


GOOD = "SELECT date, amount FROM sales ORDER BY date"
PLAN = (
    '[[ ## interpretation ## ]]\nas asked\n[[ ## frames ## ]]\n[{"df_name": "sales", "purpose": "all", "df_columns": ["date", "amount"]}]\n'
    "[[ ## task ## ]]\n1. count\n[[ ## answer_kind ## ]]\ninteger\n[[ ## unit ## ]]\nmonths\n[[ ## completed ## ]]"
)
SELECTS = (
    '[[ ## selects ## ]]\n[{"df_name": "sales", "df_columns": ["date", "amount"], "select_query": "'
    + GOOD
    + '"}]\n[[ ## completed ## ]]'
)
CODE = "[[ ## code ## ]]\nanswer = len(sales)\n[[ ## completed ## ]]"


@pytest.fixture
def session(warehouse: Any, sandbox: Any, scripted: Any) -> Any:
    def make(answers: object, **settings: Any) -> tuple[Session, list[str]]:
        models, prompts = scripted(answers)
        given = Settings(as_of=dt.date(2020, 12, 31), cache=False, **settings)
        return Session(warehouse, settings=given, models=models, sandbox=sandbox), prompts

    return make


def test_drafts_answer_in_one_call(session: Any) -> None:
    asked, prompts = session([drafts(GOOD, "answer = sales.amount.max() - sales.amount.min()", unit="thousand USD")])
    answer = asked.ask("By how much did sales rise?")
    assert (answer.value, answer.text, answer.usage.calls) == (5.0, "5.00 thousand USD", 1)
    assert answer.period == "2020-01-01 to 2020-06-01"
    assert answer.citations[0].place == GOOD
    assert len(prompts) == 1


def test_without_drafts_each_layer_does_its_part(session: Any) -> None:
    asked, prompts = session([PLAN, SELECTS, CODE], drafts=False)
    answer = asked.ask("How many months?")
    assert (answer.value, answer.text) == (6, "6 months")
    assert answer.usage.by_layer == {"planning": 1, "sql_extraction": 1, "script_generation": 1}
    assert GOOD in prompts[2]


def test_a_failed_draft_goes_to_its_own_layer(session: Any) -> None:
    asked, prompts = session([drafts("SELECT date, amnt FROM sales", "answer = sales.nothing.max()"), SELECTS, CODE])
    answer = asked.ask("How many months?", answer_format=AnswerFormat(kind="integer"))
    assert answer.value == 6
    assert answer.usage.by_layer == {"planning": 1, "sql_extraction": 1, "script_generation": 1}
    assert "amount" in prompts[1]  # the nearest column is suggested
    assert "nothing" in prompts[2]


def test_failed_attempts_leave_the_conversation(session: Any) -> None:
    asked, prompts = session([drafts("SELECT wrong FROM sales", "answer = 1"), SELECTS, drafts(GOOD, "answer = 2.0")])
    asked.ask("first?")
    asked.ask("second?")
    assert "wrong" in prompts[1]
    assert "wrong" not in prompts[2]
    assert "first?" in prompts[2]


def test_a_follow_up_uses_the_frames_at_hand(session: Any) -> None:
    again = drafts(GOOD, "answer = sales.amount.mean()").replace(
        drafts(GOOD, "").split("[[ ## selects ## ]]\n")[1].split("\n[[")[0], "[]"
    )
    asked, prompts = session([drafts(GOOD, "answer = float(len(sales))"), again])
    asked.ask("How many?")
    answer = asked.ask("And on average?")
    assert answer.status == "answered"
    assert "sales(date datetime64" in prompts[1]
    assert answer.record.frames[0].select == GOOD  # the record stands alone


def test_as_of_hides_later_rows(session: Any) -> None:
    asked, _ = session([drafts(GOOD, "answer = float(len(sales))")])
    asked.settings.as_of = dt.date(2020, 3, 15)
    assert asked.ask("How many?").value == 3.0


def test_a_question_that_cannot_be_answered_says_why(session: Any) -> None:
    asked, _ = session([drafts(GOOD, "answer = 'text'")] + [CODE.replace("len(sales)", "None")] * 2)
    answer = asked.ask("How much?", answer_format=AnswerFormat(kind="number"))
    assert (answer.status, answer.value) == ("failed", None)
    assert answer.failure.layer == "script_generation"
    assert answer.usage.calls == 3


def test_the_budget_stops_with_what_is_there(session: Any) -> None:
    asked, _ = session([drafts("SELECT wrong FROM sales", "answer = 1"), SELECTS], budget_calls=1)
    answer = asked.ask("How many?")
    assert (answer.status, answer.failure.layer, answer.usage.calls) == ("failed", "budget", 1)


def test_a_budget_around_several_questions(session: Any) -> None:
    asked, _ = session([drafts(GOOD, "answer = 1.0")] * 3)
    with Budget(calls=2):
        assert [asked.ask(str(n)).status for n in range(3)] == ["answered", "answered", "failed"]


def test_an_unreachable_model_is_raised(session: Any) -> None:
    def refuse(prompt: str) -> str:
        raise ModelUnreachable("nothing there")

    asked, _ = session(refuse)
    with pytest.raises(ModelUnreachable):
        asked.ask("How many?")


# Contract one: no cell value reaches a prompt.

LEAKS = [
    "raise ValueError(sales['note'].iloc[0])",
    "raise ValueError(f'bad {sales.amount.iloc[0]}')",
    "answer = float(sales['note'].iloc[0])",
    "answer = {sales['note'].iloc[0]: 1}[0]",
    "answer = sales.set_index('note').loc['x']",
    "assert sales.amount.iloc[0] < 0, sales.to_string()",
    "import warnings; warnings.warn(str(sales.note[0])); answer = int(str(sales.note[0]))",
    "pd.to_datetime(sales['note'])",
    "sales['note'].astype(float)",
    "sales.astype({'note': 'int64'})",
    "exec(sales['note'].iloc[0])",
    "raise type(sales['note'].iloc[0], (Exception,), {})('x')",
    "raise KeyError(sales['note'].iloc[0])",
    "def f():\n    x = sales['note'].iloc[0]\n    raise RuntimeError(x * 3)\nf()",
    "answer = sales['note'].iloc[0]",
    "answer = sales",
]
SQL_LEAKS = [
    "SELECT CAST(note AS INTEGER) AS date, amount FROM sales",
    "SELECT error(note) AS date, amount FROM sales",
    "SELECT date, CAST(amount AS TINYINT) AS amount FROM sales",
    "SELECT strptime(note, '%Y') AS date, amount FROM sales",
    "SELECT date, amount FROM sales WHERE amount = note::DOUBLE",
    "SELECT date, 1/0 AS amount, note FROM sales",
]


@pytest.mark.parametrize("code", LEAKS)
def test_no_cell_reaches_a_prompt_through_a_script(session: Any, code: str) -> None:
    everything = drafts("SELECT date, region, note, amount FROM sales", code).replace(
        '"df_columns": ["date", "amount"]', '"df_columns": ["date", "region", "note", "amount"]'
    )
    asked, prompts = session([everything, CODE.replace("len(sales)", "sales.nope"), CODE, drafts(GOOD, "answer = 1.0")])
    asked.ask("How many?", answer_format=AnswerFormat(kind="integer"))
    asked.ask("And now?")
    assert len(prompts) >= 3
    assert not [p for p in prompts if CANARY in p or NUMBER in p]


@pytest.mark.parametrize("select", SQL_LEAKS)
def test_no_cell_reaches_a_prompt_through_sql(session: Any, select: str) -> None:
    asked, prompts = session([drafts(select, "answer = len(sales)"), SELECTS, CODE, CODE])
    asked.ask("How many?", answer_format=AnswerFormat(kind="integer"))
    assert len(prompts) >= 2
    assert not [p for p in prompts if CANARY in p or NUMBER in p]


def test_samples_show_rows_only_when_asked_for(session: Any) -> None:
    asked, prompts = session([drafts(GOOD, "answer = 1.0")], privacy="samples")
    asked.ask("How many?")
    assert CANARY in prompts[0]


# Contract two: an answer can be computed again without a model.


def test_a_record_replays_from_disk(session: Any, warehouse: Any, sandbox: Any, tmp_path: Any) -> None:
    asked, _ = session([drafts(GOOD, "answer = sales.amount.mean()")])
    answer = asked.ask("On average?")
    kept = Record.load(answer.record.save(tmp_path))
    again = replaying.replay(kept, warehouse, sandbox)
    assert (again.value, again.same, again.differences) == (answer.value, True, [])
    assert (tmp_path / f"{kept.id}.json").stat().st_mode & 0o077 == 0


def test_a_replay_over_other_data_says_so(session: Any, sandbox: Any, tmp_path: Any) -> None:
    import pandas as pd

    from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

    asked, _ = session([drafts(GOOD, "answer = float(len(sales))")])
    record = asked.ask("How many?").record
    data = pd.DataFrame({"date": pd.to_datetime(["2020-01-01"]), "amount": [1.0]})
    with DuckDBWarehouse(
        build_warehouse(tmp_path / "other.duckdb", [Table("sales", data, date_column="date")])
    ) as other:
        again = replaying.replay(record, other, sandbox)
    assert not again.same
    assert len(again.differences) == 3


def test_an_exported_answer_runs_on_its_own(session: Any, warehouse: Any, tmp_path: Any) -> None:
    import subprocess
    import sys

    # What stands in quotes would be looked up as a term.
    asked, _ = session([drafts(GOOD, "answer = sales.amount.max() - sales.amount.min()")], memory=False)
    script = tmp_path / "answer.py"
    script.write_text(exported.export(asked.ask('By how much? "quoted" \\ """').record, warehouse))
    ran = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ran.stdout.strip() == "5.0"


# A thousand malformed outputs: never an exception, never a wrong answer passed off as right.


def _mangled(seed: int) -> str:
    """A right completion with one thing wrong that makes its value unusable or not 6."""
    chance = random.Random(seed)
    good = drafts(GOOD, "answer = len(sales)", "integer")
    junk = chance.choice(
        ["", "I cannot answer that.", "```json\n{}\n```", "\x00\ufffd", "]]" * 50, "answer: 6", good[::-1]]
    )
    cut = good[: chance.randrange(len(good) - 60)]
    return chance.choice(
        [
            junk,
            cut,
            good.replace(
                GOOD,
                chance.choice(
                    ["SELECT 1; SELECT 2", "DROP TABLE sales", "SELECT * FROM nowhere", "SELEC date", "", "PRAGMA x"]
                ),
            ),
            good.replace(
                "answer = len(sales)",
                chance.choice(
                    [
                        "answer = (",
                        "anwser = 6",
                        "import os",
                        "while True: answer",
                        "def",
                        "answer = sales.x",
                        "1/0",
                        "answer = 'six'",
                        "answer = 6.5",
                        "answer = None",
                    ]
                ),
            ),
            good.replace('"sales"', chance.choice(['"1sales"', '"sa les"', "null", "7", '"other"', "[]"])),
            good.replace("[[ ## code ## ]]", chance.choice(["[[ ## cod ## ]]", "", "[[code]]", "## code"])),
            good.replace("[{", chance.choice(["{", "[[{", "null", '"'])),
            good.replace("integer", chance.choice(["sixteen", "{}", "", "None", "tabel"])),
            good.replace('["date", "amount"]', chance.choice(["[]", '["a"]', '{"a": 1}', '["a", "a", "b"]', "7"])),
        ]
    )


@pytest.mark.parametrize("block", [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 10))])
def test_malformed_outputs(session: Any, block: int) -> None:
    seeds = iter(range(block * 1000, block * 1000 + 1000))
    asked, _ = session(lambda prompt: _mangled(next(seeds)), retries=0, script_seconds=2)
    for number in range(100):
        asked.workspace.frames.clear()
        asked.workspace.turns.clear()
        answer = asked.ask(f"How many months ({number})?", answer_format=AnswerFormat(kind="integer"))
        assert (answer.value is None) == (answer.status != "answered")
        if answer.status == "answered":
            assert answer.value == 6, answer.record.plan
        else:
            assert answer.failure.message


def test_a_page_is_asked_about_without_a_sandbox(monkeypatch: pytest.MonkeyPatch, scripted: Any) -> None:
    from finexpert.errors import SandboxUnavailable
    from finexpert.filings.page.filing import Filing
    from finexpert.isolation import rungs

    def refuse(rung: str | None) -> str:
        raise SandboxUnavailable("no boundary here")

    monkeypatch.setattr(rungs, "chosen_rung", refuse)
    step = '{"kind": "cell", "id": 1, "row": "sales", "column": "2017"}'
    plan = f"[[ ## entity ## ]]\nsales\n[[ ## steps ## ]]\n[{step}]\n[[ ## answer ## ]]\nstep 1\n[[ ## completed ## ]]"
    models, _ = scripted([plan])
    page = Filing("p", ["in millions of dollars"], [["", "2017"], ["sales", "$ 26.5"]], [])
    with Session(page, settings=Settings(), models=models) as session:
        answer = session.ask("sales?")
    assert (answer.value, answer.citations[0].source) == (26.5, "p")
