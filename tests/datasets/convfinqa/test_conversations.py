"""Loading conversations, sampling them, and the sample pages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.convfinqa.conversations import Conversation, load, sample
from finexpert.datasets.convfinqa.programs import execute
from finexpert.errors import DataError

RECORD: dict[str, Any] = {
    "id": "Double_AAA/2017/page_5.pdf",
    "filename": "AAA/2017/page_5.pdf",
    "pre_text": ["before ."],
    "post_text": [],
    "table": [["", "2017"], ["sales", "5"]],
    "annotation": {"dialogue_break": ["sales ?", "and twice ?"], "turn_program": ["5", "multiply(5, const_2)"],
                   "exe_ans_list": [5.0, 10]},
}  # fmt: skip


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text(json.dumps(list(records)))
    return path


def test_a_conversation(tmp_path: Path) -> None:
    (conversation,) = load(write(tmp_path / "dev.json", RECORD))
    assert (conversation.id, conversation.page, conversation.type) == (RECORD["id"], RECORD["filename"], "II")
    assert [turn.answer for turn in conversation.turns] == [5.0, 10.0]
    assert conversation.turns[1].program == "multiply(5, const_2)"


def test_a_conversation_without_public_answers(tmp_path: Path) -> None:
    private = RECORD | {"annotation": {"dialogue_break": ["sales ?"]}}
    (conversation,) = load(write(tmp_path / "test_private.json", private))
    assert (conversation.turns[0].answer, conversation.turns[0].program) == (None, None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"annotation": None}, r"dev.json, record 2 \(b\): annotation.dialogue_break must be the list"),
        ({"annotation": {"dialogue_break": []}}, "empty question"),
        ({"annotation": {"dialogue_break": [" "]}}, "empty question"),
        ({"annotation": {"dialogue_break": ["a"], "turn_program": []}}, "turn_program has 0 entries, but there are 1"),
        ({"annotation": {"dialogue_break": ["a"], "exe_ans_list": 5}}, "exe_ans_list has no list of entries"),
        ({"annotation": {"dialogue_break": ["a"], "exe_ans_list": ["n/a"]}}, 'the answer "n/a" is neither'),
        ({"annotation": {"dialogue_break": ["a"], "exe_ans_list": [True]}}, "the answer true is neither"),
        ({"annotation": {"dialogue_break": ["a"], "turn_program": [5]}}, "the program 5 is no text"),
        ({"table": 5}, r"record 2 \(b\): b: the table must be"),
        ({"id": RECORD["id"]}, "a second time"),
    ],
)
def test_a_record_of_another_form_is_named(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        load(write(tmp_path / "dev.json", RECORD, RECORD | {"id": "b"} | change))


def test_an_empty_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no conversation"):
        load(write(tmp_path / "dev.json"))
    with pytest.raises(DataError, match="is a folder"):
        load(tmp_path)


def test_the_sample_pages_agree_with_their_programs() -> None:
    conversations = load()
    assert len(conversations) >= 4
    assert {c.type for c in conversations} == {"I", "II"}
    turns = [(c, turn) for c in conversations for turn in c.turns]
    assert len(turns) >= 12
    for conversation, turn in turns:
        assert turn.program is not None
        assert execute(turn.program, conversation.filing.table) == turn.answer, (conversation.id, turn)


def many() -> list[Conversation]:
    (one, *_) = load()
    return [
        Conversation(f"{'Double' if n % 3 == 0 else 'Single'}_{n}", one.filing, one.turns[: 2 + n % 2])
        for n in range(60)
    ]


def test_a_sample_is_the_same_for_a_seed_and_keeps_the_proportions() -> None:
    conversations = many()
    chosen = sample(conversations, 12, seed=1)
    assert [c.id for c in chosen] == [c.id for c in sample(conversations, 12, seed=1)]
    assert {c.id for c in chosen} == {c.id for c in sample(conversations[::-1], 12, seed=1)}
    assert {c.id for c in chosen} != {c.id for c in sample(conversations, 12, seed=2)}
    assert Counter((c.type, len(c.turns)) for c in chosen) == {("I", 2): 4, ("I", 3): 4, ("II", 2): 2, ("II", 3): 2}
    assert [conversations.index(c) for c in chosen] == sorted(conversations.index(c) for c in chosen)


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("n", [1, 7, 59, 60, 500])
def test_a_sample_has_the_size_that_was_asked_for(n: int, stratified: bool) -> None:
    assert len(sample(many(), n, seed=3, stratified=stratified)) == min(n, 60)


def test_a_sample_of_nothing_is_refused() -> None:
    with pytest.raises(DataError, match="at least one"):
        sample(many(), 0)
