"""The queue of what people called wrong: a teacher makes a verified query or a term of an entry, or drops it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, Response

from finexpert.app.page.page import Page, Route, go_to

Text = Annotated[str, Form()]
HERE = "/knowledge/feedback"


class FeedbackPages(Page):
    """The last tab of what was taught, for whoever may teach."""

    @classmethod
    def routes(cls) -> Sequence[Route]:
        return (
            ("GET", HERE, cls.queue),
            ("POST", f"{HERE}/{{id}}/correct", cls.correct),
            ("POST", f"{HERE}/{{id}}/define", cls.define),
            ("POST", f"{HERE}/{{id}}/drop", cls.drop),
        )

    def queue(self, request: Request) -> HTMLResponse:
        entries = self.desk.complaints(self.person_of(request))
        return self.whole(request, "feedback_queue.html", "knowledge", entries=entries)

    def correct(self, request: Request, id: str, sql: Text, example: Text = "") -> Response:
        self.desk.correct(self.person_of(request), id, sql, example=bool(example))
        return go_to(request, "/knowledge/verified")

    def define(self, request: Request, id: str, term: Text, meaning: Text) -> Response:
        kept = self.desk.correct_term(self.person_of(request), id, term, meaning)
        return go_to(request, f"/knowledge/terms/{kept.id}")

    def drop(self, request: Request, id: str) -> Response:
        self.desk.drop(self.person_of(request), id)
        return go_to(request, HERE)
