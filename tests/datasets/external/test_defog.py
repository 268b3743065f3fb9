"""Defog's form: questions, databases with their descriptions, and both ways of answering, judged by both rules."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.core.answers import Answer, AnswerFormat, Citation
from finexpert.datasets.evaluations.evaluation import Result
from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.external import private_postgres
from finexpert.datasets.external.defog import DefogQuestion, digest, load_questions, loaded
from finexpert.datasets.external.defog_evaluation import judge, judge_of
from finexpert.datasets.external.paired import WAYS, PairedBench, evaluate
from finexpert.errors import ConfigurationError, DataError, QuestionFileError
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.sandbox import Sandbox
from finexpert.settings import Settings
from finexpert.testing import fields

TOTALS = (
    "SELECT c.name, COALESCE(SUM(o.amount), 0) AS total FROM customers c LEFT JOIN orders o ON o.customer_id = c.id "
    "GROUP BY c.id, c.name"
)


def test_questions_of_both_forms(shop: Path) -> None:
    rows = 'db_name,query_category,question,instructions,query\nshop,basic_x,"How many, all told?",,SELECT 1\n'
    (shop / "instruct_basic.csv").write_text(rows)
    questions = {question.id: question for question in load_questions(shop)}
    assert list(questions) == ["instruct_basic-1", "totals", "latest"]
    assert questions["instruct_basic-1"] == DefogQuestion(
        id="instruct_basic-1", db="shop", category="basic_x", question="How many, all told?", gold_sql="SELECT 1"
    )
    assert questions["totals"].knowledge == "Customers without an order have 0."


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("questions.jsonl", '{"id": "a"}', "line 1: db"),
        ("questions.jsonl", "", "holds no question"),
        ("more.jsonl", '{"id": "totals", "db": "shop", "question": "?", "gold_sql": "SELECT 1"}', "stands twice"),
        ("bad.csv", "db_name,question,query\nshop; drop,?,SELECT 1\n", "line 1: db"),
    ],
)
def test_a_wrong_file_is_named(shop: Path, name: str, text: str, message: str) -> None:
    (shop / name).write_text(text)
    with pytest.raises(QuestionFileError, match=message) as raised:
        load_questions(shop)
    assert ".jsonl" in str(raised.value) or name in str(raised.value)


def test_a_folder_without_questions_says_where_they_are(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(QuestionFileError, match="defog-ai/sql-eval"):
            load_questions(folder)


def test_without_a_server_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, shop: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(private_postgres, "PLACES", ())
    with pytest.raises(ConfigurationError, match="apt-get install postgresql"), loaded(shop, ["shop"]):
        pass


def test_a_server_that_does_not_come_up_is_an_error_with_its_words(tmp_path: Path) -> None:
    (tmp_path / "initdb").write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    (tmp_path / "initdb").chmod(0o755)
    tmp_path.chmod(0o755)
    with (
        pytest.raises(ConfigurationError, match=r"no room|cannot be started"),
        private_postgres.private_postgres(tmp_path),
    ):
        pass


def test_the_day_and_the_files_make_the_digest(shop: Path) -> None:
    before = digest(shop, ["shop"])
    assert digest(shop, ["shop"]) == before
    with (shop / "shop" / "shop.sql").open("a") as file:
        file.write("-- more\n")
    assert digest(shop, ["shop"]) != before


def test_descriptions_are_in_the_card_and_tables_are_seen_by_their_names(shop: Path, server_programs: None) -> None:
    with loaded(shop, ["shop"]) as databases:
        folder = Path(str(databases["shop"].plain.url.query["host"]))
        assert "the order's USD" in databases["shop"].warehouse.schema_card()
        assert list(databases["shop"].rows("SELECT name FROM customers ORDER BY id").name) == ["Ann", "Bob", "Cid"]
        assert databases["shop"].rows("SELECT name FROM shop.customers WHERE name LIKE 'A%'").shape == (1, 1)
        with pytest.raises(DataError, match="cannot be run"):
            databases["shop"].rows("SELECT nothing FROM customers")
    assert not folder.exists()


def test_a_dump_that_cannot_be_loaded_is_named(shop: Path, server_programs: None) -> None:
    (shop / "shop" / "shop.sql").write_text("CREATE TABLE customers (id nonsense)")
    with pytest.raises(DataError, match="the database shop cannot be loaded"), loaded(shop, ["shop"]):
        pass


def reply(prompt: str) -> str:
    """The totals rightly in both ways; today's orders by a SELECT with a column too many, or not at all."""
    baseline = "field `[[ ## select_query ## ]]`" in prompt
    if "made today" in prompt:
        if baseline:
            return fields(select_query="NOT ANSWERABLE: no orders")
        return planned("SELECT id, day, amount FROM orders WHERE id = 2")
    assert "Customers without an order have 0." in prompt
    assert "PostgreSQL" in prompt
    return fields(select_query=TOTALS) if baseline else planned(TOTALS)


def planned(select: str) -> str:
    selects = json.dumps([{"df_name": "answer", "df_columns": [], "select_query": select}])
    return fields(interpretation="as asked", selects=selects)


def test_both_ways_by_both_rules(shop: Path, server_programs: None, sandbox: Sandbox, tmp_path: Path) -> None:
    questions = load_questions(shop)
    models = LanguageModels(ScriptedModel(lambda messages: reply("\n".join(str(m["content"]) for m in messages))))
    journal = Journal(tmp_path / "journal.jsonl", Result)
    with loaded(shop, ["shop"]) as databases:
        source = databases["shop"].warehouse
        bench = PairedBench(source, sandbox, models, Settings(cache=False), sources={"shop": source}, digest="one")
        judged = judge_of(databases, questions)
        results = {(r.rung, r.id): r for r in evaluate(bench, questions, WAYS, journal, judged)}
        assert len(evaluate(bench, questions, WAYS, journal, judged)) == 4  # nothing is asked a second time
    verdicts: dict[Any, Any] = {key: (r.status, r.correct, r.also["ours"]) for key, r in results.items()}
    assert verdicts == {
        ("program", "totals"): ("answered", True, True),
        ("single-call", "totals"): ("answered", True, True),
        ("program", "latest"): ("answered", True, False),
        ("single-call", "latest"): ("not_found", False, False),
    }
    assert results["program", "totals"].answer["columns"] == ["name", "total"]
    assert results["program", "totals"].usage.calls == results["single-call", "totals"].usage.calls == 1
    assert {r.category for r in results.values()} == {"basic", "instructions"}
    assert TOTALS in results["single-call", "totals"].selects.values()


@pytest.mark.parametrize(("names", "right"), [(["Ann", "Bob", "Cid"], True), (["Ann", "Bob"], False)])
def test_a_table_that_is_not_what_its_select_gives_is_wrong(
    shop: Path, server_programs: None, names: list[str], right: bool
) -> None:
    """As where a warehouse hides rows: sql-eval looks at the SELECT alone, and the user gets the table."""
    question = DefogQuestion(id="q", db="shop", question="Who?", gold_sql="SELECT name FROM customers")
    answer = Answer(
        question="Who?",
        status="answered",
        value=pd.DataFrame({"name": names}),
        format=AnswerFormat(kind="table"),
        citations=[Citation(source="answer", place="SELECT name FROM customers")],
    )
    with loaded(shop, ["shop"]) as databases:
        golds = [databases["shop"].rows(question.gold_sql)]
        result = judge("program", question, answer, golds, databases["shop"])
    assert (result.correct, result.also["ours"]) == (right, right)
