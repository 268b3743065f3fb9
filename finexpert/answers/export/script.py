"""A record as a Python script for a reader: how the question was understood, the SELECTs, the computation, the answer.

    export(record, warehouse)  ->  "\"\"\"What was ...?\\n\\nAs of 2024-09-30. ..."

Its code is checked by `finexpert.answers.export.code`; `finexpert.answers.export.run` runs it shut in.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from finexpert.answers.export import allowed, columns, guard
from finexpert.answers.export import code as code_rules
from finexpert.answers.records import FrameRecord, Record
from finexpert.core.answers import show
from finexpert.core.syntax import parse
from finexpert.errors import RecordError
from finexpert.text.texts import unseen, visible
from finexpert.warehouse.warehouse import Warehouse


def export(record: Record, source: Warehouse) -> str:
    """The record as a Python script for a reader: how the question was understood, the SELECTs, the script, the answer."""
    code = record.code
    code_rules.check(code, [f.name for f in record.frames], [name for f in record.frames for name in f.columns])
    shown = show(record.decoded, record.answer_format)
    about = "\n\n".join(
        part
        for part in (
            record.question,
            record.explanation,
            f"As of {record.as_of}. Answer when it was recorded: {shown}",
            f"Note: {record.source.label}" if record.source.label else "",
        )
        if part
    )
    return _EXPORT.format(
        about=visible(about).replace("\\", "\\\\").replace('"""', "'''"),
        connect=source.python_source(record.as_of, declared_only=not record.as_of_given),
        frames=_frames_source(record.frames, source),
        kept=sorted({frame.name for frame in record.frames} | allowed.PREDEFINED.keys() | allowed.AROUND | {"random"}),
        guard=guard.SOURCE,
        column=columns.SOURCE,
        code=columns.as_columns(_in_sight(code, record.id)),
    )


def _frames_source(frames: Sequence[FrameRecord], source: Warehouse) -> str:
    """The lines that give the frames again, in one assignment: one may be called as what reads the next is, as `series`."""
    names = ", ".join(frame.name for frame in frames)
    read = [_read_source(frame, source) for frame in frames]
    if len(read) > 1:
        return f"{names} = (\n" + "".join(f"{one},\n" for one in read) + ")"
    return "".join(f"{names} = {one}" for one in read)


def _read_source(frame: FrameRecord, source: Warehouse) -> str:
    """What gives a frame again; of one that was cut, the rows that there were."""
    code_rules.check_select(frame.select, source.dialect, source.columns())
    rows = f".head({frame.rows})" if frame.truncated else ""
    return f'query("""\n{_quoted(frame.select)}\n""").set_axis({frame.columns!r}, axis=1){rows}'


def _quoted(select: str) -> str:
    """A SELECT as it may stand between three quotation marks; what cannot be seen is written as Python writes it."""
    plain = select.replace("\\", "\\\\").replace('"""', '\\"' * 3)
    return "".join(char if unseen(char) is None else ascii(char)[1:-1] for char in plain)


def _in_sight(code: str, id: str) -> str:
    """The script without a character that cannot be seen: in its texts each is written out, comments go."""
    if unseen(code) is None:
        return code
    seen = ast.unparse(parse(code))
    if found := unseen(seen):
        raise RecordError(
            f"the script of {id} holds the character {found}, which cannot be seen: ask the question again"
        )
    return seen


_EXPORT = '''"""{about}
"""
# An answer of finexpert as a script, written by `finexpert export`. Its SELECTs and its computation were written by a language model.
# They were checked word by word: there is nothing here but the SELECTs, pandas, numpy, scipy and matplotlib. All the same, read a script
# before you run it; `finexpert run-export FILE` runs it shut in, without network, and with no file but its data.

from __future__ import annotations

import datetime as dt
import math
import random
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import scipy.optimize
import scipy.stats as stats

{connect}

# The data.
{frames}


{column}


{guard}


reach_again = shut_in()
# What reads the data is gone before the model's own lines run.
for _name in [name for name in globals() if name[:2] != "__" and name not in {kept}]:
    del globals()[_name]
del _name

# The computation.
random.seed(0)
np.random.seed(0)
{code}

print(answer)
reach_again()
'''
