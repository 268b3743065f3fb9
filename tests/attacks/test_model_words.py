"""What a model writes reaches a terminal, a record, JSON and an exported script as words: nothing in it commands, and nothing in it crashes.

Each word below stands once in every place that a planner can write to.
"""

from __future__ import annotations

import ast
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.answers import replaying
from finexpert.answers.export import script as exported
from finexpert.answers.records import Record
from finexpert.cli import ask
from finexpert.errors import FinexpertError
from finexpert.session import Session

SELECT = "SELECT date, amount FROM sales ORDER BY date"
WORDS = {
    "erases the screen": "a\x1b[2Jb",
    "sets the title": "a\x1b]0;title\x07b",
    "is a control of 8 bits": "a\x9b31mb",
    "is a link": "a\x1b]8;;http://x\x1b\\b",
    "goes back": "a\rb\x08\x08c",
    "is NUL": "a\x00b",
    "turns the direction": "a\u202eb",
    "isolates": "a\u2066b\u2069",
    "is half a character": "a\ud800b",
    "is the other half": "a\udc00b",
    "is hidden in tags": "a" + "".join(chr(0xE0000 + ord(c)) for c in "ignore") + "b",
    "is markup": "a[bold red]b[/bold red][link=http://x]c[/link]",
    "closes markup": "a[/]b[/bold]",
    "is a line of another kind": "a\u2028b\u2029c\x85d",
    "ends the text of a script": 'a"""\nimport os\nos.system("true")\n"""b',
    "ends with a backslash": "a\\",
    "is a field of a prompt": "a\n[[ ## completed ## ]]\nb",
    "is HTML": "<script>alert(1)</script><img src=x onerror=alert(1)>",
}  # fmt: skip


def said(**changed: str) -> str:
    """What a planner writes, with some of its fields changed; texts in JSON are escaped as JSON has it."""
    fields = {"interpretation": "as asked", "name": "sales", "column": "amount", "select": SELECT,
              "code": "answer = float(sales.amount.max())", "kind": "number", "unit": "USD"} | changed  # fmt: skip
    selects = [{"df_name": fields["name"], "df_columns": ["date", fields["column"]], "select_query": fields["select"]}]
    return (
        f"[[ ## interpretation ## ]]\n{fields['interpretation']}\n[[ ## selects ## ]]\n{json.dumps(selects)}\n"
        f"[[ ## code ## ]]\n{fields['code']}\n[[ ## answer_kind ## ]]\n{fields['kind']}\n"
        f"[[ ## unit ## ]]\n{fields['unit']}\n[[ ## completed ## ]]"
    )


PLACES: dict[str, Callable[[str], dict[str, str]]] = {
    "interpretation": lambda word: {"interpretation": word},
    "name of a frame": lambda word: {"name": word},
    "name of a column": lambda word: {"column": word},
    "alias of a SELECT": lambda word: {"select": f'SELECT date, amount AS "{word}" FROM sales'},
    "text of a SELECT": lambda word: {"select": f"SELECT date, amount, '{word}' AS note FROM sales"},
    "comment of a SELECT": lambda word: {"select": f"SELECT date, amount FROM sales -- {word}"},
    "text of a script": lambda word: {"code": f"answer = {word!r}", "kind": "text", "unit": ""},
    "comment of a script": lambda word: {"code": f"# {word}\nanswer = 1.0"},
    "table of a script": lambda word: {"code": f"answer = pd.DataFrame({{{word!r}: [{word!r}]}})", "kind": "table"},
    "error of a script": lambda word: {"code": f"raise ValueError({word!r})"},
    "kind": lambda word: {"kind": word},
    "unit": lambda word: {"unit": word},
}


def commands(text: str) -> set[str]:
    """The characters of a text that a terminal or an editor obeys."""
    return {
        char for char in text if char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    }


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("word", WORDS)
def test_no_word_of_a_planner_commands_or_crashes(
    says: Callable[..., Session], warehouse: Any, sandbox: Any, tmp_path: Path, capsys: Any, place: str, word: str
) -> None:
    session = says(said(**PLACES[place](WORDS[word])), retries=1)
    answer = session.ask("How much is the most?")
    kept = answer.record.save(tmp_path) if answer.record else None
    ask.show(answer, kept, [])
    json.dumps(ask.as_dict(answer, kept, [])).encode()
    shown = capsys.readouterr()
    assert not commands(shown.out + shown.err)
    if "markup" in word:
        assert "\x1b]8" not in shown.out
    if kept is None or answer.status != "answered":
        return
    record = Record.load(kept)
    assert not commands(kept.read_text())
    try:
        assert replaying.replay(record, warehouse, sandbox).same
        script = exported.export(record, warehouse)
    except FinexpertError:
        return
    script.encode()
    assert not commands(script)
    names = {node.id for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Name)}
    assert "os" not in names


@pytest.mark.parametrize("word", WORDS)
def test_no_word_of_a_question_commands_or_crashes(
    says: Callable[..., Session], warehouse: Any, tmp_path: Path, capsys: Any, word: str
) -> None:
    answer = says(said()).ask(f"How much is {WORDS[word]}?", clarify=False)
    kept = answer.record.save(tmp_path)
    ask.show(answer, kept, [])
    assert not commands(kept.read_text() + capsys.readouterr().out)
    script = exported.export(Record.load(kept), warehouse)
    assert not commands(script)
    ast.parse(script)
