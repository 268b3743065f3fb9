"""Downloading, against a local server that fails in the ways servers do."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from served import Served, send

from finexpert.datasets.fred.database import load_folder
from finexpert.datasets.fred.download import download
from finexpert.datasets.fred.series import SERIES
from finexpert.errors import DataError
from finexpert.storage.whole_files import write_whole


class Server(Served):
    """Serves every series; `faults` gives a series a list of faults, one for each request, before it is served."""

    @property
    def endpoint(self) -> str:
        return f"{self.address}/graph/fredgraph.csv"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        series = parse_qs(urlsplit(handler.path).query)["id"][0]
        fault = self.fault_of(series)
        body = f"observation_date,{series}\n2024-01-01,1.5\n2024-02-01,.\n2024-03-01,2.5\n".encode()
        status, length = 200, None
        if fault.isdigit():
            status, body = int(fault), b"no"
        elif fault == "cut connection":
            length = len(body) + 100
        elif fault == "cut file":
            body = body[:-12]
        elif fault == "page":
            body = b"<!DOCTYPE html><html><body>Please try again</body></html>"
        elif fault == "header only":
            body = body.partition(b"\n")[0] + b"\n"
        send(handler, body, status, length=length)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=5, trust_env=False) as client:
        yield client


def test_all_series_are_fetched_and_can_be_loaded(tmp_path: Path, server: Server, client: httpx.Client) -> None:
    seen: list[tuple[str, int, int]] = []
    paths = download(
        tmp_path / "new", client=client, endpoint=server.endpoint, progress=lambda *step: seen.append(step)
    )
    assert [path.name for path in paths] == [f"{series}.csv" for series in SERIES]
    assert seen[-1] == ("UNRATE", 31, 31)
    assert len(seen) == 31
    assert load_folder(tmp_path / "new")["DFF"].tolist() == [1.5, 2.5]


@pytest.mark.parametrize("fault", ["500", "503", "429", "cut connection", "cut file", "page", "header only"])
def test_what_passes_is_tried_again(tmp_path: Path, server: Server, client: httpx.Client, fault: str) -> None:
    server.faults["UNRATE"] = [fault, fault]
    download(tmp_path, client=client, endpoint=server.endpoint, pause=0.001)
    assert server.requests["UNRATE"] == 3
    assert (tmp_path / "UNRATE.csv").read_text().endswith("2024-03-01,2.5\n")


@pytest.mark.parametrize("fault", ["500", "cut connection", "cut file", "page"])
def test_what_stays_ends_with_the_next_command(
    tmp_path: Path, server: Server, client: httpx.Client, fault: str
) -> None:
    server.faults["GDP"] = [fault] * 9
    with pytest.raises(DataError, match=r"GDP was not fetched .* 3 attempts.*finexpert data fred --from DIR"):
        download(tmp_path, client=client, endpoint=server.endpoint, pause=0.001, attempts=3)
    assert server.requests["GDP"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["CPIAUCSL.csv", "CPILFESL.csv", "UMCSENT.csv"]


def test_a_series_that_is_not_there_is_not_tried_again(tmp_path: Path, server: Server, client: httpx.Client) -> None:
    server.faults["GDP"] = ["404"] * 9
    with pytest.raises(DataError, match=r"id=GDP answered 404.*finexpert data fred --from DIR"):
        download(tmp_path, client=client, endpoint=server.endpoint, pause=0.001)
    assert server.requests["GDP"] == 1


def test_no_network(tmp_path: Path, client: httpx.Client) -> None:
    server = Server()
    server.close()
    with pytest.raises(DataError, match=r"ConnectError.*finexpert data fred --from DIR.*sample economy"):
        download(tmp_path, client=client, endpoint=server.endpoint, pause=0.001, attempts=2)


def test_an_interrupted_download_goes_on(tmp_path: Path, server: Server, client: httpx.Client) -> None:
    def interrupt(series: str, done: int, total: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(tmp_path, client=client, endpoint=server.endpoint, progress=interrupt)
    assert len(list(tmp_path.iterdir())) == 10
    download(tmp_path, client=client, endpoint=server.endpoint)
    assert set(server.requests.values()) == {1}
    assert len(list(tmp_path.iterdir())) == 31


def test_old_files_are_fetched_again_and_young_ones_on_request(
    tmp_path: Path, server: Server, client: httpx.Client
) -> None:
    download(tmp_path, client=client, endpoint=server.endpoint)
    yesterday = time.time() - 25 * 3600
    os.utime(tmp_path / "PCE.csv", (yesterday, yesterday))
    download(tmp_path, client=client, endpoint=server.endpoint)
    assert [series for series, count in server.requests.items() if count == 2] == ["PCE"]
    download(tmp_path, client=client, endpoint=server.endpoint, refresh=True)
    assert min(server.requests.values()) == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    path = tmp_path / "GDP.csv"
    path.write_bytes(b"old")

    def fail(*args: object) -> None:
        raise error

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(error):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="FINEXPERT_HOME"):
        download(tmp_path / "file" / "fred")
