"""`finexpert feedback`: what people said, as a queue, and what a person makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

RIGHT = "SELECT sum(fee_usd) AS fees FROM trades WHERE year(day) = 2023 AND region = 'north'"


@pytest.fixture
def record(finexpert: Any, scripted: Any, desk: Any, monkeypatch: pytest.MonkeyPatch, home: Path) -> str:
    """An answer with another SELECT than the one that was meant."""
    for name, value in {
        "EMBEDDER": "words",
        "STORE": "knowledge.sqlite",
        "BY": "anna",
        "DATA": "trades.duckdb",
    }.items():
        monkeypatch.setenv(f"FINEXPERT_{name}", value)
    with duckdb.connect("trades.duckdb") as connection:
        connection.execute("CREATE TABLE trades (day DATE, region VARCHAR, fee_usd DOUBLE)")
        connection.execute("INSERT INTO trades VALUES ('2023-03-01', 'north', 20), ('2023-06-01', 'south', 30)")
    select = RIGHT.partition(" AND")[0]
    scripted(lambda prompt: desk.plan("", "number", select, ("fees",), "fees"))
    return Path(finexpert("ask", "Fees in 2023?", "--data", "trades.duckdb", "--json").json["record"]).stem


def test_a_reason_becomes_what_a_person_makes_of_it(finexpert: Any, record: str, home: Path) -> None:
    assert "Nothing is open" in finexpert("feedback", "list").out
    finexpert("feedback", "add", record, "--right", "fine")
    assert "Nothing is open" in finexpert("feedback", "list").out
    finexpert("feedback", "add", record, "--wrong", "the north alone")
    (entry,) = finexpert("feedback", "list", "--json").json
    assert (entry["id"], entry["reason"], entry["door"], entry["up"]) == (
        record,
        "the north alone",
        "command line",
        False,
    )
    # Until then nothing is used.
    assert finexpert("verified", "list", "--json").json == finexpert("glossary", "list", "--json").json == []
    data = ("--data", "trades.duckdb")
    ran = finexpert(
        "feedback",
        "keep",
        record[:20],
        "--select",
        RIGHT,
        "--file",
        "mine.jsonl",
        "--define",
        "fees = of the north",
        *data,
    )
    assert "an example in mine.jsonl, the term 'fees'" in ran.out
    assert "Nothing is open" in finexpert("feedback", "list").out
    assert [each["select"] for each in finexpert("verified", "list", "--json").json] == [RIGHT]
    assert finexpert("glossary", "list", "--json").json[0]["meaning"] == "of the north"
    checked = finexpert("examples", "check", "sql_extraction", "--file", "mine.jsonl", *data)
    assert checked.code == 0, checked.err
    finexpert("feedback", "export", "all.json")
    assert json.loads(Path("all.json").read_text())[0]["settled"].endswith("the term 'fees'")
    assert (home / "feedback.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("keep", "RECORD"), "--define, --select"),
        (
            ("keep", "RECORD", "--define", "fees = x", "--select", "DROP TABLE trades", "--data", "trades.duckdb"),
            "SELECT",
        ),
        (("keep", "none", "--verify"), "finexpert feedback list --all"),
        (("drop", "none"), "0 entries"),
    ],
)
def test_what_is_refused_stays_open(finexpert: Any, record: str, arguments: tuple[str, ...], words: str) -> None:
    finexpert("feedback", "add", record, "--wrong", "the north alone")
    ran = finexpert("feedback", *(record if each == "RECORD" else each for each in arguments))
    assert (ran.code, words in ran.err) == (1, True), ran.err
    assert len(finexpert("feedback", "list", "--json").json) == 1
    assert finexpert("verified", "list", "--json").json == finexpert("glossary", "list", "--json").json == []


def test_a_line_that_somebody_spoilt_is_named(finexpert: Any, record: str, home: Path) -> None:
    finexpert("feedback", "add", record, "--wrong", "x")
    with (home / "feedback.jsonl").open("a") as file:
        file.write('{"id": "a b"}\n')
    assert "feedback.jsonl, line 2" in finexpert("feedback", "list").err


def test_compile_takes_what_was_made_an_example(finexpert: Any, record: str, home: Path) -> None:
    told = ("compile", "sql_extraction", "--from-feedback", "--data", "trades.duckdb", "--lm", "openai/none")
    none = finexpert(*told)
    assert (none.code, "finexpert feedback keep ID" in none.err) == (1, True), none.err
    finexpert("feedback", "add", record, "--wrong", "the north alone")
    finexpert("feedback", "keep", record, "--select", RIGHT, "--example", "--data", "trades.duckdb")
    file = home / "examples.jsonl"
    assert [json.loads(line)["frames"][0]["select"] for line in file.read_text().splitlines()] == [RIGHT]
    assert file.stat().st_mode & 0o777 == 0o600
    ran = finexpert(*told, "--optimizer", "none")
    assert "1 examples of your own, beside the packaged ones" in ran.out + ran.err, ran.err
