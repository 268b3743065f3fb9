"""A report is run: what needs no model is computed again, the rest is asked as a batch, and all is compared with the run before.

made = run(read(file), file, source, settings=settings)
made.sections[0].text, made.sections[0].change         "3.8 percent", "was 3.9 percent in the run of 2024-03-05"
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from finexpert.answers.records import Record
from finexpert.batch.answer_rows import NOT_ASKED, AnswerRow
from finexpert.batch.ask_all import Told, rows_of
from finexpert.batch.reports.earlier import Kept, Runs, again
from finexpert.batch.reports.reading import Asked, Report
from finexpert.batch.surroundings import Shared, data_mark, program_mark, surroundings
from finexpert.core.display import chart_file, table_chart
from finexpert.core.display.parts import Code
from finexpert.core.statuses import gives_value
from finexpert.errors import RecordError

_AGAIN = "Computed again without a model"
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)T00:00:00(?:\.000)?Z?")


@dataclass(frozen=True)
class Section:
    """One question of a report and what came of it; `charts` are PNG files."""

    name: str
    question: str
    row: AnswerRow
    how: str
    change: str
    table: pd.DataFrame | None
    charts: Sequence[bytes]
    code: Sequence[Code]

    @property
    def answered(self) -> bool:
        return self.row.status == "answered"

    @property
    def gives_value(self) -> bool:
        return gives_value(self.row.status)


@dataclass(frozen=True)
class Made:
    """A report with its answers."""

    title: str
    parameters: Mapping[str, str]
    source: str
    label: str
    at: dt.datetime
    as_of: dt.date
    sections: Sequence[Section]

    @property
    def answered(self) -> int:
        return sum(section.answered for section in self.sections)


def run(
    report: Report,
    file: Path,
    source: Any,
    *,
    anew: bool = False,
    clarify: bool = True,
    threads: int = 4,
    on_progress: Callable[[Told], None] = lambda told: None,
    **opened: Any,
) -> Made:
    """Answer every question of a report; with `anew` a model is asked for each. `opened` is what `surroundings` takes.

    Raises what `ask_all` raises, and StoreError where the earlier runs cannot be read.
    """
    with surroundings(source, threads=threads, **opened) as shared:
        settings = shared["settings"]
        place = settings.home / "reports" / f"{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:16]}.json"
        runs, same = Runs.load(place), program_mark(shared, clarify)
        before = [runs.before(each.place) for each in report.asked]
        rows = {} if anew else _without_model(report.asked, runs, same, shared)
        rest = {each.question.key: each.question for each in report.asked if each.question.key not in rows}
        free = set(rows)
        if rest:
            questions = list(rest.values())
            with rows_of(shared, questions, threads=threads, clarify=clarify, on_progress=on_progress) as found:
                rows |= dict(zip(rest, found, strict=True))
                _keep(report, rows, runs, (same, data_mark(shared)), place)
        else:
            _keep(report, rows, runs, (same, data_mark(shared)), place)
        sections = [
            _section(each, rows[each.question.key], each.question.key in free, then, shared)
            for each, then in zip(report.asked, before, strict=True)
        ]
        of = shared["source"]
        now, day = dt.datetime.now().astimezone(), settings.as_of or dt.date.today()
        return Made(report.title, report.parameters, of.name, getattr(of, "label", None) or "", now, day, sections)


def _without_model(asked: Sequence[Asked], runs: Runs, same: str, shared: Shared) -> dict[str, AnswerRow]:
    rows = {}
    for each in asked:
        known = runs.answers.get(each.question.key)
        if known is not None and known.mark == same and (row := again(known, each.question, shared)) is not None:
            rows[each.question.key] = row
    return rows


def _keep(
    report: Report, rows: Mapping[str, AnswerRow], runs: Runs, marks: tuple[str, str | None], place: Path
) -> None:
    """Keep this run, with the marks of program and data. What was not asked leaves what was there before."""
    for each in report.asked:
        key, row = each.question.key, rows[each.question.key]
        if row.status != NOT_ASKED:
            runs.answers.pop(key, None)
            mark, data = marks
            runs.answers[key] = Kept(question=each.question.question, mark=mark, data=data, on=dt.date.today(), row=row)
            runs.last[each.place] = key
    runs.save(place)


def _section(each: Asked, row: AnswerRow, free: bool, before: Kept | None, shared: Shared) -> Section:
    question, table = each.question.question, _table(row)
    charts = [Path(place).read_bytes() for place in row.figures if Path(place).is_file()]
    if not charts and table is not None and (drawn := table_chart.of(table)) is not None:
        charts = [chart_file.draw(drawn, "png", each.name or question)]
    code = _code(row, shared["settings"].home / "records")
    change = _change(row, question, before)
    return Section(each.name or question, question, row, _AGAIN if free else "", change, table, charts, code)


def _table(row: AnswerRow) -> pd.DataFrame | None:
    if row.kind != "table" or row.value is None:
        return None
    value = json.loads(row.value)
    return pd.DataFrame([[_day(cell) for cell in cells] for cells in value["data"]], columns=value["columns"])


def _day(cell: Any) -> Any:
    """A day as a day, where JSON has the text of its midnight.

    >>> _day("2024-03-01T00:00:00.000"), _day("2024-03-01 or so")
    (datetime.date(2024, 3, 1), '2024-03-01 or so')
    """
    found = _MIDNIGHT.fullmatch(cell) if isinstance(cell, str) else None
    return dt.date.fromisoformat(found[1]) if found else cell


def _code(row: AnswerRow, folder: Path) -> list[Code]:
    """The SELECTs and the script of an answer."""
    if row.record is None:
        return []
    try:
        record = Record.load(folder / f"{row.record}.json")
    except RecordError:
        return []
    code = [Code(f"SELECT of {frame.name}", "sql", frame.select) for frame in record.frames]
    return [*code, Code("Script", "python", record.script.code)] if record.script and record.script.code else code


def _change(row: AnswerRow, question: str, before: Kept | None) -> str:
    """What is another thing than in the run before, in words; empty where nothing is, or there was none."""
    if before is None:
        return ""
    then, when = (
        before.row,
        f"in the run of {before.on}" + ("" if before.question == question else f": {before.question}"),
    )
    if row.status != then.status or not gives_value(row.status):
        if row.status == then.status:
            return ""
        return f"was {_shown(then)} {when}" if gives_value(then.status) else f"there was no answer {when}"
    if (row.value, row.unit, row.kind) == (then.value, then.unit, then.kind):
        return ""
    by = ""
    if row.number is not None and then.number is not None and row.unit == then.unit:
        difference = _plain(abs(row.number - then.number)) + (f" {row.unit}" if row.unit else "")
        by = f", {'up' if row.number > then.number else 'down'} by {difference}"
    return f"was {_shown(then)} {when}{by}"


def _plain(number: float) -> str:
    """A difference with three digits that say something, or all of a whole number's.

    >>> _plain(2.0), _plain(0.00231), _plain(999.9), _plain(45678.9)
    ('2', '0.00231', '1,000', '45,679')
    """
    return f"{number:,.0f}" if number >= 100 or number.is_integer() else f"{number:.3g}"


def _shown(row: AnswerRow) -> str:
    table = _table(row)
    return f"another table, of {len(table):,} rows," if table is not None else str(row.text)
