"""Listening: what a message teaches, as offers that a person may agree to.

    Listening()(message="By slow money we mean M2 up by less than 2 percent. How often?", earlier=[], glossary=...)
    # Prediction(offers=[Offer(term="slow money", meaning="M2 up by less than 2 percent", ...)], wants_answer=True)

A message without a cue costs no call. What a model gives that the person did not write is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from finexpert.knowledge import cues, offering
from finexpert.knowledge.glossary import Glossary, Keyword
from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.learning.listening import HearLessons, Lesson

LAYER = "listening"

_NEAREST = 6
_EARLIER = 6


class Listening(dspy.Module):  # type: ignore[misc]
    """From a message to what it would have kept."""

    def __init__(self) -> None:
        super().__init__()
        self.hear = dspy.Predict(HearLessons)

    def forward(
        self, *, message: str, earlier: Sequence[str] = (), glossary: Glossary, asked: str = "", scope: str = ""
    ) -> dspy.Prediction:
        """A prediction with `offers` and `wants_answer`; raises OutputError for unusable text.

        `earlier` are messages of the same person before, `asked` is the term that this one is a reply about, and `scope` what a new
        entry would hold for.
        """
        if not cues.explains(message, bool(asked)):
            return dspy.Prediction(offers=[], wants_answer=True)
        known = _known(glossary, message)
        heard = ask(
            self.hear,
            LAYER,
            known="\n".join(f"{n}. {each.term}: {each.meaning}" for n, each in enumerate(known, 1)) or rules.NONE,
            conversation="\n".join(earlier[-_EARLIER:]) or rules.NONE,
            asked=asked or rules.NONE,
            message=message,
        )
        lessons: list[Lesson] = heard.lessons
        said = offering.Said(message, tuple(earlier[-_EARLIER:]), asked)
        offers = [
            offering.offer(
                said, known, glossary, scope, **lesson.model_dump(exclude={"known_as"}), number=lesson.known_as
            )
            for lesson in lessons
        ]
        distinct = {offer.term.casefold(): offer for offer in offers if offer is not None}
        return dspy.Prediction(offers=list(distinct.values()), wants_answer=heard.wants_answer)


def _known(glossary: Glossary, message: str) -> list[Keyword]:
    """What the message may be about: what it names, then conventions and what is nearest."""
    near = [] if glossary.empty else [keyword for keyword, _ in glossary.search([message], limit=_NEAREST)]
    found = [*glossary.named_in(message), *glossary.conventions(), *near]
    return list({keyword.id: keyword for keyword in found}.values())[: 2 * _NEAREST]
