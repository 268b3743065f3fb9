"""The semantic model of a source on the page: its text to read and to edit, and every version of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, Response

from finexpert.app.page.knowledge import changed_lines
from finexpert.app.page.page import Page, Route, go_to
from finexpert.app.state.stored import ModelText
from finexpert.errors import NotFound

Text = Annotated[str, Form()]
Number = Annotated[int, Form()]


class MeaningPages(Page):
    """One page a source."""

    @classmethod
    def routes(cls) -> Sequence[Route]:
        return (
            ("GET", "/sources/{id}/model", cls.show),
            ("POST", "/sources/{id}/model", cls.edit),
            ("POST", "/sources/{id}/model/revert", cls.revert),
        )

    def show(self, request: Request, id: str) -> HTMLResponse:
        person = self.person_of(request)
        source = self.source_of(person, id)
        if source is None:
            raise NotFound(f"there is no source {id[:80]!r}")
        model = self.desk.model(person, id)
        versions = with_changes(self.desk.model_history(person, id))
        may = person.can("manage")
        return self.whole(
            request, "model.html", "sources", source=source, model=model, versions=versions, may_manage=may
        )

    def edit(self, request: Request, id: str, text: Text, version: Number) -> Response:
        """Try an edited model, and keep it if it fits."""
        self.desk.edit_model(self.person_of(request), id, text.replace("\r\n", "\n"), version)
        return go_to(request, f"/sources/{id}/model")

    def revert(self, request: Request, id: str, version: Number) -> Response:
        self.desk.revert_model(self.person_of(request), id, version)
        return go_to(request, f"/sources/{id}/model")


def with_changes(versions: Sequence[ModelText]) -> list[tuple[ModelText, list[str]]]:
    """Each version, the newest first, with the lines that it changed against the one before it."""
    changed = [changed_lines(old.text, new.text) for new, old in pairwise(versions)]
    return list(zip(versions, [*changed, []], strict=True)) if versions else []
