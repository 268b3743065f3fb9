"""Whatever a check finds out, no cell value is in a prompt: not in errors, not in the SELECT of a later turn."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.session import Session
from finexpert.settings import Settings
from finexpert.testing import fields
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

CANARY, NUMBER = "zyxwcanary", "918273645"
TABLES = f"""
CREATE TABLE clients (client_id INTEGER PRIMARY KEY, segment VARCHAR, ccy VARCHAR);
INSERT INTO clients VALUES (1, '{CANARY} Private', '{CANARY}-A'), (2, '{CANARY}_Retail', '{CANARY}-B'), ({NUMBER}, '{CANARY} x', '{CANARY}-C');
CREATE TABLE trades (trade_id INTEGER, client_id INTEGER, status VARCHAR, amount DOUBLE, ccy VARCHAR, day DATE, text_day VARCHAR, units VARCHAR);
INSERT INTO trades VALUES (1, 1, '{CANARY}done', {NUMBER}.5, '{CANARY}-A', '2023-01-01', '31/01/2023', '{NUMBER}'),
  (2, 1, '{CANARY}done', 2, '{CANARY}-B', '2023-02-01', '28/02/2023', '12'), (3, 2, '{CANARY} open', 3, '{CANARY}-A', '2023-03-01', '01/03/2023', '7');
"""


@pytest.fixture
def source(tmp_path: Path) -> Iterator[DuckDBWarehouse]:
    path = tmp_path / "canaries.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    with DuckDBWarehouse(path, row_cap=2) as opened:
        yield opened


def plan(select: str, code: str = "") -> str:
    selects = json.dumps([{"df_name": "found", "df_columns": [], "select_query": select}])
    return (
        f"[[ ## interpretation ## ]]\nas asked\n[[ ## selects ## ]]\n{selects}\n[[ ## code ## ]]\n{code}\n"
        "[[ ## answer_kind ## ]]\nnumber\n[[ ## completed ## ]]"
    )


@pytest.fixture
def ask(source: DuckDBWarehouse, sandbox: Any) -> Any:
    """Asks with a model that says the same SELECT whenever it is asked; gives the answer and every prompt."""

    def ask(*selects: str, code: str = "", **given: Any) -> tuple[list[Any], str]:
        prompts: list[str] = []
        said = iter(selects)

        def reply(messages: list[dict[str, str]]) -> str:
            prompts.append("\n".join(str(message["content"]) for message in messages))
            if "starting with the field `[[ ## interpretation" in prompts[-1]:
                return plan(next(said), code)
            select = selects[0]
            one = json.dumps([{"df_name": "found", "df_columns": [], "select_query": select}])
            return f"[[ ## selects ## ]]\n{one}\n[[ ## completed ## ]]"

        settings = Settings(memory=False, cache=False, **given)
        with Session(
            source, settings=settings, models=LanguageModels(ScriptedModel(reply)), sandbox=sandbox
        ) as session:
            answers = [
                session.ask(f"question {number}?", answer_format=AnswerFormat(kind="number"))
                for number in range(len(selects))
            ]
        return answers, "\n".join(prompts)

    return ask


@pytest.mark.parametrize(
    "select",
    [
        "SELECT count(*) FROM trades WHERE status = 'Executed'",
        "SELECT count(*) FROM trades WHERE status LIKE 'Executed%'",
        "SELECT count(*) FROM clients WHERE segment IN ('hedge', 'fund')",
        "SELECT count(*) FROM trades WHERE amount > 1e12",
        "SELECT sum(amount) FROM trades",
        "SELECT sum(c.client_id) FROM clients c JOIN trades t USING (client_id)",
        "SELECT * FROM trades",
        "SELECT trade_id, amount FROM trades ORDER BY 1 LIMIT 2",
        "SELECT count(*) FROM trades WHERE text_day >= '2023-01-01'",
        "SELECT max(units) FROM trades",
        "SELECT status FROM trades WHERE trade_id = 1",
        "SELECT count(*) FROM clients WHERE ccy NOT IN (SELECT CASE WHEN trade_id = 1 THEN NULL ELSE ccy END FROM trades)",
        "SELECT count(*) FROM clients c JOIN trades t ON c.segment = t.status",
        "SELECT sum(trade_id) / 0.0 FROM trades",
    ],
)
def test_no_reason_holds_a_value(ask: Any, select: str) -> None:
    answers, prompts = ask(select, select)
    assert [answer.status for answer in answers] == ["failed", "failed"]
    assert len(prompts) > 1000
    assert CANARY not in prompts
    assert NUMBER not in prompts


def test_a_text_that_was_put_right_stays_as_the_model_wrote_it(ask: Any, tmp_path: Path) -> None:
    written = "SELECT count(*) FROM clients WHERE segment = 'ZYXWcanary-private'"
    answers, prompts = ask(written, "SELECT count(*) FROM trades")
    assert [answer.value for answer in answers] == [1.0, 3.0]
    assert f"{CANARY} Private" in answers[0].record.frames[0].select
    assert f"{CANARY} Private" in answers[0].flags[0]
    assert written in prompts
    assert f"{CANARY} Private" not in prompts


def test_a_person_is_shown_what_the_model_is_not(ask: Any) -> None:
    (answer,), prompts = ask("SELECT count(*) FROM trades WHERE status = 'Executed'")
    assert f"trades.status holds '{CANARY} open', '{CANARY}done'" in answer.failure.message
    assert CANARY not in prompts


def test_how_far_a_column_runs_is_shown_to_a_person_alone(ask: Any) -> None:
    (first, _), prompts = ask("SELECT count(*) FROM trades WHERE amount > 1e12", "SELECT count(*) FROM trades")
    assert f"amount runs from 2.0 to {NUMBER}.5" in first.failure.message
    assert "runs from" not in prompts


BROKEN = "SELECT nosuch AS n FROM invoices"
GUESSED = "SELECT count(*) AS n FROM invoices WHERE upper(trim(status)) IN ('POSTED', 'POST', 'P')"


@pytest.mark.parametrize("selects", [(GUESSED,), (BROKEN, GUESSED), (GUESSED, BROKEN), (BROKEN, BROKEN, GUESSED)])
@pytest.mark.parametrize("clarify", [True, False])
def test_what_a_person_alone_can_tell_is_told_no_model_beside_what_it_can_mend(
    tmp_path: Path, sandbox: Any, selects: tuple[str, ...], clarify: bool
) -> None:
    with duckdb.connect(str(tmp_path / "codes.duckdb")) as connection:
        connection.execute(f"""
            CREATE TABLE code_table (domain VARCHAR, code VARCHAR, meaning VARCHAR);
            INSERT INTO code_table VALUES ('INV', 'd ', '{CANARY} draft'), ('INV', 'O', 'posted'), ('INV', ' p', '{CANARY} settled');
            CREATE TABLE invoices (id INTEGER, status VARCHAR);
            INSERT INTO invoices SELECT i, ['d ', 'O', ' p'][1 + i % 3] FROM range(99) t(i);
        """)
    frames = [{"df_name": f"f{i}", "df_columns": ["n"], "select_query": select} for i, select in enumerate(selects)]
    code = "answer = int(f0.n.iloc[0])" if len(frames) > 1 else ""
    model = ScriptedModel(
        lambda _: fields(interpretation="as asked", selects=frames, code=code, answer_kind="integer", unit="")
    )
    settings = Settings(memory=False, cache=False)
    with (
        DuckDBWarehouse(tmp_path / "codes.duckdb") as source,
        Session(source, settings=settings, models=LanguageModels(model), sandbox=sandbox) as session,
    ):
        answer = session.ask("How many are posted?", clarify=clarify, someone_there=clarify)
    told = str(answer.clarification if clarify else answer.failure)
    assert (answer.status, "invoices.status" in told) == ("needs_clarification" if clarify else "failed", True)
    assert not any(word in str(model.prompts) for word in (CANARY, "' p'", "'d '"))
    assert len(model.prompts) == 1


def test_two_selects_that_fail_alike_are_written_again(tmp_path: Path, sandbox: Any) -> None:
    with duckdb.connect(str(tmp_path / "one.duckdb")) as connection:
        connection.execute("CREATE TABLE invoices AS SELECT 7 AS n")
    said = iter([BROKEN, BROKEN.replace("nosuch", "n")])

    def reply(_: Any) -> str:
        select = next(said)
        frames = [{"df_name": f"f{i}", "df_columns": ["n"], "select_query": select} for i in range(2)]
        code = "answer = int(f0.n.iloc[0] + f1.n.iloc[0])"
        return fields(interpretation="as asked", selects=frames, code=code, answer_kind="integer", unit="")

    with (
        DuckDBWarehouse(tmp_path / "one.duckdb") as source,
        Session(source, settings=Settings(memory=False, cache=False), models=LanguageModels(ScriptedModel(reply)), sandbox=sandbox) as session,
    ):  # fmt: skip
        assert session.ask("How much?").value == 14


def test_as_of_and_dates_leave_nothing_either(ask: Any) -> None:
    (answer,), prompts = ask("SELECT count(*) FROM clients", as_of=dt.date(2023, 1, 15))
    assert (answer.status, answer.failure.kind) == ("failed", "as of")
    assert CANARY not in prompts
