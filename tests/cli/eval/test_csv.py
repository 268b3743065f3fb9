"""`finexpert eval csv` on a made-up folder, with a model that answers rightly in one way and wrongly in the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from finexpert.testing import fields

QUESTIONS = [
    {"id": 1, "question": "What is the mean price?", "constraints": "Round to two decimals.", "level": "easy",
     "format": '@mean_price[mean] where "mean" is a number rounded to two decimal places.', "file_name": "trades.csv",
     "answers": [["mean_price", "1.67"]]},
    {"id": 2, "question": "How many trades are big, and which is the most frequent symbol?", "level": "hard",
     "format": '@n[count] @symbol[symbol] where "count" is an integer.', "file_name": "trades.csv",
     "answers": [["n", "2"], ["symbol", "AAPL"]]},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "dabench"
    (made / "files").mkdir(parents=True)
    (made / "files" / "trades.csv").write_text("symbol,price\nAAPL,1\nAAPL,2\nIBM,2\n")
    (made / "questions.jsonl").write_text("\n".join(json.dumps(question) for question in QUESTIONS))
    return made


def reply(prompt: str) -> str:
    """The mean in both ways, by the single call under another name; the two values by the program alone, one a script's."""
    single = "field `[[ ## select_query ## ]]`" in prompt
    if "mean price" in prompt:
        name = "average" if single else "mean_price"
        select, code = f"SELECT avg(price) AS {name} FROM trades", ""
    else:
        select = (
            "SELECT count(*) AS n, 'ibm' AS symbol FROM trades WHERE price > 1" if single else "SELECT * FROM trades"
        )
        code = "from scipy import stats\nanswer = pd.DataFrame({'n': [int((trades.price > 1).sum())], 'symbol': [trades.symbol.mode()[0]]})"
    if single:
        return fields(select_query=select)
    selects = json.dumps([{"df_name": "trades", "df_columns": [], "select_query": select}])
    return fields(interpretation="as asked", selects=selects, code=code)


def test_program_and_single_call_side_by_side(
    finexpert: Any, tracked: Path, home: Path, scripted: Any, folder: Path
) -> None:
    prompts = scripted(reply)
    ran = finexpert("eval", "csv", str(folder), "--json", "out.json", "--threads", "2")
    assert ran.code == 0, ran.err
    for shown in (
        "program: 2/2 by the rule of DABench, 2 by ours (rounded as asked, texts without their case); 0 without an answer",
        "single-call: 1/2 by the rule of DABench, 1 by ours",
        "single-call: not right: 2",
        "only program: 2",
        "only single-call: nothing; McNemar p = 1.000",
    ):
        assert shown in ran.out
    written = json.loads(Path("out.json").read_text())
    answers = {(result["rung"], result["id"]): result["answer"] for result in written["results"]}
    assert answers["program", "1"] == answers["single-call", "1"] == "@mean_price[1.67]"
    assert answers["program", "2"] == "@n[2] @symbol[AAPL]"
    assert any('It has one row, and the columns "n", "symbol"' in prompt for prompt in prompts)
    assert not any("IBM" in prompt for prompt in prompts)
    assert list((home / "eval").iterdir()) == []


def test_some_of_the_questions(finexpert: Any, tracked: Path, scripted: Any, folder: Path) -> None:
    scripted(reply)
    ran = finexpert("eval", "csv", str(folder), "--ids", "2", "--no-baseline")
    assert (ran.code, "program: 1/1 by the rule of DABench" in ran.out, "only" in ran.out) == (0, True, False)
    ran = finexpert("eval", "csv", str(folder), "--ids", "9")
    assert (ran.code, "there is no question '9'" in ran.err) == (2, True)


def test_what_is_missing_is_named(finexpert: Any, tmp_path: Path, folder: Path) -> None:
    ran = finexpert("eval", "csv", str(tmp_path / "nowhere"))
    assert (ran.code, "github.com/InfiAgent/InfiAgent" in ran.err) == (1, True)
    (folder / "files" / "trades.csv").unlink()
    ran = finexpert("eval", "csv", str(folder), "--lm", "recorded")
    assert (ran.code, "files/trades.csv is not there" in ran.err) == (1, True)
