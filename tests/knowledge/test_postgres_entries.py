"""What is particular to the store on a server: its index, its restarts, its addresses, and what it cannot do."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from finexpert.embeddings.embedding import Embedder
from finexpert.errors import ConfigurationError, StoreError
from finexpert.knowledge.entries import postgres_server
from finexpert.knowledge.entries.entries import Change, EntryStore
from finexpert.knowledge.entries.postgres import PostgresEntries, as_text

psycopg = pytest.importorskip("psycopg", reason="PostgreSQL: psycopg is not installed")


@pytest.fixture
def connection(server: str) -> Iterator[Any]:
    with psycopg.connect(server, autocommit=True) as opened:
        opened.execute("SET client_min_messages = error")
        opened.execute("DROP SCHEMA IF EXISTS finexpert CASCADE")
        yield opened


def put(store: EntryStore, name: str, collection: str = "glossary", **more: Any) -> None:
    facts: dict[str, Any] = {"status": "active", "action": "add", "by": "anna", "body": {}, **more}
    store.write_all(collection, [Change(names=[name], phrases=[name], **facts)])


def test_a_search_uses_the_index_of_its_collection(server: str, connection: Any, word_embedder: Embedder) -> None:
    with closing(PostgresEntries(server, word_embedder)) as store:
        for collection in ("glossary", "memory", "desk's own"):
            put(store, "stress month", collection)
            assert [h.phrase for h in store.search(collection, word_embedder.embed(["stress"]))] == ["stress month"]
    found = connection.execute("SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'nearest_%'").fetchall()
    assert len([row for (row,) in found if "hnsw" in row and "vector_ip_ops" in row]) == 3
    connection.execute("SET search_path = finexpert, public; SET enable_seqscan = off; SET enable_sort = off")
    select = (
        "EXPLAIN SELECT seq FROM vectors WHERE collection = 'memory' AND status <> 'retired' AND status IN ('active') "
        f"ORDER BY vector <#> '{as_text(word_embedder.embed(['x'])[0])}'::vector LIMIT 8"
    )
    assert "Index Scan using nearest_" in connection.execute(select).fetchone()[0] + str(
        connection.execute(select).fetchall()
    )


def test_few_active_ones_are_found_behind_many_drafts(server: str, connection: Any, word_embedder: Embedder) -> None:
    with closing(PostgresEntries(server, word_embedder)) as store:
        for number in range(300):
            put(store, f"stress month {number}", status="draft")
        put(store, "gold")
        connection.execute("SET search_path = finexpert, public; ANALYZE vectors")
        assert [hit.phrase for hit in store.search("glossary", word_embedder.embed(["stress month"]))] == ["gold"]


def test_vectors_too_wide_for_an_index_are_compared(server: str, connection: Any, word_embedder: Embedder) -> None:
    class Wide:
        name, dimensions = "wide", 3072

        def embed(self, texts: Any) -> Any:
            return np.tile(np.float32(3072**-0.5), (len(texts), 3072))

    with closing(PostgresEntries(server, Wide())) as store:
        put(store, "stress month")
        assert store.search("glossary", Wide().embed(["x"]))[0].score == pytest.approx(1.0, abs=1e-5)


def test_a_lost_connection_is_made_again(server: str, connection: Any, word_embedder: Embedder) -> None:
    with closing(PostgresEntries(server, word_embedder)) as store:
        put(store, "stress month")
        hang_up = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        connection.execute(hang_up + " AND backend_type = 'client backend'")
        put(store, "calm month")
        assert store.count("glossary") == 2


def test_a_newer_schema_is_refused(server: str, connection: Any, word_embedder: Embedder) -> None:
    PostgresEntries(server, word_embedder).close()
    connection.execute("UPDATE finexpert.about SET value = '9' WHERE key = 'schema'")
    with pytest.raises(StoreError, match="has schema 9, and this finexpert reads 1"):
        PostgresEntries(server, word_embedder)


def test_a_user_without_rights_is_told_what_to_ask_for(server: str, connection: Any, word_embedder: Embedder) -> None:
    connection.execute("DROP ROLE IF EXISTS visitor; CREATE ROLE visitor LOGIN")
    with pytest.raises(StoreError, match=r"permission denied.*let an administrator run"):
        PostgresEntries(server.replace("postgres@", "visitor@"), word_embedder)


def test_no_password_stands_in_an_error(word_embedder: Embedder) -> None:
    address = "postgresql://anna:s3cret@127.0.0.1:1/knowledge"
    with pytest.raises(StoreError, match=r"cannot reach the store postgresql://127.0.0.1/knowledge") as raised:
        PostgresEntries(address, word_embedder)
    assert "s3cret" not in str(raised.value)
    with pytest.raises(ConfigurationError) as wrong:
        PostgresEntries("postgresql://anna:s3cret@[/knowledge", word_embedder)
    assert "s3cret" not in str(wrong.value)


def _run(store: PostgresEntries, *statements: str, writing: bool = False) -> list[Any]:
    with store._transaction(writing=writing) as run:
        return [run(statement) for statement in statements]


def test_a_statement_has_a_deadline_on_the_server(server: str, connection: Any, word_embedder: Embedder) -> None:
    with closing(PostgresEntries(server, word_embedder)) as store:
        assert _run(store, "SHOW statement_timeout", "SHOW lock_timeout") == [[("1min",)], [("30s",)]]
        with pytest.raises(StoreError, match="took longer than 60 seconds: see what else its server does"):
            _run(store, "SET LOCAL statement_timeout = '200ms'", "SELECT pg_sleep(20)", writing=True)
        put(store, "stress month")


def test_vectors_made_anew_may_take_longer(
    server: str, connection: Any, word_embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    with closing(PostgresEntries(server, word_embedder)) as store:
        put(store, "stress month")
        index = store._index_part

        def indexed(run: Any, *rest: str) -> None:
            seen.extend((run("SHOW statement_timeout"), _seconds(store)))
            index(run, *rest)

        monkeypatch.setattr(store, "_index_part", indexed)
        store.reindex()
        assert seen == [[("1h",)], 3600]
        assert _run(store, "SHOW statement_timeout") == [[("1min",)]]
        assert _seconds(store) == 60


def _seconds(store: PostgresEntries) -> Any:
    """How long this process waits for one statement."""
    return vars(store._connected()).get("seconds", 60)


@pytest.mark.parametrize("writing", [False, True])
def test_a_server_that_says_nothing_any_more_is_given_up(
    server: str, connection: Any, word_embedder: Embedder, monkeypatch: pytest.MonkeyPatch, writing: bool
) -> None:
    with closing(PostgresEntries(server, word_embedder)) as store:
        [[(backend,)]] = _run(store, "SELECT pg_backend_pid()")
        monkeypatch.setattr(postgres_server, "GRACE_SECONDS", 0.3)
        monkeypatch.setattr(type(store._connected()), "seconds", 0.3)
        started = time.monotonic()
        os.kill(backend, signal.SIGSTOP)
        try:
            with pytest.raises(
                StoreError, match=r"cannot reach the store .*does not answer any more.* the server runs"
            ):
                _run(store, "SELECT 1", writing=writing)
        finally:
            os.kill(backend, signal.SIGCONT)
        assert time.monotonic() - started < 10
        monkeypatch.undo()
        put(store, "stress month")
        assert store.count("glossary") == 1
