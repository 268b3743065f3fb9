"""What is done with an answer: its rows, charts and files, its SELECT run again, replayed, exported, judged, its pages shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, Response

from finexpert.app.page import answer_table, citations
from finexpert.app.page.page import Page, Route, piece, saying
from finexpert.core.display import chart_file, table_chart
from finexpert.errors import NotFound

Text = Annotated[str, Form()]


class Answers(Page):
    """Pieces and files of one answer."""

    @classmethod
    def routes(cls) -> Sequence[Route]:
        return (
            ("GET", "/a/{id}/table", cls.table),
            ("GET", "/a/{id}/table.csv", cls.csv),
            ("GET", "/a/{id}/table.xlsx", cls.excel),
            ("GET", "/a/{id}/figure/{number}.png", cls.figure),
            ("GET", "/a/{id}/chart.{kind}", cls.chart),
            ("GET", "/a/{id}/record.json", cls.record),
            ("GET", "/a/{id}/export.py", cls.export),
            ("POST", "/a/{id}/replay", cls.replay),
            ("POST", "/a/{id}/verify", cls.verify),
            ("POST", "/a/{id}/select", cls.select),
            ("GET", "/a/{id}/feedback", cls.thumb),
            ("POST", "/a/{id}/feedback", cls.feedback),
            ("POST", "/a/{id}/keep/{number}", cls.keep),
            ("GET", "/a/{id}/page/{number}", cls.page),
            ("GET", "/a/{id}/page/{number}/picture.png", cls.picture),
        )

    def table(self, request: Request, id: str, page: int = 1, sort: int = -1, down: int = 0) -> HTMLResponse:
        """Rows of an answer, a hundred at a time, in the order that was clicked."""
        person = self.person_of(request)
        turn = self.desk.answer(person, id)
        shown = answer_table.page_of(
            id, self.desk.table(person, id), page=page, sort=sort, down=bool(down), caption=turn.question
        )
        return piece("table.html", table=shown)

    def csv(self, request: Request, id: str) -> Response:
        content = self.desk.csv(self.person_of(request), id)
        return _file(content, "text/csv; charset=utf-8", f"{id}.csv")

    def excel(self, request: Request, id: str) -> Response:
        content = self.desk.xlsx(self.person_of(request), id)
        return _file(content, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", f"{id}.xlsx")

    def figure(self, request: Request, id: str, number: int) -> Response:
        """A chart that the script drew, counted from 1."""
        content = self.desk.figure(self.person_of(request), id, "png", number)
        return _file(content, "image/png", f"{id}-{number}.png", shown=True)

    def chart(self, request: Request, id: str, kind: Literal["png", "svg"]) -> Response:
        """The chart of an answer's table as a file."""
        person = self.person_of(request)
        drawn = table_chart.of(self.desk.table(person, id))
        if drawn is None:
            raise NotFound("nothing is drawn of this answer")
        content = chart_file.draw(drawn, kind, self.desk.answer(person, id).question)
        return _file(content, "image/svg+xml" if kind == "svg" else "image/png", f"{id}.{kind}")

    def record(self, request: Request, id: str) -> Response:
        content = json.dumps(self.desk.record(self.person_of(request), id), indent=1)
        return _file(content, "application/json", f"{id}.json")

    def export(self, request: Request, id: str) -> Response:
        return _file(self.desk.export(self.person_of(request), id), "text/x-python; charset=utf-8", f"{id}.py")

    def replay(self, request: Request, id: str) -> HTMLResponse:
        return piece("replayed.html", again=self.desk.replay(self.person_of(request), id))

    def verify(self, request: Request, id: str) -> HTMLResponse:
        return piece("verified.html", query=self.desk.verify(self.person_of(request), id))

    def select(self, request: Request, id: str, sql: Text, frame: Text = "") -> HTMLResponse:
        """Run an edited SELECT under the same checks; what comes out is a new answer of the conversation."""
        person = self.person_of(request)
        turn = self.desk.run_select(person, id, sql, frame)
        return piece("turn.html", **self.turns.given(person, turn, last=True))

    def thumb(self, request: Request, id: str, up: str = "up") -> HTMLResponse:
        turn = self.desk.answer(self.person_of(request), id)
        return piece("feedback.html", turn=turn, up=up == "up")

    def feedback(self, request: Request, id: str, up: Text, reason: Text = "") -> Response:
        person = self.person_of(request)
        self.desk.feedback(person, id, up == "yes", reason)
        return saying(piece("thumbs.html", turn=self.desk.answer(person, id)), "Kept. Thank you.")

    def keep(self, request: Request, id: str, number: int, meaning: Text = "", everywhere: Text = "") -> Response:
        """Keep what the message explained, as it stands in the form."""
        kept = self.desk.keep_offer(self.person_of(request), id, number, meaning, bool(everywhere))
        return saying(piece("kept.html", kept=kept), "Kept.")

    def page(self, request: Request, id: str, number: int) -> HTMLResponse:
        """The page of a filing that a citation names, with what was cited marked."""
        person = self.person_of(request)
        turn, citation = self._cited(person, id, number)
        page = self.desk.cited(person, id, number)
        picture = f"/a/{id}/page/{number}/picture.png"
        shown = citations.marks_for(citation)
        return piece("page.html", turn=turn, citation=citation, page=page, picture=picture, **shown)

    def picture(self, request: Request, id: str, number: int) -> Response:
        page = self.desk.cited(self.person_of(request), id, number)
        if page.picture is None:
            raise NotFound("the page has no picture")
        return _file(page.picture, "image/png", f"{id}-{number}.png", shown=True)

    def _cited(self, person: Any, id: str, number: int) -> tuple[Any, Any]:
        turn = self.desk.answer(person, id)
        if not 1 <= number <= len(turn.citations) or not turn.citations[number - 1].page:
            raise NotFound(f"the answer has no page {number}")
        return turn, turn.citations[number - 1]


def _file(content: bytes | str, kind: str, name: str, *, shown: bool = False) -> Response:
    headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "private, max-age=300" if shown else "no-store"}
    if not shown:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return Response(content, media_type=kind, headers=headers)
