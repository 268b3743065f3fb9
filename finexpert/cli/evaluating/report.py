"""An evaluation as data, and what it came to: a table with lines below it, the same for MLflow and as JSON.

report.rows[0][1]                 Cell(value=0.93, text="28/30"): the frame holds the value, the terminal the text
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    import pandas as pd

    from finexpert.datasets.evaluations.evaluation import Share
    from finexpert.datasets.evaluations.journal import Journal
    from finexpert.datasets.evaluations.mode_comparison import Way
    from finexpert.settings import Settings

R = TypeVar("R", bound=BaseModel)


class Cell(NamedTuple):
    """A cell of a table: its value, and how it is shown."""

    value: Any
    text: str


def number(value: float | None, form: str) -> Cell:
    """A number, shown in this form; an empty cell where there is none.

    >>> number(1234.5, ",.0f"), number(None, ".2f")
    (Cell(value=1234.5, text='1,234'), Cell(value=None, text=''))
    """
    return Cell(value, "" if value is None else format(value, form))


def right(share: Share | None) -> Cell:
    """How many of how many."""
    return Cell(share.share, f"{share.right}/{share.n}") if share else Cell(None, "")


def interval(share: Share | None) -> Cell:
    """The 95 % interval of a share."""
    return Cell((share.low, share.high), f"{share.low:.0%}-{share.high:.0%}") if share else Cell(None, "")


class Logged(NamedTuple):
    """What one way of answering leaves in MLflow, as a run within that of the evaluation."""

    name: str
    params: Mapping[str, Any]
    metrics: Mapping[str, float | None]
    artifacts: Mapping[str, Any]


@dataclass(kw_only=True)
class Report:
    """What an evaluation came to; of several `ways` a comparison is told before the table."""

    head: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    left: int = 1
    notes: Sequence[str] = ()
    dim: Sequence[str] = ()
    runs: Sequence[Logged] = ()
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    artifacts: Mapping[str, Any] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)
    ways: Sequence[Way] = ()
    title: str = ""
    at_last: Sequence[str] = ()

    def frame(self) -> pd.DataFrame:
        """The table with values in place of texts; a name that several columns have is put behind that of the column before."""
        import pandas as pd

        names = [
            f"{self.columns[number - 1]} {name}" if self.columns.count(name) > 1 else name
            for number, name in enumerate(self.columns)
        ]
        return pd.DataFrame([[cell.value for cell in row] for row in self.rows], columns=names)


@dataclass(frozen=True, kw_only=True)
class Evaluation(Generic[R]):
    """One evaluation: how its questions are asked, and what is made of the results.

    `ask` asks what the journal does not hold already, and says each result; `mark` is the same where an interrupted run
    may go on. A result counts for `size` of the `total`.
    """

    name: str
    settings: Settings
    kind: type[R]
    mark: str
    params: Mapping[str, Any]
    total: int
    ask: Callable[[Journal[R], Callable[[R], None]], object]
    report: Callable[[list[R]], Report]
    size: Callable[[R], int] = lambda result: 1
    unit: str = "questions"
    answers: str = "answers"
    plot: Path | None = None


@dataclass(frozen=True)
class Several:
    """Evaluations of the same questions, such as one a model: each is told, and then all of them side by side."""

    name: str
    title: str
    evaluations: Sequence[Evaluation[Any]]
    plot: Path | None = None


@dataclass(frozen=True)
class Finished:
    """What a run left: its report, how much of it was measured, where MLflow has it, and the comparison of its ways."""

    report: Report
    measured: Mapping[str, Any]
    uri: str
    content: Mapping[str, Any]
    plot: Path | None = None


# None where all was told already, and no question is asked.
Asked = Evaluation[Any] | Several | None

# What opens an evaluation, by the name of its command, with the shared options that it takes and their own defaults.
EVALUATIONS: dict[str, tuple[Callable[..., Iterator[Asked]], frozenset[str], dict[str, Any]]] = {}
