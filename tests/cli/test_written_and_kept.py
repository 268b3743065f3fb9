"""`finexpert ask` over data of one's own: what is written, where the data come from, and a replay that finds them again."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.answers.records import Record, SourceRecord
from finexpert.cli.kept_source import source_of
from finexpert.errors import FinexpertError, RecordError
from finexpert.settings import Settings
from finexpert.testing import fields

Scripted = Callable[[Any], list[str]]


def planned(select: str, kind: str = "table") -> str:
    selects = [{"df_name": "fees", "df_columns": [], "select_query": select}]
    return fields(interpretation="as asked", selects=selects, code="", answer_kind=kind, unit="")


TABLE = planned("SELECT region, fee FROM fees ORDER BY region")
COUNT = planned("SELECT count(*) AS n FROM fees", "integer")


@pytest.fixture
def fees(tmp_path: Path) -> Path:
    path = tmp_path / "own" / "fees.csv"
    path.parent.mkdir()
    path.write_text("region,fee\nnorth,1234567.125\nsouth,0.5\n")
    return path


@pytest.fixture
def database(tmp_path: Path) -> str:
    with sqlite3.connect(tmp_path / "fees.db") as connection:
        connection.execute("CREATE TABLE fees (region TEXT, fee REAL)")
        connection.execute("INSERT INTO fees VALUES ('north', 1.5), ('south', 2.5), ('west', 3.5)")
    connection.close()
    return f"sqlite:///{tmp_path / 'fees.db'}"


def test_rows_charts_and_record_are_written(finexpert: Any, scripted: Scripted, fees: Path, tmp_path: Path) -> None:
    scripted([TABLE])
    out, rows, sheet = tmp_path / "out", tmp_path / "rows.csv", tmp_path / "rows.xlsx"
    ran = finexpert("ask", "Fees?", "--data", str(fees), "--csv", str(rows), "--excel", str(sheet), "--out", str(out))
    assert ran.code == 0, ran.err
    assert list(csv.reader(rows.read_text().splitlines())) == [
        ["region", "fee"],
        ["north", "1234567.125"],
        ["south", "0.5"],
    ]
    assert pd.read_excel(sheet, engine="calamine").fee.to_list() == [1234567.125, 0.5]
    assert sorted(path.name for path in out.iterdir()) == ["answer.csv", "answer.md", "record.json"]
    assert f"wrote {rows}" in ran.out
    assert all(path.stat().st_mode & 0o077 == 0 for path in (rows, sheet, *out.iterdir()))
    assert finexpert("replay", str(out / "record.json")).code == 0


@pytest.mark.parametrize(
    ("option", "place", "why"),
    [
        ("--csv", "nowhere/rows.csv", "lies in a folder that is not there"),
        ("--csv", ".", "is a folder"),
        ("--csv", "rows.xlsx", "end it in .csv"),
        ("--excel", "rows.xls", "is no .xlsx file"),
        ("--out", "own/fees.csv", "is a file"),
    ],
)
def test_a_place_that_cannot_be_written_costs_no_call(
    finexpert: Any, scripted: Scripted, fees: Path, option: str, place: str, why: str
) -> None:
    prompts = scripted([TABLE])
    ran = finexpert("ask", "Fees?", "--data", str(fees), option, place)
    assert (ran.code, why in ran.err, f"{option} {place}" in ran.err, prompts) == (1, True, True, [])


def test_nothing_is_written_where_there_is_no_answer(
    finexpert: Any, scripted: Scripted, fees: Path, tmp_path: Path
) -> None:
    scripted(["I cannot say."])
    ran = finexpert("ask", "Fees?", "--data", str(fees), "--retries", "0", "--csv", str(tmp_path / "rows.csv"))
    assert (ran.code, (tmp_path / "rows.csv").exists()) == (3, False)


def test_a_replay_finds_the_files_again(finexpert: Any, scripted: Scripted, fees: Path) -> None:
    scripted([COUNT])
    record = finexpert("ask", "How many?", "--data", str(fees), "--json").json["record"]
    assert json.loads(Path(record).read_text())["source"]["address"] == str(fees)
    ran = finexpert("replay", record)
    assert (ran.code, "same answer: 2" in ran.out) == (0, True), ran.err
    assert "fees" in finexpert("export", record).out
    fees.unlink()
    gone = finexpert("replay", record)
    assert (gone.code, str(fees) in gone.err, "Give --data FILE, FOLDER or ADDRESS" in gone.err) == (1, True, True)


def test_the_data_may_stand_in_the_settings(
    finexpert: Any, scripted: Scripted, fees: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINEXPERT_DATA", str(fees))
    scripted([COUNT, COUNT, COUNT])
    assert finexpert("ask", "How many?", "--json").json["value"] == 2
    assert finexpert("ask", "How many?", "--json", "--data", database).json["value"] == 3
    monkeypatch.delenv("FINEXPERT_DATA")
    Path("finexpert.toml").write_text(f'data = "{database}"\n')
    shown = finexpert("ask", "How many?", "--json").json
    assert shown["value"] == 3
    monkeypatch.chdir("/")
    assert finexpert("replay", shown["record"]).code == 0


def test_two_sources_in_the_settings_are_not_guessed_from(
    finexpert: Any, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted([COUNT])
    monkeypatch.setenv("FINEXPERT_DATA", "postgresql://desk:s3cret@db/markets")
    monkeypatch.setenv("FINEXPERT_LIBRARY", "filings")
    ran = finexpert("ask", "How many?")
    assert (ran.code, "postgresql://desk@db/markets and the library filings" in ran.err) == (1, True)
    assert "s3cret" not in ran.err + ran.out


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://db.invalid/markets",
        "postgresql:/db.invalid/markets",
        "./postgresql://db.invalid/x",
        "https://db.invalid/a.csv",
    ],
)
def test_a_server_in_the_record_of_somebody_else_is_not_asked(
    finexpert: Any, scripted: Scripted, fees: Path, tmp_path: Path, address: str
) -> None:
    scripted([COUNT])
    record = Path(finexpert("ask", "How many?", "--data", str(fees), "--json").json["record"])
    sent = json.loads(record.read_text()) | {"seal": ""}
    sent["source"]["address"] = address
    (tmp_path / "sent.json").write_text(json.dumps(sent))
    ran = finexpert("replay", str(tmp_path / "sent.json"))
    assert (ran.code, f"names the server {address}" in ran.err) == (1, True)


@pytest.mark.parametrize(
    "place", ["above", "above twice", "a link in the home", "a linked folder", "a dotted folder", "the home's twin"]
)
def test_a_record_lies_in_the_home_only_where_it_does(tmp_path: Path, place: str) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    for folder in (home / "records", outside, tmp_path / "home2"):
        folder.mkdir(parents=True)
    (outside / "sent.json").write_text("{}")
    (home / "linked").symlink_to(outside)
    (home / "sent.json").symlink_to(outside / "sent.json")
    (tmp_path / "home2" / "sent.json").write_text("{}")
    file = {
        "above": home / ".." / "outside" / "sent.json",
        "above twice": home / "records" / ".." / ".." / "outside" / "sent.json",
        "a link in the home": home / "sent.json",
        "a linked folder": home / "linked" / "sent.json",
        "a dotted folder": home / "." / "linked" / ".." / "outside" / "sent.json",
        "the home's twin": tmp_path / "home2" / "sent.json",
    }[place]
    kept = Record.model_construct(
        id="x", source=SourceRecord.model_construct(name="m", dialect="postgresql", address="postgresql://db.invalid/m")
    )
    with pytest.raises(RecordError, match="does not lie in"):
        source_of(kept, file, Settings(home=home))


def test_a_record_of_a_linked_home_lies_in_it(tmp_path: Path) -> None:
    (tmp_path / "real" / "records").mkdir(parents=True)
    (tmp_path / "home").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "records" / "mine.json").write_text("{}")
    kept = Record.model_construct(
        id="x", source=SourceRecord.model_construct(name="m", dialect="postgresql", address="postgresql://db.invalid/m")
    )
    for home in ("home", "real"):
        with pytest.raises(FinexpertError) as refused:  # it is asked, and there is no such server
            source_of(kept, tmp_path / "real" / "records" / "mine.json", Settings(home=tmp_path / home))
        assert "does not lie in" not in str(refused.value)
