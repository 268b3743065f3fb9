"""What the card of an answer shows, in the words and the form of a person.

of(answer).number, of(answer).unit        "1,964.00", "million USD"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from finexpert.app.state.stored import StoredAnswer
from finexpert.core.answers import Citation, show
from finexpert.core.display.parts import cost

_WORDY = 60
_NO_ANSWER = {"failed": "There is no answer.", "not_found": "These data do not hold the answer."}


@dataclass(frozen=True)
class Step:
    """A step of a plan: what is done, and with what."""

    what: str
    about: str


@dataclass(frozen=True)
class Shown:
    """`pages` are the citations that name a page, and `cited` all where one stands in a filing, each with its number from 1."""

    number: str
    unit: str
    reason: str
    steps: list[Step]
    pages: list[tuple[int, Citation]]
    cited: list[tuple[int, Citation]]
    cost: str
    selects: set[str]

    @property
    def wordy(self) -> bool:
        """Whether it is set as a text and not as a number."""
        return len(self.number) > _WORDY or "\n" in self.number


def of(answer: StoredAnswer) -> Shown:
    numbered = list(enumerate(answer.citations, 1))
    selects = {select.sql for select in answer.selects}
    return Shown(
        number=_without_unit(answer),
        unit="" if isinstance(answer.value, str) and answer.sentences else answer.format.unit or "",
        reason=_reason(answer),
        steps=list(_steps(answer.plan)),
        pages=[(number, citation) for number, citation in numbered if citation.page],
        cited=numbered if not selects or any(citation.page for citation in answer.citations) else [],
        cost=cost(answer.usage),
        selects=selects,
    )


def _without_unit(answer: StoredAnswer) -> str:
    """The answer as shown, without its unit and the marks of its citations; nothing where its sentences say it all."""
    if answer.sentences:
        return (
            "" if isinstance(answer.value, str) else show(answer.value, answer.format.model_copy(update={"unit": None}))
        )
    text = answer.text
    for number, citation in reversed(list(enumerate(answer.citations, 1))):
        if citation.page:
            text = text.removesuffix(f" [{number}]")
    unit = answer.format.unit
    return text.removesuffix(f" {unit}") if unit else text


def _reason(answer: StoredAnswer) -> str:
    if answer.status == "answered":
        return ""
    if answer.status == "partial":
        return "Answered in part."
    if answer.status == "noted":
        return "Noted." if answer.explanation else "Understood. Nothing was asked."
    said = answer.failure.message if answer.failure else answer.error
    opening = _NO_ANSWER.get(answer.status or "", "There is no answer.")
    return f"{opening} {said[:1].upper()}{said[1:]}".strip()


def _steps(plan: Mapping[str, Any] | None) -> Iterator[Step]:
    """The steps of a plan, as a record holds it."""
    for step in (plan or {}).get("steps", []):
        kind = step.get("kind", "")
        if kind == "extract":
            yield Step(f"Extract {step['frame']}", step.get("purpose") or "")
        elif kind == "script":
            yield Step("Script", step.get("task") or "")
        elif kind == "cell":
            yield Step("Read a cell", f"{step['row']} / {step['column']}")
        elif kind == "quote":
            yield Step("Quote", f"{step['value']} in “{step['quote']}”")
        elif kind == "compute":
            yield Step(str(step["operation"]).capitalize(), ", ".join(map(_argument, step["arguments"])))
        elif kind == "search":
            about = " ".join(str(part) for part in (step.get("company"), step.get("year")) if part)
            yield Step("Search", step["question"] + (f" ({about})" if about else ""))
        elif kind == "lookup":
            yield Step("Look up", step["select"])


def _argument(argument: object) -> str:
    return f"{argument:g}" if isinstance(argument, float) else str(argument)
