"""Frames, the values in them, and replies that are none."""

from __future__ import annotations

import datetime as dt
import json
import os
import socket
import struct
import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.core.answers import AnswerFormat
from finexpert.errors import SandboxFailure, ScriptError
from finexpert.isolation.conversation import Conversation, Overrun
from finexpert.isolation.handle import Reply
from finexpert.isolation.wire import FrameReader, WireError, pack
from finexpert.sandbox import Limits, values
from finexpert.sandbox.verdict import judge

_LIMITS = Limits(wall_seconds=2, json_bytes=10_000, result_bytes=10_000, figure_bytes=1000)
_ONE = {"status": "done", "answer": ["int", "1"], "period": None}
_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 10, 10) + bytes(20)


def _converse(sent: bytes, *, seconds: float = 2.0) -> Any:
    """What a parent makes of a child that sends these bytes and ends."""
    ours, theirs = socket.socketpair()
    output, printing = os.pipe()
    os.close(printing)

    def child() -> None:
        with theirs:
            theirs.settimeout(5)
            theirs.recv(100)
            theirs.sendall(sent)

    thread = threading.Thread(target=child)
    thread.start()
    try:
        with ours:
            return Conversation(ours, output, _LIMITS).run(b"request", time.monotonic() + seconds)
    finally:
        thread.join()
        os.close(output)


def _judge(sent: bytes, kind: Any = "number") -> Any:
    frame = _converse(sent)
    return judge(Reply(frame, 0, b"", 0.1), "answer = 1", [], AnswerFormat(kind=kind), _LIMITS)


def test_a_reply() -> None:
    assert _judge(pack(_ONE)).value == 1.0


def test_frames_come_in_any_pieces() -> None:
    data = pack({"a": 1}, [b"xy", b""]) + pack({"b": 2})
    reader = FrameReader(header_bytes=100, blob_bytes=10, blobs=2)
    frames = [frame for byte in data if (frame := reader.feed(bytes([byte])))]
    assert frames == [({"a": 1}, [b"xy", b""]), ({"b": 2}, [])]
    assert reader.pending == 0


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"GARBAGE!" * 10, "do not begin a frame"),
        (b"FXS1" + struct.pack("<I", 2**32 - 1), "above"),
        (pack(_ONE)[:-2], "cut off"),
        (pack(_ONE) * 2, "after the one frame"),
        (pack(_ONE) + b"more", "after the one frame"),
        (pack(_ONE, [b"x" * 20_000]), "above"),
        (pack(_ONE, [b"x"] * 10), "above"),
        (b"FXS1" + struct.pack("<I", 9000) + b"[" * 9000, "not JSON"),
        (b"FXS1" + struct.pack("<I", 2) + b"[]", "not a JSON object"),
        (b"FXS1" + struct.pack("<I", 13) + b'{"blobs":[-1]', "not JSON"),
        (b"FXS1" + struct.pack("<I", 14) + b'{"blobs":[-1]}', "no lengths"),
        (b"FXS1" + struct.pack("<I", 9) + b'{"x":NaN}', "NaN"),
        (b"FXS1" + struct.pack("<I", 13) + b'{"x":1,"x":2}', "twice"),
    ],
)
def test_what_is_no_frame(sent: bytes, why: str) -> None:
    with pytest.raises(WireError, match=why):
        _converse(sent)


def test_a_child_that_says_nothing() -> None:
    assert _converse(b"") is None


def test_a_child_that_is_late() -> None:
    ours, theirs = socket.socketpair()
    output, printing = os.pipe()
    with ours, theirs, pytest.raises(Overrun, match="ran longer"):
        Conversation(ours, output, _LIMITS).run(b"request", time.monotonic() + 0.1)
    os.close(output)
    os.close(printing)


@pytest.mark.parametrize(
    ("report", "blobs"),
    [
        ({"status": "done", "answer": ["table", ""]}, [b"nothing"]),
        ({"status": "done", "answer": ["table", ""]}, []),
        ({"status": "done", "answer": ["int", "1"]}, [b"GIF89a"]),
        ({"status": "done", "answer": ["int", "1"]}, [_PNG + bytes(2000)]),
        ({"status": "done", "answer": ["int", "1"]}, [_PNG] * 9),
        ({"status": "done", "answer": ["pickle", "gASVCw=="]}, []),
        ({"status": "done", "answer": ["int", 1]}, []),
        ({"status": "done", "answer": ["int", "9" * 5000]}, []),
        ({"status": "done", "answer": ["date", "yesterday"]}, []),
        ({"status": "done", "answer": ["list", [["list", []]]]}, []),
        ({"status": "done", "answer": ["list", "abc"]}, []),
        ({"status": "done", "answer": None}, []),
        ({"status": "done"}, []),
        ({"status": "refused"}, []),
        ({"status": "error", "type": 1, "message": "", "line": None}, []),
        ({"status": "great"}, []),
        ({"hello": "locked", "denied": []}, []),
    ],
)
def test_replies_that_are_thrown_away(report: dict[str, Any], blobs: list[bytes]) -> None:
    with pytest.raises(SandboxFailure):
        _judge(pack(report, blobs))


def test_a_forged_type_name_is_not_said() -> None:
    with pytest.raises(ScriptError) as caught:
        _judge(pack({"status": "done", "answer": ["other", "Ottokar"]}))
    assert "Ottokar" not in str(caught.value)


def test_an_unusable_period_is_none() -> None:
    for period in (7, "x" * 300, "a\x1b[31m", " "):
        assert _judge(pack({**_ONE, "period": period})).period is None
    assert _judge(pack({**_ONE, "period": "2008"})).period == "2008"


_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**17), 10**17), st.floats(allow_nan=False), st.dates(), st.text()
)


@given(st.one_of(_SCALARS, st.lists(_SCALARS, max_size=5)))
def test_values_survive_the_way(value: Any) -> None:
    there = json.loads(json.dumps(values.encode(value, as_list=isinstance(value, list))))
    back = values.decode(there)
    assert back == value
    assert type(back) is type(value)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_decoding_anything_else_fails_in_one_way(junk: Any) -> None:
    try:
        values.decode(junk)
    except values.NotAValue:
        return
    assert junk[0] in {"none", "bool", "text", "int", "float", "date", "datetime", "other", "list"}


def test_values_of_other_libraries() -> None:
    import decimal

    import numpy as np
    import pandas as pd

    assert values.encode(np.float64(1.5)) == ["float", "1.5"]
    assert values.encode(np.int64(3)) == ["int", "3"]
    assert values.encode(np.bool_(True)) == ["bool", True]
    assert values.encode(pd.Series([2.5])) == ["float", "2.5"]
    assert values.encode(pd.Series([1, 2])) == ["other", "Series"]
    assert values.encode(pd.Series([1]), as_list=True) == ["list", [["int", "1"]]]
    assert values.encode(np.array(["2020-01-01"], dtype="datetime64[D]"), as_list=True)[1] == [["date", "2020-01-01"]]
    assert values.encode(pd.Timestamp("2020-01-01 12:30")) == ["datetime", "2020-01-01T12:30:00"]
    assert values.encode(pd.Period("2020Q2")) == ["date", "2020-04-01"]
    assert values.encode(pd.NaT) == ["none", ""]
    assert values.encode(decimal.Decimal("0.1")) == ["float", "0.1"]
    assert values.encode({"a": 1}) == ["other", "dict"]
    assert values.decode(["datetime", "2020-01-01T12:30:00"]) == dt.datetime(2020, 1, 1, 12, 30)
