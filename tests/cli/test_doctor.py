"""`finexpert doctor`: what was found, what was not, and never a key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.language_models.conftest import FakeServer

from finexpert.cli.doctor import Found
from finexpert.errors import QueryError
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse


def test_everything_is_there(finexpert: Any, home: Any) -> None:
    brief = finexpert("doctor", "--lm", "recorded")
    assert brief.code == 0
    assert len(brief.out.splitlines()) <= 10, brief.out
    for shown in ("recorded completions", "landlock", "made-up numbers", "8 tables", "--as-of knows the dates of 8"):
        assert shown in " ".join(brief.out.split())
    ran = finexpert("doctor", "--lm", "recorded", "--verbose")
    assert ran.code == 0
    out = ran.out.replace("\n", "")
    for shown in ("recorded completions", "landlock", "made-up numbers", "unemployment", str(home)):
        assert shown in out
    # Bubblewrap shows no such file; Landlock alone shows it and denies it.
    assert re.search("read a file: (ENOENT|EACCES)", out)
    assert "missing" not in ran.out


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A doctor that takes the sandbox for granted: the first test starts one."""
    monkeypatch.setattr("finexpert.cli.doctor._sandbox", lambda: Found("warm"))


@pytest.mark.usefixtures("quick")
def test_as_json_with_a_missing_part(finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEXPERT_API_BASE", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("FINEXPERT_API_KEY", "planted-key-5d1e")
    ran = finexpert("doctor", "--json", "--data", "/nowhere")
    assert ran.code == 1
    found = ran.json
    assert {name: part["ok"] for name, part in found.items()} == {
        "model": False,
        "sandbox": True,
        "data": False,
        "taught": True,
        "MLflow": True,
        "home": True,
    }
    assert "/nowhere" in found["data"]["found"]
    assert "http://127.0.0.1:9/v1" in found["model"]["found"]
    assert found["MLflow"]["found"].endswith("runs/mlflow.db")
    assert "planted-key" not in ran.out + ran.err


@pytest.mark.usefixtures("quick")
def test_the_password_of_the_tracking_store_is_not_shown(finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEXPERT_TRACKING_URI", "https://anna:hunter22@mlflow.example")
    ran = finexpert("doctor", "--json", "--lm", "recorded")
    assert ran.json["MLflow"]["found"] == "https://anna@mlflow.example"


@pytest.mark.usefixtures("quick")
class TestTaught:
    """What is said of memory and glossary, and whether it counts as an error."""

    @pytest.fixture(autouse=True)
    def words(self, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
        monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")

    def taught(self, finexpert: Any, *options: str) -> tuple[int, bool, str]:
        ran = finexpert("doctor", "--lm", "recorded", "--json", *options)
        found = ran.json["taught"]
        return ran.code, found["ok"], found["found"]

    def test_nothing_yet(self, finexpert: Any, home: Path) -> None:
        path = home / "stores" / "knowledge.sqlite"
        assert self.taught(finexpert) == (0, True, f"{path}: nothing yet")
        assert not path.parent.exists()

    def test_counts_and_the_embedder(self, finexpert: Any) -> None:
        finexpert("glossary", "define", "stress month", "a month", "--store", "own.sqlite")
        said = "own.sqlite: active processes: 0, terms: 1; embedder words-v1-1024"
        assert self.taught(finexpert, "--store", "own.sqlite") == (0, True, said)
        assert "terms: 1" in finexpert("doctor", "--lm", "recorded", "--store", "own.sqlite").out

    def test_another_embedder(self, finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        finexpert("glossary", "define", "stress month", "a month", "--store", "own.sqlite")
        monkeypatch.setattr("finexpert.embeddings.embedding.WordHashing.name", "other-words")
        code, good, said = self.taught(finexpert, "--store", "own.sqlite")
        assert (code, good) == (1, False)
        for words in ("own.sqlite", "embedder words-v1-1024", "other-words", "finexpert memory reindex"):
            assert words in said

    def test_another_embedder_where_nothing_is_active(self, finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        finexpert("glossary", "define", "stress month", "a month", "--store", "own.sqlite")
        finexpert("glossary", "retire", "stress month", "--store", "own.sqlite")
        monkeypatch.setattr("finexpert.embeddings.embedding.WordHashing.name", "other-words")
        code, good, said = self.taught(finexpert, "--store", "own.sqlite")
        assert (code, good, "finexpert memory reindex" in said) == (0, True, True)

    def test_a_store_that_cannot_be_opened(self, finexpert: Any) -> None:
        Path("broken.sqlite").write_text("no database\n" * 1000)
        code, good, said = self.taught(finexpert, "--store", "broken.sqlite")
        assert (code, good) == (1, False)
        assert "broken.sqlite" in said
        assert "damaged" in said
        code, good, said = self.taught(finexpert, "--store", "mysql://host/db")
        assert (code, good, "postgresql://" in said) == (1, False, True)

    def test_a_memory_that_is_switched_off(self, finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FINEXPERT_MEMORY", "false")
        Path("broken.sqlite").write_text("no database\n" * 1000)
        said = "not used (FINEXPERT_MEMORY is false)"
        assert self.taught(finexpert, "--store", "broken.sqlite") == (0, True, said)


@pytest.mark.usefixtures("quick")
def test_without_a_model_the_recordings_answer(finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from finexpert.language_models import discovery

    monkeypatch.setattr(discovery, "_local", lambda environ, probe: None)
    found = finexpert("doctor", "--json").json["model"]
    assert found["found"].endswith("recorded completions (no language model was found: recorded completions answer)")


@pytest.mark.usefixtures("quick")
class TestModel:
    """A model is asked where somebody says so; its address is knocked at in any case."""

    def model(self, finexpert: Any, base: str, *options: str) -> tuple[int, str, str]:
        ran = finexpert("doctor", "--json", "--lm", "openai/served", "--api-base", base, *options)
        found = ran.json["model"]
        return ran.code, found["status"], found["found"]

    @pytest.fixture
    def served(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
        monkeypatch.setenv("FINEXPERT_API_KEY", "planted-key-7f3a9c")
        server = FakeServer()
        yield server
        server.close()

    def test_nobody_answers(self, finexpert: Any, served: FakeServer) -> None:
        code, status, found = self.model(finexpert, "http://127.0.0.1:9/v1")
        assert (code, status) == (1, "missing")
        assert "nothing answers at http://127.0.0.1:9/v1: start the server" in found

    def test_it_is_not_asked(self, finexpert: Any, served: FakeServer) -> None:
        code, status, found = self.model(finexpert, served.url)
        assert (code, status, served.seen) == (0, "not asked", [])
        assert found.endswith("`finexpert doctor --ask` asks it for one word")

    def test_it_is_asked(self, finexpert: Any, served: FakeServer) -> None:
        code, status, found = self.model(finexpert, served.url, "--ask")
        assert (code, status, len(served.seen)) == (0, "ok", 1)
        assert found.endswith("it answered")

    def test_its_key_is_wrong(self, finexpert: Any, served: FakeServer) -> None:
        served.reply = lambda body: (401, {"error": {"message": "no such key"}})
        code, status, found = self.model(finexpert, served.url, "--ask")
        assert (code, status) == (1, "missing")
        assert "was refused by" in found
        assert "planted-key" not in found


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("without_rights", "code", "said"),
    [
        ("orders", 0, "1 may not be read or cannot be: orders"),
        ("", 1, "none of its 2 tables may be read, items for one: ask its owner"),
    ],
)
def test_tables_that_are_listed_and_may_not_be_read(
    finexpert: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_rights: str, code: int, said: str
) -> None:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE items (n INTEGER); CREATE TABLE orders (n INTEGER)")

    def refuse(self: DuckDBWarehouse, select: str, **options: Any) -> Any:
        if without_rights in select:
            raise QueryError("the database user may not read one of these tables")
        return run(self, select, **options)

    run = DuckDBWarehouse.query
    monkeypatch.setattr(DuckDBWarehouse, "query", refuse)
    ran = finexpert("doctor", "--lm", "recorded", "--data", str(path))
    assert (ran.code, said in " ".join(ran.out.split())) == (code, True), ran.out
