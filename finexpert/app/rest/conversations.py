"""/api/conversations: talk, ask, follow what happens, reply, teach."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, Field

from finexpert.app.actions.asking import Wish
from finexpert.app.actions.remembering import remembered_json
from finexpert.app.guard import error_json
from finexpert.app.rest import TheDesk, Who
from finexpert.app.running import Running, Told
from finexpert.app.state.stored import Conversation, StoredAnswer
from finexpert.core.answers import AnswerFormat
from finexpert.core.progress import Event
from finexpert.errors import FinexpertError
from finexpert.modules.flow.teaching import Decision

router = APIRouter(prefix="/api/conversations", tags=["conversations"])


class NewConversation(BaseModel):
    source: str = Field(description="id or name of a source, several with commas between them, or 'all'")
    name: str = ""


class Name(BaseModel):
    name: str


class Question(BaseModel):
    question: str
    as_of: dt.date | None = Field(default=None, description="the day that counts as today; later rows are hidden")
    clarify: bool = Field(default=True, description="ask back what is unclear, in place of an assumption")
    cached: bool | None = None
    answer_format: AnswerFormat | None = None


class Reply(BaseModel):
    term: str = Field(description="of the clarification that is replied to")
    meaning: str = Field(default="", description="empty to have it answered on an assumption")


class Heading(BaseModel):
    heading: str = ""


class Settlement(BaseModel):
    decision: Decision
    heading: str = ""


@router.get("")
def conversations(desk: TheDesk, who: Who, search: str = "") -> list[Conversation]:
    return desk.conversations(who, search)


@router.post("", status_code=201)
def create(desk: TheDesk, who: Who, new: NewConversation) -> Conversation:
    return desk.create(who, new.source, new.name)


@router.get("/{conversation}")
def about(desk: TheDesk, who: Who, conversation: str) -> Conversation:
    return desk.about(who, conversation)


@router.patch("/{conversation}")
def rename(desk: TheDesk, who: Who, conversation: str, name: Name) -> Conversation:
    return desk.rename(who, conversation, name.name)


@router.delete("/{conversation}", status_code=204)
def delete(desk: TheDesk, who: Who, conversation: str) -> None:
    desk.delete(who, conversation)


@router.get("/{conversation}/answers")
def answers(desk: TheDesk, who: Who, conversation: str) -> list[StoredAnswer]:
    return desk.conversation(who, conversation)


def _asked(desk: TheDesk, who: Who, conversation: str, question: Question) -> Running:
    return desk.start(who, conversation, Wish(**dict(question)))


def _replied(desk: TheDesk, who: Who, conversation: str, reply: Reply) -> Running:
    return desk.start_reply(who, conversation, reply.term, reply.meaning)


# What goes wrong before a question is under way is an error of HTTP: so it is put under way before anything is sent.
Asked = Annotated[Running, Depends(_asked)]
Replied = Annotated[Running, Depends(_replied)]


@router.post("/{conversation}/ask")
async def ask(asked: Asked) -> StoredAnswer:
    """Ask, and wait for the answer. A question goes on when the connection ends."""
    return await _answer(asked)


@router.post("/{conversation}/ask/events", response_class=EventSourceResponse)
async def ask_events(desk: TheDesk, asked: Asked) -> AsyncIterator[ServerSentEvent]:
    """Ask, and hear what is done: events `progress`, and one `answer` or `error` at the end."""
    async for event in events_of(desk, asked.follow()):
        yield event


@router.post("/{conversation}/reply")
async def reply(replied: Replied) -> StoredAnswer:
    """Say what is meant, where the last answer asked back, and wait for the answer."""
    return await _answer(replied)


@router.post("/{conversation}/reply/events", response_class=EventSourceResponse)
async def reply_events(desk: TheDesk, replied: Replied) -> AsyncIterator[ServerSentEvent]:
    async for event in events_of(desk, replied.follow()):
        yield event


@router.get("/{conversation}/events", response_class=EventSourceResponse)
async def watch(
    desk: TheDesk, who: Who, found: Annotated[Conversation, Depends(about)]
) -> AsyncIterator[ServerSentEvent]:
    """Follow the question that is under way, from its first event on."""
    async for event in events_of(desk, desk.watch(who, found.id)):
        yield event


@router.post("/{conversation}/cancel")
def cancel(desk: TheDesk, who: Who, conversation: str) -> bool:
    """Cancel the question under way; whether there was one."""
    return desk.cancel(who, conversation)


@router.post("/{conversation}/remember", tags=["knowledge"])
def remember(desk: TheDesk, who: Who, conversation: str, given: Heading) -> dict[str, Any]:
    """Make a process of the conversation, and try it. With a `clash` nothing is kept until it is decided."""
    return remembered_json(desk.remember(who, conversation, given.heading))


@router.post("/{conversation}/decide", tags=["knowledge"])
def decide(desk: TheDesk, who: Who, conversation: str, settled: Settlement) -> dict[str, Any]:
    return remembered_json(desk.decide(who, conversation, settled.decision, settled.heading))


async def _answer(running: Running) -> StoredAnswer:
    async for thing in running.follow():
        if isinstance(thing, StoredAnswer):
            return thing
    raise FinexpertError("the question ended without an answer")


async def events_of(desk: TheDesk, told: AsyncIterator[Told]) -> AsyncIterator[ServerSentEvent]:
    """What a question tells, as server-sent events."""
    try:
        async for thing in told:
            if isinstance(thing, Event):
                yield ServerSentEvent(event="progress", data=dataclasses.asdict(thing))
            else:
                yield ServerSentEvent(event="answer", data=thing.model_dump(mode="json"))
    except Exception as error:  # noqa: BLE001 - the reply has begun: an error is an event of it
        yield ServerSentEvent(event="error", data=error_json(error, desk.said(error)))
