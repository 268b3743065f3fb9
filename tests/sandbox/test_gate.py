"""What the parent lets through: every table and image here could have been sent by a hostile script."""

from __future__ import annotations

import random
import struct
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.ipc
import pytest

from finexpert.isolation.arrow import GateError
from finexpert.sandbox import Limits
from finexpert.sandbox.gate import image_size, table

_LIMITS = Limits(rows=1000, columns=10, cells=5000, text_bytes=100, result_bytes=1 << 20)


def _stream(data: pa.Table, *, compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, data.schema, options=options) as writer:
        writer.write_table(data)
    return bytes(sink.getvalue().to_pybytes())


def _broken(kind: Any, buffers: list[Any], length: int = 3) -> bytes:
    array = pa.Array.from_buffers(kind, length, buffers)
    return _stream(pa.Table.from_arrays([array], names=["a"]))


def test_plain_tables_come_through() -> None:
    frame = pd.DataFrame(
        {"n": [1, 2], "x": [0.5, None], "s": ["a", None], "t": [pd.Timestamp("2020-01-01"), pd.NaT], "b": [True, False]}
    )
    read = table(_stream(pa.Table.from_pandas(frame, preserve_index=False)), _LIMITS)
    pd.testing.assert_frame_equal(read, frame)


def test_metadata_are_dropped() -> None:
    field = pa.field("a", pa.int64(), metadata={b"note": b"x"})
    read = table(_stream(pa.table([pa.array([1])], schema=pa.schema([field], metadata={b"pandas": b"{}"}))), _LIMITS)
    assert list(read.columns) == ["a"]


_GADGET = {
    b"ARROW:extension:name": b"arrow.py_extension_type",
    b"ARROW:extension:metadata": b"cos\nsystem\n(S'true'\ntR.",
}
_OFFSETS = pa.py_buffer(struct.pack("<4i", 0, 1, 2**31 - 1, 3))
_BAD_INDEX = pa.DictionaryArray.from_arrays(pa.array([0, 9]), pa.array(["a"]), safe=False)
_NESTED = pa.array([[1], [2]])


@pytest.mark.parametrize(
    ("stream", "why"),
    [
        (_stream(pa.table({"a": pa.nulls(2 * 10**9)})), "too many rows"),
        (_stream(pa.table({"a": range(1001)})), "too many rows"),
        (_stream(pa.table({"a": [0.0] * 900}), compression="zstd"), "compressed"),
        (_stream(pa.table({str(n): [1] for n in range(11)})), "too many columns"),
        (_stream(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])), "one name"),
        (_stream(pa.table({"a": pa.nulls(3)})), "not returned"),
        (_stream(pa.table({"a": _NESTED})), "not returned"),
        (_stream(pa.table({"a": pa.array([b"x"])})), "not returned"),
        (_stream(pa.table({"a": pa.array(["x"]).dictionary_encode()})), "not returned"),
        (_stream(pa.table({"a": _BAD_INDEX})), "not returned"),
        (_stream(pa.table({"a": pa.array([{"k": 1}])})), "not returned"),
        (
            _stream(pa.table({"a": pa.RunEndEncodedArray.from_arrays([10**9], [1]).slice(0, 1)})),
            "not returned|too many rows",
        ),
        (
            _stream(pa.table([pa.array([1])], schema=pa.schema([pa.field("a", pa.int64(), metadata=_GADGET)]))),
            "not returned|cannot be read",
        ),
        (_broken(pa.string(), [None, _OFFSETS, pa.py_buffer(b"abc")]), "cannot be read"),
        (
            _broken(pa.string(), [None, pa.py_buffer(struct.pack("<4i", 0, 1, 2, 3)), pa.py_buffer(b"\xff\xfe\xfd")]),
            "read",
        ),
        (_stream(pa.table({"a": ["x" * 101]})), "endless text"),
        (_stream(pa.table({"a" * 2000: [1]})), "endless name"),
        (b"\x80\x04\x95\x0b", "cannot be read"),
        (b"", "cannot be read"),
        (b"x" * (2 << 20), "too many bytes"),
    ],
)
def test_hostile_tables(stream: bytes, why: str) -> None:
    with pytest.raises(GateError, match=why):
        table(stream, _LIMITS)


def test_mutations_are_refused_or_harmless() -> None:
    """A thousand damaged streams: each gives an error of the gate or a table within the limits."""
    stream = _stream(pa.table({"a": [1, 2, 3], "s": ["x", "yy", None], "d": [1.5, None, 2.5]}))
    generator = random.Random(4711)
    refused = 0
    for _ in range(1000):
        damaged = bytearray(stream)
        for _ in range(generator.randint(1, 4)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        try:
            read = table(bytes(damaged), _LIMITS)
        except GateError:
            refused += 1
        else:
            assert read.size <= 5000
    assert refused > 100


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (b"<svg onload='alert(1)'/>" * 4, "not a PNG"),
        (b"\x89PNG\r\n\x1a\n", "not a PNG"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 60000, 60000) + bytes(20), "too large"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 0, 10) + bytes(20), "too large"),
    ],
)
def test_hostile_images(image: bytes, why: str) -> None:
    with pytest.raises(GateError, match=why):
        image_size(image, 4096)
