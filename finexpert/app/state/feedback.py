"""What people said on a server, for the queue of its owner: thumbs with their reasons, and SELECTs that were edited by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from finexpert.answers.feedback import Feedback
from finexpert.app.options import ServeOptions
from finexpert.app.state import tables
from finexpert.app.state.state import State
from finexpert.settings import Settings


def of_server(settings: Settings) -> list[Feedback]:
    """The feedback of everybody; nothing where no server ever kept something here."""
    address = ServeOptions().state
    if address is None and not (settings.home / "serve" / "state.sqlite").exists():
        return []
    state = State.open(settings, address)
    try:
        return [*_thumbs(state), *_edited(state)]
    finally:
        state.engine.dispose()


def _thumbs(state: State) -> Iterator[Feedback]:
    c, of = tables.feedback.c, tables.answers.c
    wanted = sa.select(tables.feedback, of.question, of.record).join(tables.answers, of.id == c.answer)
    for row in state.rows(wanted):
        yield _one(row, row["answer"], row["at"], row["up"], row["reason"])


def _edited(state: State) -> Iterator[Feedback]:
    of = tables.answers.c
    wanted = sa.select(of.id, of.person, of.question, of.record, of.ended, of.body).where(of.body.is_not(None))
    for row in state.rows(wanted):
        if row["body"].get("rerun_of") and row["record"] and row["body"].get("status") == "answered":
            yield _one(
                row, row["id"], row["ended"], False, "the SELECT was edited by hand: this one is the corrected one"
            )


def _one(row: Any, id: str, at: Any, up: bool, reason: str) -> Feedback:
    frames = (row["record"] or {}).get("frames") or []
    select = frames[0]["select"] if len(frames) == 1 else ""
    return Feedback(
        id=id, door="server", at=at, by=row["person"], up=up, reason=reason, question=row["question"], select=select
    )
