"""Files that were damaged: an error that names the file and what to do, and never an answer from half of one.

Damage is done at random, from a fixed seed: a file is cut off, or bits of it are turned over.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from finexpert.embeddings.embedding import embedder
from finexpert.errors import DataError, FinexpertError, StoreError
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.taught import Taught
from finexpert.language_models.recordings.recorded import RecordedModel
from finexpert.language_models.recordings.recorder import Recorder
from finexpert.language_models.scripted import ScriptedModel
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.program import artifact
from finexpert.optimizers.program.loading import load

TERMS = [f"stress month {number}" for number in range(30)]


def spoilt(whole: bytes, chance: random.Random) -> bytes:
    """A quarter of the time a part of the file, else all of it with 1, 8 or 64 bits turned over."""
    if chance.random() < 0.25:
        return whole[: chance.randrange(len(whole))]
    content = bytearray(whole)
    for _ in range(chance.choice([1, 8, 64])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(content)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "knowledge.sqlite"
    with closing(Taught.open(path, embedder("words"))) as taught:
        for term in TERMS:
            taught.glossary.define(Keyword(term=term, meaning=f"a month of {term}"), "anna")
    return path.read_bytes()


def use(path: Path) -> None:
    with closing(Taught.open(path, embedder("words"))) as taught:
        taught.glossary.named_in("What is stress month 3?")
        taught.glossary.search("calm month", 3)
        taught.memory.search("jobless", 3)
        for term in TERMS:
            taught.glossary.get(term)
        taught.glossary.define(Keyword(term="new", meaning="one more"), "anna")


def test_a_damaged_store_is_named_or_works(store: bytes, tmp_path: Path) -> None:
    chance, said = random.Random(2026), list[str]()
    for number in range(40):
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes(spoilt(store, chance))
        try:
            use(path)
        except StoreError as error:
            said.append(str(error).replace(str(path), "HERE"))
    assert 10 < len(said) < 35
    assert all("HERE" in each for each in said)
    assert any("move it away, and `finexpert memory import FOLDER`" in each for each in said)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return artifact.save(FinancialExpert(), tmp_path_factory.mktemp("compiled") / "one")


def test_a_damaged_compiled_file_is_refused(compiled: Path) -> None:
    chance = random.Random(2026)
    for path in sorted(compiled.iterdir()):
        whole = path.read_bytes()
        for _ in range(3):
            path.write_bytes(spoilt(whole, chance))
            if path.name != "manifest.json":
                with pytest.raises(DataError, match=re.escape(str(path))):
                    load(compiled)
        path.write_bytes(whole)
    assert load(compiled).manifest.name == "one"


def test_a_damaged_manifest_is_refused_or_describes_the_same_program(compiled: Path) -> None:
    """Its words are free text, where a bit more or less is another word; what it decides is checked."""
    chance, path, refused = random.Random(2026), compiled / "manifest.json", list[str]()
    whole = path.read_bytes()
    for _ in range(20):
        path.write_bytes(spoilt(whole, chance))
        try:
            layers = set(load(compiled).manifest.layers)
        except FinexpertError as error:
            refused.append(str(error))
        else:
            assert layers == set(json.loads(whole)["layers"])
    path.write_bytes(whole)
    assert len(refused) > 10
    assert all(str(compiled) in each for each in refused)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "new.jsonl"
    lm = Recorder(path).wrap(ScriptedModel(lambda messages: "the answer"))
    for number in range(5):
        lm(f"question {number}")
    return path


def cut(content: bytes) -> bytes:
    return content[:-30]


RECORDINGS: dict[str, tuple[str, Callable[[bytes], bytes], int | str]] = {
    "its last line torn": ("new.jsonl", cut, 4),
    "torn inside a character": ("new.jsonl", lambda content: content + "é".encode()[:1], "cannot be read"),
    "a line of garbage": ("new.jsonl", lambda content: b"garbage\n" + content, "line 1: no recorded completion"),
    "a line without a field": ("new.jsonl", lambda content: b'{"prompt": "a"}\n' + content, "remove the line"),
    "bytes that are no text": ("new.jsonl", lambda content: content + b"\xff\xfe\n", "cannot be read"),
    "nothing in it": ("new.jsonl", lambda content: b"", 0),
    "compressed and torn": ("new.jsonl.gz", lambda content: cut(gzip.compress(content)), "bring the file back"),
    "not compressed at all": ("new.jsonl.gz", lambda content: content, "bring the file back"),
    "compressed and damaged": (
        "new.jsonl.gz",
        lambda content: gzip.compress(content)[:20] + b"\0" * 60,
        "leave it out of FINEXPERT_RECORDINGS",
    ),
}


@pytest.mark.parametrize(("name", "damage", "outcome"), RECORDINGS.values(), ids=RECORDINGS)
def test_a_damaged_recording(recording: Path, name: str, damage: Callable[[bytes], bytes], outcome: int | str) -> None:
    path = recording.with_name(name)
    path.write_bytes(damage(recording.read_bytes()))
    if isinstance(outcome, int):
        assert RecordedModel([path], packaged=False).counts == {name: outcome}
        return
    with pytest.raises(DataError) as caught:
        RecordedModel([path], packaged=False)
    assert outcome in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_damaged_recording_is_not_written_on(recording: Path) -> None:
    content = recording.read_bytes() + b"\xff\xfe\n"
    recording.write_bytes(content)
    lm = Recorder(recording).wrap(ScriptedModel(["another"]))
    with pytest.raises(DataError, match="name another file with --save-completions"):
        lm("a new question")
    assert recording.read_bytes() == content


def test_a_damaged_conversation_is_refused_or_taken_up(desk: Any) -> None:
    talk = desk.session()
    desk.says("planning", desk.plan())
    talk.ask("How many months have sales?")
    path = talk.save("desk")
    whole, chance, refused = path.read_bytes(), random.Random(2026), list[str]()
    for _ in range(25):
        path.write_bytes(spoilt(whole, chance))
        try:
            desk.session().resume("desk")
        except FinexpertError as error:
            refused.append(str(error))
    assert len(refused) > 8
    assert all(str(path) in each for each in refused)
