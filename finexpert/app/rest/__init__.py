"""REST under /api: JSON in and out, server-sent events for progress. Its schema is at /api/openapi.json."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from finexpert.app.desk import Desk
from finexpert.app.people.people import Person


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def _person(request: Request) -> Person:
    person: Person = request.state.person
    return person


TheDesk = Annotated[Desk, Depends(_desk)]
Who = Annotated[Person, Depends(_person)]
