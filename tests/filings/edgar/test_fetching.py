"""Filings are fetched whole or not at all, once, and go on after a kill; what is on disk is what was fetched, or that is said."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from finexpert.errors import ConfigurationError, DataError, LibraryError
from finexpert.filings.edgar.connection import Connection, Pace
from finexpert.filings.edgar.fetching import FilingServer, Outcome, fetch
from finexpert.filings.edgar.manifest import MANIFEST_FILE, opened, read_manifest

Connect = Callable[..., FilingServer]
YEARS = [2022, 2023]
NEWEST, OLDEST = "aldr-20230930.htm", "aldr-20220924.htm"


def run(server: FilingServer, folder: Path, *forms: str, years: list[int] | None = None) -> list[Outcome]:
    chosen = server.find(["ALDR"], forms or ["10-K"], years or YEARS)
    with opened(folder) as manifest:
        return [fetch(server, manifest, filing, folder) for filing in chosen.filings]


def became(outcomes: list[Outcome]) -> list[tuple[str, str]]:
    return [(each.name, each.outcome) for each in outcomes]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_files_are_named_and_the_manifest_tells_of_them(connect: Connect, here: Any, out: Path) -> None:
    assert became(run(connect(), out)) == [
        ("ALDR_10-K_2022-09-24.htm", "fetched"),
        ("ALDR_10-K_2023-09-30.htm", "fetched"),
    ]
    entry = read_manifest(out / MANIFEST_FILE)[1]
    assert entry.model_dump() == {
        "path": "ALDR_10-K_2023-09-30.htm",
        "symbol": "ALDR",
        "cik": 1001,
        "company": "Alder Works Inc.",
        "form": "10-K",
        "fiscal_year": 2023,
        "quarter": None,
        "report_date": "2023-09-30",
        "filed": "2023-11-03",
        "accession": "0000001001-23-000009",
        "url": f"{here.base}/archives/1001/000000100123000009/{NEWEST}",
        "sha256": here.sha256(NEWEST),
        "size": (out / entry.path).stat().st_size,
    }
    assert {path.name for path in out.iterdir()} == {MANIFEST_FILE, "ALDR_10-K_2022-09-24.htm", entry.path}
    assert here.users == {"Ada Example ada@example.com"}


def test_two_filings_of_one_form_and_day_have_two_files(connect: Connect, out: Path) -> None:
    assert became(run(connect(), out, "10-K", "10-K/A", years=[2023])) == [
        ("ALDR_10-K_2023-09-30.htm", "fetched"),
        ("ALDR_10-K-A_2023-09-30.htm", "fetched"),
        ("ALDR_10-K-A_2023-09-30_0000001001-23-000011.htm", "fetched"),
    ]
    assert "401" in (out / "ALDR_10-K-A_2023-09-30.htm").read_text()


def test_a_second_run_fetches_only_what_is_missing(connect: Connect, here: Any, out: Path) -> None:
    run(connect(), out)
    (out / "ALDR_10-K_2022-09-24.htm").unlink()
    assert [each.outcome for each in run(connect(), out)] == ["fetched", "there"]
    assert (here.requests[OLDEST], here.requests[NEWEST]) == (2, 1)
    assert here.requests["company_tickers.json"] == here.requests["CIK0000001001.json"] == 1


def test_a_file_that_was_changed_is_left_and_said_and_fetched_where_asked(
    connect: Connect, here: Any, out: Path
) -> None:
    run(connect(), out)
    changed = out / "ALDR_10-K_2023-09-30.htm"
    changed.write_text("mine")
    outcome = run(connect(), out)[1]
    assert (outcome.outcome, outcome.entry, changed.read_text()) == ("changed", None, "mine")
    assert "--refresh" in outcome.message
    assert run(connect(refresh=True), out)[1].outcome == "fetched"
    assert changed.read_bytes() != b"mine"
    assert [each.outcome for each in run(connect(), out)] == ["there", "there"]


def test_a_file_of_somebody_else_is_not_written_over(connect: Connect, out: Path) -> None:
    out.mkdir()
    (out / "ALDR_10-K_2023-09-30.htm").write_text("mine")
    outcome = run(connect(), out)[1]
    assert outcome.outcome == "failed"
    assert "stands in no manifest" in outcome.message
    assert (out / "ALDR_10-K_2023-09-30.htm").read_text() == "mine"


_KILLED = """
import sys
from pathlib import Path
from finexpert.filings.edgar.connection import Connection, Pace
from finexpert.filings.edgar.fetching import Addresses, FilingServer, fetch
from finexpert.filings.edgar.manifest import opened
base, lists, out = sys.argv[1:]
addresses = Addresses(base + "/files/company_tickers.json", base + "/submissions", base + "/archives")
with FilingServer(Path(lists), "Ada a@example.com", addresses=addresses, pace=Pace(10_000)) as server:
    chosen = server.find(["ALDR"], ["10-K"], [2022, 2023])
    with opened(Path(out)) as manifest:
        for filing in chosen.filings:
            fetch(server, manifest, filing, Path(out))
"""


def test_after_a_kill_in_the_middle_it_goes_on(connect: Connect, here: Any, tmp_path: Path, out: Path) -> None:
    here.faults[NEWEST] = ["slow"]
    words = [sys.executable, "-c", _KILLED, here.base, str(tmp_path / "lists"), str(out)]
    with subprocess.Popen(words) as running:
        _until(lambda: here.requests[NEWEST] == 1 and bool(list(out.glob(".*.tmp"))))
        running.send_signal(signal.SIGKILL)
    assert [path.name for path in out.glob("*.htm")] == ["ALDR_10-K_2022-09-24.htm"]
    assert [each.outcome for each in run(connect(), out)] == ["there", "fetched"]
    assert here.requests[OLDEST] == 1
    assert list(out.glob(".*")) == []


def _until(there: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not there():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("left", [3, 100, -2, -1])
def test_a_line_that_was_cut_off_costs_its_filing_alone(connect: Connect, here: Any, out: Path, left: int) -> None:
    run(connect(), out)
    manifest, newest = out / MANIFEST_FILE, out / "ALDR_10-K_2023-09-30.htm"
    first, second = manifest.read_bytes().splitlines(keepends=True)
    manifest.write_bytes(first + second[:left])
    # The file gets its name after its line.
    newest.unlink()
    assert [each.outcome for each in run(connect(), out)] == ["there", "fetched"]
    assert [each.outcome for each in run(connect(), out)] == ["there", "there"]
    assert len(read_manifest(manifest)) == 2


def test_a_manifest_that_is_none_is_refused(connect: Connect, out: Path) -> None:
    out.mkdir()
    (out / MANIFEST_FILE).write_text('{"url": "x"}\n')
    with pytest.raises(LibraryError, match=r"line 1 of .*manifest.ndjson.*path"):
        run(connect(), out)


def test_a_line_of_a_manifest_leads_to_no_other_folder(connect: Connect, out: Path) -> None:
    run(connect(), out)
    line = json.loads((out / MANIFEST_FILE).read_text().splitlines()[0]) | {"path": "../away.htm"}
    (out / MANIFEST_FILE).write_text(json.dumps(line) + "\n")
    with pytest.raises(LibraryError, match="line 1"):
        run(connect(), out)


def test_one_program_at_a_time_writes_a_folder(connect: Connect, out: Path) -> None:
    with opened(out), pytest.raises(LibraryError, match=r"another `finexpert library fetch` writes to .*--out"):
        run(connect(), out)


def test_a_full_disk_leaves_nothing_half_written(
    connect: Connect, here: Any, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def full(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink().is_relative_to(out):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)  # EDGAR's lists are kept on another disk

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(DataError, match=r"ALDR_10-K_2022-09-24.htm cannot be written: No space left.*goes on"):
            run(connect(), out)
    assert {path.name for path in out.iterdir()} == {MANIFEST_FILE}
    assert [each.outcome for each in run(connect(), out)] == ["fetched", "fetched"]


@pytest.mark.parametrize("fault", ["500", "503", "429", "cut", "empty", "page"])
def test_what_passes_is_tried_again(connect: Connect, here: Any, out: Path, fault: str) -> None:
    here.faults[NEWEST] = [fault, fault]
    assert [each.outcome for each in run(connect(), out)] == ["fetched", "fetched"]
    assert here.requests[NEWEST] == 3
    assert read_manifest(out / MANIFEST_FILE)[1].sha256 == here.sha256(NEWEST)


@pytest.mark.parametrize("fault", ["503", "cut", "page"])
def test_what_stays_stops_and_the_same_command_goes_on(connect: Connect, here: Any, out: Path, fault: str) -> None:
    here.faults[NEWEST] = [fault] * 3
    with pytest.raises(
        DataError, match=r"the 10-K of ALDR for 2023-09-30 .* in 3 attempts: .*the same command goes on"
    ):
        run(connect(), out)
    assert {path.name for path in out.iterdir()} == {MANIFEST_FILE, "ALDR_10-K_2022-09-24.htm"}
    assert [each.outcome for each in run(connect(), out)] == ["there", "fetched"]


def test_a_refusal_is_not_tried_again(connect: Connect, here: Any, out: Path) -> None:
    here.faults[OLDEST] = ["403"]
    with pytest.raises(DataError, match=r"403 .*user agent.*too many requests.*library add PATH"):
        run(connect(), out)
    assert (here.requests[OLDEST], here.requests[NEWEST]) == (1, 0)


def test_a_document_that_is_gone_does_not_stop_the_others(connect: Connect, here: Any, out: Path) -> None:
    here.faults[OLDEST] = ["404"]
    first, second = run(connect(), out)
    assert (first.outcome, second.outcome) == ("failed", "fetched")
    assert "answered 404" in first.message


def test_a_document_above_the_cap_is_left_out(connect: Connect, here: Any, out: Path) -> None:
    path = next(path for path in here.content if path.endswith(OLDEST))
    here.content[path] += b" " * (1 << 20)
    first, second = run(connect(most_bytes=1 << 20), out)
    assert (first.outcome, second.outcome) == ("failed", "fetched")
    assert "the 10-K of ALDR for 2022-09-24 has more than the 1 MB that a file may have" in first.message
    assert {path.name for path in out.iterdir()} == {MANIFEST_FILE, "ALDR_10-K_2023-09-30.htm"}


def test_the_cap_is_not_one_of_lists(connect: Connect, out: Path) -> None:
    assert [each.outcome for each in run(connect(most_bytes=10), out)] == ["failed", "failed"]


def test_a_document_of_a_kind_that_nobody_reads_is_not_fetched(connect: Connect, here: Any, out: Path) -> None:
    (outcome,) = run(connect(), out, "4", years=[2023])
    assert outcome.outcome == "failed"
    assert "form4.xml is of no kind that is read" in outcome.message
    assert here.requests["form4.xml"] == 0


@pytest.mark.parametrize("name", ["../../../secret.htm", "//other.example/a.htm", "/a.htm", "a/./b.htm"])
def test_a_name_that_leads_away_is_not_asked_for(connect: Connect, here: Any, out: Path, name: str) -> None:
    path = "/submissions/CIK0000001001.json"
    listed = json.loads(here.content[path])
    listed["filings"]["recent"]["primaryDocument"][-1] = name
    here.content[path] = json.dumps(listed).encode()
    asked = sum(here.requests.values())
    first, second = run(connect(), out)
    assert (first.outcome, second.outcome) == ("failed", "fetched")
    assert "is no name of a document" in first.message
    assert sum(here.requests.values()) == asked + 3


def test_a_name_is_part_of_the_path_alone(connect: Connect, here: Any, out: Path) -> None:
    path = "/submissions/CIK0000001001.json"
    listed = json.loads(here.content[path])
    listed["filings"]["recent"]["primaryDocument"][-1] = "a b?c#d.htm"
    here.content[path] = json.dumps(listed).encode()
    assert "/a%20b%3Fc%23d.htm answered 404" in run(connect(), out)[0].message


def test_another_server_is_never_asked(connect: Connect, here: Any, out: Path) -> None:
    for elsewhere in ("http://127.0.0.2:1/aldr.htm", here.base.replace("http:", "https:") + "/x", "http://localhost/x"):
        here.faults[OLDEST] = [elsewhere]
        with pytest.raises(DataError, match="leads to another server"):
            run(connect(), out)


def test_a_redirect_within_the_server_is_followed_and_a_circle_is_not(connect: Connect, here: Any, out: Path) -> None:
    target = next(path for path in here.content if path.endswith(OLDEST))
    here.faults[OLDEST] = [target]
    assert [each.outcome for each in run(connect(), out)] == ["fetched", "fetched"]
    (out / "ALDR_10-K_2022-09-24.htm").unlink()
    here.faults[OLDEST] = [target] * 9
    with pytest.raises(DataError, match="leads in a circle"):
        run(connect(), out)


def test_edgar_says_how_long_to_wait(connect: Connect, here: Any, out: Path) -> None:
    here.headers = {"Retry-After": "1"}
    here.faults[OLDEST] = ["429"]
    begun = time.monotonic()
    run(connect(), out)
    assert time.monotonic() - begun >= 1
    here.headers = {"Retry-After": "600"}
    here.faults["aldr-20230930a.htm"] = ["429"]
    with pytest.raises(DataError, match="asks to wait 600 seconds"):
        run(connect(), out, "10-K/A")


def test_the_pace_is_held_over_lists_documents_and_repeats(connect: Connect, here: Any, out: Path) -> None:
    here.faults[NEWEST] = ["503", "503"]
    run(connect(pace=Pace(20)), out)
    assert len(here.times) == 6
    assert here.times[-1] - here.times[0] >= 5 / 20 * 0.9


def test_without_a_user_agent_nothing_is_asked(connect: Connect, here: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"FINEXPERT_EDGAR_USER_AGENT.*finexpert library add PATH"):
        connect(user=None)
    assert not here.requests


@pytest.mark.parametrize("packed", ["gzip, gzip", "gzip,gzip,gzip", "br", "zstd", "deflate, gzip", "x-unknown"])
def test_what_is_packed_otherwise_than_asked_for_is_not_unpacked(packed: str) -> None:
    """Some kilobytes that are packed twice unpack to gigabytes at once."""
    unpacked: list[str] = []

    class Content(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            unpacked.append(packed)
            yield b"{}"

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["accept-encoding"] == "gzip, deflate"
        return httpx.Response(200, headers={"content-encoding": packed}, stream=Content())

    connection = Connection("Ada Example ada@example.com", "load files", attempts=1, pause=0.01)
    headers = connection._client.headers
    connection._client = httpx.Client(transport=httpx.MockTransport(answer), headers=headers)
    with pytest.raises(DataError, match="packed"):
        connection.object("https://data.example/x.json", "a list")
    assert unpacked == []
