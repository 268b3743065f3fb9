"""Runs a script inside a locked worker and describes what came of it.

    >>> report, blobs = run({"code": "answer = 1 + 1", "kind": "integer", "policy": True, "limits": {}}, {})
    >>> report["status"], report["answer"], report["unmet"]
    ('done', ['int', '2'], [])

The report is what the parent gets to see, and the parent does not believe it: everything is checked again there. That
this runs in a worker and nowhere else is `worker.py`'s part.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import math
import random
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scipy.stats

from finexpert.isolation.limits import Limits
from finexpert.sandbox.axes import shorten
from finexpert.sandbox.looked_for import Watch, watched
from finexpert.sandbox.policy import refusals
from finexpert.sandbox.tables import NotSendable, encode_result
from finexpert.sandbox.values import encode

NAME = "<script>"
PREDEFINED = ("pd", "np", "plt", "dt", "math", "stats")
_MESSAGE_CHARS = 2000
# str() of a KeyError quotes a whole pandas sentence as if it were the key.
_SENTENCES = ("not in index", "not found in axis", "are in the [", "not in the columns")

Report = dict[str, Any]


def _message(error: BaseException) -> str:
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        sentence = error.args[0]
        if any(part in sentence for part in _SENTENCES):
            return sentence
    if isinstance(error, SyntaxError):
        return error.msg or ""
    return str(error)


def _line(error: BaseException) -> int | None:
    if isinstance(error, SyntaxError):
        return error.lineno
    line, trace = None, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _failure(error: BaseException) -> Report:
    try:
        message = _message(error)[:_MESSAGE_CHARS]
    except BaseException:  # noqa: BLE001  the script's own class may define __str__
        message = ""
    name = type(error).__name__
    return {"status": "error", "type": name, "message": message, "line": _line(error)}


def _figures(limits: Limits) -> list[bytes]:
    numbers = plt.get_fignums()
    if len(numbers) > limits.figures:
        raise NotSendable(f"at most {limits.figures} figures are returned; draw fewer, or close the others")
    pixels, size = limits.figure_pixels, limits.figure_bytes
    images = []
    for number in numbers:
        figure = plt.figure(number)
        if max(figure.get_size_inches()) * figure.dpi > pixels:
            raise NotSendable(f"a figure is larger than {pixels} pixels; use a smaller figsize or dpi")
        sink = io.BytesIO()
        shorten(figure)
        figure.savefig(sink, format="png")
        images.append(sink.getvalue())
        if len(images[-1]) > size:
            raise NotSendable(f"a figure has more than {size} bytes; use a smaller figsize or dpi")
    return images


def _day(value: Any) -> str:
    return str(value.date()) if isinstance(value, dt.datetime) else str(value)


def _period(value: Any) -> str | None:
    """The period in words; None for whatever else a script may have called `period`."""
    if isinstance(value, tuple | list) and len(value) == 2:
        return f"{_day(value[0])} to {_day(value[1])}"[:200]
    if isinstance(value, str | int | dt.date | pd.Period):
        return _day(value)[:200]
    return None


def _table(answer: Any, limits: Limits) -> bytes | None:
    if isinstance(answer, pd.Series):
        answer = answer.reset_index()
    if not isinstance(answer, pd.DataFrame):
        return None
    return encode_result(
        answer,
        rows=limits.rows,
        columns=limits.columns,
        cells=limits.cells,
        text=limits.text_bytes,
        size=limits.result_bytes,
    )


def _check_size(encoded: list[Any], limits: Limits) -> None:
    text, size = limits.text_bytes, limits.json_bytes
    items = encoded[1] if encoded[0] == "list" else [encoded]
    if any(isinstance(item[1], str) and len(item[1].encode()) > text for item in items):
        raise NotSendable(f"a text of the answer is too large; at most {text} bytes are returned")
    if len(json.dumps(encoded)) > size:
        raise NotSendable(f"the answer is too large; at most {size} bytes are returned")


def _result(namespace: Mapping[str, Any], request: Mapping[str, Any]) -> tuple[Report, list[bytes]]:
    if "answer" not in namespace:
        return {"status": "unset"}, []
    answer, limits = namespace["answer"], Limits(**request["limits"])
    table = _table(answer, limits) if request["kind"] == "table" else None
    encoded = ["table", ""] if table is not None else encode(answer, as_list=request["kind"] == "list")
    images = _figures(limits)
    report = {"status": "done", "answer": encoded, "period": _period(namespace.get("period"))}
    _check_size(encoded, limits)
    return report, images if table is None else [table, *images]


def run(request: Mapping[str, Any], frames: Mapping[str, pd.DataFrame]) -> tuple[Report, list[bytes]]:
    """Run the script over the frames; the report and the blobs (the table first, then the figures)."""
    names = (pd, np, plt, dt, math, scipy.stats)
    namespace = {"__name__": "__main__", **dict(zip(PREDEFINED, names, strict=True)), **frames}
    try:
        code = request["code"]
        if request["policy"] and refusals(code):
            return {"status": "refused"}, []
        # An unseeded sample gives the same answer when the record is run again.
        random.seed(0)
        np.random.seed(0)
        tree, found = watched(code)
        watch = Watch(frames, found)
        namespace |= watch.names
        exec(compile(tree, NAME, "exec"), namespace)  # noqa: S102  inside the locked worker
        report, blobs = _result(namespace, request)
        return report | {"unmet": watch.unmet()}, blobs
    except NotSendable as error:
        return {"status": "limit", "message": str(error)}, []
    except BaseException as error:  # noqa: BLE001  whatever a script raises, SystemExit too, is its result
        return _failure(error), []
