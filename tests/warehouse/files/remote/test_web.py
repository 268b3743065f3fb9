"""A file at https://: read once while it is the same, its signature shown nowhere, and no redirect into this network."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.warehouse.files.remote.conftest import Pages

from finexpert.core import hosts
from finexpert.errors import DataError
from finexpert.settings import Settings
from finexpert.warehouse.files.remote.web import _netrc
from finexpert.warehouse.opening import open_data

CSV = b"account,amount\nA,10\nB,20\n"
SIGNED = "?X-Amz-Signature=hunter2"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", remote_mb=1)


def total(address: str, settings: Settings, table: str = "trades") -> float:
    with open_data(address, settings=settings) as source:
        assert "hunter2" not in f"{source.address}{source.snapshot()}{source.name}"
        return float(source.query(f"SELECT sum(amount) AS s FROM {table}").data["s"].item())


@pytest.mark.parametrize("header", ["ETag", "Last_Modified", ""])
def test_a_file_is_read_anew_where_it_changed(pages: Pages, settings: Settings, header: str) -> None:
    given: dict[str, Any] = {header: '"one"'} if header else {}
    address = pages("/exports/trades.csv", CSV, **given) + SIGNED
    assert [total(address, settings) for _ in range(2)] == [30, 30]
    given = {header: '"two"'} if header else {}
    pages("/exports/trades.csv", CSV + b"C,5\n", **given)
    assert total(address, settings) == 35
    assert pages.asked == [f"/exports/trades.csv{SIGNED}"] * 3
    kept = list((settings.home / "cache").glob("files-*.duckdb"))
    assert len(kept) == 1


def test_what_has_no_suffix_is_known_by_its_type(pages: Pages, settings: Settings) -> None:
    assert total(pages("/download", CSV, Content_Type="text/csv; charset=utf-8"), settings, "download") == 30


@pytest.mark.parametrize(
    ("path", "given", "said"),
    [
        ("/none.csv", {"status": 404}, "the server says 404, it has no such file"),
        ("/none.csv", {"status": 403}, "403, it does not allow it"),
        ("/trades.csv", {"body": b"<html>log in</html>", "Content_Type": "text/html"}, "is a web page and no file of data"),
        ("/trades.bin", {"body": b"x"}, "is of no kind that is read"),
        ("/trades.csv", {"body": b"a\n" + b"1\n" * 600_000}, "at most 1 MB are copied"),
        ("/trades.csv", {"status": 302, "Location": "/trades.csv"}, "leads on more than 5 times"),
        ("/trades.csv", {"status": 302, "Location": "http://169.254.169.254/latest/meta-data"}, "leads on to an address that is not https"),
        ("/trades.csv", {"status": 302, "Location": "https://169.254.169.254/latest/meta-data"}, "leads on to a host within this network"),
        ("/trades.csv", {"status": 302, "Location": "https://nowhere.invalid/a.csv"}, "a host of it is not known here"),
        ("/trades.csv", {"body": b"a,b\n1,2\n1,2,3\n"}, "trades.csv, line 3: it has 3 fields"),
    ],
)  # fmt: skip
def test_what_is_refused_and_that_nothing_of_the_signature_is_said(
    pages: Pages, settings: Settings, path: str, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(DataError) as caught:
        open_data(pages(path, **given) + SIGNED, settings=settings)
    assert said in str(caught.value)
    assert "hunter2" not in f"{caught.value}{caught.value.__cause__}{caught.value.__context__}"
    assert not list((settings.home / "cache").glob("remote-*"))


def test_a_redirect_from_the_internet_leads_to_no_host_within(
    pages: Pages, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name that is asked stands for a host of the internet; where it leads to lies within."""
    from finexpert.warehouse.files.remote import web

    known = {
        "127.0.0.1": "127.0.0.1",
        "public.example": "93.184.216.34",
        "other.example": "93.184.216.35",
        "inside.example": "10.0.0.7",
    }
    monkeypatch.setattr(hosts, "resolved", lambda host: [ipaddress.ip_address(known[host])])
    file = web.WebFile(pages("/trades.csv", CSV), 1 << 20)
    try:
        public = httpx.URL("https://public.example/x")
        file._check_redirect(public, httpx.URL("https://other.example/a.csv"))
        for onward in ("https://inside.example/a.csv", "https://127.0.0.1/a.csv", "http://other.example/a.csv"):
            with pytest.raises(DataError, match="it is not followed"):
                file._check_redirect(public, httpx.URL(onward))
        # A host within may lead to another one within.
        file._check_redirect(httpx.URL("https://inside.example/x"), httpx.URL("https://127.0.0.1/a.csv"))
    finally:
        file.close()


def test_a_file_that_is_shorter_than_it_was_said_to_be_is_refused(pages: Pages, settings: Settings) -> None:
    with pytest.raises(DataError, match="cannot be fetched to its end"):
        open_data(pages("/trades.csv", CSV, Content_Length="60"), settings=settings)


@pytest.mark.parametrize(
    ("kept", "sent"),
    [
        ("machine 127.0.0.1 login ann password pw\ndefault login eve password other\n", "Basic YW5uOnB3"),
        ("machine prod.example login ann password pw\ndefault login ann password pw\n", None),
        ("default login ann password pw\n", None),
        ("machine 127.0.0.1 login ann\n", None),
        ("", None),
    ],
)
def test_a_password_at_home_goes_to_the_host_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: str, sent: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".netrc").write_text(kept)
    (tmp_path / ".netrc").chmod(0o600)
    auth, request = _netrc(), httpx.Request("GET", "https://127.0.0.1/a.csv")
    assert auth is not None
    asked = next(auth.sync_auth_flow(request))
    assert asked.headers.get("authorization") == sent
    (tmp_path / ".netrc").unlink()
    assert _netrc() is None
