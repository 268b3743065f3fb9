"""Addresses that show one thing of an answer to whoever has them, for some days: for clients that load a picture without a token.

/shared/eyJh...          a chart or a table; signed, and good for seven days
"""

from __future__ import annotations

import dataclasses

from fastapi import APIRouter, FastAPI
from fastapi.responses import Response
from itsdangerous import BadSignature, URLSafeTimedSerializer

from finexpert.app.desk import Desk
from finexpert.app.people.people import Person
from finexpert.errors import NotFound

SECONDS = 7 * 24 * 3600


class Shares:
    """Makes such addresses and follows them."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._signer = URLSafeTimedSerializer(desk.sealer.cookie_key, salt="finexpert shared")

    def address(self, base: str, person: Person, answer: str, what: str) -> str:
        """The address of "figures/1.png" or "table.csv" of an answer of this person."""
        return f"{base.rstrip('/')}/shared/{self._signer.dumps([person.id, answer, what])}"

    def follow(self, signed: str) -> Response:
        """What an address shows; NotFound for one that was not made here, or too long ago."""
        try:
            id, answer, what = self._signer.loads(signed, max_age=SECONDS)
        except (BadSignature, ValueError):
            raise NotFound("this address was not made here, or is too old") from None
        person = dataclasses.replace(_READER, id=id)
        if what == "table.csv":
            headers = {"content-disposition": f'attachment; filename="{answer}.csv"'}
            return Response(self._desk.csv(person, answer), media_type="text/csv; charset=utf-8", headers=headers)
        number = int(what.removeprefix("figures/").removesuffix(".png"))
        headers = {"cross-origin-resource-policy": "cross-origin"}
        return Response(self._desk.figure(person, answer, "png", number), media_type="image/png", headers=headers)


_READER = Person("", "", "reader")


def mount(app: FastAPI, shares: Shares) -> None:
    router = APIRouter(include_in_schema=False)

    @router.get("/shared/{signed}")
    def shared(signed: str) -> Response:
        return shares.follow(signed)

    app.include_router(router)
