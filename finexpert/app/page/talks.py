"""Pages of conversations: ask, follow a question under way, reply, cancel, find, rename, delete.

A question goes on when the page is closed. Whoever opens the conversation again hears its progress from the first event on.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, Response, StreamingResponse

from finexpert.answers.sources.sources import ALL
from finexpert.app.actions.asking import Wish
from finexpert.app.page import progress
from finexpert.app.page.examples import examples_for, examples_of_all
from finexpert.app.page.page import Page, Route, go_to, grouped, piece
from finexpert.app.page.templating import render
from finexpert.app.page.turns import AskedOf
from finexpert.app.people.people import Person
from finexpert.app.state.stored import StoredAnswer
from finexpert.core.progress import Event
from finexpert.errors import FinexpertError, NotFound, Refused
from finexpert.language_models.recordings.recorded import RECORDED

log = logging.getLogger(__name__)

Text = Annotated[str, Form()]
_LOOK_AGAIN_SECONDS = 1.0


class Talks(Page):
    """Home, and a page a conversation."""

    @classmethod
    def routes(cls) -> Sequence[Route]:
        return (
            ("GET", "/", cls.home),
            ("GET", "/examples", cls.examples),
            ("POST", "/ask", cls.ask_first),
            ("GET", "/conversations", cls.find),
            ("GET", "/c/{id}", cls.show),
            ("POST", "/c/{id}/ask", cls.ask_on),
            ("GET", "/c/{id}/events/{answer}", cls.events),
            ("POST", "/c/{id}/cancel", cls.cancel),
            ("POST", "/c/{id}/reply/{answer}", cls.reply),
            ("GET", "/c/{id}/settings", cls.settings),
            ("POST", "/c/{id}/rename", cls.rename),
            ("POST", "/c/{id}/delete", cls.delete),
        )

    def home(self, request: Request, source: str = "") -> HTMLResponse:
        """A new question, with examples for the source."""
        person = self.person_of(request)
        choices = [(each.id, each.name) for each in self.desk.sources(person)]
        choices += [(ALL, "All sources")] if len(choices) > 1 else []
        wanted = source or self._asked_last(person)
        chosen = next((each for each in choices if each[0] == wanted), choices[0] if choices else None)
        recorded = self.desk.settings.lm == RECORDED
        given: dict[str, Any] = {
            "choices": choices,
            "chosen": chosen,
            "talk": None,
            "recorded": recorded,
            "as_of": self._as_of(),
        }
        return self.whole(request, "home.html", **given)

    def _asked_last(self, person: Person) -> str:
        """The source of the person's last conversation, so that a new question goes on with it."""
        last = next(iter(self.desk.conversations(person)), None)
        return "" if last is None else ALL if "," in last.source else last.source

    def _as_of(self, given: str = "") -> dict[str, str]:
        """The day of the last question, where one was chosen, and the day that counts where none is."""
        usual = self.desk.settings.as_of
        return {"given": given, "usual": usual.isoformat() if usual else ""}

    def examples(self, request: Request, source: str) -> HTMLResponse:
        """What a source invites to ask, and what is said of its numbers; why, where it cannot be opened now."""
        person = self.person_of(request)
        try:
            schemas = [self.desk.schema(person, id) for id in self.desk.ids_meant(person, source)]
        except FinexpertError as error:
            return piece("examples.html", label="", examples=[], problem=self.desk.said(error))
        labels = dict.fromkeys(schema.source.label for schema in schemas if schema.source.label)
        found = examples_of_all([examples_for(schema) for schema in schemas])
        return piece("examples.html", label=" ".join(labels), examples=found, problem="")

    def ask_first(
        self,
        request: Request,
        question: Text,
        source: Text,
        also: Annotated[list[str] | None, Form()] = None,
        as_of: Text = "",
    ) -> Response:
        """Ask the first question of a new conversation; `also` are further sources, asked together with the first."""
        person = self.person_of(request)
        talk = self.desk.create(person, ",".join([source, *(also or ())]))
        try:
            self.desk.start(person, talk.id, Wish(question, as_of=_day(as_of)))
        except FinexpertError:
            # Nothing was asked in it, and nobody would know what it is.
            self.desk.delete(person, talk.id)
            raise
        return go_to(request, f"/c/{talk.id}")

    def find(self, request: Request, search: str = "", open: str = "") -> HTMLResponse:
        """The list of the side bar, of conversations that hold the words."""
        groups = grouped(self.desk.conversations(self.person_of(request), search))
        return piece("talks.html", groups=groups, open_talk=open, search=search)

    def show(self, request: Request, id: str) -> HTMLResponse:
        person = self.person_of(request)
        talk = self.desk.about(person, id)
        answers = self.desk.conversation(person, id)
        asked_of = AskedOf.by(self.desk, person, talk)
        turns = [self.turns.given(person, each, last=each is answers[-1], asked_of=asked_of) for each in answers]
        last = answers[-1] if answers else None
        given = str(last.as_of or "") if last is not None and last.as_of_given else ""
        return self.whole(
            request,
            "conversation.html",
            open_talk=id,
            talk=talk,
            turns=turns,
            source_name=asked_of.name,
            as_of=self._as_of(given),
        )

    def ask_on(self, request: Request, id: str, question: Text, as_of: Text = "") -> HTMLResponse:
        person = self.person_of(request)
        self.desk.start(person, id, Wish(question, as_of=_day(as_of)))
        return self._begun(person, id)

    def _begun(self, person: Person, talk: str) -> HTMLResponse:
        """The question that is under way now. What was asked back before it loses its form, which nobody answers any more."""
        *before, last = self.desk.conversation(person, talk)
        html = render("turn.html", **self.turns.given(person, last, last=True))
        if before and before[-1].status == "needs_clarification":
            html += render("turn.html", **self.turns.given(person, before[-1]), instead=True)
        return HTMLResponse(html)

    async def events(self, request: Request, id: str, answer: str) -> StreamingResponse:
        """Server-sent events: `progress` with the stages so far, `done` with the finished turn."""
        person = self.person_of(request)
        asked = await asyncio.to_thread(self.desk.answer, person, answer)
        if asked.conversation != id:
            raise NotFound(f"there is no answer {answer[:80]!r}")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._told(person, id, answer), media_type="text/event-stream", headers=headers)

    async def _told(self, person: Person, id: str, answer: str) -> AsyncIterator[str]:
        events: list[Event] = []
        try:
            # What it ended with is kept with the question, and shown below.
            with suppress(FinexpertError, OSError, ValueError):
                async for thing in self.desk.watch(person, id):
                    if isinstance(thing, Event):
                        events.append(thing)
                        yield _message("progress", render("stages.html", stages=progress.of(events)))
            ended = await self._finished(person, answer)
        except Exception as error:  # noqa: BLE001 - without `done` the browser opens the stream again, for ever
            ended = render("unshown.html", id=answer, problem=self._why(answer, error))
        yield _message("done", ended)

    def _why(self, answer: str, error: Exception) -> str:
        """Why a turn is not shown, for a person; what no error of ours says is for the log alone."""
        if isinstance(error, FinexpertError):
            return self.desk.said(error)
        log.error("the turn %s cannot be shown", answer, exc_info=error)
        return "The answer could not be shown. Nothing of it is lost: reload the page."

    async def _finished(self, person: Person, answer: str) -> str:
        """The turn as it ended; a question that another server answers is looked at again and again."""
        while True:
            stored: StoredAnswer = await asyncio.to_thread(self.desk.answer, person, answer)
            if stored.state != "running":
                given = await asyncio.to_thread(self.turns.given, person, stored, last=True)
                return render("turn.html", **given)
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    def cancel(self, request: Request, id: str) -> Response:
        self.desk.cancel(self.person_of(request), id)
        return Response(status_code=204)

    def reply(
        self, request: Request, id: str, answer: str, meaning: Text = "", chosen: Text = "", skip: Text = ""
    ) -> HTMLResponse:
        """The reply to a question back: what was clicked, else what was written, else nothing."""
        person = self.person_of(request)
        asked = self.desk.answer(person, answer)
        if asked.clarification is None or asked.conversation != id:
            raise NotFound(f"nothing was asked back by {answer[:80]!r}")
        said = "" if skip else chosen or meaning
        self.desk.start_reply(person, id, asked.clarification, said)
        return self._begun(person, id)

    def settings(self, request: Request, id: str) -> HTMLResponse:
        return piece("talk_settings.html", talk=self.desk.about(self.person_of(request), id))

    def rename(self, request: Request, id: str, name: Text) -> Response:
        self.desk.rename(self.person_of(request), id, name)
        return Response(status_code=204, headers={"HX-Refresh": "true"})

    def delete(self, request: Request, id: str) -> Response:
        self.desk.delete(self.person_of(request), id)
        return go_to(request, "/")


def _day(text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text) if text.strip() else None
    except ValueError:
        raise Refused(f"{text[:40]!r} is no day: it is written as 2024-01-31") from None


def _message(event: str, html: str) -> str:
    """One server-sent event.

    >>> _message("done", "<p>\\n</p>")
    'event: done\\ndata: <p>\\ndata: </p>\\n\\n'
    """
    lines = html.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return f"event: {event}\n" + "".join(f"data: {line}\n" for line in lines) + "\n"
