"""EDGAR on this machine: a server of filings in EDGAR's form, of two companies that do not exist, which fails in the ways servers do.

Alder Works     fiscal years end with September; its filings tag what they are
Birch Stores    fiscal years end around the first of February; its filings are of the time before tags, one has no document of its own
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from served import Served

from finexpert.filings.edgar.connection import Pace
from finexpert.filings.edgar.fetching import Addresses, FilingServer

USER = "Ada Example ada@example.com"
ALDER, BIRCH = 1001, 2002


def report(company: str, form: str, ended: str, sales: str, tags: dict[str, str] | None = None) -> bytes:
    """A filing in HTML with a cover and a table of sales; `tags` are facts of inline XBRL."""
    facts = "".join(
        f'<ix:nonNumeric contextRef="c" name="dei:{name}">{value}</ix:nonNumeric>'
        for name, value in (tags or {}).items()
    )
    kind = "quarterly period" if form.startswith("10-Q") else "fiscal year"
    head = f'<div style="display:none"><ix:header><ix:hidden>{facts}</ix:hidden></ix:header></div>' if facts else ""
    return f"""<html xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><body>{head}
<p>FORM {form}</p><p>For the {kind} ended {ended}</p><p>{company}</p>
<p>(Exact name of registrant as specified in its charter)</p>
<p>Net sales of lumber were {sales} million dollars.</p>
<table><tr><td>In millions</td><td>{ended[-4:]}</td></tr><tr><td>Net sales</td><td>{sales}</td></tr></table>
</body></html>""".encode()


def rows(*filed: tuple[str, str, str, str, str]) -> dict[str, list[str]]:
    """Columns as EDGAR lists them, of form, day of filing, end of period, accession number and document."""
    names = ("form", "filingDate", "reportDate", "accessionNumber", "primaryDocument")
    columns = {name: [row[at] for row in filed] for at, name in enumerate(names)}
    return columns | {"size": [str(1000 + at) for at in range(len(filed))]}


def number(cik: int, year: int, count: int) -> str:
    return f"{cik:010d}-{year % 100:02d}-{count:06d}"


ALDER_FILINGS = rows(
    ("10-Q", "2024-02-02", "2023-12-30", number(ALDER, 2024, 6), "aldr-20231230.htm"),
    ("8-K", "2023-11-02", "2023-11-02", number(ALDER, 2023, 12), "ex.pdf"),
    ("10-K/A", "2023-12-20", "2023-09-30", number(ALDER, 2023, 11), "aldr-20230930a2.htm"),
    ("10-K/A", "2023-12-01", "2023-09-30", number(ALDER, 2023, 10), "aldr-20230930a.htm"),
    ("10-K", "2023-11-03", "2023-09-30", number(ALDER, 2023, 9), "aldr-20230930.htm"),
    ("4", "2023-10-01", "2023-09-29", number(ALDER, 2023, 8), "xslF345X05/form4.xml"),
    ("10-K", "2022-10-28", "2022-09-24", number(ALDER, 2022, 7), "aldr-20220924.htm"),
)
ALDER_OLD = rows(("10-K", "2001-12-20", "2001-09-29", number(ALDER, 2001, 3), "d10k.htm"))
BIRCH_FILINGS = rows(
    ("10-Q", "2016-12-01", "2016-10-29", number(BIRCH, 2016, 5), "brc10q.htm"),
    ("10-K", "2016-03-20", "2016-01-30", number(BIRCH, 2016, 2), "brc10k.htm"),
    ("10-K", "1997-04-20", "", number(BIRCH, 1997, 1), ""),
)


def lists() -> dict[str, Any]:
    """EDGAR's lists by the path at which they are served."""
    older = {"name": f"CIK{ALDER:010d}-submissions-001.json", "filingCount": 1,
             "filingFrom": "1994-01-26", "filingTo": "2014-07-24"}  # fmt: skip
    return {
        "/files/company_tickers.json": {
            "0": {"cik_str": ALDER, "ticker": "ALDR", "title": "Alder Works Inc."},
            "1": {"cik_str": BIRCH, "ticker": "BRC-B", "title": "Birch Stores Corp."},
        },
        f"/submissions/CIK{ALDER:010d}.json": {
            "cik": str(ALDER), "name": "Alder Works Inc.", "tickers": ["ALDR"], "fiscalYearEnd": "0930",
            "filings": {"recent": ALDER_FILINGS, "files": [older]},
        },
        f"/submissions/CIK{ALDER:010d}-submissions-001.json": ALDER_OLD,
        f"/submissions/CIK{BIRCH:010d}.json": {
            "cik": str(BIRCH), "name": "BIRCH STORES CORP", "tickers": ["BRC-B"], "fiscalYearEnd": "0131",
            "filings": {"recent": BIRCH_FILINGS, "files": []},
        },
    }  # fmt: skip


def documents() -> dict[str, bytes]:
    """The documents of the filings by the path at which they are served."""
    alder, birch = "Alder Works Inc.", "BIRCH STORES CORP"

    def tags(year: int, period: str, form: str) -> dict[str, str]:
        return {"DocumentFiscalYearFocus": str(year), "DocumentFiscalPeriodFocus": period, "DocumentType": form,
                "EntityRegistrantName": alder, "TradingSymbol": "OLDA"}  # fmt: skip

    pages = [
        (ALDER, ALDER_FILINGS, [
            report(alder, "10-Q", "December 30, 2023", "95", tags(2024, "Q1", "10-Q")),
            b"%PDF-1.4",
            report(alder, "10-K/A", "September 30, 2023", "402", tags(2023, "FY", "10-K/A")),
            report(alder, "10-K/A", "September 30, 2023", "401", tags(2023, "FY", "10-K/A")),
            report(alder, "10-K", "September 30, 2023", "400", tags(2023, "FY", "10-K")),
            b"<xml/>",
            report(alder, "10-K", "September 24, 2022", "380", tags(2022, "FY", "10-K")),
        ]),
        (ALDER, ALDER_OLD, [report(alder, "10-K", "September 29, 2001", "120")]),
        (BIRCH, BIRCH_FILINGS, [
            report(birch, "10-Q", "October 29, 2016", "210"),
            report(birch, "10-K", "January 30, 2016", "800"),
            report(birch, "10-K", "February 1, 1997", "310"),
        ]),
    ]  # fmt: skip
    return {
        f"/archives/{cik}/{accession.replace('-', '')}/{name or accession + '.txt'}": page
        for cik, filed, contents in pages
        for accession, name, page in zip(filed["accessionNumber"], filed["primaryDocument"], contents, strict=True)
    }


class EdgarHere(Served):
    """Serves EDGAR's lists and documents; `faults` gives a name a list of faults, one for each request, before it is served."""

    def __init__(self) -> None:
        super().__init__()
        self.content = {path: json.dumps(value).encode() for path, value in lists().items()} | documents()
        self.times: list[float] = []
        self.users: set[str | None] = set()
        self.headers: dict[str, str] = {}
        self.base = self.address
        self.addresses = Addresses(
            f"{self.base}/files/company_tickers.json", f"{self.base}/submissions", f"{self.base}/archives"
        )

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        name = handler.path.rpartition("/")[2]
        fault = self.fault_of(name)
        self.times.append(time.monotonic())
        self.users.add(handler.headers["User-Agent"])
        body = self.content.get(handler.path)
        status = 404 if body is None else 200
        body = body or b"no"
        length = len(body)
        if fault.isdigit():
            status, body, length = int(fault), b"no", 2
        elif fault == "cut":
            body = body[: len(body) // 2]
        elif fault == "empty":
            body, length = b"", 0
        elif fault == "page":
            body = b"<html><title>SEC.gov | Request Rate Threshold Exceeded</title></html>"
            length = len(body)
        elif fault.startswith(("http", "/")):
            status, length = 302, len(body)
            handler.send_response(status)
            handler.send_header("Location", fault)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response(status)
        for header, value in self.headers.items() if fault else ():
            handler.send_header(header, value)
        handler.send_header("Content-Length", str(length))
        handler.end_headers()
        if fault == "slow":
            # Half of it, until the other side is gone.
            handler.wfile.write(body[: length // 2])
            handler.wfile.flush()
            handler.rfile.read(1)
            return
        handler.wfile.write(body)

    def sha256(self, name: str) -> str:
        """The checksum of a document as it is served."""
        (body,) = [body for path, body in self.content.items() if path.endswith(f"/{name}")]
        return hashlib.sha256(body).hexdigest()


@pytest.fixture
def here() -> Iterator[EdgarHere]:
    server = EdgarHere()
    yield server
    server.close()


@pytest.fixture
def connect(here: EdgarHere, tmp_path: Path) -> Iterator[Callable[..., FilingServer]]:
    """Opens EDGAR as it is served here; its lists are kept beside what a test fetches."""
    opened = []

    def open_server(user: str | None = USER, **options: Any) -> FilingServer:
        usual: dict[str, Any] = {"addresses": here.addresses, "pause": 0.01, "pace": Pace(10_000), "attempts": 3}
        server = FilingServer(tmp_path / "lists", user, **usual | options)
        opened.append(server)
        return server

    yield open_server
    for server in opened:
        server.__exit__(None, None, None)
