"""/api/processes, /api/terms and /api/verified: what the team was taught."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from finexpert.app.actions.teaching import Version
from finexpert.app.rest import TheDesk, Who
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process
from finexpert.knowledge.verified.query import VerifiedQuery

router = APIRouter(prefix="/api", tags=["knowledge"])


class NewTerm(BaseModel):
    term: str
    meaning: str
    aliases: list[str] = []
    source: str = Field(default="", description="the source that it holds for; empty: as before, else everywhere")


class Changes(BaseModel):
    """Fields of a process that change. `version` is the one that was read: a change by somebody else is not written over."""

    heading: str | None = None
    aliases: list[str] | None = None
    variables: list[dict[str, Any]] | None = None
    steps: list[dict[str, Any]] | None = None
    version: int | None = Field(default=None, ge=1)


@router.get("/processes")
def processes(desk: TheDesk, who: Who, search: str = "") -> list[Process]:
    return desk.processes(who, search)


@router.get("/processes/{id}")
def process(desk: TheDesk, who: Who, id: str) -> Process:
    return desk.process(who, id)


@router.patch("/processes/{id}")
def edit(desk: TheDesk, who: Who, id: str, changes: Changes) -> Process:
    return desk.edit_process(who, id, changes.model_dump(exclude_none=True))


@router.delete("/processes/{id}")
def retire(desk: TheDesk, who: Who, id: str) -> Process:
    return desk.retire(who, id)


@router.post("/processes/{id}/activate")
def activate(desk: TheDesk, who: Who, id: str) -> Process:
    return desk.activate(who, id)


@router.get("/processes/{id}/history")
def history(desk: TheDesk, who: Who, id: str) -> list[Version]:
    return desk.history(who, id)


@router.post("/processes/{id}/revert/{version}")
def revert(desk: TheDesk, who: Who, id: str, version: int) -> Process:
    return desk.revert(who, id, version)


@router.get("/terms")
def terms(desk: TheDesk, who: Who, search: str = "") -> list[Keyword]:
    return desk.terms(who, search)


@router.post("/terms", status_code=201)
def define(desk: TheDesk, who: Who, new: NewTerm) -> Keyword:
    return desk.define(who, new.term, new.meaning, tuple(new.aliases), new.source)


@router.get("/terms/{id}")
def term(desk: TheDesk, who: Who, id: str) -> Keyword:
    return desk.term(who, id)


@router.delete("/terms/{id}")
def retire_term(desk: TheDesk, who: Who, id: str) -> Keyword:
    return desk.retire_term(who, id)


@router.get("/terms/{id}/history")
def term_history(desk: TheDesk, who: Who, id: str) -> list[Version]:
    return desk.term_history(who, id)


@router.get("/verified")
def verified(desk: TheDesk, who: Who) -> list[VerifiedQuery]:
    return desk.verified(who)


@router.post("/verified/{id}/activate")
def activate_verified(desk: TheDesk, who: Who, id: str) -> VerifiedQuery:
    return desk.activate_verified(who, id)


@router.delete("/verified/{id}")
def retire_verified(desk: TheDesk, who: Who, id: str) -> VerifiedQuery:
    return desk.retire_verified(who, id)
