"""A report as files: HTML that needs nothing beside itself, and a workbook.

html(made)           one page; charts stand in it, every text is escaped, and nothing is loaded or run
workbook(made)       a sheet with all answers, and one for each table or chart
"""

from __future__ import annotations

import base64
from pathlib import Path

import pandas as pd

from finexpert.batch.reports.running import Made, Section
from finexpert.core.display.cells import is_number
from finexpert.core.display.columns import rows
from finexpert.core.display.files import workbook_bytes
from finexpert.core.display.templates import environment

MOST_ROWS = 24


def html(made: Made) -> str:
    """The report as a page."""
    template = environment(Path(__file__).parent).get_template("report.html")
    changed = sum(bool(section.change) for section in made.sections)
    return template.render(made=made, changed=changed, address=_address, rows=_rows, right=_right, most=MOST_ROWS)


def workbook(made: Made) -> bytes:
    """The report as an .xlsx file. ConfigurationError without the extra `excel`."""
    sheets = {"report": pd.DataFrame([_line(number, each) for number, each in enumerate(made.sections, 1)])}
    pictures = {}
    for number, section in enumerate(made.sections, 1):
        if section.table is not None or section.charts:
            alone = pd.DataFrame({"question": [section.question], "answer": [section.row.text]})
            sheets[f"answer {number}"] = alone if section.table is None else section.table
            pictures[f"answer {number}"] = section.charts
    return workbook_bytes(sheets, pictures)


def _line(number: int, section: Section) -> dict[str, object]:
    row = section.row
    answer = f"sheet 'answer {number}'" if section.table is not None else row.text
    return {
        "question": section.question, "status": row.status, "answer": answer, "number": row.number, "unit": row.unit,
        "period": row.period, "change since the last run": section.change, "confidence": row.confidence,
        "notes": "\n".join(row.flags), "citations": "\n".join(row.citations), "why there is no answer": row.reason,
        "how": section.how or "asked of a model", "model calls": row.calls, "record": row.record,
    }  # fmt: skip


def _address(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"


def _rows(table: pd.DataFrame) -> list[list[str]]:
    """The first and last rows as texts; the template says where rows are left out."""
    kept = table if len(table) <= MOST_ROWS else pd.concat([table.head(MOST_ROWS // 2), table.tail(MOST_ROWS // 2)])
    return rows(kept, table)


def _right(table: pd.DataFrame) -> list[bool]:
    return [is_number(kind) for kind in table.dtypes]
