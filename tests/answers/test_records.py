"""Records: what is kept of an answer, computing it again, and the script that a reader gets."""

from __future__ import annotations

import ast
import datetime as dt
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.answers import recording, replaying
from finexpert.answers.export import script as exported
from finexpert.answers.records import Record, _seal
from finexpert.core.answers import Answer, AnswerFormat, Failure
from finexpert.core.plans import Cell, Compute, Extract, Plan, Script
from finexpert.core.workspace import NamedFrame, Turn, Value, Workspace
from finexpert.errors import CellError, QueryError, RecordError, ScriptError
from finexpert.filings.page.filing import Filing
from finexpert.plans import execution
from finexpert.sandbox import Sandbox
from finexpert.text.texts import visible
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

CANARY = "zyxwcanary"
TODAY = dt.date(2020, 4, 15)
SELECT = "SELECT date, amount FROM sales ORDER BY date"

Make = Callable[..., Record]


def build(path: Path, amounts: list[float], label: str | None = None) -> Path:
    dates = pd.date_range("2020-01-01", periods=len(amounts), freq="MS")
    data = pd.DataFrame({"date": dates, "amount": amounts, "note": [f"{CANARY}{n}" for n in range(len(amounts))]})
    return build_warehouse(path, [Table("sales", data, date_column="date")], label=label)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    path = build(tmp_path_factory.mktemp("data") / "sales.duckdb", [1.0, 2.5, 4.0, 8.0, 16.0], "made up")
    with DuckDBWarehouse(path) as source:
        yield source


@pytest.fixture
def answered(warehouse: DuckDBWarehouse, sandbox: Sandbox) -> Make:
    """The record of a script's answer over one frame."""

    def make(
        code: str = "answer = df.amount.sum()",
        answer_format: AnswerFormat = AnswerFormat(kind="number", unit="USD"),  # noqa: B008  (frozen)
        question: str = "How much in all?",
        select: str = SELECT,
    ) -> Record:
        frame = warehouse.query(select, as_of=TODAY)
        value = sandbox.run(code, {"df": frame.data}, answer_format).value
        answer = Answer(question=question, status="answered", value=value, format=answer_format)
        plan = Plan(
            steps=[
                Extract(id=1, frame="df", purpose="all", select=select),
                Script(id=2, frames=["df"], task="", code=code),
            ]
        )
        space = Workspace(
            frames={
                "df": NamedFrame("df", frame.data, select, fingerprint=frame.fingerprint),
                "unused": NamedFrame("unused", frame.data, "SELECT note FROM sales"),
            }
        )
        return recording.of_answer(answer, plan, space, warehouse, TODAY, "what was known")

    return make


# Saving and loading.


def test_a_record_is_read_as_it_was_written(answered: Make, tmp_path: Path) -> None:
    record = answered()
    path = record.save(tmp_path / "new" / "folder")
    assert Record.load(path) == record
    assert path.name == f"{record.id}.json"
    assert [frame.name for frame in record.frames] == ["df"]
    assert (record.frames[0].columns, record.frames[0].rows) == (["date", "amount"], 4)
    assert record.source.label == "made up"
    assert set(record.software) == {"finexpert", "duckdb", "pandas", "numpy", "python"}


def test_a_record_from_before_is_read(answered: Make, tmp_path: Path) -> None:
    written = json.loads(answered().sealed())
    before = {name: value for name, value in written.items() if name not in ("flags", "sent_back")}
    before["seal"] = _seal(before)
    record = Record.read(json.dumps(before).encode(), "a record")
    assert (record.id, record.flags, record.sent_back) == (written["id"], [], [])


def test_a_record_holds_no_rows_and_is_its_owners_alone(answered: Make, tmp_path: Path) -> None:
    path = answered("answer = float(len(df))", select="SELECT * FROM sales ORDER BY date").save(tmp_path)
    assert CANARY not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("where", ["replace", "fdopen"])
def test_an_interrupt_leaves_no_half_written_record(
    answered: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    record = answered()

    def interrupt(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    place: object = Path if where == "replace" else os
    monkeypatch.setattr(place, where, interrupt)
    with pytest.raises(KeyboardInterrupt):
        record.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_record_is_refused_with_its_place(answered: Make, tmp_path: Path) -> None:
    path = answered().save(tmp_path)
    whole = json.loads(path.read_text())
    with pytest.raises(RecordError, match=r"cannot read the record .*nothing\.json: No such file"):
        Record.load(tmp_path / "nothing.json")
    with pytest.raises(RecordError, match="Is a directory"):
        Record.load(tmp_path)
    for content, place in (
        (path.read_text()[:-20], "the file"),
        ("[]", "the file"),
        (json.dumps(whole | {"version": 2}), "version"),
        (json.dumps(whole | {"status": "perhaps"}), "status"),
        (json.dumps({**whole, "frames": [{}]}), "frames.0.name"),
    ):
        path.write_text(content)
        with pytest.raises(RecordError, match=f"is not the record of an answer: {place}: "):
            Record.load(path)


# Computing an answer again.

VALUES = [
    ("answer = df.amount.sum()", AnswerFormat(kind="number"), 15.5),
    ("answer = 0.1 + 0.2", AnswerFormat(kind="number"), 0.1 + 0.2),
    ("answer = df.date.max()", AnswerFormat(kind="date"), "2020-04-01"),
    ("answer = df.date.dt.date.to_list()[:2]", AnswerFormat(kind="list", items="date"), ["2020-01-01", "2020-02-01"]),
    ("answer = [2, 3]", AnswerFormat(kind="list", items="integer"), [2, 3]),
    ("answer = bool(df.amount.max() > 5)", AnswerFormat(kind="boolean"), True),
    ('answer = \'é"""\\\\\'', AnswerFormat(kind="text"), 'é"""\\'),
    (
        "answer = df.head(2).assign(gap=[None, 0.25])",
        AnswerFormat(kind="table"),
        {
            "columns": ["date", "amount", "gap"],
            "data": [["2020-01-01T00:00:00.000", 1.0, None], ["2020-02-01T00:00:00.000", 2.5, 0.25]],
        },
    ),
]


@pytest.mark.parametrize(("code", "answer_format", "kept"), VALUES, ids=[v[1].kind for v in VALUES])
def test_every_kind_of_answer_replays_and_is_exported(
    answered: Make,
    warehouse: DuckDBWarehouse,
    sandbox: Sandbox,
    tmp_path: Path,
    code: str,
    answer_format: AnswerFormat,
    kept: object,
) -> None:
    record = Record.load(answered(code, answer_format).save(tmp_path))
    assert record.value == kept
    again = replaying.replay(record, warehouse, sandbox)
    assert (again.same, again.differences) == (True, [])
    compile(exported.export(record, warehouse), "export", "exec")


def test_a_replay_sees_the_day_of_the_record(answered: Make, warehouse: DuckDBWarehouse, sandbox: Sandbox) -> None:
    record = answered("answer = float(len(df))")
    later = record.model_copy(update={"as_of": dt.date(2020, 12, 31)})
    again = replaying.replay(later, warehouse, sandbox)
    assert (record.value, again.value, again.same) == (4.0, 5.0, False)
    assert again.differences == ["the frame df has other rows: 4 then, 5 now", "the answer was 4.00 USD"]


def test_a_replay_tells_changed_data_from_a_changed_answer(answered: Make, sandbox: Sandbox, tmp_path: Path) -> None:
    record = answered("answer = df.amount.max()")
    with DuckDBWarehouse(build(tmp_path / "other.duckdb", [1.0, 2.5, 3.0, 8.0])) as other:
        again = replaying.replay(record, other, sandbox)
    assert again.same
    assert [d.split(":")[0] for d in again.differences] == ["the data are not the same", "the frame df has other rows"]


def test_a_tampered_record_does_not_pass(answered: Make, warehouse: DuckDBWarehouse, sandbox: Sandbox) -> None:
    record = answered()
    assert not replaying.replay(record.model_copy(update={"value": 16.0}), warehouse, sandbox).same


def test_a_replay_that_no_longer_runs_says_why(answered: Make, warehouse: DuckDBWarehouse, sandbox: Sandbox) -> None:
    record = answered()
    gone = record.frames[0].model_copy(update={"select": "SELECT date, amount FROM nowhere"})
    with pytest.raises(QueryError, match="nowhere"):
        replaying.replay(record.model_copy(update={"frames": [gone]}), warehouse, sandbox)
    steps = [*record.plan.steps[:1], Script(id=2, frames=["df"], task="", code="open('/etc/passwd')")]
    with pytest.raises(ScriptError):
        replaying.replay(record.model_copy(update={"plan": Plan(steps=steps)}), warehouse, sandbox)


def test_what_was_not_answered_cannot_be_replayed(
    answered: Make, warehouse: DuckDBWarehouse, sandbox: Sandbox, tmp_path: Path
) -> None:
    failure = Failure(layer="script_generation", kind="script", message="it raised")
    record = answered().model_copy(update={"status": "failed", "value": None, "failure": failure})
    kept = Record.load(record.save(tmp_path))
    assert kept.failure == failure
    for again in (lambda: replaying.replay(kept, warehouse, sandbox), lambda: exported.export(kept, warehouse)):
        with pytest.raises(RecordError, match=f"{kept.id} holds no answer .*failed"):
            again()


# The script for a reader.

NASTY = [
    'Is "it" \\ """ so?',
    'ends with a quote"',
    "ends with a backslash\\",
    "{braces} {0} {about}",
    "two\nlines\tand é\u2028",
    '"""\nimport os\n"""',
]


@pytest.mark.parametrize("question", NASTY)
def test_no_question_breaks_an_exported_script(answered: Make, warehouse: DuckDBWarehouse, question: str) -> None:
    tree = ast.parse(exported.export(answered(question=question), warehouse))
    about = ast.get_docstring(tree, clean=False) or ""
    assert visible(question).replace('"""', "'''") in about
    assert "15.50 USD" in about
    assert "made up" in about
    imported = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert "os" not in imported


def test_no_select_breaks_an_exported_script(answered: Make, warehouse: DuckDBWarehouse, tmp_path: Path) -> None:
    select = """SELECT date, amount AS \"\"\"a\\b{x}\"\"\" FROM sales WHERE note <> '\\' ORDER BY "date\""""
    script = tmp_path / "answer.py"
    script.write_text(exported.export(answered("answer = float(df.iloc[:, 1].sum())", select=select), warehouse))
    ran = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (ran.stdout.strip(), ran.stderr) == ("15.5", "")


# Records of filings.


@pytest.fixture(scope="module")
def page() -> Filing:
    return Filing.from_record({"id": "P", "filename": "P.pdf", "pre_text": [], "post_text": [], "table": TABLE})


TABLE = [["( in millions )", "2015", "2014"], ["net sales", "$ 486.2", "$ 441.5"], ["cost", "301.4", "283.0"]]
CHANGE = Plan(
    steps=[
        Cell(id=1, row="net sales", column="2015"),
        Compute(id=2, operation="subtract", arguments=["step 1", "turn -1"]),
    ]
)


def of_turn(page: Filing, value: float = 44.7) -> Record:
    answer = Answer(question="And the change?", status="answered", value=value)
    space = Workspace(turns=[Turn("?", None), Turn("in 2014?", Value(441.5))])
    return recording.of_filing_answer(answer, CHANGE, space, page, TODAY, "")


def test_a_record_of_a_filing_replays_with_the_earlier_answers(page: Filing, tmp_path: Path) -> None:
    space = Workspace(turns=[Turn("in 2014?", Value(441.5))])
    value: Any = execution.run(CHANGE, space, execution.Surroundings(filing=page)).value.value
    kept = Record.load(of_turn(page, value).save(tmp_path))
    assert kept.earlier == [None, 441.5]
    again = replaying.replay_filing(kept, page)
    assert (again.value, again.same, again.differences) == (pytest.approx(44.7), True, [])
    with pytest.raises(RecordError, match="no answer that was computed"):
        exported.export(kept, None)  # type: ignore[arg-type]


def test_a_replay_over_another_page_says_so(page: Filing) -> None:
    record = of_turn(page)
    changed = [TABLE[0], ["net sales", "$ 500.0", "$ 441.5"], TABLE[2]]
    other = Filing.from_record({"id": "Q", "filename": "Q.pdf", "pre_text": [], "post_text": [], "table": changed})
    again = replaying.replay_filing(record, other)
    assert (again.value, again.same) == (58.5, False)
    assert again.differences == ["the page is not the same: P then, Q now", "the answer was 44.7"]
    without = Filing.from_record({"id": "R", "pre_text": [], "post_text": [], "table": [["", "1999"], ["x", "1"]]})
    with pytest.raises(CellError):
        replaying.replay_filing(record, without)
