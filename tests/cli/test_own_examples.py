"""`finexpert compile`, `eval layers` and `examples check` on questions of the user's own over a database of theirs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from finexpert.cli.compile.opening import with_fred
from finexpert.warehouse.local.duckdb_warehouse import Table, build_warehouse

DESKS = ("rates", "fx", "credit", "metals", "power", "gas", "equity", "repo", "swaps")
SPLITS = ("train", "val", "holdout")
OWN = ("--examples", "sql_extraction=mine.jsonl", "--data", "desk.duckdb")
ALONE = (*OWN, "--only-own", "--threads", "1")
COMPILE = ("compile", "sql_extraction", "--candidates", "1", "--no-end-to-end")


def record(number: int, desk: str) -> dict[str, Any]:
    frame = {"name": "open", "columns": ["exposure"], "purpose": f"exposures of {desk}"}
    select = f"SELECT exposure FROM positions WHERE desk = '{desk}'"
    asked = {"question": f"What is open at {desk}?", "today": "2024-06-28", "frames": [frame | {"select": select}]}
    return {"id": f"open_{desk}", "split": SPLITS[number % 3], "scenario": "own", **asked}


@pytest.fixture
def mine(home: Path) -> list[dict[str, Any]]:
    """Three records a split in mine.jsonl, over desk.duckdb."""
    records = [record(number, desk) for number, desk in enumerate(DESKS)]
    Path("mine.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    data = pd.DataFrame({"desk": DESKS, "exposure": [777123.5 + number for number in range(len(DESKS))]})
    build_warehouse(Path("desk.duckdb"), [Table("positions", data)])
    return records


@pytest.fixture
def model(scripted: Any, mine: list[dict[str, Any]]) -> Callable[[int], list[str]]:
    """A model that writes right SELECTs from its `wrong`th call on."""

    def use(wrong: int) -> list[str]:
        asked: list[int] = []

        def answer(prompt: str) -> str:
            asked.append(1)
            frame = next(each["frames"][0] for each in mine if each["question"] in prompt)
            select = frame["select"] if len(asked) > wrong else "SELECT 1 AS x"
            selects = [{"df_name": "open", "df_columns": ["exposure"], "select_query": select}]
            return f"[[ ## selects ## ]]\n{json.dumps(selects)}\n\n[[ ## completed ## ]]"

        prompts: list[str] = scripted(answer)
        return prompts

    return use


@pytest.mark.usefixtures("tracked")
def test_a_layer_is_compiled_on_own_questions_over_an_own_database(finexpert: Any, model: Any, mine: Any) -> None:
    prompts = model(6)
    ran = finexpert(*COMPILE, *ALONE, "--name", "desk")
    assert ran.code == 0, ran.err
    for said in (
        "sql_extraction: 9 examples of your own, in place of the packaged ones",
        "labeled, 3 to learn from, 3 to choose by, 3 to judge by",
        "kept: better on val by 0.8 (n=3) and not worse on the holdout: 0.8 (n=3)",
        "saved compiled/desk: sql_extraction",
    ):
        assert said in ran.out
    folder = Path("runs") / "compiled" / "desk"
    train = {each["question"]: each["frames"][0]["select"] for each in mine if each["split"] == "train"}
    demos = json.loads((folder / "sql_extraction.json").read_text())["write"]["demos"]
    assert len(demos) == 2
    assert {demo["question"]: demo["selects"][0]["select_query"] for demo in demos}.items() <= train.items()
    assert all("table positions" in demo["schema_card"] for demo in demos)
    kept = "".join(path.read_text() for path in folder.glob("*.json"))
    assert "777123" not in kept + "".join(prompts)
    entry = json.loads((folder / "manifest.json").read_text())["layers"]["sql_extraction"]
    assert (entry["arguments"]["own_examples"], entry["arguments"]["packaged_examples"]) == (9, 0)


@pytest.mark.usefixtures("tracked")
def test_a_layer_is_scored_on_own_questions(finexpert: Any, model: Any) -> None:
    prompts = model(0)
    ran = finexpert("eval", "layers", "sql_extraction", *ALONE, "--json", "out.json")
    assert ran.code == 0, ran.err
    (row,) = json.loads(Path("out.json").read_text())["layers"]
    assert (row["n"], row["before"]["mean"], len(prompts)) == (3, 1.0, 3)


def test_references_are_run_on_the_own_database(finexpert: Any, mine: Any) -> None:
    check = ("examples", "check", "sql_extraction", "--file", "mine.jsonl")
    ran = finexpert(*check, "--data", "desk.duckdb")
    assert (ran.code, "own 3" in ran.out, "no problem" in ran.out) == (0, True, True)
    ran = finexpert(*check)
    assert (ran.code, "own is a database of yours, and none was named: name it with --data" in ran.err) == (1, True)


def test_a_wrong_reference_ends_it_before_a_model_is_asked(finexpert: Any, model: Any, mine: Any) -> None:
    mine[4]["frames"][0]["select"] = "SELECT exposure FROM position"
    Path("mine.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in mine))
    prompts = model(0)
    for command in (COMPILE, ("eval", "layers", "sql_extraction", "--split", "train")):
        ran = finexpert(*command, *ALONE)
        assert ran.code == 1
        assert "mine.jsonl, line 5: open_power: the reference fails" in ran.err
        assert "finexpert examples check sql_extraction --file mine.jsonl --data desk.duckdb" in ran.err
    assert prompts == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--examples", "mine.jsonl"), "'mine.jsonl' is not LAYER=FILE; write --examples planning=mine.jsonl"),
        (("--examples", "planning=mine.jsonl"), "planning is not among the layers here (sql_extraction)"),
        (("--examples", "sql_extraction=mine.jsonl"), "line 1: scenario: own is a database of yours"),
        (("--only-own",), "--only-own leaves no example"),
    ],
)
@pytest.mark.parametrize("command", [COMPILE, ("eval", "layers", "sql_extraction")])
def test_wrong_usage(finexpert: Any, model: Any, command: tuple[str, ...], options: tuple[str, ...], said: str) -> None:
    prompts = model(0)
    ran = finexpert(*command, *options)
    assert ran.code == 1
    assert said in ran.err
    assert prompts == []


def test_fred_questions_are_not_asked_of_a_database_without_its_tables(
    mine: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    from contextlib import ExitStack

    from finexpert.datasets.layers.copies import Copies
    from finexpert.datasets.layers.sets import ExampleSets
    from finexpert.settings import Settings

    settings = Settings()
    with ExitStack() as stack, Copies(data=Path("desk.duckdb"), settings=settings) as copies:
        bench: Any = SimpleNamespace(settings=settings, examples=ExampleSets(copies=copies))
        assert "unemployment" in with_fred(bench, stack).columns()
    assert "desk has not the tables of FRED: the combined program is asked of " in capfd.readouterr().out
    with ExitStack() as stack, Copies(settings=settings) as copies:
        bench.examples = ExampleSets(copies=copies)
        assert with_fred(bench, stack) is copies.warehouse
