"""What all pages share: the desk, who asks, the side bar, and how an error is shown.

A page is written whole, or as a piece for htmx. A `FinexpertError` becomes a page that says what to do; the answer to htmx is the JSON of any
door, which the page shows as a line in the corner.
"""

from __future__ import annotations

import datetime as dt
import functools
import inspect
import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute

from finexpert.app.desk import Desk
from finexpert.app.guard import status_of
from finexpert.app.page.templating import render
from finexpert.app.page.turns import Turns
from finexpert.app.people.people import Person
from finexpert.app.state.stored import Conversation, SourceInfo
from finexpert.errors import FinexpertError

Route = tuple[str, str, Callable[..., Any]]

KEYS = (
    ("n", "a new question"),
    ("q", "to the question box"),
    ("/", "search the conversations"),
    ("j  k", "the next answer, the one before"),
    ("Enter", "ask"),
    ("Shift + Enter", "a new line in the question"),
    ("Ctrl + Enter", "run an edited SELECT"),
    ("Esc", "close what is open; from a question under way, to its cancel button"),
    ("?", "these keys"),
)
_THEMES = {"auto": "as the system has it", "light": "light", "dark": "dark"}


class Page:
    """A group of pages; `routes` names them."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.turns = Turns(desk)

    @classmethod
    def routes(cls) -> Sequence[Route]:
        raise NotImplementedError

    @classmethod
    @functools.cache
    def router(cls) -> APIRouter:
        """Its routes, read once for all applications: each request finds the group of the application that it is for."""

        async def group(request: Request) -> Any:
            return request.app.state.pages[cls]

        made = APIRouter(route_class=_Shielded, include_in_schema=False, default_response_class=HTMLResponse)
        for method, path, function in cls.routes():
            first, *others = inspect.signature(function).parameters.values()
            shown = [first.replace(default=Depends(group)), *others]
            keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in shown]
            function.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
            made.add_api_route(path, function, methods=[method])
        return made

    def person_of(self, request: Request) -> Person:
        """Who asks, as the guard of the server found out."""
        person: Person = request.state.person
        return person

    def whole(self, request: Request, template: str, here: str = "", open_talk: str = "", **given: Any) -> HTMLResponse:
        """A page with the side bar."""
        person = self.person_of(request)
        theme = theme_of(request)
        frame = {
            "person": person,
            "groups": grouped(self.desk.conversations(person)),
            "search": "",
            "open_talk": open_talk,
            "here": here,
            "keys": KEYS,
            "theme": theme,
            "theme_words": _THEMES[theme],
            "can_leave": not self.desk.options.is_local,
        }
        return HTMLResponse(render(template, **frame, **given))

    def source_of(self, person: Person, source: str) -> SourceInfo | None:
        return next((each for each in self.desk.sources(person) if each.id == source), None)


def theme_of(request: Request) -> str:
    """The colours that the person chose."""
    theme = request.cookies.get("theme", "auto")
    return theme if theme in _THEMES else "auto"


def piece(template: str, **given: Any) -> HTMLResponse:
    """A part of a page, which htmx puts in its place."""
    return HTMLResponse(render(template, **given))


def go_to(request: Request, place: str) -> Response:
    """Have the browser open another page."""
    if "hx-request" in request.headers:
        return Response(status_code=204, headers={"HX-Redirect": place})
    return RedirectResponse(place, status_code=303)


def saying(response: Response, text: str) -> Response:
    """The response, with a line that is shown in the corner."""
    response.headers["HX-Trigger"] = json.dumps({"said": text}, ensure_ascii=True)
    return response


def grouped(talks: Sequence[Conversation], today: dt.date | None = None) -> list[tuple[str, list[Conversation]]]:
    """Conversations under the time in which they went on, the last first."""
    today = today or dt.datetime.now(dt.UTC).date()
    groups: dict[str, list[Conversation]] = {}
    for talk in sorted(talks, key=lambda each: each.changed, reverse=True):
        groups.setdefault(_age((today - talk.changed.date()).days), []).append(talk)
    return list(groups.items())


def _age(days: int) -> str:
    """How long ago, in the words of the side bar.

    >>> _age(0), _age(1), _age(6), _age(400)
    ('Today', 'Yesterday', 'Last 7 days', 'Earlier')
    """
    if days <= 0:
        return "Today"
    return "Yesterday" if days == 1 else "Last 7 days" if days <= 7 else "Last 30 days" if days <= 30 else "Earlier"


class _Shielded(APIRoute):
    """Shows what the program says as a page where a page was opened. Whatever else asks is answered as any other door does."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def shielded(request: Request) -> Response:
            try:
                return await handler(request)
            except FinexpertError as error:
                if request.method != "GET" or "hx-request" in request.headers:
                    raise
                return _problem(request, status_of(error), request.app.state.desk.said(error))

        return shielded


def _problem(request: Request, status: int, text: str) -> Response:
    return HTMLResponse(render("problem.html", status=status, text=text, theme=theme_of(request)), status)
