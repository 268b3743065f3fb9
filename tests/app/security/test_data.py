"""Files and cells that somebody hostile sends: nothing leads elsewhere, nothing runs, nothing is shown as markup."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from finexpert.app.guarding.uploads import clean_name
from finexpert.app.markdown import escaped, markdown
from finexpert.app.state import tables
from finexpert.app.state.answers import table_of
from finexpert.core.display.files import csv_text
from finexpert.errors import DataError, FinexpertError, Refused

# Files that are sent.


def send(client: Any, name: str, content: bytes, **form: str) -> Any:
    return client.post("/api/sources/file", files={"file": (name, content)}, data=form)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/cron.d/x.csv", "x.csv"),
        ("..\\..\\windows\\x.csv", "x.csv"),
        ("/etc/passwd.csv", "passwd.csv"),
        (".csv", None),
        ("a\x00.csv", "a.csv"),
        ("a;rm -rf $(HOME).csv", "a_rm -rf _(HOME).csv"),
        ("x.csv/../../y.csv", "y.csv"),
        ("CON.csv", "CON.csv"),
        ("x" * 500 + ".csv", "x" * 80 + ".csv"),
        ("\U00020000" * 80 + ".csv", "\U00020000" * 50 + ".csv"),
        ("<img src=x onerror=alert(1)>.csv", "_img src_x onerror_alert(1)_.csv"),
    ],
)
def test_the_name_of_a_file_leads_nowhere(name: str, kept: str | None) -> None:
    if kept is None:
        with pytest.raises(Refused):
            clean_name(name)
    else:
        assert clean_name(name) == kept


@pytest.mark.parametrize("way", ["link", "relative", "relative link"])
@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.parquet", "x.xlsx", "x.xls"])
def test_what_cannot_be_read_does_not_say_where_the_server_keeps_it(
    make_office: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, way: str
) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to("disk")
    monkeypatch.chdir(tmp_path)
    home = {"link": tmp_path / "home", "relative": Path("disk"), "relative link": Path("home")}[way]
    office = make_office(home=home, url="https://finexpert.example")
    content = {"x.csv": b"\xff\xfe\x00", "x.json": b"{", "x.parquet": b"PAR1PAR1"}.get(
        name, b"PK\x03\x04junk" if name == "x.xlsx" else b"\xd0\xcf\x11\xe0" + bytes(600)
    )
    with pytest.raises(FinexpertError) as refused:
        office.desk.add_source(office.ann, "x", file=io.BytesIO(content), filename=name)
    assert "disk" not in str(refused.value)
    assert str(tmp_path) not in str(refused.value)
    said = office.desk.said(DataError(f"{home.resolve()}/serve/x and {home.absolute()}/cache/y and {home}/z"))
    assert said == "x and cache/y and z"


@pytest.mark.parametrize("name", ["x.exe", "x.html", "x.svg", "x.py", "x.duckdb", "x.db", "x", "x.csv.sh", "x.pkl"])
def test_a_file_of_a_kind_that_is_not_read(house: Any, name: str) -> None:
    with house.client() as eve:
        assert send(eve, name, b"a,b\n1,2\n").status_code == 400


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", b""),
        ("x.csv", b"\x7fELF\x00\x00\x00\x00"),
        ("x.parquet", b"a,b\n1,2\n"),
        ("x.xlsx", b"PK\x03\x04 but no zip"),
        ("x.xlsx", b"<html>"),
        ("x.json", b'{"a": '),
        ("x.parquet", b"PAR1" + b"\xff" * 100 + b"PAR1"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(house: Any, name: str, content: bytes) -> None:
    with house.client() as eve:
        reply = send(eve, name, content)
        assert 400 <= reply.status_code < 500, reply.text
        assert str(house.desk.settings.home) not in reply.text
        assert len(eve.get("/api/sources").json()) == 1
    assert not any((house.desk.folder / "uploads").rglob("*.*")) if (house.desk.folder / "uploads").exists() else True


def test_a_file_that_is_too_large(make_office: Any) -> None:
    office = make_office(upload_mb=0.01)
    with pytest.raises(Refused, match="more than"):
        office.desk.add_source(office.ann, "x", file=io.BytesIO(b"a,b\n" + b"1,2\n" * 5_000), filename="x.csv")
    assert not any((office.desk.folder / "uploads").rglob("*.csv"))


def test_a_file_that_unpacks_to_too_much(house: Any) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("[Content_Types].xml", b"<x/>")
        bomb.writestr("xl/workbook.xml", b" " * 50_000_000)
    with house.client() as eve:
        assert 400 <= send(eve, "bomb.xlsx", packed.getvalue()).status_code < 500


def test_files_are_counted(make_office: Any) -> None:
    office = make_office(uploads=1)
    office.desk.add_source(office.eve, "x", file=io.BytesIO(b"a,b\n1,2\n"), filename="x.csv")
    with pytest.raises(Refused, match="remove one"):
        office.desk.add_source(office.eve, "y", file=io.BytesIO(b"a,b\n1,2\n"), filename="y.csv")


def test_a_reader_shares_nothing_and_connects_nothing(house: Any) -> None:
    with house.client() as eve:
        assert send(eve, "x.csv", b"a,b\n1,2\n", shared="true").status_code == 403
        sent = send(eve, "x.csv", b"a,b\n1,2\n")
        assert sent.status_code == 201
        path = next((house.desk.folder / "uploads").rglob("x.csv"))
        assert path.stat().st_mode & 0o077 == 0
        assert eve.delete(f"/api/sources/{sent.json()['id']}").status_code == 204
        assert not path.exists()


# What stands in cells and names.

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](http://evil.example/?q)",
    "[x](javascript:alert(1))",
    "a|b\n| c",
]


@pytest.mark.parametrize("cell", HOSTILE)
def test_a_cell_is_no_markup_of_a_chat(cell: str) -> None:
    shown = escaped(cell)
    assert "\n" not in shown
    for special in "<[|!":
        assert f"{special}" not in shown.replace(f"\\{special}", "")


def test_hostile_cells_through_every_door(house: Any) -> None:
    lines = ["date,name,amount", *(f'2020-01-0{number + 1},"{cell}",{number}' for number, cell in enumerate(HOSTILE))]
    office = house.office
    source = office.desk.add_source(
        office.eve, "<b>Mine</b>", file=io.BytesIO("\n".join(lines).encode()), filename="mine.csv"
    )
    select = "SELECT name, amount FROM mine ORDER BY amount"
    office.model.says(
        "planning", office.model.plan("", kind="table", select=select, columns=("name", "amount"), frame="mine")
    )
    conversation = office.desk.create(office.eve, source.id).id
    answer = office.ask("Which?", conversation, office.eve)
    assert answer.row_count == len(HOSTILE)
    with house.client("eve") as eve:
        for path in ("/api/sources", "/v1/models"):
            assert eve.get(path).headers["content-type"].startswith("application/json")
    shown = markdown(answer, lambda answer, what: what)
    assert "<script" not in shown.replace("\\<script", "")
    assert "![x]" not in shown


@pytest.mark.parametrize(
    "formula",
    ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-5|x", "\uff1d1+1", "\uff201"],
)
def test_a_cell_is_no_formula_of_a_spreadsheet(office: Any, formula: str) -> None:
    from finexpert.core.answers import Answer, AnswerFormat

    frame = pd.DataFrame({"=name": [formula], "amount": [-5]})
    stream = table_of(Answer(question="x", status="answered", value=frame, format=AnswerFormat(kind="table")))
    answer = office.ask("How many?")
    with office.desk.state.writing() as connection:
        connection.execute(tables.answers.update().values(table=stream))
    text = office.desk.csv(office.ann, answer.id).decode("utf-8-sig")
    head, (cell, amount) = csv.reader(io.StringIO(text, newline=""))
    assert (head, amount) == (["'=name", "amount"], "-5")
    assert cell.startswith("'")
    assert cell.replace("'", "") == formula.replace("'", "")
    sheet = openpyxl.load_workbook(io.BytesIO(office.desk.xlsx(office.ann, answer.id))).active
    assert sheet is not None
    assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)


@pytest.mark.parametrize("number", ["-5", "-5.25 %", "+1,234.5", "-1e-7", "-.5"])
def test_a_number_that_is_a_text_stays_one_in_a_spreadsheet(number: str) -> None:
    assert csv_text(pd.DataFrame({"a": [number]}), safe=True).splitlines()[1].strip('"') == number


@pytest.mark.parametrize(
    "address", ["www.evil.example/?q=1", "WWW.evil.example", "(www.evil.example)", "xmpp:a@evil.example", "HTTPS://evil.example",
                "mailto:a@evil.example"]
)  # fmt: skip
def test_a_cell_is_no_address_of_a_chat(address: str) -> None:
    """Chats make links of these, and some fetch them for a preview."""
    assert not re.search(r"(?i)www\.|xmpp:|https:|mailto:", escaped(address))


@pytest.mark.parametrize("question", ["", "   ", "x" * 8_001, "a\x00b", "a\x1b[31m", "\ud800"])
def test_a_question_that_is_none(office: Any, question: str) -> None:
    with pytest.raises((Refused, FinexpertError)):
        office.ask(question)


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "DROP TABLE sales",
        "SELECT 1; DROP TABLE sales",
        "COPY sales TO '/tmp/x'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "ATTACH '/etc/passwd'",
        "PRAGMA database_list",
        "SELECT getenv('HOME')",
        "x" * 30_000,
    ],
)
def test_an_edited_select_does_nothing_but_select(office: Any, sql: str) -> None:
    answer = office.ask("How many?")
    try:
        again = office.desk.run_select(office.ann, answer.id, sql)
    except Refused:
        return
    assert again.status == "failed"
    assert again.value is None


@pytest.mark.parametrize(
    "content", [[{"type": "image_url", "image_url": {"url": "http://169.254.169.254/"}}], "", None, [{"type": "text"}]]
)
def test_a_chat_message_that_is_no_question(house: Any, content: Any) -> None:
    with house.client() as eve:
        reply = eve.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": content}]})
    assert reply.status_code == 400
