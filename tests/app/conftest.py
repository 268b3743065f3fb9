"""Desks and servers over the small warehouse of sales, with a model that answers from a script."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest

pytest.importorskip("fastapi", reason="the doors of a server need the extra `serve`")

from fastapi import FastAPI
from starlette.testclient import TestClient

from finexpert.app.desk import Desk, GivenSource, Person
from finexpert.app.options import ServeOptions
from finexpert.app.people import access
from finexpert.app.server import create_app
from finexpert.app.state.stored import StoredAnswer
from finexpert.core.progress import Event
from finexpert.settings import Settings

ANN = Person("token:ann", "Ann", "owner", "local")
BEN = Person("token:ben", "Ben", "teacher", "local")
EVE = Person("token:eve", "Eve", "reader", "local")
# Of another team.
TOM = Person("token:tom", "Tom", "owner", "other")


class Office:
    """A desk with its scripted model; `ask` waits for the answer."""

    ann, ben, eve, tom = ANN, BEN, EVE, TOM

    def __init__(self, desk: Desk, model: Any) -> None:
        self.desk, self.model = desk, model
        self.source = next(iter(desk.given))

    def conversation(self, person: Person = ANN) -> str:
        return self.desk.create(person, self.source).id

    def ask(self, question: str, conversation: str = "", person: Person = ANN, **options: Any) -> StoredAnswer:
        told = self.told(self.desk.ask(person, conversation or self.conversation(person), question, **options))
        assert isinstance(told[-1], StoredAnswer)
        return told[-1]

    def told(self, events: Any) -> list[Event | StoredAnswer]:
        async def heard() -> list[Event | StoredAnswer]:
            return [thing async for thing in events]

        return asyncio.run(heard())


MakeOffice = Callable[..., Office]


@pytest.fixture
def sales(warehouse: Any) -> Path:
    """The file of the warehouse of sales."""
    return Path(warehouse.path)


@pytest.fixture
def make_office(desk: Any, sales: Path, sandbox: Any, own_home: Path) -> Iterator[MakeOffice]:
    """Makes desks over the sales; the model says three months were asked for until it is told otherwise."""
    opened: list[Desk] = []

    def make(state: str | None = None, home: Path = own_home, **options: Any) -> Office:
        desk.says("planning", *(desk._said.get("planning") or [desk.plan()]))
        settings = Settings(
            home=home, as_of=dt.date(2020, 12, 31), cache=False, embedder="words", memory=options.pop("memory", True)
        )
        further = options.pop("further", [])
        made = Desk(
            settings,
            ServeOptions(state=state, **options),
            given=[GivenSource("Sales", "data", str(sales)), *further],
            models=desk.models,
            sandbox=sandbox,
        )
        opened.append(made)
        return Office(made, desk)

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def office(make_office: MakeOffice) -> Office:
    return make_office()


@pytest.fixture
def app(office: Office) -> FastAPI:
    """A server that only its user reaches."""
    return create_app(office.desk, close=False)


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url="http://127.0.0.1:8400") as client:
        yield client


class Caller(TestClient):
    """A client that does not start the app: several people call one server, which starts once."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class House:
    """A server of several people; `client(role)` has a token of that role."""

    base = "https://finexpert.example"

    def __init__(self, office: Office) -> None:
        self.office, self.desk = office, office.desk
        self.app = create_app(office.desk, close=False)
        self.secrets: dict[str, str] = {}

    def token(self, name: str, role: Any = "reader", team: str = "local", **given: Any) -> str:
        _, secret = access.make_token(
            self.desk.state, name, role=role, team=team, made_by="test", **{"days": 1.0, **given}
        )
        return secret

    def client(self, name: str = "eve", role: Any = "reader", team: str = "local", **given: Any) -> Caller:
        token = self.token(name, role, team, **given)
        return Caller(self.app, base_url=self.base, headers={"authorization": f"Bearer {token}"})

    def stranger(self) -> Caller:
        return Caller(self.app, base_url=self.base, follow_redirects=False)


@pytest.fixture
def house(make_office: MakeOffice) -> House:
    return House(make_office(url=House.base))
