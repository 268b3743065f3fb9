"""The program as a model of OpenAI's API: /v1/models and /v1/chat/completions, streaming or not.

    client = OpenAI(base_url="http://127.0.0.1:8400/v1", api_key="fx_...")
    client.chat.completions.create(model="finexpert", messages=[{"role": "user", "content": "..."}])

A client sends the whole chat each time. A chat that goes on is the same conversation here, so that a follow-up builds upon what was
computed; one whose earlier messages were changed, or that began elsewhere, is a new one, and its answer says so.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Any, Literal

import sqlalchemy as sa
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict
from starlette.concurrency import run_in_threadpool

from finexpert.answers.sources.sources import ALL
from finexpert.app.actions.asking import Wish
from finexpert.app.desk import Desk
from finexpert.app.guard import error_json
from finexpert.app.markdown import markdown
from finexpert.app.people.people import Person
from finexpert.app.rest import TheDesk, Who
from finexpert.app.running import Running, Told
from finexpert.app.shared import Shares
from finexpert.app.state import tables
from finexpert.app.state.stored import StoredAnswer
from finexpert.core.display.stages import words
from finexpert.core.progress import Event
from finexpert.errors import FinexpertError, NotFound, Refused

MODEL = "finexpert"
ELSEWHERE = "earlier messages of this chat were not asked here: only their questions are known"
_MOST_EARLIER = 8
_PAUSE_SECONDS = 15.0
_LONGEST_EARLIER = 500


class Message(BaseModel):
    model_config = ConfigDict(extra="ignore")

    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """The words of a message; Refused where it holds anything else."""
        if isinstance(self.content, list):
            if other := next((part for part in self.content if part.get("type") != "text"), None):
                raise Refused(f"a message may hold text, and this one holds {str(other.get('type'))[:40]!r}")
            return "\n".join(str(part.get("text", "")) for part in self.content)
        return self.content or ""


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class Chat(BaseModel):
    """What is asked. Temperature and the like mean nothing here; `as_of` is our own."""

    model_config = ConfigDict(extra="ignore")

    model: str = MODEL
    messages: list[Message]
    stream: bool = False
    stream_options: StreamOptions | None = None
    as_of: dt.date | None = None
    n: Literal[1] = 1


def mount(app: FastAPI, desk: Desk, shares: Shares) -> None:
    """Add the doors of OpenAI's API."""
    router = APIRouter(prefix="/v1", tags=["openai"])

    @router.get("/models")
    def models(desk: TheDesk, who: Who) -> dict[str, Any]:
        return {"object": "list", "data": [_model(name) for name in _models(desk, who)]}

    @router.get("/models/{model:path}")
    def model(desk: TheDesk, who: Who, model: str) -> dict[str, Any]:
        _source(desk, who, model)
        return _model(model)

    @router.post("/chat/completions", response_model=None)
    async def chat(request: Request, desk: TheDesk, who: Who, asked: Chat) -> JSONResponse | StreamingResponse:
        # Both read the state, and the other requests do not wait for it.
        thread = await run_in_threadpool(Thread, desk, who, asked)
        running = await run_in_threadpool(thread.start)
        reply = _Completion(desk, shares, who, asked, running, thread, desk.options.url or str(request.base_url))
        if asked.stream:
            return StreamingResponse(reply.chunks(), media_type="text/event-stream")
        return JSONResponse(await reply.whole())

    app.include_router(router)


def _models(desk: Desk, person: Person) -> list[str]:
    names = [source.name for source in desk.sources(person)]
    return [MODEL, *(f"{MODEL}/{name}" for name in [*names, *([ALL] if len(names) > 1 else [])])]


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "finexpert"}


def _source(desk: Desk, person: Person, model: str) -> str:
    """The ids of the sources that a model's name means: of the first one, or of those named behind the slash."""
    found = desk.sources(person)
    if model in (MODEL, f"{MODEL}/") and found:
        return found[0].id
    with suppress(NotFound):
        if model.startswith(f"{MODEL}/"):
            return desk.meant(person, model.removeprefix(f"{MODEL}/"))
    raise NotFound(f"there is no model {model[:120]!r}: /v1/models lists them")


class Thread:
    """Which conversation a chat goes on with."""

    def __init__(self, desk: Desk, person: Person, chat: Chat) -> None:
        self.desk, self.person, self.chat = desk, person, chat
        said = [message.text.strip() for message in chat.messages if message.role == "user"]
        if not said or not said[-1]:
            raise Refused("there is no question: the last message of the role 'user' is empty, or missing")
        *self.earlier, self.question = said
        self.source = _source(desk, person, chat.model)
        self.is_new = True

    def start(self) -> Running:
        """Put the last message under way: as a question, or as the reply to what was asked back."""
        conversation, last = self._known()
        if conversation is None:
            earlier = (each[:_LONGEST_EARLIER] for each in self.earlier[-_MOST_EARLIER:])
            told = f"Earlier in this conversation the user asked: {'; '.join(earlier)}" if self.earlier else ""
            wish = Wish(self.question, as_of=self.chat.as_of, knowledge=told)
            return self.desk.start_new(self.person, self.source, wish)
        self.is_new = False
        if last is not None and last.clarification is not None:
            numbered = {str(place): each for place, each in enumerate(last.clarification.candidates, 1)}
            meaning = numbered.get(self.question, self.question)
            return self.desk.start_reply(self.person, conversation, last.clarification.term, meaning)
        return self.desk.start(self.person, conversation, Wish(self.question, as_of=self.chat.as_of))

    def kept(self, answer: StoredAnswer) -> None:
        """Remember that the chat up to this answer is this conversation."""
        c, key = tables.threads.c, self._key([*self.earlier, self.question])
        row = {"key": key, "person": self.person.id, "conversation": answer.conversation, "revision": answer.number}
        with self.desk.state.writing() as connection:
            connection.execute(tables.threads.delete().where(c.key == key, c.person == self.person.id))
            connection.execute(tables.threads.insert().values(row))

    def _known(self) -> tuple[str | None, StoredAnswer | None]:
        """The conversation that the earlier messages made, if nothing was asked in it since."""
        if not self.earlier:
            return None, None
        c = tables.threads.c
        row = self.desk.state.row(
            sa.select(tables.threads).where(c.key == self._key(self.earlier), c.person == self.person.id)
        )
        if row is None:
            return None, None
        try:
            answers = self.desk.conversation(self.person, row["conversation"])
        except NotFound:
            return None, None
        if not answers or answers[-1].number != row["revision"]:
            return None, None
        return row["conversation"], answers[-1]

    def _key(self, said: list[str]) -> str:
        return hashlib.sha256(json.dumps([self.source, said]).encode()).hexdigest()


class _Completion:
    """What a question tells, in the form of OpenAI's API."""

    def __init__(
        self, desk: Desk, shares: Shares, person: Person, chat: Chat, running: Running, thread: Thread, base: str
    ) -> None:
        self._desk, self._shares, self._person, self._chat = desk, shares, person, chat
        self._running, self._thread, self._base = running, thread, base
        self._head = {"id": f"chatcmpl-{running.id}", "created": int(time.time()), "model": chat.model}

    async def whole(self) -> dict[str, Any]:
        async for thing in self._running.follow():
            if isinstance(thing, StoredAnswer):
                words = await self._words(thing)
                choice = {"index": 0, "message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
                return {**self._head, "object": "chat.completion", "choices": [choice], "usage": _usage(thing)}
        raise FinexpertError("the question ended without an answer")

    async def chunks(self) -> AsyncIterator[str]:
        """Progress as thoughts, then the answer. Who hangs up cancels the question: that is how such clients stop."""
        try:
            yield self._chunk({"role": "assistant", "content": ""})
            async for thing in _with_pauses(self._running.follow()):
                if thing is None:
                    yield ": a model is at work\n\n"
                    continue
                if isinstance(thing, Event):
                    if thing.state == "started":
                        yield self._chunk({"reasoning_content": f"{words(thing)} ...\n"})
                    continue
                for piece in _pieces(await self._words(thing)):
                    yield self._chunk({"content": piece})
                yield self._chunk({}, "stop")
                if self._chat.stream_options and self._chat.stream_options.include_usage:
                    yield self._data({"choices": [], "usage": _usage(thing)})
            yield "data: [DONE]\n\n"
        except Exception as error:  # noqa: BLE001 - the reply has begun: an error is a part of it
            yield f"data: {json.dumps(error_json(error, self._desk.said(error)))}\n\n"
        finally:
            if not self._running.done.is_set():
                self._running.cancel()

    async def _words(self, answer: StoredAnswer) -> str:
        await run_in_threadpool(self._thread.kept, answer)
        words = markdown(answer, self._link)
        return f"{words}\n\n> Note: {ELSEWHERE}" if self._thread.is_new and self._thread.earlier else words

    def _link(self, answer: StoredAnswer, what: str) -> str:
        if what == "record":
            return f"{self._base.rstrip('/')}/api/answers/{answer.id}/record"
        return self._shares.address(self._base, self._person, answer.id, what)

    def _chunk(self, delta: dict[str, Any], reason: str | None = None) -> str:
        return self._data({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    def _data(self, rest: dict[str, Any]) -> str:
        return f"data: {json.dumps({**self._head, 'object': 'chat.completion.chunk', **rest})}\n\n"


async def _with_pauses(told: AsyncGenerator[Told]) -> AsyncGenerator[Told | None]:
    """What is told, and None wherever nothing was for a while: a proxy ends a connection on which nothing is sent."""
    coming = asyncio.ensure_future(anext(told))
    try:
        while True:
            done, _ = await asyncio.wait({coming}, timeout=_PAUSE_SECONDS)
            if not done:
                yield None
                continue
            try:
                thing = coming.result()
            except StopAsyncIteration:
                return
            yield thing
            coming = asyncio.ensure_future(anext(told))
    finally:
        coming.cancel()
        await asyncio.wait({coming})
        await told.aclose()


def _pieces(words: str) -> list[str]:
    lines = words.splitlines(keepends=True)
    return ["".join(lines[start : start + 20]) for start in range(0, len(lines), 20)]


def _usage(answer: StoredAnswer) -> dict[str, int]:
    usage = answer.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
