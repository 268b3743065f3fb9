"""Asking: a question is answered without a model where it was answered or verified before, else by the expert.

    session.ask("And what was the unemployment rate then?")
    for each in session.events("And in 2009?"):
        ...     # Event, Event, ..., Answer

One question of a conversation is under way at a time. Who cancels it has the conversation as it was before.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractContextManager, aclosing
from dataclasses import replace
from typing import TypedDict, Unpack

from finexpert import tracking
from finexpert.answers.earlier import Asked
from finexpert.answers.routing import route
from finexpert.answers.sources.sources import Sources
from finexpert.core import progress
from finexpert.core.answers import Answer, AnswerFormat
from finexpert.core.streams import astreamed, streamed
from finexpert.core.workspace import Turn
from finexpert.errors import Cancelled, Refused
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.knowledge import explaining
from finexpert.language_models.usage import Meter
from finexpert.modules.calling import using
from finexpert.modules.financial_expert import kind_of
from finexpert.modules.flow.verified_question import Conversing, answer_verified
from finexpert.session.listening import LISTENING, Heard, Listening
from finexpert.text.texts import whole
from finexpert.tracking import spans


class AskOptions(TypedDict, total=False):
    """What `Session.ask` takes beside the question."""

    answer_format: AnswerFormat | None
    knowledge: str
    clarify: bool
    someone_there: bool
    as_of: dt.date | None
    cached: bool | None
    learn: bool


class Asking(Listening):
    """Questions and their answers."""

    def ask(
        self,
        question: str,
        *,
        answer_format: AnswerFormat | None = None,
        knowledge: str = "",
        clarify: bool = False,
        someone_there: bool = False,
        as_of: dt.date | None = None,
        cached: bool | None = None,
        learn: bool = True,
    ) -> Answer:
        """Answer one question of the conversation; `answer_format` is decided from the question if not given.

        With `clarify`, a question with an unknown term, or one that cannot be read safely, gives an answer with status
        "needs_clarification": say what is meant with `explain` and ask again, or ask without `clarify` to have an
        answer that rests on an assumption and says so. A text that its column does not hold is asked back too, with the column's
        values: at once where `someone_there` can reply, else after the model has tried again.

        Where the budget of the answer or of the conversation ends (settings `budget_*`), what comes back is the best
        answer so far with a low confidence, or a failed one that names the setting to raise.

        What the question explains in passing stands in `offers` of the answer and is in use for it; `keep` keeps it, and so does the
        message "keep it". Without `learn` it is not listened to, and to ask on accepts no draft: where a text is no person's own.

        "What was that again?" gives the last answer. With the setting `cache_answers`, what was answered before is found
        and said to be so; `cached=False` has everything computed again.
        """
        if not question.strip():
            raise Refused("the question is empty: write it in words, such as 'When did the latest recession start?'")
        # A terminal hands over bytes that are no text as halves of characters.
        question = whole(question)
        with progress.watching() as watch, self._under_way.taken_by(watch), self._traced() as traced:
            self._as_of = as_of or self.settings.as_of or dt.date.today()
            self._as_of_given = (as_of or self.settings.as_of) is not None
            if cached is not False and self.workspace.turns and (wanted := route(question)):
                said = self._asked_again(as_of) if wanted == "again" else self._earlier.last()
                if said is not None:
                    traced.answer = said
                    return said
            self._learns = learn and self.settings.learn
            if self._keeps(question):
                traced.answer = self._kept_as_said(question)
                return traced.answer
            told = "\n".join(filter(None, [self.knowledge, knowledge]))
            options = self._options(clarify, someone_there)
            asked = Asked(question, self._as_of, answer_format, told, options, self._as_of_given)
            frames, earlier = dict(self.workspace.frames), [turn.question for turn in self.workspace.turns]
            key = self._earlier.key(asked, earlier)
            answer = None if cached is False else self._earlier.find(key, asked)
            if answer is None:
                answer = self._computed(asked)
                if not answer.offers:
                    self._earlier.keep(key, asked, earlier, answer)
            traced.answer = answer
            self._earlier.given(answer)
            if len(self.workspace.turns) > len(earlier):
                self.workspace.turns[-1] = replace(
                    self.workspace.turns[-1], as_of=self._as_of if self._as_of_given else None
                )
                self._before.append(frames)
            return answer

    def events(self, question: str, **options: Unpack[AskOptions]) -> Iterator[progress.Event | Answer]:
        """Answer a question as `ask` does, and yield what is done meanwhile; the last thing is the answer.

        Closing the generator cancels the question, and returns when nothing of it runs any more.
        """
        with self._under_way.taken_by(progress.Watch()) as watch:
            yield from streamed(lambda: self.ask(question, **options), watch)

    async def aevents(self, question: str, **options: Unpack[AskOptions]) -> AsyncGenerator[progress.Event | Answer]:
        """As `events`, for a coroutine. Cancelling its task cancels the question."""
        with self._under_way.taken_by(progress.Watch()) as watch:
            async with aclosing(astreamed(lambda: self.ask(question, **options), watch)) as events:
                async for each in events:
                    yield each

    async def aask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """As `ask`, for a coroutine. Cancelling its task cancels the question."""
        async with aclosing(self.aevents(question, **options)) as events:
            async for each in events:
                if isinstance(each, Answer):
                    return each
        raise AssertionError("unreachable")

    def cancel(self) -> None:
        """End the question under way, from any thread: who asked it gets Cancelled. Without one nothing happens.

        A SELECT is interrupted and a script killed. The conversation is as it was before the question, and goes on.
        """
        self._under_way.cancel()

    def undo(self) -> bool:
        """Take the last turn back, with the frames that it fetched; False if there is none."""
        if not self.workspace.turns:
            return False
        self.workspace.turns.pop()
        self._proving = []
        if self._before:
            self.workspace.frames = self._before.pop()
        return True

    def _computed(self, asked: Asked) -> Answer:
        frames = dict(self.workspace.frames)
        try:
            return self._answered(asked)
        except Cancelled:
            self.workspace.frames = frames
            raise

    def _answered(self, asked: Asked) -> Answer:
        with using(self.models), self._conversation.counting(), self._budget(), Meter() as meter:
            heard = self._heard(asked.question)
            if heard.offers and not heard.wants_answer:
                answer = Answer(question=asked.question, status="noted", offers=heard.offers)
                # The next question may mean what was explained and not name it: "how many of them?"
                self.workspace.add_turn(Turn(question=asked.question, explained=True))
            else:
                answer = self._planned(asked, heard)
            usage = meter.usage()
        if LISTENING in usage.by_layer:
            answer.usage = usage.model_copy(update={"stages": answer.usage.stages})
        answer.flags += heard.notes
        is_answered = answer.status == "answered"
        self._proving = [draft.id for draft in self._drafts() if is_answered and draft.term in answer.meanings]
        self._in_use, self._offers = answer.offers if is_answered else [], answer.offers
        return answer

    def _planned(self, asked: Asked, heard: Heard) -> Answer:
        """The answer to a question, with what its message explained in use."""
        offered = [explaining.offered(offer) for offer in heard.offers]
        verified, notes = (None, []) if offered else self._by_verified_query(asked)
        if verified is None:
            answer: Answer = self.expert(
                question=asked.question,
                source=self.source,
                sandbox=self.sandbox,
                workspace=self.workspace,
                answer_format=asked.answer_format,
                as_of=asked.as_of if self._as_of_given else None,
                knowledge=asked.knowledge,
                taught=self._seen(offered),
                declined=self.declined,
                chosen=self.chosen,
                options=asked.options,
            ).answer
            answer.flags += notes
            answer.offers = heard.offers
            return answer
        return verified

    def _by_verified_query(self, asked: Asked) -> tuple[Answer | None, list[str]]:
        """The answer of the question's verified query; else None, and why one in its words is not used."""
        taught = self._seen()
        if isinstance(self.source, Filing | Library) or taught is None or self.sandbox is None:
            return None, []
        # What is said beside the question, and the one call that is measured, are no part of a verified query.
        if not self.settings.verified or asked.knowledge or asked.options.mode.has("single_call"):
            return None, []
        several = self.source.warehouses if isinstance(self.source, Sources) else {"": self.source}
        notes: list[str] = []
        for name, source in several.items():
            about = Conversing(self.expert, source, self.sandbox, self.workspace, taught, asked.options)
            day = (asked.as_of, self._as_of_given)
            found, said = answer_verified(asked.question, asked.answer_format, about, day)
            if found is not None:
                found.sources = [name] if name else []
                return found, []
            notes += said
        return None, notes

    def _asked_again(self, as_of: dt.date | None) -> Answer:
        """The last question asked anew, in the place of its turn, which comes back if that fails; of its day, if none is given."""
        turn, frames = self.workspace.turns[-1], self.workspace.frames
        self.undo()
        before = dict(self.workspace.frames)
        try:
            day = as_of or turn.as_of
            return self.ask(turn.question, answer_format=turn.answer_format, as_of=day, cached=False)
        except BaseException:
            self.workspace.turns.append(turn)
            self.workspace.frames = frames
            self._before.append(before)
            raise

    def _traced(self) -> AbstractContextManager[spans.Told]:
        """Spans of the question where the settings want them."""
        where = self.settings.trace
        dialect = kind_of(self.source) if isinstance(self.source, Filing | Library | Sources) else self.source.dialect
        return spans.traced(where, self.settings.mode, dialect, lambda: tracking.address(self.settings))
