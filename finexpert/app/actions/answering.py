"""Answering: what a thread of the desk does with a question, and the sessions that it does it with.

The answer is kept with all that a follow-up needs, whole or not at all, before anybody is told. What goes wrong is kept too, and the
conversation is free again.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import sqlalchemy as sa

from finexpert.answers import saved_session
from finexpert.app.actions.conversations import Conversations
from finexpert.app.metrics import Metrics
from finexpert.app.open_sessions import OpenSession, OpenSessions
from finexpert.app.people.people import Person
from finexpert.app.running import Running
from finexpert.app.state import tables
from finexpert.app.state.answers import body_of, table_of
from finexpert.app.state.naming import new_id, now
from finexpert.app.state.stored import StoredAnswer
from finexpert.core.answers import Answer, AnswerFormat, Clarification
from finexpert.core.progress import Watch, watching
from finexpert.core.workspace import Turn, Workspace
from finexpert.errors import Cancelled, FinexpertError, StoreError
from finexpert.filings.library.library import Library
from finexpert.session import Session
from finexpert.settings import Settings

log = logging.getLogger(__name__)

GIVEN_BACK = "the server ended before the answer was there: ask again"
_STATES = {True: "interrupted", False: "cancelled"}


@dataclass(frozen=True)
class Wish:
    """What a question is asked with."""

    question: str
    as_of: dt.date | None = None
    clarify: bool = True
    cached: bool | None = None
    knowledge: str = ""
    answer_format: AnswerFormat | None = None
    declined: tuple[str, ...] = ()
    chosen: tuple[tuple[str, str], ...] = ()
    replied: tuple[Clarification, str] | None = None  # to be listened to: it rambles
    learn: bool = True  # False: nobody speaks for themselves, as behind MCP


class Answering(Conversations):
    """Sessions, and the threads that answer in them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        options = self.options
        self.server = new_id()
        self.metrics = Metrics()
        self.sessions = OpenSessions(options.open_sessions, options.idle_minutes * 60)
        self._pool = ThreadPoolExecutor(options.questions_at_once, "finexpert-asking")
        self._running: dict[str, Running] = {}
        self._running_lock = threading.Lock()
        self._waiting: deque[Callable[[], None]] = deque()

    def delete(self, person: Person, conversation: str) -> None:
        super().delete(person, conversation)
        # Its frames are rows of the data, and nobody asks in it any more.
        self.sessions.forget(conversation)

    def _carried_out(self, running: Running, wish: Wish) -> None:
        opened: OpenSession | None = None
        try:
            if running.cancelled:
                raise Cancelled("the question was cancelled before it began; ask it again to have an answer")
            opened = self._session(running)
            answer, stored = self._answered(running, wish, opened)
            self.sessions.keep(running.conversation, opened)
            self._ended(running)
            self.metrics.answered(answer)
            running.tell(stored)
            running.end()
        except BaseException as error:  # noqa: BLE001 - whatever it is, who asked is told, and the conversation goes on
            if opened is not None:
                self.sessions.drop(opened)
            self._ended(running)
            told = error
            try:
                told = self._failed(running, error)
            finally:
                running.end(told)

    def _answered(self, running: Running, wish: Wish, opened: OpenSession) -> tuple[Answer, StoredAnswer]:
        session = opened.session
        session.declined.extend(wish.declined)
        session.chosen.update(wish.chosen)
        before = list(session.workspace.turns)
        with watching(Watch(running.tell)) as watch:
            running.stoppable(watch.cancel)
            if wish.replied is not None and session.explain(*wish.replied) is None:
                unclear, said = wish.replied
                wish = replace(wish, knowledge=f"Asked what {unclear.term!r} means, the user said: {said}")
            answer = session.ask(
                wish.question.strip(),
                answer_format=wish.answer_format,
                knowledge=wish.knowledge,
                clarify=wish.clarify,
                someone_there=wish.clarify,
                as_of=wish.as_of,
                cached=wish.cached,
                learn=wish.learn,
            )
        answer.flags += opened.notes
        opened.notes = []
        opened.turns, turn = _turns(opened.turns, before, session.workspace.turns, running.id)
        opened.revision += 1
        return answer, self._keep(running, wish, opened, answer, turn)

    def _keep(
        self, running: Running, wish: Wish, opened: OpenSession, answer: Answer, turn: Turn | None
    ) -> StoredAnswer:
        """Keep an answer with all that a follow-up needs, whole or not at all."""
        session, c = opened.session, tables.conversations.c
        rests_on = {name: opened.sources[name] for name in answer.sources}
        # "Compute it again" is of the day that was asked for before; the day of the settings nobody asked for.
        day_given = wish.as_of is not None or (turn is not None and turn.as_of not in (None, session.settings.as_of))
        body = body_of(answer) | {"as_of_given": day_given, "sources": rests_on}
        if body["as_of"] is None and wish.as_of is not None:
            body["as_of"] = wish.as_of.isoformat()
        record = json.loads(answer.record.sealed()) if answer.record is not None else None
        values = {"state": "finished", "ended": now(), "body": body, "table": table_of(answer), "record": record,
                  "turn": None if turn is None else saved_session.saved_turn(turn).model_dump(mode="json")}  # fmt: skip
        frames = [
            saved_session.saved_frame(frame).model_dump(mode="json") for frame in session.workspace.frames.values()
        ]
        with self.state.writing() as connection:
            connection.execute(tables.answers.update().where(tables.answers.c.id == running.id).values(values))
            for number, png in enumerate(answer.figures, 1):
                row = {"answer": running.id, "number": number, "png": png}
                connection.execute(tables.figures.insert().values(row))
            connection.execute(
                tables.conversations.update()
                .where(c.id == running.conversation, c.asking == running.id)
                .values(asking=None, changed=now(), revision=opened.revision, turns=opened.turns, frames=frames,
                        declined=session.declined, chosen=session.chosen, spent=session.spent)
            )  # fmt: skip
            self.log(connection, running.person, "answered", running.id, answer.status)
        return self.answer(running.person, running.id)

    def _failed(self, running: Running, error: BaseException) -> BaseException:
        """Keep that there is no answer; the error as who asked is told it."""
        if isinstance(error, Cancelled):
            state = _STATES[running.gives_back]
            message = GIVEN_BACK if running.gives_back else str(error)
        elif isinstance(error, FinexpertError | OSError | ValueError):
            state, message = "failed", self.said(error)
        else:
            log.exception("a question ended in an error of the program")
            state, message = "failed", f"an error of the program ({type(error).__name__}): the server's log says more"
            error = FinexpertError(message)
        self.metrics.failed("error" if state == "failed" else state)
        self._kept_later(partial(self._keep_end, running, state, message))
        return error

    def _keep_end(self, running: Running, state: str, message: str) -> None:
        c = tables.conversations.c
        with self.state.writing() as connection:
            values = {"state": state, "error": message, "ended": now()}
            connection.execute(tables.answers.update().where(tables.answers.c.id == running.id).values(values))
            connection.execute(
                tables.conversations.update()
                .where(c.id == running.conversation, c.asking == running.id)
                .values(asking=None, changed=now())
            )
            self.log(connection, running.person, state, running.id)

    def _kept_later(self, keep: Callable[[], None]) -> None:
        """Keep something now or, where the state is out of reach, when it is back."""
        try:
            keep()
        except StoreError:
            log.exception("the end of a question could not be kept: it is kept when the state is back")
            self._waiting.append(keep)

    def _keep_what_waits(self) -> None:
        """Keep what could not be kept; StoreError where the state is still out of reach."""
        while self._waiting:
            self._waiting[0]()
            self._waiting.popleft()

    def _ended(self, running: Running) -> None:
        with self._running_lock:
            if self._running.get(running.conversation) is running:
                del self._running[running.conversation]

    def _session(self, running: Running) -> OpenSession:
        """The session of a conversation, which is the caller's: the open one, or one made of what was kept."""
        person = running.person
        row = self._conversation(person, running.conversation)
        places = self._places(person, row["source"])
        key = ",".join(place.key for place in places.values())
        found = self.sessions.take(running.conversation, row["revision"], key)
        if found is not None:
            found.session.settings = self._settings_for(person)
            return found
        with ExitStack() as held:
            source = held.enter_context(self._opened_at(places))
            session = Session(
                source,
                expert=self.expert,
                settings=self._settings_for(person),
                models=self.models,
                sandbox=None if isinstance(source, Library) else self.sandbox,
                workspace=Workspace(),
                taught=self.taught(person.team),
            )
            notes = self._take_up(session, row)
            kept = held.pop_all()
        ids = {name: place.info.id for name, place in places.items()}
        return OpenSession(session, key, ids, row["revision"], list(row["turns"]), kept, notes)

    def _take_up(self, session: Session, row: sa.RowMapping) -> list[str]:
        """Put what was kept of a conversation into a new session; what is not as it was."""
        c = tables.answers.c
        kept = {
            each["id"]: each["turn"] for each in self.state.rows(sa.select(c.id, c.turn).where(c.id.in_(row["turns"])))
        }
        saved = saved_session.SavedSession(
            name="",
            saved_at=now(),
            source=session.source_name,
            turns=[saved_session.SavedTurn.model_validate(kept[id]) for id in row["turns"]],
            frames=[saved_session.SavedFrame.model_validate(frame) for frame in row["frames"]],
            declined=row["declined"],
            spent=row["spent"],
        )
        notes = session.take_up(saved)
        session.chosen = dict(row["chosen"])
        return notes

    def _settings_for(self, person: Person) -> Settings:
        # Answers given before are shared by everybody of a home; here rows may be seen by one person and not by another.
        # Who may not teach is offered nothing to keep.
        changes: dict[str, Any] = {"by": person.name, "learn": self.settings.learn and person.can("teach")}
        if not self.options.is_local:
            changes["cache_answers"] = False
        return self.settings.model_copy(update=changes)


def _turns(ids: list[str], before: list[Turn], after: list[Turn], id: str) -> tuple[list[str], Turn | None]:
    """The ids of the turns after a question, and the turn that it made: a new one, or in the place of the last."""
    if len(after) > len(before):
        return [*ids, id], after[-1]
    if after and before and after[-1] is not before[-1]:
        return [*ids[:-1], id], after[-1]
    return ids, None
