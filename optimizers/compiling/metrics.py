"""How one example was done: a score from 0 to 1, and a sentence that says what to change.

    metric = dspy_metric(lambda gold, pred: Judged(0.4, "the frame debt has 12 rows too many"))
    metric(gold, pred)  ->  Prediction(score=0.4, feedback="the frame debt has 12 rows too many")

Scores come from running what was written, on numbers that the model did not see; how, says each layer's file beside
this one. A sentence names what happened, and never the right SELECT, script or value; of the holdout none is kept.
"""

from __future__ import annotations

import datetime as dt
import math
import numbers
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dspy
import pandas as pd

# A demonstration is taken from a trace only if all was right.
RIGHT = 0.999


class Judged(NamedTuple):
    """What one example came to."""

    score: float
    feedback: str


DONE = Judged(1.0, "all is right")


def dspy_metric(judge: Callable[[dspy.Example, dspy.Prediction], Judged]) -> Callable[..., dspy.Prediction]:
    """The metric for `dspy.Evaluate` and `dspy.GEPA`.

    Its predictions are true whatever their score: optimizers that collect traces get `plain_metric` and a threshold.
    """

    def metric(
        gold: dspy.Example,
        pred: dspy.Prediction,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> dspy.Prediction:
        verdict = judge(gold, pred)
        return dspy.Prediction(score=verdict.score, feedback=verdict.feedback)

    return metric


def plain_metric(judge: Callable[[dspy.Example, dspy.Prediction], Judged]) -> Callable[..., float]:
    """The score alone, as a number that is false where it is 0."""

    def metric(gold: dspy.Example, pred: dspy.Prediction, trace: Any = None) -> float:
        return judge(gold, pred).score

    return metric


def mean(verdicts: Sequence[Judged]) -> Judged:
    """The mean score, with the sentence of the worst.

    >>> mean([DONE, Judged(0.0, "the script fails")])
    Judged(score=0.5, feedback='the script fails')
    """
    worst = min(verdicts, key=lambda verdict: verdict.score)
    return Judged(math.fsum(verdict.score for verdict in verdicts) / len(verdicts), worst.feedback)


def frame_verdict(mine: pd.DataFrame, right: pd.DataFrame) -> Judged:
    """Whether a frame holds the same rows under the same names, in any order of rows and of columns.

    >>> right = pd.DataFrame({"year": [2020, 2021], "value": [1.0, 2.0]})
    >>> frame_verdict(right[::-1], right)
    Judged(score=1.0, feedback='all is right')
    >>> frame_verdict(right[:1], right)
    Judged(score=0.4, feedback='it returns 1 rows, and 2 are asked for')
    """
    names, wanted = ([str(name).casefold() for name in frame.columns] for frame in (mine, right))
    if sorted(names) != sorted(wanted):
        return Judged(0.2, f"it returns the columns {', '.join(names)}, and {', '.join(wanted)} are asked for")
    if len(mine) != len(right):
        return Judged(0.4, f"it returns {len(mine)} rows, and {len(right)} are asked for")
    if _rows(mine, [names.index(name) for name in wanted]) != _rows(right, range(len(wanted))):
        return Judged(0.4, "it returns as many rows as are asked for, with other values")
    return DONE


def _rows(frame: pd.DataFrame, places: Sequence[int] | range) -> Counter[tuple[str, ...]]:
    columns = [[_text(value) for value in frame.iloc[:, place]] for place in places]
    return Counter(zip(*columns, strict=True))


def _text(value: Any) -> str:
    """A value so that equal ones are the same text, whatever type the database gave them.

    >>> _text(2), _text(2.0), _text(pd.Timestamp("2020-01-01")), _text(dt.date(2020, 1, 1)), _text(None)
    ('2', '2', '2020-01-01', '2020-01-01', '')
    """
    if value is None or value is pd.NaT or value is pd.NA:
        return ""
    if isinstance(value, dt.datetime):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, numbers.Number):
        number = float(value)  # type: ignore[arg-type]
        # Sums in another order differ in the last digits.
        return "" if math.isnan(number) else f"{number:.7g}"
    return str(value)
