"""Downloading from EDGAR, against a local server that answers as EDGAR does, and fails in the ways servers do."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from served import Served, send

from finexpert.datasets.edgar.download import Edgar
from finexpert.errors import ConfigurationError, DataError
from finexpert.filings.edgar.connection import Pace
from finexpert.filings.edgar.symbols import Listed

USER = "Ada Example ada@example.com"
ALDER = "CIK0000001001.json"


class Server(Served):
    """Serves a folder; `faults` gives a file a list of faults, one for each request, before it is served."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.times: list[float] = []
        self.users: set[str | None] = set()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        name = handler.path.rpartition("/")[2]
        fault = self.fault_of(name)
        self.times.append(time.monotonic())
        self.users.add(handler.headers["User-Agent"])
        path = self.folder / name
        status, body = (200, path.read_bytes()) if path.is_file() else (404, b"no")
        length = len(body)
        if fault.isdigit():
            status, body, length = int(fault), b"no", 2
        elif fault == "cut connection":
            length += 100
        elif fault == "cut file":
            body, length = body[:-12], len(body) - 12
        elif fault == "page":
            body = b"<html>Please try again</html>"
            length = len(body)
        send(handler, body, status, length=length)


@pytest.fixture
def server(facts_folder: Path) -> Iterator[Server]:
    server = Server(facts_folder)
    yield server
    server.close()


def fetch(
    server: Server, folder: Path, *symbols: str, refresh: bool = False, pace: Pace | None = None, attempts: int = 4
) -> list[Listed]:
    edgar = Edgar(
        folder,
        USER,
        refresh=refresh,
        tickers_endpoint=f"{server.address}/files/company_tickers.json",
        facts_endpoint=f"{server.address}/api/xbrl/companyfacts",
        attempts=attempts,
        pause=0.001,
        pace=pace or Pace(10_000),
    )
    try:
        return edgar.download(symbols)
    finally:
        edgar.close()


def test_companies_are_fetched_by_symbol_and_number(tmp_path: Path, server: Server) -> None:
    found = fetch(server, tmp_path / "new", "aldr", "2002", "BRC.B")
    assert found == [Listed(1001, "ALDR"), Listed(2002, "BRC-B")]
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(server.requests)
    assert json.loads((tmp_path / "new" / ALDER).read_text())["entityName"] == "Alder Works Inc."
    assert server.users == {USER}


@pytest.mark.parametrize("user", [None, "", "finexpert", "Ada\nada@example.com", "Adä ada@example.com"])
def test_a_user_without_address_of_mail_is_refused(tmp_path: Path, user: str | None) -> None:
    with pytest.raises(ConfigurationError, match="FINEXPERT_EDGAR_USER_AGENT"):
        Edgar(tmp_path, user)


def test_the_pace_is_kept(tmp_path: Path, server: Server) -> None:
    server.faults[ALDER] = ["503"] * 3
    fetch(server, tmp_path, "ALDR", "BRC-B", pace=Pace(20))
    gaps = [later - earlier for earlier, later in zip(server.times, server.times[1:], strict=False)]
    assert len(gaps) == 5
    # Requests leave in time; how long each is under way is the machine's.
    assert server.times[-1] - server.times[0] >= 5 / 20 * 0.9


def test_ten_requests_a_second_at_most() -> None:
    assert Pace().a_second == 10


@pytest.mark.parametrize("fault", ["500", "503", "429", "cut connection", "cut file", "page"])
def test_what_passes_is_tried_again(tmp_path: Path, server: Server, fault: str) -> None:
    server.faults[ALDER] = [fault, fault]
    fetch(server, tmp_path, "ALDR")
    assert server.requests[ALDER] == 3
    assert json.loads((tmp_path / ALDER).read_text())["cik"] == 1001


@pytest.mark.parametrize("fault", ["500", "cut file", "page"])
def test_what_stays_ends_with_the_next_command(tmp_path: Path, server: Server, fault: str) -> None:
    server.faults[ALDER] = [fault] * 9
    with pytest.raises(DataError, match=r"facts of ALDR .* in 3 attempts.*finexpert data edgar --from FOLDER"):
        fetch(server, tmp_path, "BRC-B", "ALDR", attempts=3)
    assert {path.name for path in tmp_path.iterdir()} == {"company_tickers.json", "CIK0000002002.json"}


def test_a_user_that_edgar_refuses_is_not_tried_again(tmp_path: Path, server: Server) -> None:
    server.faults["company_tickers.json"] = ["403"] * 9
    with pytest.raises(DataError, match=r"403 .*user agent.*finexpert data edgar --from FOLDER"):
        fetch(server, tmp_path, "ALDR")
    assert sum(server.requests.values()) == 1


def test_a_company_without_facts_is_named(tmp_path: Path, server: Server) -> None:
    with pytest.raises(DataError, match=r"facts of CIK0000000042 .* 404"):
        fetch(server, tmp_path, "42")


def test_an_unknown_symbol_is_named_before_anything_is_fetched(tmp_path: Path, server: Server) -> None:
    with pytest.raises(DataError, match="EDGAR lists no company under 'NOPE'"):
        fetch(server, tmp_path, "ALDR", "NOPE")
    assert list(server.requests) == ["company_tickers.json"]


def test_young_files_are_kept_and_old_ones_fetched_again(tmp_path: Path, server: Server) -> None:
    fetch(server, tmp_path, "ALDR")
    fetch(server, tmp_path, "ALDR")
    assert set(server.requests.values()) == {1}
    yesterday = time.time() - 25 * 3600
    os.utime(tmp_path / ALDER, (yesterday, yesterday))
    fetch(server, tmp_path, "ALDR")
    assert server.requests == {"company_tickers.json": 1, ALDER: 2}
    fetch(server, tmp_path, "ALDR", refresh=True)
    assert server.requests == {"company_tickers.json": 2, ALDER: 3}
