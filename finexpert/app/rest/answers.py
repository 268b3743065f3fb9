"""/api/answers: an answer, its table, charts, pages and record, and what is done with it again."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from pydantic import BaseModel, Field

from finexpert.app.rest import TheDesk, Who
from finexpert.app.state.stored import Feedback, PageView, Replayed, StoredAnswer
from finexpert.errors import NotFound
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.verified.query import VerifiedQuery

router = APIRouter(prefix="/api/answers", tags=["answers"])
_EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


class EditedSelect(BaseModel):
    sql: str
    frame: str = Field(default="", description="which frame it is for, where there are several")


class Thumb(BaseModel):
    up: bool
    reason: str = ""


class Variables(BaseModel):
    variables: dict[str, str] | None = Field(
        default=None, description="parts of the question that may be others, as year: 2023; they are found if not given"
    )


@router.get("/feedback")
def feedbacks(desk: TheDesk, who: Who) -> list[Feedback]:
    return desk.feedbacks(who)


@router.get("/{answer}")
def answer(desk: TheDesk, who: Who, answer: str) -> StoredAnswer:
    return desk.answer(who, answer)


@router.get("/{answer}/table.csv")
def csv(desk: TheDesk, who: Who, answer: str) -> Response:
    return _file(desk.csv(who, answer), "text/csv; charset=utf-8", f"{answer}.csv")


@router.get("/{answer}/table.xlsx")
def xlsx(desk: TheDesk, who: Who, answer: str) -> Response:
    return _file(desk.xlsx(who, answer), _EXCEL, f"{answer}.xlsx")


@router.get("/{answer}/figures/{number}.png")
def figure(desk: TheDesk, who: Who, answer: str, number: int) -> Response:
    return Response(desk.figure(who, answer, "png", number), media_type="image/png")


@router.get("/{answer}/record")
def record(desk: TheDesk, who: Who, answer: str) -> dict[str, Any]:
    return desk.record(who, answer)


@router.get("/{answer}/citations/{number}/page")
def cited(desk: TheDesk, who: Who, answer: str, number: int) -> PageView:
    return desk.cited(who, answer, number)


@router.get("/{answer}/citations/{number}/page.png")
def cited_picture(desk: TheDesk, who: Who, answer: str, number: int) -> Response:
    picture = desk.cited(who, answer, number).picture
    if picture is None:
        raise NotFound("this page has no picture: the filing is no PDF, or its file is gone")
    return Response(picture, media_type="image/png")


@router.post("/{answer}/replay")
def replay(desk: TheDesk, who: Who, answer: str) -> Replayed:
    return desk.replay(who, answer)


class Kept(BaseModel):
    """How an offer is kept."""

    meaning: str = Field(default="", description="in place of the offered one; empty: as it was said")
    everywhere: bool = Field(default=False, description="for every source, in place of the one that was asked")


@router.get("/{answer}/export", response_class=PlainTextResponse)
def export(desk: TheDesk, who: Who, answer: str) -> PlainTextResponse:
    return PlainTextResponse(desk.export(who, answer))


@router.post("/{answer}/select", status_code=201)
def run_select(desk: TheDesk, who: Who, answer: str, edited: EditedSelect) -> StoredAnswer:
    return desk.run_select(who, answer, edited.sql, edited.frame)


@router.post("/{answer}/verify", status_code=201)
def verify(desk: TheDesk, who: Who, answer: str, given: Variables) -> VerifiedQuery:
    return desk.verify(who, answer, given.variables)


@router.post("/{answer}/offers/{number}/keep", status_code=201, tags=["knowledge"])
def keep(desk: TheDesk, who: Who, answer: str, number: int, wanted: Kept) -> Keyword:
    """Keep what the message explained, as it was said or with another meaning."""
    return desk.keep_offer(who, answer, number, wanted.meaning, wanted.everywhere)


@router.put("/{answer}/feedback", status_code=204)
def feedback(desk: TheDesk, who: Who, answer: str, thumb: Thumb) -> None:
    desk.feedback(who, answer, thumb.up, thumb.reason)


def _file(content: bytes, kind: str, name: str) -> Response:
    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
