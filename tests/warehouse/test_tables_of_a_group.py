"""Are the tables that a question needs among those that are shown of the 500 of a group of companies?

`group_tables.txt` holds the tables with their own columns, without comments and without declared keys, and in its first line columns that any may have
beside them: here each has 20. `group_questions.txt` holds 75 questions and the tables that each needs: of a third one, of the others those too by which they are joined.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from finexpert.embeddings.embedding import WordHashing
from finexpert.warehouse.schema import Column, TableSchema
from finexpert.warehouse.table_selection import TableIndex
from finexpert.warehouse.tables_shown import SHOWN

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def index() -> TableIndex:
    draw = random.Random(3)
    tables = []
    loaded, *lines = (HERE / "group_tables.txt").read_text().splitlines()
    for line in lines:
        name, _, columns = line.partition(": ")
        own = columns.split(", ")
        names = [*own, *draw.sample(loaded.split(", "), 20 - len(own))]
        tables.append(TableSchema(name, "", tuple(Column(column, "VARCHAR") for column in names)))
    assert len(tables) == 500
    return TableIndex(tables, WordHashing())


def test_what_a_question_needs_is_shown(index: TableIndex) -> None:
    found, wanted, whole = 0, 0, {True: [0, 0], False: [0, 0]}
    for line in (HERE / "group_questions.txt").read_text().splitlines():
        question, _, names = line.partition(" | ")
        needed = set(names.split(", "))
        there = needed & set(index.select(question, SHOWN))
        found, wanted = found + len(there), wanted + len(needed)
        alone = whole[len(needed) == 1]
        alone[0], alone[1] = alone[0] + (there == needed), alone[1] + 1
    print(
        f"{found} of {wanted} tables; all for {whole[True][0]} of {whole[True][1]} questions of one table and {whole[False][0]} of {whole[False][1]} others"
    )
    assert found / wanted >= 0.93
