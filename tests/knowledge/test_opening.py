"""Where a store is opened, by what its place looks like."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from finexpert.embeddings.embedding import Embedder
from finexpert.errors import ConfigurationError
from finexpert.knowledge.entries.opening import open_entries
from finexpert.knowledge.entries.sqlite import SqliteEntries


@pytest.mark.parametrize("name", ["knowledge.sqlite", "a folder/words", "c:odd"])
def test_a_path_is_a_file(tmp_path: Path, name: str, word_embedder: Embedder) -> None:
    for place in (tmp_path / name, str(tmp_path / name)):
        store = open_entries(place, word_embedder)
        assert isinstance(store, SqliteEntries)
        assert store.path == tmp_path / name


def test_the_home_of_the_user_is_known(word_embedder: Embedder) -> None:
    store = open_entries("~/knowledge.sqlite", word_embedder)
    assert isinstance(store, SqliteEntries)
    assert store.path == Path.home() / "knowledge.sqlite"


@pytest.mark.parametrize("place", ["mysql://desk@db/knowledge", "https://example.org/store"])
def test_another_server_is_refused(place: str, word_embedder: Embedder) -> None:
    with pytest.raises(ConfigurationError, match="postgresql://user@host/database"):
        open_entries(place, word_embedder)


def test_a_folder_is_refused(tmp_path: Path, word_embedder: Embedder) -> None:
    with pytest.raises(ConfigurationError, match="is a folder: name a file in it"):
        open_entries(tmp_path, word_embedder)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch, word_embedder: Embedder) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'finexpert\[postgres\]'"):
        open_entries("postgresql://desk@db/knowledge", word_embedder)
