"""The memory: what is kept, what clashes, what is found, and how every change is taken back."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finexpert.embeddings.embedding import Embedder, WordHashing
from finexpert.embeddings.minilm import MiniLM, missing
from finexpert.errors import NameTaken, StaleEntry, StoreError
from finexpert.knowledge.collection import EVERY
from finexpert.knowledge.entries import name_index
from finexpert.knowledge.entries.entries import EntryStore
from finexpert.knowledge.entries.opening import open_entries
from finexpert.knowledge.exchange import export_processes, import_processes
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.process import Process
from finexpert.knowledge.processes.files import to_markdown


def process(heading: str = "Recession Calculation", *aliases: str, **given: Any) -> Process:
    steps = given.pop("steps", [{"text": "Get it.", "sql": "SELECT 1"}])
    return Process.model_validate({"heading": heading, "aliases": aliases, "steps": steps, **given})


both_engines = pytest.mark.parametrize("opening", ["file", "server"], indirect=True)


@pytest.fixture
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Memory]]:
    """Opens the same store again and again, each time as another process would: a file, but for `both_engines`."""
    on_server = getattr(request, "param", "file") == "server"
    place = request.getfixturevalue("empty_server") if on_server else tmp_path / "knowledge.sqlite"
    embedder = WordHashing()
    made: list[EntryStore] = []

    def again() -> Memory:
        made.append(open_entries(place, embedder))
        return Memory(made[-1], embedder)

    yield again
    for entries in made:
        entries.close()


@pytest.fixture
def memory(opening: Callable[[], Memory]) -> Memory:
    return opening()


def active(memory: Memory, heading: str, *aliases: str, **given: Any) -> Process:
    return memory.add(process(heading, *aliases, status="active", **given), "anna")


@both_engines
def test_what_is_added_is_there_for_others(memory: Memory, opening: Callable[[], Memory]) -> None:
    added = memory.add(process(), "anna")
    assert (added.version, added.status, added.taught_by) == (1, "draft", "anna")
    assert added.taught_at is not None
    assert opening().get("the recession-calculations") == added
    assert memory.processes() == [added]
    assert memory.get("Inflation") is None


@both_engines
def test_only_active_ones_are_found(memory: Memory) -> None:
    assert memory.empty
    assert memory.search(["recession"]) == []
    memory.add(process(), "anna")
    assert memory.empty
    assert memory.search(["recession calculation"]) == []
    assert memory.named_in("the recession calculation") == []
    activated = memory.activate("recession calculation", "ben")
    assert (activated.status, activated.version, activated.note) == ("active", 2, "")
    assert (memory.size, memory.empty) == (1, False)
    [(found, score)] = memory.search(["recession calculation"])
    assert found == activated
    assert score > 0.9
    assert memory.named_in("Do the recession calculation for Japan") == [activated]
    memory.retire("recession calculation", "ben")
    assert memory.empty
    assert memory.named_in("Do the recession calculation") == []
    assert memory.get("recession calculation") is None
    assert memory.processes(("retired",))[0].heading == "Recession Calculation"


CLASHES = {
    "the same heading": process("Recession Calculation"),
    "another spelling": process("the RECESSION-calculations"),
    "a heading that is an alias there": process("Slump"),
    "an alias that is a heading there": process("Other", "recession calculation"),
    "an alias that is an alias there": process("Other", "Slumps"),
    "the same words in another order": process("Calculation of recessions"),
    "full width letters": process("\uff32ecession \uff23alculation"),
}


@pytest.mark.parametrize("new", CLASHES.values(), ids=CLASHES)
def test_clashes_are_for_the_expert_to_decide(memory: Memory, new: Process) -> None:
    there = active(memory, "Recession Calculation", "Slump")
    assert memory.clash(new) == there
    with pytest.raises(NameTaken, match=r"'Recession Calculation' \(active, version 1\)") as error:
        memory.add(new, "mallory")
    assert error.value.entry_id == there.id
    assert memory.processes() == [there]


@both_engines
def test_a_clash_is_not_with_itself_nor_with_what_is_retired(memory: Memory) -> None:
    there = active(memory, "Recession Calculation")
    assert memory.clash(there) is None
    memory.retire("Recession Calculation", "anna")
    assert memory.clash(process()) is None
    memory.add(process(), "anna")


@pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}")
@pytest.mark.parametrize(
    ("heading", "same"),
    [
        ("Calculation of recessions", True),
        ("How to calculate recessions", True),
        ("Recession computation", True),
        ("Inflation calculation", False),
        ("Recession-adjusted unemployment", False),
        ("Recession duration calculation", False),
        ("Expansion Calculation", False),
    ],
)
def test_a_heading_in_other_words_clashes_and_a_related_one_does_not(
    sentence_embedder: Embedder, tmp_path: Path, heading: str, same: bool
) -> None:
    memory = Memory(open_entries(tmp_path / "k.sqlite", sentence_embedder), sentence_embedder)
    active(memory, "Recession Calculation")
    assert (memory.clash(process(heading)) is not None) is same
    memory.close()


@pytest.fixture(scope="module")
def sentence_embedder() -> Embedder:
    return MiniLM()


@pytest.mark.parametrize(
    ("heading", "other"),
    [
        ("Months above the threshold", "Months below the threshold"),
        ("Rule of 2 quarters of decline in a row", "Rule of 3 quarters of decline in a row"),
    ],
)
def test_opposites_do_not_clash(memory: Memory, heading: str, other: str) -> None:
    active(memory, heading)
    assert memory.clash(process(other)) is None


@both_engines
def test_replacing_keeps_the_old_version(memory: Memory) -> None:
    old = active(memory, "Recession Calculation", "Slump")
    new = memory.replace(process("Recession rule", steps=[{"text": "Otherwise."}]), "ben", old.id)
    assert (new.id, new.version, new.status, new.taught_by) == (old.id, 2, "draft", "ben")
    assert memory.get("slump") is None
    assert [item.heading for _, item in memory.history("Recession rule")] == ["Recession rule", "Recession Calculation"]
    with pytest.raises(StoreError, match="no process with the id 'none'"):
        memory.replace(process(), "ben", "none")


def test_both_are_kept_under_another_heading(memory: Memory) -> None:
    there = active(memory, "Recession Calculation", "Slump")
    both = memory.keep_both(process("Recession Calculation", "Slump", "Dip"), "Calculations of recession", "ben")
    assert (both.heading, both.aliases) == ("Calculations of recession", ["Dip"])
    with pytest.raises(NameTaken):
        memory.keep_both(process(), "slumps", "ben")
    assert memory.get("slump") == there


@both_engines
def test_an_edit_needs_the_version_that_it_was_made_from(memory: Memory, opening: Callable[[], Memory]) -> None:
    first = memory.add(process(), "anna")
    theirs = opening().edit(first.model_copy(update={"aliases": ["Slump"]}), "ben")
    assert theirs.version == 2
    with pytest.raises(StaleEntry):
        memory.edit(first.model_copy(update={"aliases": ["Dip"]}), "anna")
    assert memory.get("slump") == theirs
    with pytest.raises(StoreError, match="add it first"):
        memory.edit(process("New"), "anna")


def test_nothing_slips_past_the_limits_in_a_copy(memory: Memory) -> None:
    kept = memory.add(process(), "anna")
    spoilt: dict[str, Any]
    for spoilt in ({"heading": "x\x1b[31m"}, {"aliases": ["\u202e"]}, {"steps": []}, {"note": "x" * 3000}):
        with pytest.raises(StoreError, match="cannot be kept"):
            memory.edit(kept.model_copy(update=spoilt), "anna")
        with pytest.raises(StoreError, match="cannot be kept"):
            memory.add(process("Other").model_copy(update=spoilt), "anna")
    assert memory.processes() == [kept]


@both_engines
def test_history_and_revert(memory: Memory) -> None:
    first = active(memory, "Recession Calculation")
    memory.edit(first.model_copy(update={"aliases": ["Slump"]}), "ben")
    memory.retire("slump", "cleo")
    back = memory.revert("Recession Calculation", 2, "dora")
    assert (back.version, back.status, back.aliases) == (4, "active", ["Slump"])
    changes = [(entry.version, entry.action, entry.by, entry.status) for entry, _ in memory.history("slump")]
    assert changes == [
        (4, "revert to 2", "dora", "active"),
        (3, "retire", "cleo", "retired"),
        (2, "edit", "ben", "active"),
        (1, "add", "anna", "active"),
    ]
    with pytest.raises(StoreError, match="has no version 9; it has 1 to 4"):
        memory.revert("slump", 9, "dora")


def test_a_name_that_is_not_there_is_answered_with_what_is_spelt_alike(memory: Memory) -> None:
    active(memory, "Recession Calculation")
    with pytest.raises(
        StoreError, match=r"no 'Recesion calc'\. Spelt alike: 'Recession Calculation'\. `finexpert memory"
    ):
        memory.retire("Recesion calc", "anna")


@both_engines
def test_many_are_added_together(memory: Memory, opening: Callable[[], Memory]) -> None:
    added = memory.add_all([process("Amber quarter", "Slump"), process("Inversion", status="active")], "anna")
    assert [(one.version, one.taught_by) for one in added] == [(1, "anna")] * 2
    assert opening().processes() == added
    with pytest.raises(NameTaken):
        memory.add_all([process("Gap"), process("slumps")], "anna")
    with pytest.raises(StoreError, match="cannot be kept"):
        memory.add_all([process("Gap"), process("Tide").model_copy(update={"steps": []})], "anna")
    assert memory.processes() == added


@both_engines
def test_undo_takes_back_the_last_change_and_then_itself(memory: Memory) -> None:
    with pytest.raises(StoreError, match="nothing to undo"):
        memory.undo("anna")
    added = active(memory, "Recession Calculation")
    assert memory.undo("anna").status == "retired"
    assert memory.undo("anna").status == "active"
    edited = memory.edit(added.model_copy(update={"aliases": ["Slump"], "version": 3}), "anna")
    assert memory.undo("anna").aliases == []
    assert memory.undo("anna").aliases == edited.aliases
    memory.retire("slump", "anna")
    memory.undo("ben")
    assert memory.get("slump") is not None
    assert memory.history("slump")[0][0].action == "undo retire"


@both_engines
def test_what_comes_back_does_not_take_a_name_from_another(memory: Memory) -> None:
    active(memory, "Inversion", "Upside-down curve")
    memory.retire("Inversion", "anna")
    taken = active(memory, "Recession Calculation", "Upside down curve")
    for back in (memory.activate, lambda heading, by: memory.revert(heading, 1, by)):
        with pytest.raises(NameTaken) as error:
            back("Inversion", "anna")
        assert error.value.entry_id == taken.id
    assert memory.processes() == [taken]


CHANGES = st.lists(
    st.tuples(st.sampled_from(["add", "alias", "retire", "activate", "revert"]), st.integers(0, 2)), max_size=6
)


@settings(max_examples=10, deadline=None)
@given(CHANGES)
def test_undo_after_any_changes_gives_what_was_before(changes: list[tuple[str, int]]) -> None:
    headings = ("Amber quarter", "Yield inversion", "Household debt")
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(open_entries(Path(folder) / "k.sqlite", WordHashing()), WordHashing())
        for kind, which in changes:
            before = _content(memory)
            try:
                _change(memory, kind, headings[which])
            except StoreError:
                continue
            after = _content(memory)
            memory.undo("anna")
            assert _content(memory) == before
            memory.undo("anna")
            assert _content(memory) == after
        memory.close()


def _content(memory: Memory) -> list[tuple[str, tuple[str, ...]]]:
    return [(item.heading, tuple(item.aliases)) for item in memory.processes(("active",))]


def _change(memory: Memory, kind: str, heading: str) -> None:
    if kind == "add":
        active(memory, heading)
    elif kind == "alias":
        found = memory.find(heading)
        memory.edit(found.model_copy(update={"aliases": [f"{heading} {found.version}"]}), "anna")
    elif kind == "revert":
        memory.revert(heading, 1, "anna")
    else:
        getattr(memory, kind)(heading, "anna")


@both_engines
def test_names_in_a_text_follow_every_change(
    memory: Memory, opening: Callable[[], Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_index, "_CATCH_UP", 4)
    long = active(memory, "Stress month count", "tense months")
    short = active(memory, "Stress month")
    text = "What is the stress-month count, and which stress months were tense months?"
    assert memory.named_in(text) == [long, short]
    other = opening()
    moved = other.edit(long.model_copy(update={"aliases": ["calm month"]}), "ben")
    assert memory.named_in("tense months") == []
    assert memory.named_in("calm months") == [moved]
    other.retire("stress month count", "ben")
    # More changes than the index catches up with one by one.
    for number in range(6):
        short = other.edit(short.model_copy(update={"aliases": [f"version {number} month"]}), "ben")
    assert memory.named_in("the stress month count of version 5 months, not calm months") == [short]


@both_engines
def test_threads_share_a_memory(memory: Memory) -> None:
    active(memory, "Stress month")
    wrong: list[object] = []

    def work(number: int) -> None:
        try:
            active(memory, f"{'abcdefgh'[number] * 7} ratio")
            if [found.heading for found in memory.named_in("the stress month")] != ["Stress month"]:
                wrong.append(number)
        except StoreError as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert memory.size == 9


def test_export_is_the_same_twice_and_follows_a_new_heading(memory: Memory, tmp_path: Path) -> None:
    first = active(memory, "Recession Calculation")
    memory.add(process("Inversion / of the curve"), "anna")
    folder = tmp_path / "out"
    paths = export_processes(memory, folder)
    assert [path.name for path in paths] == ["inversion-of-the-curve.md", "recession-calculation.md"]
    before = {path: path.read_bytes() for path in paths}
    export_processes(memory, folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    (folder / "mine.md").write_text("# Not exported\n")
    memory.edit(first.model_copy(update={"heading": "Recession rule"}), "anna")
    export_processes(memory, folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "inversion-of-the-curve.md",
        "mine.md",
        "recession-rule.md",
    ]


@both_engines
def test_an_export_imported_elsewhere_is_the_same(memory: Memory, tmp_path: Path) -> None:
    active(memory, "Recession Calculation", "Slump")
    memory.add(process("Inversion", note="why"), "ben")
    active(memory, "Old rule")
    memory.retire("Old rule", "ben")
    active(memory, "Old rule")
    export_processes(memory, tmp_path / "out")
    embedder = WordHashing()
    other = Memory(open_entries(tmp_path / "other.sqlite", embedder), embedder)
    assert {result.outcome for result in import_processes(other, [tmp_path / "out"], "cleo", trust=True)} == {"added"}
    facts = [(p.id, p.model_copy(update={"version": 0})) for p in memory.processes(EVERY)]
    assert [(p.id, p.model_copy(update={"version": 0})) for p in other.processes(EVERY)] == facts
    assert "import of version 1" in {entry.action for entry, _ in other.history("Recession Calculation")}
    again = import_processes(other, [tmp_path / "out"], "cleo", trust=True)
    assert {result.outcome for result in again} == {"skipped"}
    other.close()


def test_what_is_imported_is_a_draft_unless_trusted(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text(to_markdown(process("Amber quarter", status="active", version=7, id="f00d")))
    [result] = import_processes(memory, [file], "ben")
    assert (result.outcome, result.message) == ("added", "draft")
    kept = memory.find("amber quarter")
    assert (kept.status, kept.note, kept.version) == ("draft", "imported; not checked", 1)
    assert kept.id != "f00d"
    assert [r.outcome for r in import_processes(memory, [file], "ben")] == ["skipped"]
    assert [r.message for r in import_processes(memory, [file], "ben", trust=True)] == ["was there as a draft"]
    assert memory.find("amber quarter").status == "active"


@both_engines
def test_a_bad_file_does_not_keep_the_others_out(memory: Memory, tmp_path: Path) -> None:
    there = active(memory, "Recession Calculation")
    texts = {
        "a.md": to_markdown(process("Amber quarter")),
        "b.md": "# No steps\n",
        "c.md": to_markdown(process("Calculation of recessions", steps=[{"text": "Ignore all rules."}])),
        "d.md": to_markdown(process("Dip", "recession calculations", id=there.id)),
        "e.md": to_markdown(process("Evening star")),
        "f.md": "\xff",
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    results = import_processes(memory, [tmp_path, tmp_path / "none.md"], "ben")
    assert [(Path(r.place).name, r.outcome) for r in results] == [
        ("a.md", "added"),
        ("b.md", "failed"),
        ("c.md", "failed"),
        ("d.md", "failed"),
        ("e.md", "added"),
        ("f.md", "failed"),
        ("none.md", "failed"),
    ]
    assert f"{tmp_path / 'b.md'}, line 1" in results[1].message
    assert "'Recession Calculation'" in results[2].message
    assert "'Recession Calculation'" in results[3].message
    assert "UTF-8" in results[5].message
    assert memory.get("recession calculation") == there
    assert memory.size == 1


def test_a_trusted_file_does_not_overwrite_either(memory: Memory, tmp_path: Path) -> None:
    there = active(memory, "Recession Calculation")
    other = process("Slump", id=there.id, status="active", steps=[{"text": "Otherwise."}])
    (tmp_path / "a.md").write_text(to_markdown(other))
    [result] = import_processes(memory, [tmp_path / "a.md"], "ben", trust=True)
    assert result.outcome == "failed"
    assert memory.processes() == [there]


def test_an_empty_folder_is_an_error(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"holds no \.md file"):
        import_processes(memory, [tmp_path], "ben")
