"""`finexpert ask`, `replay` and `export`, from recorded completions over the sample economy."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from finexpert.cli.ask import _taken, show
from finexpert.core.answers import Answer
from finexpert.core.offers import Offer
from finexpert.core.reviews import UNSURE
from finexpert.errors import StoreError
from finexpert.session import Session

ROOT = Path(__file__).parents[2]
RECORDED = ("--lm", "recorded", "--as-of", "2024-09-30")
DEMO = [
    shlex.split(line)[1] for line in re.findall(r"^\t@(\$\(ASK\) .*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
]
RECESSIONS, PLOT = DEMO
ELSEWHERE = "How many recessions have there been in the last 40 years?"


def drafts(select: str, code: str) -> str:
    selects = json.dumps([{"df_name": "df", "df_columns": ["date", "value"], "select_query": select}])
    return (
        f"[[ ## interpretation ## ]]\nas asked\n[[ ## selects ## ]]\n{selects}\n[[ ## code ## ]]\n{code}\n"
        "[[ ## answer_kind ## ]]\nnumber\n[[ ## unit ## ]]\n\n[[ ## completed ## ]]"
    )


@pytest.fixture(scope="module")
def asked() -> dict[str, Any]:
    """What the first question of the demo came to, asked once."""
    return {}


@pytest.fixture
def answered(asked: dict[str, Any], finexpert: Any, home: Path) -> Any:
    """The first question of the demo as it was shown."""
    if not asked:
        asked["ran"] = finexpert("ask", RECESSIONS, *RECORDED)
        (asked["record"],) = (home / "records").iterdir()
    return asked["ran"]


@pytest.fixture
def record(asked: dict[str, Any], answered: Any, home: Path) -> Path:
    """Its record, in this test's home."""
    path: Path = home / "records" / asked["record"].name
    path.parent.mkdir(exist_ok=True)
    if path != asked["record"]:
        shutil.copy(asked["record"], path)
    return path


def test_the_demo_shows_how_the_answer_came_about(answered: Any, record: Path) -> None:
    ran = answered
    assert ran.code == 0
    for shown in (RECESSIONS, "SQL → ", "count(*) AS recessions", "Answer: 3 recessions"):
        assert shown in ran.out
    assert "Note: sample economy: made-up numbers" in ran.out
    assert "Script" not in ran.out
    assert re.search(r"1 model call \(planning 1\), [\d,]+ \+ [\d,]+ tokens", ran.out)
    assert f"{record.name}  (finexpert replay, finexpert export)" in ran.out
    assert record.stat().st_mode & 0o077 == 0


def test_the_demo_draws_a_figure_and_json_holds_what_is_shown(finexpert: Any, tmp_path: Path) -> None:
    ran = finexpert("ask", PLOT, *RECORDED, "--figures", str(tmp_path / "figures"), "--json")
    assert ran.code == 0
    shown = ran.json
    assert (shown["status"], shown["text"]) == ("answered", shown["value"])
    assert shown["flags"] == ["sample economy: made-up numbers"]
    assert [step["kind"] for step in shown["plan"]["steps"]] == ["extract", "script"]
    assert shown["citations"][0]["place"].startswith("WITH u AS (SELECT date, unrate")
    assert shown["usage"]["by_layer"] == {"planning": 1}
    assert Path(shown["record"]).is_file()
    (path,) = shown["figures"]
    assert Path(path).parent == tmp_path / "figures"
    assert Path(path).read_bytes().startswith(b"\x89PNG\r\n")
    assert Path(path).stat().st_mode & 0o077 == 0
    assert re.fullmatch(r"\d{4}-\d\d-01", ran.json["value"])


def test_a_record_replays_by_its_file_or_its_id(finexpert: Any, record: Path) -> None:
    ran = finexpert("replay", record.stem)
    assert ran.code == 0
    assert "same answer: 3 recessions" in ran.out
    shown = finexpert("replay", str(record), "--json").json
    assert (shown["same"], shown["status"], shown["text"], shown["differences"]) == (
        True,
        "answered",
        "3 recessions",
        [],
    )


def test_another_answer_is_told_by_the_exit_code(finexpert: Any, record: Path) -> None:
    changed = json.loads(record.read_text()) | {"value": 4}
    record.write_text(json.dumps(changed))
    refused = finexpert("replay", record.stem)
    assert (refused.code, "is not as it was written" in refused.err) == (1, True)
    record.write_text(json.dumps(changed | {"seal": ""}))
    ran = finexpert("replay", record.stem)
    assert ran.code == 3
    assert "DIFFERENT answer: 3 recessions" in ran.out
    assert "the answer was 4 recessions" in ran.out


def test_an_exported_answer_runs_on_its_own(finexpert: Any, record: Path, tmp_path: Path) -> None:
    script = tmp_path / "answer.py"
    assert finexpert("export", record.stem, "--out", str(script)).code == 0
    printed = finexpert("export", record.stem)
    assert (printed.code, printed.out) == (0, script.read_text())
    assert "made-up numbers" in printed.out
    ran = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "3"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answer.py"]
    failed = finexpert("export", record.stem, "--out", "/nowhere/answer.py")
    assert (failed.code, failed.err.split(":")[0], "/nowhere/" in failed.err) == (1, "FileNotFoundError", True)


def test_a_question_that_is_not_recorded(finexpert: Any, home: Path) -> None:
    ran = finexpert("ask", ELSEWHERE, *RECORDED)
    assert (ran.code, ran.out) == (1, "")
    first, *rest = ran.err.splitlines()
    assert first == f"UnknownPrompt: this prompt is not among the recorded ones: {ELSEWHERE!r}"
    assert f"  - {RECESSIONS}" in rest
    assert "--lm" in rest[1]
    assert not (home / "records").exists()


def test_no_answer_is_an_exit_code_of_its_own(
    finexpert: Any, home: Path, scripted: Callable[[Any], list[str]], tmp_path: Path
) -> None:
    scripted([drafts("SELECT nothing FROM gdp", "answer = 1")])
    ran = finexpert("ask", "What is it?", "--retries", "0")
    assert ran.code == 3
    assert "Answer: no answer: " in ran.out
    assert "nothing" in ran.out
    (path,) = (home / "records").iterdir()
    assert finexpert("replay", path.stem).err.startswith(f"RecordError: the record {path.stem} holds no answer")


def test_an_answer_that_fails_is_json_too(finexpert: Any, scripted: Callable[[Any], list[str]]) -> None:
    scripted(["I cannot say."])
    ran = finexpert("ask", "What is it?", "--retries", "0", "--json")
    assert ran.code == 3
    assert (ran.json["status"], ran.json["value"], ran.json["record"]) == ("failed", None, None)
    assert (ran.json["failure"]["layer"], ran.json["failure"]["kind"]) == ("planning", "output")


PAGE = {
    "id": "Single_HRBR/2015/page_41.pdf-1",
    "pre_text": [],
    "post_text": [],
    "table": [["( in millions )", "2015", "2014"], ["net sales", "$ 486.2", "$ 441.5"], ["cost", "301.4", "283.0"]],
}
STEPS = [
    {"kind": "cell", "id": 1, "row": "net sales", "column": "2015"},
    {"kind": "cell", "id": 2, "row": "net sales", "column": "2014"},
    {"kind": "compute", "id": 3, "operation": "subtract", "arguments": ["step 1", "step 2"]},
]


def test_a_question_about_a_page(finexpert: Any, scripted: Callable[[Any], list[str]], tmp_path: Path) -> None:
    page = tmp_path / "page.json"
    page.write_text(json.dumps(PAGE))
    prompts = scripted(
        [f"[[ ## entity ## ]]\nsales\n[[ ## steps ## ]]\n{json.dumps(STEPS)}\n[[ ## answer ## ]]\nstep 3\n"]
    )
    ran = finexpert("ask", "By how much did net sales rise?", "--filing", str(page))
    assert ran.code == 0
    for shown in ("Plan: step 1: net sales / 2015; ", "net sales / 2014: ", "Answer: 44.70", "Confidence: "):
        assert shown in ran.out
    assert "441.5" in prompts[0]  # a page is the question's own context
    place = re.findall(r"Record: (\S+)", ran.out)[0]
    for options in (("--filing", str(page)), ()):
        again = finexpert("replay", place, *options)
        assert (again.code, "same answer: 44.70" in again.out) == (0, True)
    page.unlink()
    assert "Give --filing FILE" in finexpert("replay", place).err
    assert finexpert("ask", "What?", "--filing", str(page), "--data", str(page)).code == 2


def test_notes_come_in_order_each_once_and_five_of_them_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    weighty = [f"SUM({name}) leaves out the rows in which {name} is missing" for name in "abc"]
    unsure, read = f"{UNSURE}there was too little time", "read 'Filled' as 'FILLED'"
    seen = "trades is seen up to 2024-01-31 by day"
    flags = [seen, read, *weighty, weighty[0], unsure, "of t.a, these values matched: 'x'"]
    show(Answer(question="How many?", status="answered", value=3, flags=flags), None, [])
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Note: ")]
    shown = [unsure, *weighty, read]
    assert notes == [*(f"Note: {note}" for note in shown), "Note: and 2 more: the record and --json hold all"]


def test_what_is_kept_is_said_beside_json_too(
    finexpert: Any, scripted: Any, desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    select = "SELECT count(*) AS n FROM cpi WHERE value > 200"
    desk.says("planning", desk.plan("", "integer", select, ("n",), "months"))
    desk.says("listening", desk.lessons({"term": "high months", "quotes": ["CPI above 200"]}))
    scripted(desk.reply)
    ran = finexpert("ask", "By high months we mean CPI above 200. How many were there?", "--yes", "--json")
    assert ran.json["offers"][0]["term"] == "high months"
    assert "kept: high months = CPI above 200 (draft)" in ran.err


def test_a_term_that_cannot_be_kept_does_not_lose_the_answer() -> None:
    class Full:
        def keep(self, offer: Offer) -> None:
            raise StoreError("the disk is full")

    offer = Offer(kind="definition", term="slow money", meaning="M2 up by less than 2 percent")
    said = _taken(cast(Session, Full()), offer)
    assert said == "not kept: slow money = M2 up by less than 2 percent: the disk is full"


@pytest.mark.parametrize(
    ("limit", "question"), [("FINEXPERT_SQL_SECONDS", RECESSIONS), ("FINEXPERT_SCRIPT_SECONDS", PLOT)]
)
def test_what_took_too_long_names_the_limit(
    finexpert: Any, monkeypatch: pytest.MonkeyPatch, limit: str, question: str
) -> None:
    monkeypatch.setenv(limit, "0.0001")
    ran = finexpert("ask", question, *RECORDED, "--retries", "0", "--json")
    assert ran.code == 3
    assert ran.json["failure"]["message"].endswith(f"; {limit} gives it more")
