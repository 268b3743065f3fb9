"""What people said on a server, for a queue: thumbs with their reasons, and SELECTs that were edited by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from finexpert.answers.feedback import Feedback
from finexpert.app.options import ServeOptions
from finexpert.app.state import tables
from finexpert.app.state.state import State
from finexpert.settings import Settings

_EDITED = "the SELECT was edited by hand: this one is the corrected one"


def of_server(settings: Settings) -> list[Feedback]:
    """The feedback of everybody; nothing where no server ever kept something here."""
    address = ServeOptions().state
    if address is None and not (settings.home / "serve" / "state.sqlite").exists():
        return []
    with State.open(settings, address) as state:
        return of_state(state)


def of_state(state: State, *, team: str | None = None, edited_by: str | None = None) -> list[Feedback]:
    """The feedback of a team, or of all of them, with what became of it; of SELECTs that were edited those of one person, or of everybody."""
    return [*_thumbs(state, team), *_edited(state, edited_by)]


def _thumbs(state: State, team: str | None) -> Iterator[Feedback]:
    c, of, told = tables.feedback.c, tables.answers.c, tables.audit.c
    wanted = (
        sa.select(tables.feedback, of.question, of.record, tables.settled.c.became)
        .join(tables.answers, of.id == c.answer)
        .outerjoin(tables.settled, tables.settled.c.answer == c.answer)
    )
    if team is not None:
        # A person may change teams: what counts is the team in which it was said.
        wanted = wanted.where(
            sa.exists().where(
                told.object == c.answer, told.person == c.person, told.action == "feedback", told.team == team
            )
        )
    for row in state.rows(wanted):
        yield _one(row, row["answer"], row["at"], row["up"], row["reason"])


def _edited(state: State, by: str | None) -> Iterator[Feedback]:
    of = tables.answers.c
    wanted = (
        sa.select(of.id, of.person, of.question, of.record, of.ended, of.body, tables.settled.c.became)
        .outerjoin(tables.settled, tables.settled.c.answer == of.id)
        .where(of.body.is_not(None))
    )
    if by is not None:
        wanted = wanted.where(of.person == by)
    for row in state.rows(wanted):
        if row["body"].get("rerun_of") and row["record"] and row["body"].get("status") == "answered":
            yield _one(row, row["id"], row["ended"], False, _EDITED)


def _one(row: Any, id: str, at: Any, up: bool, reason: str) -> Feedback:
    frames = (row["record"] or {}).get("frames") or []
    select = frames[0]["select"] if len(frames) == 1 else ""
    return Feedback(
        id=id,
        door="server",
        at=at,
        by=row["person"],
        up=up,
        reason=reason,
        question=row["question"],
        select=select,
        settled=row["became"] or "",
    )
