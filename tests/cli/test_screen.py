"""Nothing that a file, a model or a user wrote commands the terminal that shows it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from finexpert.cli import ask, common, main
from finexpert.cli.terminal import tables as in_terminal
from finexpert.cli.terminal.screen import plain, screen
from finexpert.core.answers import Answer, AnswerFormat
from finexpert.errors import DataError

ESCAPES = [
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\x1b]8;;http://x\x1b\\",
    "\rgone",
    "\x08\x08",
    "\u202eabc",
    "\x1bP+q\x1b\\",
    "\u2066",
]


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr()
    return said.out + said.err


@pytest.mark.parametrize("escape", ESCAPES, ids=ascii)
def test_no_part_of_an_answer_commands_the_terminal(escape: str, capsys: pytest.CaptureFixture[str]) -> None:
    for value, kind in (
        (f"a{escape}b", "text"),
        (pd.DataFrame({f"c{escape}": [f"d{escape}", "e"]}), "table"),
        ([f"f{escape}"], "list"),
    ):
        answer = Answer(
            question=f"q{escape}?", status="answered", value=value, format=AnswerFormat(kind=kind,  # type: ignore[arg-type]
                 items="text" if kind == "list" else None),
            period=f"p{escape}", explanation=f"e{escape}", flags=[f"n{escape}"],
        )  # fmt: skip
        ask.show(answer, Path(f"r{escape}"), [])
    said = shown(capsys)
    assert "a" in said
    assert not [char for char in said if char in "\x1b\x9b\x07\x08\r\u202e\u2066"]


@pytest.mark.parametrize("escape", ESCAPES, ids=ascii)
def test_nothing_that_is_printed_commands_the_terminal(escape: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = screen()
    table = Table(title=f"t{escape}")
    table.add_column(f"h{escape}")
    table.add_row(f"r{escape}")
    for one in (
        f"s{escape}",
        Text(f"x{escape}"),
        Panel(f"y{escape}", title=f"z{escape}"),
        Syntax(f"-- {escape}", "sql"),
        table,
    ):
        out.print(one, markup=False)
    out.print(*in_terminal.tables(pd.DataFrame({f"c{escape}": [f"d{escape}"]}), out.width))
    assert not [char for char in shown(capsys) if char in "\x1b\x9b\x07\x08\r\u202e\u2066"]


@pytest.mark.parametrize("escape", ESCAPES, ids=ascii)
def test_no_error_commands_the_terminal(
    escape: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise DataError(f"there is no table {escape}")

    monkeypatch.setattr(main, "app", fails)
    with pytest.raises(SystemExit):
        main.main()
    said = shown(capsys)
    assert said.startswith("DataError: there is no table ")
    assert not [char for char in said if char in "\x1b\x9b\x07\x08\r\u202e\u2066"]


def test_plain_text_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    common.echo("a\x1b[1m\tb")
    assert capsys.readouterr().out == "a\tb\n"
    assert plain("a\nb\tc é ₤ 中") == "a\nb\tc é ₤ 中"
