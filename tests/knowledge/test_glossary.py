"""The glossary: definitions and their history, names that clash, what is found, and the files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finexpert.embeddings.embedding import WordHashing
from finexpert.errors import NameTaken, StaleEntry, StoreError
from finexpert.knowledge.entries.entries import EntryStore
from finexpert.knowledge.entries.opening import open_entries
from finexpert.knowledge.glossary import Glossary, Keyword
from finexpert.knowledge.keyword_files import _joined, _split, export_keywords, import_keywords
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.process import Process


def keyword(term: str = "stress month", meaning: str = "a month with a spread below 0.5", **given: Any) -> Keyword:
    return Keyword.model_validate({"term": term, "meaning": meaning, **given})


both_engines = pytest.mark.parametrize("opening", ["file", "server"], indirect=True)


@pytest.fixture
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Glossary]]:
    """Opens a store as another process would: a file, but for `both_engines`; one with another name is always a file."""
    on_server = getattr(request, "param", "file") == "server"
    place = request.getfixturevalue("empty_server") if on_server else tmp_path / "knowledge.sqlite"
    embedder = WordHashing()
    made: list[EntryStore] = []

    def again(name: str = "") -> Glossary:
        made.append(open_entries(tmp_path / name if name else place, embedder))
        return Glossary(made[-1], embedder)

    yield again
    for entries in made:
        entries.close()


@pytest.fixture
def glossary(opening: Callable[..., Glossary]) -> Glossary:
    return opening()


@both_engines
def test_a_definition_is_active_at_once(glossary: Glossary, opening: Callable[..., Glossary]) -> None:
    assert glossary.empty
    defined = glossary.define(keyword(aliases=["tense month"]), "anna")
    assert (defined.status, defined.version, defined.taught_by, defined.source) == ("active", 1, "anna", "expert")
    other = opening()
    assert other.get("Stress-Months") == other.get("the tense month") == defined
    assert other.named_in("How many tense months?") == [defined]
    assert other.search(["stress months"])[0][0] == defined
    assert other.keywords() == [defined]
    assert not other.empty


@both_engines
def test_a_new_meaning_is_a_new_version_and_keeps_the_aliases(glossary: Glossary) -> None:
    first = glossary.define(keyword(aliases=["tense month"]), "anna")
    assert glossary.define(keyword(), "ben") == first
    second = glossary.define(keyword(term="Stress Month", meaning="another"), "ben")
    assert (second.id, second.version, second.aliases, second.taught_by) == (first.id, 2, ["tense month"], "ben")
    assert [(item.meaning, entry.by) for entry, item in glossary.history("stress month")] == [
        ("another", "ben"),
        (first.meaning, "anna"),
    ]
    assert glossary.undo("cleo").meaning == first.meaning
    assert glossary.revert("stress month", 2, "cleo").meaning == "another"
    assert glossary.retire("stress month", "cleo").status == "retired"
    assert glossary.keywords() == []
    assert glossary.undo("cleo").status == "active"


@both_engines
def test_names_of_others_are_refused(glossary: Glossary) -> None:
    there = glossary.define(keyword(aliases=["tense month"]), "anna")
    for clash in (keyword("Tense Months", "x"), keyword("other", "x", aliases=["stress months"])):
        with pytest.raises(NameTaken, match="'stress month'") as error:
            glossary.define(clash, "ben")
        assert error.value.entry_id == there.id
    assert glossary.keywords() == [there]


@both_engines
def test_an_edit_needs_the_version_that_it_was_made_from(glossary: Glossary) -> None:
    first = glossary.define(keyword(), "anna")
    glossary.edit(first.model_copy(update={"term": "stressed month"}), "ben")
    assert glossary.get("stress month") is None
    with pytest.raises(StaleEntry):
        glossary.edit(first.model_copy(update={"meaning": "x"}), "cleo")
    with pytest.raises(StoreError, match="cannot be kept: meaning: holds"):
        glossary.define(first.model_copy(update={"meaning": "x\x1b"}), "cleo")


@both_engines
def test_a_term_and_a_process_may_have_the_same_name(glossary: Glossary) -> None:
    memory = Memory(glossary.entries, glossary.embedder)
    glossary.define(keyword(), "anna")
    memory.add(Process.model_validate({"heading": "Stress month", "steps": [{"text": "Get it."}]}), "anna")
    assert memory.undo("anna").status == "retired"
    assert len(glossary.keywords()) == 1


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_an_export_imported_elsewhere_says_the_same(
    glossary: Glossary, opening: Callable[..., Glossary], tmp_path: Path, kind: str
) -> None:
    glossary.define(keyword(aliases=["tense, month", "tight|taut"]), "anna")
    glossary.define(
        keyword("calm month", 'all but "stress";\nsecond line', aliases=["quiet month", "still month"]), "ben"
    )
    file = export_keywords(glossary, tmp_path / f"terms.{kind}")
    written = file.read_bytes()
    assert export_keywords(glossary, file).read_bytes() == written
    other = opening("other.sqlite")
    assert [result.outcome for result in import_keywords(other, file, "cleo")] == ["added", "added"]
    assert [result.outcome for result in import_keywords(other, file, "cleo")] == ["skipped", "skipped"]
    facts = ("term", "meaning", "aliases", "source", "taught_by", "taught_at", "status")
    for mine, theirs in zip(glossary.keywords(), other.keywords(), strict=True):
        assert [getattr(mine, fact) for fact in facts] == [getattr(theirs, fact) for fact in facts]
    assert export_keywords(other, tmp_path / f"other.{kind}").read_bytes() == written


FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-2+3+cmd", "'=1+1", "''@x", "'quoted' word", "-2.5 percent")


def test_no_cell_of_a_csv_is_a_formula_and_nothing_is_lost(
    glossary: Glossary, opening: Callable[..., Glossary], tmp_path: Path
) -> None:
    for number, text in enumerate(FORMULAS):
        glossary.define(keyword(f"term {number}", text), "=HYPERLINK(1)")
    file = export_keywords(glossary, tmp_path / "terms.csv")
    with file.open(encoding="utf-8", newline="") as lines:
        cells = [cell for row in csv.reader(lines) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "-")) and cell != "-2.5 percent"]
    other = opening("other.sqlite")
    import_keywords(other, file, "cleo")
    assert [each.meaning for each in other.keywords()] == [each.meaning for each in glossary.keywords()]
    assert {each.taught_by for each in other.keywords()} == {"=HYPERLINK(1)"}


@both_engines
def test_a_file_by_hand(glossary: Glossary, tmp_path: Path) -> None:
    glossary.define(keyword(), "anna")
    file = tmp_path / "terms.csv"
    file.write_text(
        "\ufeffmeaning,term,aliases\r\n"
        "another,stress month,\r\n"
        "all others,calm month,quiet month | still month\r\n"
        ",amber,\r\n"
        "taken,tide,quiet months\r\n"
        '"\x1b[31m",red,\r\n'
    )
    results = import_keywords(glossary, file, "ben")
    assert [(r.title, r.outcome) for r in results] == [
        ("stress month", "failed"),
        ("calm month", "added"),
        ("amber", "failed"),
        ("tide", "failed"),
        ("red", "failed"),
    ]
    assert f"{file}, line 2" == results[0].place
    assert "--replace" in results[0].message
    assert [k.source for k in glossary.keywords()] == ["file", "expert"]
    assert import_keywords(glossary, file, "ben", replace=True)[0].outcome == "added"
    replaced = glossary.get("stress month")
    assert replaced is not None
    assert (replaced.meaning, replaced.version) == ("another", 2)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.txt", "term,meaning\n", "neither a .csv nor a .jsonl"),
        ("a.csv", "word,meaning\nx,y\n", "line 2: a row has the columns"),
        ("a.csv", "term,meaning\nx,y,z\n", "line 2: a row has the columns"),
        ("a.csv", "term,meaning\ngood,one\nx,y,z\n", "line 3: a row has the columns"),
        ("a.csv", 'term,meaning\nx,"y\n', "unexpected end"),
        ("a.csv", 'term,meaning,aliases\nx,y,"[""a"""\n', "begin like JSON"),
        ("a.jsonl", "{\n", "a.jsonl, line 1: is not JSON"),
        ("a.jsonl", '{"term": "good", "meaning": "one"}\n{\n', "a.jsonl, line 2: is not JSON"),
        ("a.jsonl", "\n[]\n", "a.jsonl, line 2: is not an object"),
    ],
)
def test_a_file_of_another_form_is_refused_whole(
    glossary: Glossary, tmp_path: Path, name: str, text: str, words: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(StoreError, match=words.replace(".", r"\.")):
        import_keywords(glossary, tmp_path / name, "ben")
    assert glossary.keywords(("draft", "active", "retired")) == []


def test_an_unknown_field_is_named(glossary: Glossary, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"term": "x", "meaning": "y", "prompt": "z"}) + "\n")
    [result] = import_keywords(glossary, file, "ben")
    assert (result.outcome, result.message) == ("failed", "prompt: Extra inputs are not permitted")


@settings(deadline=None)
@given(st.lists(st.text('ab|[]",\\ ', min_size=1).map(str.strip).filter(bool), max_size=4))
def test_aliases_in_a_cell_lose_nothing(aliases: list[str]) -> None:
    assert _split(_joined(aliases)) == aliases


def test_conventions_of_a_source_are_seen_whatever_was_asked_before(glossary: Glossary) -> None:
    glossary.define(keyword("first day", "we take the first day", kind="convention", scope="fred"), "anna")
    assert glossary.conventions() == []
    assert [each.term for each in glossary.seen_by(["fred"]).conventions()] == ["first day"]


def test_a_name_of_two_sources_is_changed_by_its_id_alone(glossary: Glossary) -> None:
    both = [glossary.define(keyword(scope=scope), "anna") for scope in ("", "fred")]
    with pytest.raises(StoreError, match=f"several of the glossary .*{both[1].id} .active, for fred"):
        glossary.retire("stress month", "anna")
    glossary.retire(both[1].id, "anna")
    assert glossary.find("stress month") == both[0]
    assert [entry.by for entry, _ in glossary.history(both[1].id)] == ["anna", "anna"]
