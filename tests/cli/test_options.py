from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from finexpert.cli.options import Given, takes

RUN = CliRunner()


def command(names: str, **defaults: object) -> tuple[typer.Typer, list[Given]]:
    app, seen = typer.Typer(), list[Given]()

    @app.command()
    @takes(names, **defaults)
    def ask(given: Given, question: str) -> None:
        seen.append(given)

    return app, seen


def test_a_command_has_the_options_that_it_names_and_no_others() -> None:
    app, seen = command("lm threads", threads=8)
    assert RUN.invoke(app, ["why?", "--lm", "a/b"]).exit_code == 0
    assert (seen[0].lm, seen[0].threads) == ("a/b", 8)
    assert RUN.invoke(app, ["why?", "--store", "x"]).exit_code == 2


@pytest.mark.parametrize("flag", ["--record", "--save-completions"])
def test_the_old_name_of_an_option_works_with_a_hint(flag: str) -> None:
    app, seen = command("record")
    result = RUN.invoke(app, ["why?", flag, "new.jsonl"])
    assert seen[0].settings().record == Path("new.jsonl")
    assert ("--record is called --save-completions" in result.stderr) == (flag == "--record")
    assert "--record" not in RUN.invoke(app, ["--help"]).output
