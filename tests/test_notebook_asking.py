"""`%%ask`: the notebook of the docs runs and shows what it shows, and the magics do what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from traitlets.config import Config

NOTEBOOK = Path(__file__).parents[1] / "docs" / "ask.ipynb"
_VARIES = (
    (re.compile(r"[\d.]+ s\b"), "… s"),
    (re.compile(r"\d{8}T\d{6}-[0-9a-f]{6}"), "RECORD"),
    (re.compile(r"data:image/png;base64,[\w+/=]+"), "PNG"),
)


def outputs(notebook: Any, kind: str) -> list[str]:
    """What the cells show in one form, without what varies from run to run."""
    shown = [
        out["data"][kind] for cell in notebook.cells for out in cell.get("outputs", ()) if kind in out.get("data", {})
    ]
    for pattern, instead in _VARIES:
        shown = [pattern.sub(instead, text) for text in shown]
    return shown


@pytest.mark.timeout(600)
def test_the_notebook_runs_and_shows_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    written = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    again = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(again, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert outputs(again, "text/plain") == outputs(written, "text/plain")
    assert outputs(again, "text/html") == outputs(written, "text/html")
    page = "\n".join(outputs(written, "text/html"))
    for part in ("3 recessions", 'src="PNG"', "<details>", "99 rows, 20 of them shown", "planning … s (1 call)"):
        assert part in page


def test_it_names_nothing_of_the_machine_it_ran_on() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert str(Path.home()) not in text
    assert "Traceback" not in text
    assert re.findall(r"/(?:home|Users|root|work|tmp)/\w*", text) == []


@pytest.fixture
def shell(own_home: Path) -> Any:
    """A shell of IPython with the magics, which keeps no history."""
    config = Config()
    config.HistoryManager.enabled = False
    made = InteractiveShell(config=config)
    made.run_line_magic("load_ext", "finexpert")
    return made


def ask(shell: Any, options: str, question: str = "How many sales?") -> Any:
    return shell.run_cell_magic("ask", options, question)


def test_a_session_of_the_notebook_is_asked(desk: Any, shell: Any) -> None:
    desk.says("planning", desk.plan())
    shell.user_ns["session"] = desk.session()
    answer = ask(shell, "--to sales")
    assert (answer.value, shell.user_ns["sales"]) == (6, answer)
    assert (shell.user_ns["session"].settings.home / "records" / f"{answer.record.id}.json").is_file()


def test_a_frame_is_asked_by_its_name(shell: Any) -> None:
    import pandas as pd

    shell.user_ns["trades"] = pd.DataFrame({"desk": ["a", "b"], "amount": [1, 2]})
    shell.run_line_magic("finexpert", "--lm recorded --data trades")
    assert [table.name for table in shell.user_ns["session"].source.tables] == ["trades"]
    shell.user_ns["session"].close()


def test_a_word_is_asked_back_and_explained(desk: Any, shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    desk.says("planning", desk.plan(unclear="harbour months"), desk.plan(follows=(1,)))
    shell.user_ns["session"] = desk.session()
    assert ask(shell, "", "How many harbour months?").status == "needs_clarification"
    assert "--means" in capsys.readouterr().out
    answer = ask(shell, "--means 'a month with two ships'", "How many harbour months?")
    assert (answer.status, answer.meanings) == ("answered", {"harbour months": "a month with two ships"})


@pytest.mark.parametrize(
    ("options", "question", "said"),
    [
        ("", "  ", "write the question below"),
        ("--means 'x'", "How many?", "nothing was asked back"),
        ("--data a.csv --library b", "How many?", "give one of"),
        ("--as-of yesterday", "How many?", "YYYY-MM-DD"),
        ("--lm recorded --library nowhere", "How many?", "LibraryError: there is no library"),
        ("--lm recorded --data nowhere.duckdb", "How many?", "DataError: "),
    ],
)
def test_what_is_wrong_is_one_line(shell: Any, options: str, question: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ask(shell, options, question)


def test_progress_in_a_terminal_is_one_line_and_nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    from finexpert.app.notebook import progress
    from finexpert.core.progress import stage

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress(), stage("planning"):
        pass
    said = terminal.getvalue()
    assert "\r\x1b[KPlanning … 0 s" in said
    assert said.endswith("\r\x1b[K")
    assert "\n" not in said


def test_importing_the_program_imports_no_notebook() -> None:
    import subprocess
    import sys

    code = "import sys, finexpert\nprint(sorted({'IPython', 'pandas', 'mcp'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
