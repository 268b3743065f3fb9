"""The notebook runs from beginning to end without a key, and shows what it showed when it was written."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOK = DOCS / "compile_evaluate_load.ipynb"
# What differs from run to run: seconds, minutes, and where MLflow keeps its store.
_VARIES = (
    (re.compile(r"\b[\d.]+ min\b"), "… min"),
    (re.compile(r"(?<=calls  tokens) +s\b"), " s"),
    (re.compile(r"( +[\d.]+ +[\d,]+) +[\d.]+ *$", re.MULTILINE), r"\1 …"),
    (re.compile(r"─{5,}"), "─"),
    (re.compile(r"http://127\.0\.0\.1:\d+"), "http://127.0.0.1:…"),
    (re.compile(r"sqlite:\S+"), "sqlite:…"),
    (re.compile(r" +$", re.MULTILINE), ""),
)


def written() -> Any:
    """The notebook as it stands in the repository."""
    return nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]


def run(notebook: Any, folder: Path) -> Any:
    """The notebook, executed with `folder` as current folder; a cell that fails is an error."""
    client = NotebookClient(
        notebook, timeout=1100, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    return client.execute()


def printed(notebook: Any) -> list[str]:
    """What each cell of code prints, without what varies. Progress bars go to stderr and are left out."""
    return [masked(streams(cell)) for cell in notebook.cells if cell.cell_type == "code"]


def streams(cell: Any) -> str:
    return "".join(out["text"] for out in cell.outputs if out.output_type == "stream" and out["name"] == "stdout")


def masked(text: str) -> str:
    for pattern, instead in _VARIES:
        text = pattern.sub(instead, text)
    return text.strip()


def student() -> ModuleType:
    """The made-up student, which stands beside the notebook."""
    spec = importlib.util.spec_from_file_location("made_up_student", DOCS / "made_up_student.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("temporary")
def test_it_runs_and_prints_what_it_shows() -> None:
    shown = written()
    before = set(DOCS.iterdir())
    again = run(written(), DOCS)
    assert printed(again) == printed(shown)
    assert {path.name for path in set(DOCS.iterdir()) - before} <= {"__pycache__"}


def test_what_it_shows_is_what_its_text_says() -> None:
    text = "\n".join(printed(written()))
    assert text.index("nothing was proven better: no program is saved") < text.index("saved compiled/student")
    assert re.search(r"script_generation +18 +0\.278 +0\.667", text)


def test_it_names_nothing_of_the_machine_it_ran_on() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert str(Path.home()) not in text
    assert os.uname().nodename not in text
    assert "Traceback" not in text
    assert re.findall(r"/(?:home|Users|root|work)/\w*", text) == []


@pytest.mark.parametrize("source", ["1 / 0", "%%bash\nfinexpert compile no_such_layer --lm recorded"])
def test_a_cell_that_fails_is_an_error(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbformat.v4 import new_code_cell, new_notebook

    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    notebook = new_notebook(cells=[new_code_cell(source)])  # type: ignore[no-untyped-call]
    with pytest.raises(CellExecutionError):
        run(notebook, tmp_path)


def test_the_student_does_what_it_says_of_itself() -> None:
    module = student()
    assert doctest.testmod(module).attempted >= 3
    assert doctest.testmod(module).failed == 0


def test_the_student_knows_recorded_scripts_only() -> None:
    module = student()
    scripts = module.recorded_scripts()
    assert len(scripts) >= 20
    assert all("answer" in script for script in scripts.values())
    faulty = [question for question in scripts if "result" in module.completion([("user", question)], scripts)]
    assert 0.25 < len(faulty) / len(scripts) < 0.75
    assert module.completion([("user", "Anything else?")], scripts) == "I do not know."
