"""Errors leave the command line as one line that names the value, the place and what to do; no traceback."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import pytest

ASK = ("ask", "How many?", "--lm", "recorded")


def test_data_that_is_not_there(finexpert: Any) -> None:
    ran = finexpert(*ASK, "--data", "/nowhere/fred.duckdb")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "DataError: /nowhere/fred.duckdb does not exist, nor does the folder /nowhere\n"


def test_an_engine_that_is_not_there(finexpert: Any) -> None:
    ran = finexpert("sandbox", "image", "--engine", "nowhere-at-all")
    assert (ran.code, ran.out) == (1, "")
    assert "there is no program 'nowhere-at-all'" in ran.err
    assert "--engine" in ran.err


def test_data_that_is_no_database(finexpert: Any, tmp_path: Path) -> None:
    path = tmp_path / "notes.duckdb"
    path.write_text("not a database")
    ran = finexpert(*ASK, "--data", str(path))
    assert (ran.code, len(ran.err.splitlines())) == (1, 1)
    assert str(path) in ran.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("ask", "How many?", "--as-of", "2024-13-01"), ("--as-of", "'2024-13-01'", "%Y-%m-%d")),
        (("ask", " "), ("the question is empty",)),
        (("ask",), ("Missing argument",)),
        (("ask", "How many?", "--retries", "11"), ("--retries",)),
        (("ask", "How many?", "--colour"), ("--colour",)),
        (("eval", "fred", "--rungs", "sql,magic"), ("--rungs", "'magic' is no rung", "sql+script")),
        (("eval", "fred", "--rungs", "", "--no-baseline"), ("--rungs", "no rung is named")),
        (("eval", "fred", "--only", "nothing"), ("--only", "'nothing'")),
        (("eval", "convfinqa", "--history", "mine"), ("--history", "'mine'")),
        (("eval", "convfinqa", "--baseline", "magic"), ("--baseline", "'magic'", "single-call")),
        (("eval", "convfinqa", "--split", "test"), ("--split", "'test'", "none of train, dev")),
        (("eval", "convfinqa", "--split", "train"), ("--split", "train.json", "finexpert data convfinqa")),
        (("ask", "How many?", "--id", "page 3"), ("--id", "'page 3'", "--filing")),
        (("chat", "--trace", "."), ("--trace", "'.'", "is a directory")),
        (("eval", "fred", "--json", "."), ("--json", "'.'", "is a directory")),
        (("eval", "filings", "--json", "."), ("--json", "is a directory")),
        (("eval", "lookup", "--json", "."), ("--json", "is a directory")),
        (("eval", "review", "--json", "."), ("--json", "is a directory")),
        (("bench", "overhead", "-n", "2"), ("-n",)),
    ],
)
def test_wrong_usage(finexpert: Any, arguments: tuple[str, ...], named: tuple[str, ...]) -> None:
    ran = finexpert(*arguments)
    assert (ran.code, ran.out) == (2, "")
    for words in named:
        assert words in ran.err


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("FINEXPERT_RETRIES", "many", ("the setting retries is 'many'", "valid integer", "FINEXPERT_RETRIES")),
        ("FINEXPERT_RETRIES", "99", ("the setting retries is '99'", "less than or equal to 10")),
        ("FINEXPERT_AS_OF", "yesterday", ("the setting as_of is 'yesterday'", "FINEXPERT_AS_OF", "finexpert.toml")),
        ("FINEXPERT_PRIVACY", "all", ("the setting privacy is 'all'", "'schema' or 'samples'")),
        ("FINEXPERT_LAYERS", "{planning", ("layers", "FINEXPERT_")),
        (
            "FINEXPERT_LAYERS",
            '{"planning": "not-shown"}',
            ("the setting layers_planning is not as it can be", "FINEXPERT_LAYERS"),
        ),
        ("FINEXPERT_LAYERS", '{"plans": {}}', ("FINEXPERT_LAYERS", "'plans'", "planning")),
        ("FINEXPERT_RECORDINGS", '["/nowhere.jsonl"]', ("/nowhere.jsonl", "FINEXPERT_RECORDINGS")),
    ],
)
def test_a_wrong_setting(
    finexpert: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: str, named: tuple[str, ...]
) -> None:
    monkeypatch.setenv(name, value)
    ran = finexpert(*ASK)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("ConfigurationError: ")
    assert len(ran.err.splitlines()) == 1
    assert "not-shown" not in ran.err
    for words in named:
        assert words in ran.err


@pytest.mark.parametrize(
    "data",
    [
        "postgresql+psycopg://desk:a@not-shown@127.0.0.1:1/x",
        "mysql+pymysql://desk:a@not-shown@127.0.0.1:1/x",
        "jdbc:postgresql://127.0.0.1:1/x?user=desk&password=not-shown",
        "jdbc:mysql://desk:not-shown@127.0.0.1/x",
        "odbc:DSN://not-shown",
    ],
)
def test_an_address_that_is_not_read_is_not_repeated(finexpert: Any, data: str) -> None:
    for command in (("doctor", "--data", data), (*ASK, "--data", data)):
        ran = finexpert(*command)
        assert ran.code != 0
        assert "not-shown" not in ran.out + ran.err


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("retries = = 3", ("finexpert.toml is not TOML", "line 1")),
        ('retries = "many"', ("the setting retries is 'many'", "finexpert.toml")),
        ("retrys = 3", ("the setting retrys is 3", "not permitted")),
        ("retries = " + "[" * 100_000, ("finexpert.toml is not TOML: it is nested too deep",)),
        ("retries = " + "{a=" * 5_000, ("finexpert.toml is not TOML: it is nested too deep",)),
        ("retries = " + "9" * 5_000, ("finexpert.toml is not TOML", "digits")),
        (".".join(["retrys"] * 5_000) + " = 1", ("the setting retrys is {'retrys'", "not permitted")),
        ("retrys = '" + "x" * 100_000 + "'", ("the setting retrys is 'xxx", "not permitted")),
        ("retries = '\udcff'", ("finexpert.toml is not TOML", "utf-8")),
    ],
    ids=lambda given: str(given)[:40],
)
def test_a_wrong_line_in_the_settings_file(finexpert: Any, text: str, named: tuple[str, ...]) -> None:
    Path("finexpert.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    # What earlier tests left open is collected here: at the bottom of a recursion, the warning about it has no room left.
    gc.collect()
    ran = finexpert(*ASK)
    assert ran.code == 1
    assert ran.err.startswith("ConfigurationError: ")
    assert len(ran.err) < 1_000
    for words in named:
        assert words in ran.err


def test_a_record_that_is_not_there(finexpert: Any, home: Path) -> None:
    for command in ("replay", "export"):
        ran = finexpert(command, "20260101-nothing")
        path = home / "records" / "20260101-nothing.json"
        assert ran.code == 1
        assert ran.err.startswith(f"RecordError: cannot read the record {path}: No such file or directory. ")
        assert "`finexpert ask`" in ran.err
        assert ran.err.count("\n") == 1


def test_a_question_file_with_a_wrong_line(finexpert: Any, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "a", "question": "How many?", "answer_format": {"kind": "number"}, "gold": 1}\n{"id": 3}\n')
    ran = finexpert("eval", "fred", "--questions", str(path), "--lm", "recorded")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"QuestionFileError: {path}, line 2: ")


def test_a_model_that_cannot_be_reached(finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEXPERT_API_BASE", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("FINEXPERT_API_KEY", "planted-key-5d1e")
    ran = finexpert("ask", "How many?")
    assert (ran.code, len(ran.err.splitlines())) == (1, 1)
    assert ran.err.startswith("ModelUnreachable: FINEXPERT_API_BASE is http://127.0.0.1:9/v1")
    assert "planted-key" not in ran.err
    assert "FINEXPERT_API_KEY" in os.environ


def test_a_home_that_cannot_be_written_is_named(
    finexpert: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "fees.csv").write_text("fee\n1\n")
    monkeypatch.setenv("FINEXPERT_HOME", "/proc/nohome")
    ran = finexpert(*ASK, "--data", str(tmp_path / "fees.csv"))
    assert ran.code == 1
    assert "FINEXPERT_HOME is /proc/nohome: set it to a folder that can be written" in ran.err


def test_a_model_beside_data_that_nobody_may_write_beside(finexpert: Any, tmp_path: Path) -> None:
    (tmp_path / "fees.csv").write_text("fee\n1\n")
    ran = finexpert("model", "init", "--data", str(tmp_path / "fees.csv"), "--file", "/proc/fees.model.yaml")
    assert ran.code == 1
    assert "/proc/fees.model.yaml cannot be written" in ran.err
    assert "--file" in ran.err
