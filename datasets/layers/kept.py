"""Examples of sql_extraction that people made of answers that were wrong, in one file at home.

keep(examples_file(settings.home), "20240930T101500-3f2a1c", query, "train")
finexpert compile sql_extraction --from-feedback --data trades.duckdb
"""

from __future__ import annotations

import json
from pathlib import Path

from finexpert.datasets.layers.records import OWN, Split
from finexpert.knowledge.verified.query import VerifiedQuery
from finexpert.storage.private_files import append_line, make_folder

LAYER = "sql_extraction"


def examples_file(home: Path) -> Path:
    return home / "examples.jsonl"


def keep(file: Path, id: str, query: VerifiedQuery, split: Split) -> None:
    """Append a question with its SELECT, over the user's own database; `id` is that of the answer that was wrong."""
    frame = {"name": query.frame, "columns": query.columns, "purpose": query.question, "select": query.sql}
    line = {"id": id, "split": split, "scenario": OWN, "question": query.question,
            "today": query.as_of.isoformat(), "frames": [frame]}  # fmt: skip
    make_folder(file.parent)
    append_line(file, json.dumps(line, ensure_ascii=False))
