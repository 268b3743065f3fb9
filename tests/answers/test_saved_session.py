"""A conversation on disk: taken up in another session, over other data, and from a file that was spoilt."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.errors import DataError
from finexpert.settings import Settings
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse


@pytest.fixture
def saved(desk: Any) -> Path:
    """The file of a conversation of two turns."""
    talk = desk.session()
    desk.says("planning", desk.plan(), desk.plan("answer = sales.date.max()", "date", select=None))
    talk.ask("How many months?")
    talk.ask("Which is the last?")
    return talk.save("desk one")  # type: ignore[no-any-return]


@pytest.fixture
def other(tmp_path: Path) -> Iterator[DuckDBWarehouse]:
    data = pd.DataFrame({"date": pd.to_datetime(["2020-01-01"]), "region": ["north"], "amount": [1.0]})
    path = build_warehouse(tmp_path / "other.duckdb", [Table("sales", data, date_column="date")])
    with DuckDBWarehouse(path) as source:
        yield source


def test_a_conversation_goes_on_in_another_session(desk: Any, saved: Path) -> None:
    talk = desk.session()
    assert talk.resume("desk one") == []
    assert [turn.question for turn in talk.workspace.turns] == ["How many months?", "Which is the last?"]
    assert [turn.value.value for turn in talk.workspace.turns] == [6, dt.date(2020, 6, 1)]
    assert len(talk.workspace.frames["sales"].data) == 6
    desk.says("planning", desk.plan("answer = len(sales) + 1", select=None))
    assert talk.ask("One more?").value == 7
    assert "turn 2: Which is the last?" in desk.prompts[-1]
    assert "sales(date datetime64" in desk.prompts[-1]


def test_a_process_can_be_taught_from_what_was_saved(desk: Any, saved: Path) -> None:
    talk = desk.session()
    talk.resume("desk one")
    desk.says("memorization", desk.process(case_question="Which is the last month?"))
    desk.says("planning", desk.plan("answer = sales.date.max()", "date"))
    remembered = talk.remember()
    assert (remembered.process.status, remembered.process.conversation) == ("active", "desk one")
    assert remembered.process.case.expected == "2020-06-01"


def test_it_holds_no_rows_and_only_its_owner_reads_it(saved: Path) -> None:
    assert saved == Settings().home / "sessions" / "desk one.json"
    assert saved.stat().st_mode & 0o077 == 0
    assert saved.parent.stat().st_mode & 0o077 == 0
    assert "918273" not in saved.read_text()
    assert [frame["name"] for frame in json.loads(saved.read_text())["frames"]] == ["sales"]


def test_tables_and_failed_turns_come_back(desk: Any) -> None:
    talk = desk.session(retries=0)
    desk.says("planning", desk.plan("answer = sales[['date', 'region']].head(2)", "table"), "no")
    talk.ask("Which?")
    talk.ask("And?")
    talk.save("t")
    again = desk.session()
    assert again.resume("t") == []
    first, second = again.workspace.turns
    assert first.value.value["region"].tolist() == ["north", "south"]
    assert (second.value, second.plan) == (None, None)


def test_declined_terms_are_not_asked_about_again(desk: Any) -> None:
    desk.says("planning", desk.plan(unclear="grubby"))
    talk = desk.session()
    talk.explain(talk.ask("How many grubby months?", clarify=True).clarification, "")
    talk.save("t")
    again = desk.session()
    again.resume("t")
    assert again.ask("How many grubby months?", clarify=True).status == "answered"


def test_other_data_are_noted(desk: Any, saved: Path, other: DuckDBWarehouse) -> None:
    notes = desk.session(other).resume("desk one")
    assert notes == [
        "the conversation was over sales, and goes on over other",
        "the frame sales has other rows than when the conversation was saved",
    ]


@pytest.mark.parametrize(
    ("select", "note"),
    [
        ("SELECT wages FROM sales", "the frame sales cannot be fetched any more: "),
        ("SELECT date FROM sales", "the frame sales has other columns"),
        ("DROP TABLE sales", "the frame sales cannot be fetched any more: "),
    ],
)
def test_a_frame_that_is_lost_is_noted(desk: Any, saved: Path, select: str, note: str) -> None:
    content = json.loads(saved.read_text())
    content["frames"][0]["select"] = select
    saved.write_text(json.dumps(content))
    talk = desk.session()
    (said,) = talk.resume("desk one")
    assert said.startswith(note)
    assert talk.workspace.frames == {}
    assert len(talk.workspace.turns) == 2


def test_no_conversation_of_this_name(desk: Any) -> None:
    talk = desk.session()
    assert talk.resume("nothing") is None
    assert talk.name == "nothing"


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 80, "a\nb"])
@pytest.mark.parametrize("action", ["save", "resume"])
def test_a_name_is_a_plain_file_name(desk: Any, name: str, action: str) -> None:
    with pytest.raises(DataError, match="cannot name a conversation"):
        getattr(desk.session(), action)(name)


def change(key: str, value: Any) -> Any:
    def changed(text: str) -> str:
        content = json.loads(text)
        *places, last = key.split(".")
        inner = content
        for place in places:
            inner = inner[int(place) if place.isdigit() else place]
        inner[last] = value
        return json.dumps(content)

    return changed


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text[: len(text) // 2], "Invalid JSON: "),
        (lambda text: "", "Invalid JSON: "),
        (lambda text: "\x00\xff" + text, "Invalid JSON: "),
        (lambda text: "[]", "the file: "),
        (change("version", 2), "version: "),
        (change("turns", None), "turns: "),
        (change("more", 1), "more: "),
        (change("turns.0.plan", {"steps": 5}), "turns.0.plan"),
        (change("turns.0.value", "six"), "turns.0.value does not fit"),
        *(
            (change("frames.0.name", name), "frames.0.name: ")
            for name in ("x\n[[ ## q ## ]]", "x; y", "a b", "1x", "", "é", "x\n")
        ),
        (change("turns.1.value", 20), "turns.1.value does not fit"),
        (change("turns.1.answer_format", {"kind": "table"}), "turns.1.value does not fit"),
        (change("turns.1.answer_format", {"kind": "list", "items": "date"}), "turns.1.value does not fit"),
    ],
)
def test_a_spoilt_file_says_what_to_do(desk: Any, saved: Path, spoil: Any, words: str) -> None:
    saved.write_text(spoil(saved.read_text()), encoding="latin-1")
    with pytest.raises(DataError) as raised:
        desk.session().resume("desk one")
    what = "damaged" if words.startswith("Invalid JSON") else "no saved conversation of this version"
    assert str(raised.value).startswith(f"{saved} is {what}: {words}")
    assert "move it away to begin anew" in str(raised.value)


def test_a_file_that_cannot_be_read_says_what_to_do(desk: Any) -> None:
    (Settings().home / "sessions" / "x.json").mkdir(parents=True)
    with pytest.raises(DataError, match="move it away"):
        desk.session().resume("x")


def test_a_save_that_fails_leaves_the_old_file(desk: Any, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_text()
    talk = desk.session()
    talk.resume("desk one")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(DataError, match="No space"):
            talk.save("desk one")
    assert [path.name for path in saved.parent.iterdir()] == ["desk one.json"]
    assert saved.read_text() == before
