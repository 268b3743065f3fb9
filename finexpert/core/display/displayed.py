"""What an answer can show of itself: in a notebook, as a DataFrame, as a file, as a chart.

answer                              # in a notebook: table, chart, citations, and SQL and script folded
answer.to_frame()
answer.to_csv("recessions.csv")
answer.figure.save("chart.png")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from finexpert.core.statuses import gives_value
from finexpert.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from finexpert.core.display.shown import Shown


@dataclass(frozen=True)
class Figure:
    """A chart as a PNG file; a notebook shows it."""

    png: bytes = field(repr=False)

    def save(self, path: Path | str) -> Path:
        """Write the file, readable by its owner only, and return its path."""
        from finexpert.storage.private_files import write_whole

        write_whole(Path(path), self.png)
        return Path(path)

    def _repr_png_(self) -> bytes:
        return self.png


def with_missing(table: pd.DataFrame, missing: Sequence[Any]) -> pd.DataFrame:
    """A table that leaves the program, with a column that says what it lacks where it lacks something."""
    if not missing:
        return table
    name = "missing"
    while name in table.columns:
        name = f"_{name}"
    return table.assign(**{name: "; ".join(each.text for each in missing)})


class Displayed:
    """The ways to show an answer. `Answer` is the only class that has them."""

    @property
    def _answer(self: Self) -> Shown:
        return cast("Shown", self)

    def to_frame(self) -> pd.DataFrame:
        """The answer as a DataFrame: its table, or one column `answer` with its value or values; a partial one also says in each row what it lacks.

        Raises DataError where there is no answer: an empty table would look like one.
        """
        import pandas as pd

        answer = self._answer
        if not gives_value(answer.status):
            raise DataError(f"there is no answer to put into a table: {answer.text}")
        if isinstance(answer.value, pd.DataFrame):
            table = answer.value.copy()
        else:
            table = pd.DataFrame({"answer": answer.value if isinstance(answer.value, list) else [answer.value]})
        return with_missing(table, answer.missing)

    def to_csv(self, path: Path | str | None = None) -> str | None:
        """The answer as CSV, written to a file if one is named, else as a text."""
        from finexpert.core.display import files

        if path is None:
            return files.csv_text(self.to_frame())
        files.write_csv(self.to_frame(), Path(path))
        return None

    def to_excel(self, path: Path | str) -> None:
        """Write the answer as an .xlsx file. Needs the extra `excel`."""
        from finexpert.core.display import files

        files.write_excel(self.to_frame(), Path(path))

    @property
    def figure(self) -> Figure | None:
        """The chart of the answer, the first if there are several; None without one."""
        return Figure(self._answer.figures[0]) if self._answer.figures else None

    def _repr_html_(self) -> str:
        from finexpert.core.display import html

        return html.of_answer(self._answer)

    def _repr_markdown_(self) -> str:
        from finexpert.core.display import markdown

        return markdown.of_answer(self._answer)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython shows in a terminal, which has no HTML."""
        from finexpert.core.display import plain

        printer.text("Answer(...)" if cycle else plain.of_answer(self._answer))
