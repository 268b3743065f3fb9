"""A database asked with a person's own user and password: whose connection is used, and what a wrong password leaves behind."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from finexpert.app.desk import Desk, GivenSource, local_person
from finexpert.app.server import create_app
from finexpert.errors import DataError, Refused
from finexpert.settings import Settings
from finexpert.warehouse.opening import open_data

HTMX = {"hx-request": "true"}
ADDRESS = "postgresql+psycopg://desk:shared@db.example.com/markets"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, warehouse: Any) -> list[sa.URL]:
    """The addresses that were connected; the password "wrong" is refused."""
    addresses: list[sa.URL] = []

    def connect(kind: str, place: str, settings: Settings) -> Any:
        url = sa.make_url(place)
        if url.password == "wrong":
            raise DataError("the password 'wrong' was refused")
        addresses.append(url)
        return open_data(warehouse.path, settings=settings)

    monkeypatch.setattr("finexpert.app.actions.sources.open_place", connect)
    return addresses


@pytest.fixture
def markets(desk: Any, own_home: Path, opened: list[sa.URL]) -> Iterator[Desk]:
    """A desk that was started with a database on a server."""
    settings = Settings(home=own_home, as_of=dt.date(2020, 12, 31), cache=False, memory=False)
    given = [GivenSource("Markets", "data", ADDRESS)]
    with Desk(settings, given=given, models=desk.models, sandbox=desk.sandbox) as made:
        yield made


def users(opened: list[sa.URL]) -> list[tuple[str | None, str | None]]:
    return [(url.username, None if url.password is None else str(url.password)) for url in opened]


def test_a_given_database_is_asked_as_the_person(markets: Desk, opened: list[sa.URL]) -> None:
    person, source = local_person(), next(iter(markets.given))
    markets.connect_as(person, source, "ann", "hers")
    with markets.source(person, source):
        assert users(opened) == [("ann", "hers")]


def test_other_credentials_open_another_connection(markets: Desk, opened: list[sa.URL]) -> None:
    person, source = local_person(), next(iter(markets.given))
    markets.connect_as(person, source, "ann", "hers")
    markets.connect_as(person, source, "ann_as_auditor", "other")
    with markets.source(person, source):
        assert users(opened)[-1] == ("ann_as_auditor", "other")
    markets.connect_as(person, source, "", "")
    with markets.source(person, source):
        assert users(opened)[-1] == ("desk", "shared")


def test_a_wrong_password_leaves_the_one_before(markets: Desk, opened: list[sa.URL]) -> None:
    person, source = local_person(), next(iter(markets.given))
    markets.connect_as(person, source, "ann", "hers")
    with pytest.raises(DataError, match=r"'\*\*\*' was refused"):
        markets.connect_as(person, source, "ann", "wrong")
    with markets.source(person, source):
        assert users(opened) == [("ann", "hers")]


def test_a_user_without_a_password_is_not_given_the_one_of_the_source(markets: Desk, opened: list[sa.URL]) -> None:
    person, source = local_person(), next(iter(markets.given))
    markets.connect_as(person, source, "ann", "")
    with markets.source(person, source):
        assert users(opened) == [("ann", None)]


def test_a_file_has_no_users(office: Any) -> None:
    with pytest.raises(Refused, match="has no users"):
        office.desk.connect_as(office.ann, office.source, "ann", "hers")


def test_the_page_takes_a_login_and_never_shows_its_password(markets: Desk, opened: list[sa.URL]) -> None:
    source = next(iter(markets.given))
    with TestClient(create_app(markets, close=False), base_url="http://127.0.0.1:8400", headers=HTMX) as client:
        assert "Ask it with a login of your own" in client.get(f"/sources/{source}").text
        wrong = client.post(f"/sources/{source}/as", data={"user": "ann", "password": "wrong"})
        assert (wrong.status_code, "wrong" in wrong.text.replace("was refused", "")) == (422, False)
        assert client.post(f"/sources/{source}/as", data={"password": "hers"}).status_code == 400
        assert client.post(f"/sources/{source}/as", data={"user": "ann", "password": "hers"}).status_code == 204
        shown = client.get(f"/sources/{source}").text
        assert "You ask it as" in shown
        assert "hers" not in shown
        assert users(opened)[-1] == ("ann", "hers")
        assert client.post(f"/sources/{source}/as", data={"user": "ann", "back": "yes"}).status_code == 204
        assert "Ask it with a login of your own" in client.get(f"/sources/{source}").text


def test_a_file_has_no_login(desk: Any, own_home: Path, warehouse: Any) -> None:
    given = [GivenSource("Sales", "data", str(warehouse.path))]
    with Desk(Settings(home=own_home), given=given, models=desk.models, sandbox=desk.sandbox) as made:
        assert made.connected_as(local_person(), next(iter(made.given))) is None
