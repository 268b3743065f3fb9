"""/api/me, /api/tokens and /api/audit: who one is, and what the owner of a server sees and gives out."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from finexpert.app.people.people import RIGHTS, Right, Role
from finexpert.app.rest import TheDesk, Who
from finexpert.app.state.stored import AuditEntry, TokenInfo

router = APIRouter(prefix="/api", tags=["owner"])


class Me(BaseModel):
    id: str
    name: str
    role: Role
    team: str
    rights: list[Right]


class NewToken(BaseModel):
    name: str
    role: Role = "reader"
    days: float = Field(default=90, gt=0)
    scopes: list[Right] = list(RIGHTS)


class MadeToken(BaseModel):
    token: TokenInfo
    secret: str = Field(description="shown this once")


@router.get("/me")
def me(who: Who) -> Me:
    rights = [right for right in RIGHTS if who.can(right)]
    return Me(id=who.id, name=who.name, role=who.role, team=who.team, rights=rights)


@router.get("/tokens")
def tokens(desk: TheDesk, who: Who) -> list[TokenInfo]:
    return desk.tokens(who)


@router.post("/tokens", status_code=201)
def make_token(desk: TheDesk, who: Who, new: NewToken) -> MadeToken:
    token, secret = desk.make_token(who, new.name, new.role, new.days, tuple(new.scopes))
    return MadeToken(token=token, secret=secret)


@router.delete("/tokens/{id}")
def revoke_token(desk: TheDesk, who: Who, id: str) -> TokenInfo:
    return desk.revoke_token(who, id)


@router.get("/audit")
def audit(desk: TheDesk, who: Who, limit: int = 200) -> list[AuditEntry]:
    return desk.audit(who, limit)
