"""Several sources by name: what they are called, what is refused, and what one sees of the turns of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.answers.sources.opening import open_several
from finexpert.answers.sources.sources import Sources, are_several, keep, view
from finexpert.core.plans import Extract, Plan, Search
from finexpert.core.workspace import NamedFrame, Turn, Value, Workspace
from finexpert.embeddings.embedding import embedder
from finexpert.errors import ConfigurationError, DataError
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.session import Session
from finexpert.settings import Settings


@pytest.fixture
def library(tmp_path: Path, own_home: Path) -> Any:
    with Library.open(tmp_path / "my filings", embedder=embedder("words"), make=True) as made:
        yield made


def test_names_are_one_word_and_no_two_are_the_same(warehouse: Any, library: Library) -> None:
    assert Sources.of([warehouse, library, warehouse]).name == "sales, my_filings, sales_2"
    assert Sources.of({"Macro 1": warehouse, "us": library}).name == "macro_1, us"


def test_a_page_is_refused_with_what_to_do(warehouse: Any) -> None:
    page = Filing("page-1", (), (), (), "page 1")
    for given in ([warehouse, page], {"a": warehouse, "b": page}):
        with pytest.raises(ConfigurationError, match="finexpert library add FILE"):
            Session(given, settings=Settings(lm="recorded", memory=False))


def test_one_source_is_itself_and_none_is_refused(warehouse: Any) -> None:
    assert open_several([warehouse], Settings()) == (warehouse, [])
    assert open_several({"only": warehouse}, Settings()) == (warehouse, [])
    with pytest.raises(ConfigurationError, match="no source was given"):
        open_several([], Settings())


def test_paths_are_opened_and_closed_with_the_session(tmp_path: Path, library: Library) -> None:
    pd.DataFrame({"day": ["2024-01-01"], "fee": [1.5]}).to_csv(tmp_path / "fees.csv", index=False)
    session = Session([tmp_path / "fees.csv", library.folder], settings=Settings(lm="recorded", memory=False))
    assert isinstance(session.source, Sources)
    assert session.source_name == "fees, my_filings"
    session.close()
    with pytest.raises(DataError, match="closed"):
        session.source.warehouses["fees"].query("SELECT 1 AS one")


def test_what_was_opened_is_closed_where_the_next_cannot_be(tmp_path: Path, library: Library) -> None:
    with pytest.raises(DataError, match=r"missing\.duckdb"):
        open_several([library.folder, tmp_path / "missing.duckdb"], Settings())


def test_a_dict_of_frames_is_one_source() -> None:
    assert not are_several({"trades": pd.DataFrame({"a": [1]})})


def test_a_library_sees_no_value_of_tables_and_a_source_only_its_own_frames(warehouse: Any, library: Library) -> None:
    of_rows = Turn("q1", Value(1.5), plan=Plan(steps=[Extract(id=1, frame="f", purpose="p", select="SELECT 1")]))
    of_pages = Turn("q2", Value(2.5), plan=Plan(steps=[Search(id=1, question="q2")]))
    workspace = Workspace(turns=[of_rows, of_pages])
    keep(workspace, "sales", {"f": NamedFrame("f", pd.DataFrame({"a": [1]}), "SELECT 1")})
    assert [turn.value for turn in view(workspace, "filings", library).turns] == [None, Value(2.5)]
    assert [turn.value for turn in view(workspace, "sales", warehouse).turns] == [Value(1.5), Value(2.5)]
    assert list(view(workspace, "sales", warehouse).frames) == ["f"]
    assert view(workspace, "filings", library).frames == {}


def test_nothing_is_taught_or_verified_over_several(warehouse: Any, library: Library) -> None:
    with Session([warehouse, library], settings=Settings(lm="recorded", embedder="words")) as session:
        with pytest.raises(ConfigurationError, match="open one alone"):
            session.remember()
        with pytest.raises(ConfigurationError, match="of one source"):
            session.verify(object())  # type: ignore[arg-type]
