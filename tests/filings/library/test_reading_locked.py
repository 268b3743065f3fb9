"""The process that reads a filing: the same pages, no other file, bounded memory and time, and no trust in what it sends."""

from __future__ import annotations

import json
import resource
import socket
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.errors import LibraryError, SandboxUnavailable
from finexpert.filings.library.adding import add_files
from finexpert.filings.library.library import Library
from finexpert.filings.readers import files, process
from finexpert.filings.readers.cover import Given
from finexpert.filings.readers.files import ReadFiling, checksum
from finexpert.isolation import wire
from finexpert.isolation.guests.zygote import problem
from finexpert.isolation.lockdown import CANARY_NAMES

WritePdf = Callable[..., Path]
pytestmark = pytest.mark.skipif(problem() is not None, reason="no process can be locked in here")


def read(path: Path, given: Given | None = None) -> list[ReadFiling | LibraryError]:
    return list(process.read_file(path, checksum(path), given or Given()))


def content(outcomes: list[ReadFiling | LibraryError]) -> list[object]:
    return [
        str(one)
        if isinstance(one, LibraryError)
        else (one.pages, one.notes, {name: value for name, value in vars(one.info).items() if name != "added"})
        for one in outcomes
    ]


def test_a_locked_process_reads_the_same(data: Path, write_pdf: WritePdf, tmp_path: Path) -> None:
    page = {
        "filename": "A/2010/page_1.pdf",
        "pre_text": ["x"],
        "table": [["", "2010"], ["sales", "5"]],
        "post_text": [],
    }
    (tmp_path / "pages.jsonl").write_text(
        "\n".join(map(json.dumps, [page, page | {"page": -1}, page | {"filename": "B/1/p"}]))
    )
    (tmp_path / "a.docx").write_text("x")
    (tmp_path / "empty.html").write_text("")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4")
    pdf = write_pdf([[(72, 720, "Annual report for the fiscal year ended June 30, 2018")], None])
    for path in [*sorted(data.iterdir()), *sorted(tmp_path.iterdir()), pdf]:
        here = list(files.read_file(path, checksum(path), Given(ticker="XYZ")))
        assert content(read(path, Given(ticker="XYZ"))) == content(here)


def test_a_path_is_told_from_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "AAL" / "2010").mkdir(parents=True)
    (tmp_path / "AAL" / "2010" / "report.txt").write_text("Net sales rose.")
    (tmp_path / "link.txt").symlink_to(tmp_path / "AAL" / "2010" / "report.txt")
    monkeypatch.chdir(tmp_path)
    for path in (Path("AAL/2010/report.txt"), Path("link.txt")):
        assert content(read(path)) == content(list(files.read_file(path, checksum(path), Given())))
    (gone,) = process.read_file(Path("none.txt"), "", Given())
    assert str(gone).startswith("cannot read none.txt: No such file or directory")


def bomb(path: Path, megabytes: int) -> Path:
    """A PDF of some kilobytes, whose page unpacks to so many megabytes."""
    squeeze = zlib.compressobj(9)
    packed = b"".join(squeeze.compress(b" " * (1 << 20)) for _ in range(megabytes)) + squeeze.flush()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
    ]
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % each for each in enumerate(objects, start=1))
    path.write_bytes(body + b"trailer<</Root 1 0 R/Size 5>>\n%%EOF")
    return path


def test_a_small_file_that_unpacks_to_much_takes_no_memory_of_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    monkeypatch.setattr(process, "MEMORY_BYTES", 128 << 20)
    path = bomb(tmp_path / "bomb.pdf", 512)
    assert path.stat().st_size < 1 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (outcome,) = read(path)
    assert isinstance(outcome, LibraryError)
    assert str(path) in str(outcome)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10
    # The next file has a process of its own.
    assert isinstance(read(data / "harbour-10k.html")[0], ReadFiling)


def test_a_file_that_takes_too_long_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "SECONDS", 0.2)
    path = tmp_path / "long.html"
    path.write_text("<table>" + "<tr><td colspan=1000 rowspan=99999>1</td><td>5</td></tr>" * 20_000)
    began = time.monotonic()
    (outcome,) = read(path)
    assert "takes more than 0 seconds" in str(outcome)
    assert time.monotonic() - began < 20


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MEMORY_BYTES", 128 << 20)
    folder = tmp_path / "filings"
    folder.mkdir()
    bomb(folder / "a.pdf", 512)
    (folder / "b.txt").write_text("Net sales rose.")
    with Library.open(tmp_path / "library", make=True) as library:
        added = list(add_files(library, [folder / "a.pdf", folder / "b.txt"]))
    assert [one.outcome for one in added] == ["failed", "added"]


def said_by(messages: list[tuple[dict[str, Any], bytes]]) -> list[ReadFiling | LibraryError]:
    """What becomes of the messages of a process that was taken over."""
    ours, theirs = socket.socketpair()

    def send() -> None:
        wire.read(theirs.fileno())
        for header, body in messages:
            theirs.sendall(wire.pack(header, [body] if body else []))
        theirs.close()

    thread = threading.Thread(target=send)
    thread.start()
    try:
        return list(process._outcomes(ours, {"path": "a.htm"}))
    finally:
        thread.join()
        ours.close()


PROVED: tuple[dict[str, Any], bytes] = ({"denied": [[name, "EPERM"] for name in CANARY_NAMES]}, b"")
INFO: dict[str, Any] = {
    "id": "a", "company": "", "ticker": "", "kind": "", "title": "", "fiscal_year": None, "quarter": None,
}  # fmt: skip
FILING: tuple[dict[str, Any], bytes] = ({"filing": INFO, "notes": []}, b"")
END: tuple[dict[str, Any], bytes] = ({"end": True}, b"")


def page(*fields: object, tags: object = ()) -> tuple[dict[str, Any], bytes]:
    return {"page": True}, json.dumps([*fields[:2], "10-K", *fields[2:], tags]).encode()


def test_what_a_process_sends_is_taken_if_it_is_what_it_says() -> None:
    (filing,) = said_by([PROVED, page("a/1", "", 1, ["x"], [["", "5"]], []), FILING, END])
    assert isinstance(filing, ReadFiling)
    assert filing.pages[0].table == (("", "5"),)


@pytest.mark.parametrize(
    "messages",
    [
        [page("a/1", "", 1, ["x"], [], []), ({"filing": INFO | {"id": 5}, "notes": []}, b""), END],
        [({"filing": INFO | {"path": "/etc/passwd"}, "notes": []}, b""), END],
        [({"filing": INFO, "notes": "x"}, b""), END],
        [({"filing": INFO | {"fiscal_year": True}, "notes": []}, b""), END],
        [({"filing": []}, b"")],
        [({}, b"")],
        [page("a/1", "", 1, ["x"], [[{}]], []), FILING],
        [page("a/1", "", -1, [], [], []), FILING],
        [page("a/1", "", True, [], [], []), FILING],
        [page("a/1", "", 1, [], [], [], tags="x"), FILING],
        [page("a/1", "", 1, [], [], [], tags=[["us-gaap:Revenues"]]), FILING],
        [page("a/1", "", 1, [], [])],
        [page(1, "", 1, [], [], [])],
        [({"page": True}, b"[" * 100_000)],
        [({"page": True}, b"\xff")],
        [({"page": True}, b"")],
    ],
)
def test_what_is_nothing_that_a_reader_sends_is_refused(messages: list[tuple[dict[str, Any], bytes]]) -> None:
    with pytest.raises(process._Untrue):
        said_by([PROVED, *messages])


def test_too_much_at_once_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_BYTES", 100)
    with pytest.raises(wire.WireError):
        said_by([PROVED, page("a/1", "x" * 200, 1, [], [], [])])
    monkeypatch.setattr(process, "_MOST_PAGES", 3)
    with pytest.raises(process._Untrue):
        said_by([PROVED, *[page("a/1", "", 1, [], [], [])] * 4])


@pytest.mark.parametrize("first", [{"denied": []}, {"denied": [["read a file", "EPERM"]]}, {"failed": "no lock"}, {}])
def test_a_process_that_is_not_locked_reads_nothing(first: dict[str, Any]) -> None:
    with pytest.raises(SandboxUnavailable, match="no filing can be read"):
        said_by([(first, b""), FILING, END])


def test_a_process_that_ends_early_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(channel: socket.socket, setup: dict[str, Any]) -> Any:
        raise EOFError

    monkeypatch.setattr(process, "_outcomes", broken)
    (tmp_path / "a.txt").write_text("x")
    before = set(Path("/proc/self/fd").iterdir())
    (outcome,) = read(tmp_path / "a.txt")
    assert "the process that reads it broke" in str(outcome)
    assert len(set(Path("/proc/self/fd").iterdir()) - before) <= 2


def test_what_is_known_otherwise_goes_behind_the_facts_and_before_name_and_words(data: Path, tmp_path: Path) -> None:
    otherwise = Given("Harbour of the list", "LIST", 2031, 3, "10-Q")
    bare = tmp_path / "OTHER_10-Q_2001-01-31.txt"
    bare.write_bytes((data / "harbour-10q.txt").read_bytes())
    for reader in (files.read_file, process.read_file):
        (tagged,) = reader(data / "harbour-10k.html", "1", Given(), otherwise)
        (untagged,) = reader(bare, "2", Given(kind="10-Q/A"), otherwise)
        assert isinstance(tagged, ReadFiling)
        assert isinstance(untagged, ReadFiling)
        assert (tagged.info.company, tagged.info.ticker, tagged.info.fiscal_year) == (
            "Harbour Mills, Inc.",
            "HRBM",
            2018,
        )
        assert untagged.info.id == "LIST/2031Q3/10-Q-A"
        assert untagged.info.company == "Harbour of the list"
