"""What every engine of the stores must do, asked of each in the same words."""

from __future__ import annotations

import datetime as dt
import multiprocessing
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from finexpert.embeddings.embedding import Embedder
from finexpert.errors import EmbedderMismatch, NameTaken, StaleEntry, StoreError
from finexpert.knowledge.entries.entries import Change, Entry, EntryStore, Status

Open = Callable[..., EntryStore]
BODY: dict[str, Any] = {"meaning": "a month in which …", "steps": [{"sql": "SELECT '\"\\'"}], "n": 0.1, "none": None}


def put(
    store: EntryStore, *names: str, phrases: Sequence[str] = (), collection: str = "glossary", **more: Any
) -> Entry:
    facts: dict[str, Any] = {"status": "active", "action": "add", "by": "anna", "body": {"term": names[0]}, **more}
    return store.write_all(collection, [Change(names=names, phrases=phrases or names, **facts)])[0]


def found(store: EntryStore, embedder: Embedder, *texts: str, **more: Any) -> list[tuple[str, str]]:
    return [(hit.entry.names[0], hit.phrase) for hit in store.search("glossary", embedder.embed(texts), **more)]


def test_an_empty_store_has_nothing(store: EntryStore, word_embedder: Embedder) -> None:
    assert store.get("glossary", "1") is None
    assert store.named("glossary", "a") is None
    assert store.entries("glossary") == store.history("glossary") == []
    assert store.count("glossary") == store.stamp() == 0
    assert found(store, word_embedder, "calm month") == []


def test_an_entry_is_kept_whole(store: EntryStore, open_store: Open) -> None:
    before = dt.datetime.now(dt.UTC)
    names, phrases = ("stress month", "bad month"), ("Stress month", "a bad month")
    entry = put(store, *names, phrases=phrases, body=BODY | {"odd": "\x00\ud800"}, id="own-id")
    assert (entry.names, entry.phrases, entry.version, entry.id) == (names, phrases, 1, "own-id")
    assert before <= entry.at <= dt.datetime.now(dt.UTC)
    other = open_store()
    assert other.get("glossary", "own-id") == entry
    assert other.named("glossary", "bad month") == entry
    assert other.history("glossary") == other.history("glossary", "own-id") == other.entries("glossary") == [entry]
    assert other.count("glossary") == 1
    assert other.count("memory") == 0


def test_a_change_is_a_new_version(store: EntryStore, word_embedder: Embedder) -> None:
    first = put(store, "stress month")
    second = put(store, "amber month", id=first.id, action="edit", by="ben", expected_version=1, body={"term": "new"})
    assert (second.version, second.action, second.by) == (2, "edit", "ben")
    assert store.history("glossary", first.id) == [second, first]
    assert store.history("glossary", first.id, limit=1) == [second]
    assert store.get("glossary", first.id) == second
    assert store.named("glossary", "stress month") is None
    assert found(store, word_embedder, "stress month") == [("amber month", "amber month")]
    assert store.count("glossary") == 1


def test_history_of_all_is_the_newest_first(store: EntryStore) -> None:
    entries = [put(store, f"term {number}") for number in range(5)]
    assert store.history("glossary", limit=3) == entries[:1:-1]


def test_entries_by_first_name_and_status(store: EntryStore) -> None:
    for name, status in (("c", "draft"), ("a", "retired"), ("b", "active")):
        put(store, name, status=status)
    assert [entry.names[0] for entry in store.entries("glossary")] == ["b", "c"]
    assert [entry.names[0] for entry in store.entries("glossary", ("retired", "draft"))] == ["a", "c"]
    assert store.count("glossary", ("retired", "draft")) == 2
    assert store.entries("glossary", ()) == []


def test_names_of_what_is_not_retired(store: EntryStore) -> None:
    for number, status in enumerate(("draft", "active", "retired")):
        put(store, f"{status} a", f"{status} b", status=status, id=str(number))
    assert sorted(store.names("glossary")) == [("active a", "1"), ("active b", "1")]
    every: tuple[Status, ...] = ("draft", "active", "retired")
    assert {id for _, id in store.names("glossary", every)} == {"0", "1"}
    assert store.names("memory") == store.names("glossary", ()) == []


def test_a_name_has_one_entry(store: EntryStore, open_store: Open) -> None:
    first, second = put(store, "stress month", "bad month"), put(store, "calm month")
    stamp = store.stamp()
    for other in (store, open_store()):
        for id in (None, second.id):
            with pytest.raises(NameTaken, match=r"'bad month'.*finexpert glossary show") as raised:
                put(other, "fresh name", "bad month", id=id)
            assert raised.value.entry_id == first.id
    assert store.stamp() == stamp
    assert store.named("glossary", "fresh name") is None
    put(store, "bad month", "stress month", id=first.id)
    put(store, "stress month", collection="memory")


def test_a_retired_entry_frees_its_names(store: EntryStore) -> None:
    first = put(store, "stress month")
    put(store, "stress month", id=first.id, status="retired")
    assert store.named("glossary", "stress month") is None
    second = put(store, "stress month")
    with pytest.raises(NameTaken) as raised:
        put(store, "stress month", id=first.id, status="active")
    assert raised.value.entry_id == second.id
    put(store, "stress month", id=first.id, status="retired")


def test_a_stale_change_is_refused(store: EntryStore) -> None:
    entry = put(store, "stress month", expected_version=0)
    put(store, "stress month", id=entry.id, expected_version=1)
    for id, expected in ((entry.id, 1), (entry.id, 3), (None, 1)):
        with pytest.raises(StaleEntry, match=f"not {expected}: someone else"):
            put(store, "other", id=id, expected_version=expected)
    assert len(store.history("glossary")) == 2


def test_search_gives_each_entry_once_by_its_nearest_phrase(store: EntryStore, word_embedder: Embedder) -> None:
    put(store, "recession", phrases=("when did output fall", "recession periods", "recession"))
    put(store, "drawdown", phrases=("fall from the peak", "drawdown"))
    put(store, "yield curve")
    assert found(store, word_embedder, "recession periods", limit=1) == [("recession", "recession periods")]
    assert found(store, word_embedder, "drawdown", "recession")[:2] == [
        ("recession", "recession"),
        ("drawdown", "drawdown"),
    ]
    hits = store.search("glossary", word_embedder.embed(["the fall from the peak"]))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].score == pytest.approx(
        float(np.prod(word_embedder.embed(["the fall from the peak", hits[0].phrase]), axis=0).sum()), abs=1e-5
    )
    assert store.search("memory", word_embedder.embed(["recession"])) == []
    assert store.search("glossary", word_embedder.embed([])) == []


@pytest.mark.parametrize("statuses", [("active",), ("draft",), ("draft", "active"), ("retired",), ()])
def test_search_keeps_to_the_statuses(store: EntryStore, word_embedder: Embedder, statuses: Sequence[Status]) -> None:
    for status in ("draft", "active", "retired"):
        put(store, f"{status} month", phrases=("stress month",), status=status)
    names = {name for name, _ in found(store, word_embedder, "stress month", statuses=statuses)}
    assert names == {f"{status} month" for status in statuses}


def test_an_entry_of_many_phrases_does_not_hide_the_others(store: EntryStore, word_embedder: Embedder) -> None:
    put(store, "crowd", phrases=[f"stress month {'again ' * (i % 7)}x{i}" for i in range(1300)])
    put(store, "alone", phrases=("month",))
    assert [name for name, _ in found(store, word_embedder, "stress month", limit=2)] == ["crowd", "alone"]


def test_others_see_a_change_at_once(store: EntryStore, open_store: Open, word_embedder: Embedder) -> None:
    other, stamps = open_store(), {store.stamp()}
    for number, change in enumerate(("add", "edit", "retire"), start=1):
        status = "retired" if change == "retire" else "active"
        put(store, f"month {change}", id="one", status=status)
        assert other.stamp() == store.stamp()
        stamps.add(other.stamp())
        assert len(stamps) == number + 1
        expected = [] if status == "retired" else [(f"month {change}", f"month {change}")]
        assert found(other, word_embedder, "month") == expected
    assert other.stamp() == other.stamp()


def test_vectors_of_two_embedders_are_never_mixed(
    store: EntryStore, open_store: Open, other_embedder: Embedder, word_embedder: Embedder
) -> None:
    entry = put(store, "stress month")
    other = open_store(other_embedder)
    for use in (lambda: put(other, "calm month"), lambda: found(other, other_embedder, "stress")):
        with pytest.raises(EmbedderMismatch, match=r"tiny-64 \(64.*tiny-32 \(32.*finexpert memory reindex") as raised:
            use()
        assert "FINEXPERT_EMBEDDER" in str(raised.value)
    assert other.entries("glossary") == [entry]
    assert store.history("glossary") == [entry]


def test_many_changes_are_kept_together_or_not_at_all(store: EntryStore, word_embedder: Embedder) -> None:
    def changes(*names: str) -> list[Change]:
        return [Change({"term": name}, (name,), (name, f"the {name}"), "active", "add", "anna") for name in names]

    kept = store.write_all("glossary", changes("calm month", "stress month"))
    assert kept == store.entries("glossary")
    assert found(store, word_embedder, "stress month", limit=1) == [("stress month", "stress month")]
    with pytest.raises(NameTaken):
        store.write_all("glossary", changes("new month", "calm month", "last month"))
    assert store.entries("glossary") == store.history("glossary")[::-1] == kept
    assert store.write_all("glossary", []) == []


def test_vectors_made_anew_keep_everything_else(
    store: EntryStore, open_store: Open, word_embedder: Embedder, other_embedder: Embedder
) -> None:
    assert (store.made_with(), store.reindex()) == (None, 0)
    put(store, "stress month", id="one")
    put(store, "amber month", phrases=("amber month", "warm month"), id="one")
    put(store, "old month", id="two", status="retired")
    put(store, "recession", collection="memory")
    assert found(store, word_embedder, "warm month")[0] == ("amber month", "warm month")
    before, stamp, history = store.entries("glossary"), store.stamp(), store.history("glossary")
    told: list[int] = []
    other = open_store(other_embedder)
    assert other.reindex(told.append) == sum(told) == 3
    assert (other.made_with(), other.entries("glossary"), other.history("glossary")) == ("tiny-32", before, history)
    assert other.stamp() == stamp
    assert found(other, other_embedder, "warm month") == [("amber month", "warm month")]
    assert found(other, other_embedder, "old month", statuses=("retired",)) == [("old month", "old month")]
    assert other.search("memory", other_embedder.embed(["recession"]))[0].score == pytest.approx(1, abs=1e-5)
    # What was open with the embedder before notices at once, and never writes a vector of it again.
    for use in (lambda: put(store, "calm month"), lambda: found(store, word_embedder, "month")):
        with pytest.raises(EmbedderMismatch, match=r"tiny-32 \(32.*tiny-64 \(64.*finexpert memory reindex"):
            use()
    put(other, "calm month")
    assert store.reindex() == 4
    assert found(store, word_embedder, "calm month")[0] == ("calm month", "calm month")
    with pytest.raises(EmbedderMismatch):
        found(other, other_embedder, "month")


def test_what_is_written_while_vectors_are_made_anew_is_not_left_out(
    store: EntryStore, open_store: Open, other_embedder: Embedder
) -> None:
    put(store, "stress month")
    other, told = open_store(other_embedder), list[int]()

    def meanwhile(entries: int) -> None:
        if not told:
            put(store, "calm month")
        told.append(entries)

    assert (other.reindex(meanwhile), told) == (2, [1, 1])
    assert found(other, other_embedder, "calm month", limit=1) == [("calm month", "calm month")]


def test_nothing_is_changed_when_vectors_cannot_be_made_anew(
    store: EntryStore, open_store: Open, word_embedder: Embedder
) -> None:
    class Broken:
        name, dimensions = "broken", 64

        def embed(self, texts: Sequence[str]) -> Any:
            raise StoreError("no network")

    put(store, "stress month")
    with pytest.raises(StoreError, match="no network"):
        open_store(Broken()).reindex()
    assert found(store, word_embedder, "stress month") == [("stress month", "stress month")]


def test_nothing_is_kept_when_the_embedder_fails(open_store: Open) -> None:
    class Broken:
        name, dimensions = "broken", 64

        def embed(self, texts: Sequence[str]) -> Any:
            return np.full((len(texts), 64), np.nan, np.float32)

    store = open_store(Broken())
    with pytest.raises(StoreError, match=r"broken.*FINEXPERT_EMBEDDER"):
        put(store, "stress month")
    with pytest.raises(ValueError, match="JSON"):
        put(open_store(), "stress month", body={"n": float("nan")})
    assert store.stamp() == 0


def test_threads_lose_nothing(store: EntryStore, word_embedder: Embedder) -> None:
    def work(who: int) -> None:
        for number in range(20):
            put(store, f"term {who} {number}")
            found(store, word_embedder, f"term {who} {number}")

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.count("glossary") == 80
    assert len(found(store, word_embedder, "term", limit=100)) == 80


def _write_in_child(store: EntryStore, who: str, times: int) -> None:
    for number in range(times):
        put(store, f"{who} {number}")


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_processes_lose_nothing(store: EntryStore) -> None:
    put(store, "parent")
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_write_in_child, args=(store, who, 200)) for who in ("a", "b")]
    for child in children:
        child.start()
    _write_in_child(store, "c", 20)
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    history = store.history("glossary", limit=1000)
    assert {entry.names[0] for entry in history} == {
        "parent",
        *(f"{who} {n}" for who, times in (("a", 200), ("b", 200), ("c", 20)) for n in range(times)),
    }
    assert len(history) == store.count("glossary") == 421


def test_a_closed_store_says_so(store: EntryStore) -> None:
    put(store, "stress month")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.stamp()


NAMES = st.sampled_from(["alpha", "beta", "gamma", "delta"])
CHANGES = st.tuples(
    st.sampled_from(["1", "2", "3"]),
    st.lists(NAMES, min_size=1, max_size=3),
    st.sampled_from(["draft", "active", "retired"]),
    st.one_of(st.none(), st.integers(0, 3)),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES, max_size=12), reopen=st.booleans())
def test_a_store_is_a_plain_dictionary_with_history(
    store: EntryStore, open_store: Open, word_embedder: Embedder, changes: list[Any], reopen: bool
) -> None:
    # The store is the same for all examples: each has a collection of its own in it.
    collection, model, history = f"c{store.stamp()}", dict[str, Entry](), list[Entry]()
    for id, listed, status, expected in changes:
        names = tuple(dict.fromkeys(listed))
        version = model[id].version if id in model else 0
        taken = {name: e.id for e in model.values() if e.status != "retired" for name in e.names if e.id != id}
        clash = status != "retired" and set(names) & set(taken)
        error = StaleEntry if expected not in (None, version) else NameTaken if clash else None
        more: dict[str, Any] = {"collection": collection, "id": id, "status": status, "expected_version": expected}
        if error:
            with pytest.raises(error):
                put(store, *listed, **more)
        else:
            model[id] = put(store, *listed, **more)
            assert (model[id].version, model[id].names) == (version + 1, names)
            history.insert(0, model[id])
    reader = open_store() if reopen else store
    assert reader.history(collection) == history
    statuses: tuple[Status, ...] = ("draft", "active", "retired")
    for status in statuses:
        same = [entry for entry in model.values() if entry.status == status]
        assert reader.entries(collection, [status]) == sorted(same, key=lambda entry: (entry.names[:1], entry.id))
        assert reader.count(collection, [status]) == len(same)
        for name in ("alpha", "beta", "gamma", "delta"):
            hits = reader.search(collection, word_embedder.embed([name]), statuses=[status])
            assert {h.entry.id for h in hits if h.score > 0.99} == {entry.id for entry in same if name in entry.names}
            assert all(hit.entry == model[hit.entry.id] for hit in hits)
    if reopen:
        reader.close()
