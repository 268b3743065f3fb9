"""The single-call baseline over a filing; no plan, no check, the arithmetic is the model's."""

from __future__ import annotations

import math

import dspy

from finexpert.core.answers import Answer, AnswerFormat, Failure, Kind
from finexpert.core.workspace import Turn, Value, Workspace
from finexpert.errors import BudgetExceeded, OutputError
from finexpert.filings.page.filing import Filing
from finexpert.language_models.usage import Meter
from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.baselines.page import ReadAndAnswer


class PageInOneCall(dspy.Module):  # type: ignore[misc]
    """Page and question in, a number out; with `names` also a name, for questions that ask which company."""

    def __init__(self, *, names: bool = False) -> None:
        super().__init__()
        self.read = dspy.Predict(ReadAndAnswer)
        self._names = names

    def forward(self, *, question: str, source: Filing, workspace: Workspace, knowledge: str = "") -> dspy.Prediction:
        """Answer one turn; the prediction's `answer` is an `Answer`, and the turn is kept in `workspace`."""
        answer = Answer(question=question, status="failed")
        with Meter() as meter:
            try:
                read = ask(
                    self.read,
                    "single_call",
                    page=source.page_text(),
                    knowledge=knowledge or rules.NONE,
                    conversation=_conversation(workspace),
                    question=question,
                )
                answer.value = self._value(read.answer)
                kind: Kind = "text" if isinstance(answer.value, str) else "number"
                answer.status, answer.format = "answered", AnswerFormat(kind=kind)
            except (OutputError, BudgetExceeded) as error:
                answer.failure = Failure(layer="single_call", kind=getattr(error, "kind", "budget"), message=str(error))
        answer.usage = meter.usage()
        workspace.add_turn(Turn(question, None if answer.value is None else Value(answer.value)))
        return dspy.Prediction(answer=answer)

    def _value(self, text: str) -> float | str:
        try:
            return number_or_word(text)
        except OutputError:
            if not self._names or not text.strip():
                raise
            return text.strip()


def _conversation(workspace: Workspace) -> str:
    lines = [
        f"turn {number}: {turn.question} -> {'no answer' if turn.value is None else turn.value.value}"
        for number, turn in enumerate(workspace.turns, 1)
    ]
    return "\n".join(lines) or rules.NONE


def number_or_word(text: str) -> float | str:
    """The answer that a model wrote.

    >>> number_or_word("-1,234.5"), number_or_word("12.5%"), number_or_word("Yes")
    (-1234.5, 0.125, 'yes')
    >>> number_or_word("nan")
    Traceback (most recent call last):
        ...
    finexpert.errors.OutputError: the answer 'nan' is neither a number nor yes or no
    """
    word = text.strip().strip("`*.").lower()
    if word in ("yes", "no"):
        return word
    plain = word.replace(",", "").replace("$", "").strip()
    try:
        number = float(plain[:-1]) / 100 if plain.endswith("%") else float(plain)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise OutputError(f"the answer {text[:40]!r} is neither a number nor yes or no")
    return number
