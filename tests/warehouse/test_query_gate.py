"""What a process of SELECTs sends is trusted in nothing: broken messages, and rows that are not what they claim to be."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.errors import QueryError
from finexpert.isolation import wire
from finexpert.isolation.arrow import GateError
from finexpert.warehouse.isolated.gate import open_rows

TABLE = pa.table({"n": pa.array(range(100)), "t": pa.array(["x"] * 100)})
HEADER = {"names": ["n", "t"], "kinds": ["bigint", "varchar"], "truncated": False, "worn": False}


def stream(table: pa.Table = TABLE, compression: str | None = None) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def claiming(rows: int) -> pa.Buffer:
    """The stream with another number of rows in its metadata."""
    right, wrong = struct.pack("<q", 100), struct.pack("<q", rows)
    return pa.py_buffer(bytes(stream()).replace(right, wrong))


def test_an_honest_answer_passes() -> None:
    rows = open_rows(HEADER, stream(), row_cap=100)
    assert pa.Table.from_batches(rows.batches).equals(TABLE)
    assert (rows.names, rows.kinds, rows.truncated) == (["n", "t"], ["bigint", "varchar"], False)


WRONG: list[tuple[str, Callable[[], pa.Buffer], dict[str, object]]] = [
    ("too many rows", lambda: stream(pa.concat_tables([TABLE, TABLE])), {}),
    ("too many rows", lambda: claiming(2_000_000_000), {}),
    ("too many rows", lambda: claiming(-1), {}),
    ("a compressed body", lambda: stream(compression="lz4"), {}),
    ("a compressed body", lambda: stream(compression="zstd"), {}),
    ("columns of other types", lambda: stream(TABLE.set_column(1, "t", pa.array([[1]] * 100))), {}),
    ("columns of other types", lambda: stream(TABLE.set_column(1, "t", pa.array([b"x"] * 100))), {}),
    ("columns of other types", lambda: stream(TABLE.select(["n"])), {}),
    ("cannot be read", lambda: pa.py_buffer(b""), {}),
    ("cannot be read", lambda: stream().slice(0, 200), {}),
    ("without names and kinds", stream, {"names": ["n"]}),
    ("without names and kinds", stream, {"names": "nt"}),
    ("without names and kinds", stream, {"kinds": [1, 2]}),
]


@pytest.mark.parametrize(("said", "body", "changed"), WRONG)
def test_what_no_select_gives_is_refused(said: str, body: Callable[[], pa.Buffer], changed: dict[str, object]) -> None:
    with pytest.raises(GateError, match=said):
        open_rows({**HEADER, **changed}, body(), row_cap=100)


def test_a_text_that_is_none_is_refused() -> None:
    broken = bytes(stream()).replace(b"x" * 100, b"\xff" * 100)
    assert broken != bytes(stream())
    with pytest.raises(GateError, match="cannot be read"):
        open_rows(HEADER, pa.py_buffer(broken), row_cap=100)


@given(place=st.integers(0, len(bytes(stream())) - 1), value=st.integers(0, 255))
def test_any_changed_byte_gives_rows_or_an_error(place: int, value: int) -> None:
    changed = bytearray(bytes(stream()))
    changed[place] = value
    try:
        rows = open_rows(HEADER, pa.py_buffer(bytes(changed)), row_cap=100)
    except (GateError, QueryError):
        return
    assert sum(batch.num_rows for batch in rows.batches) <= 100


HEADERS = [b"[]", b"{]", b"{}", b'{"blobs": [-1]}', b'{"blobs": [], "x": NaN}', b'{"blobs": [], "x": 1, "x": 2}']
MESSAGES = [
    (b"XXXX" + bytes(12), wire.WireError),
    (struct.pack("<4sI", b"FXS1", wire.MAX_HEADER_BYTES + 1), wire.WireError),
    (wire.head({}, 1001), wire.WireError),
    (wire.head({}, 2, 3), wire.WireError),
    *((struct.pack("<4sI", b"FXS1", len(text)) + text, wire.WireError) for text in HEADERS),
    (struct.pack("<4sI", b"FXS1", 200) + b"{", EOFError),
    (b"FX", EOFError),
    (b"", EOFError),
]


@pytest.mark.parametrize(("message", "error"), MESSAGES)
def test_a_message_that_is_none_is_refused(message: bytes, error: type[Exception]) -> None:
    channel, other = socket.socketpair()
    with channel:
        with other:
            other.sendall(message)
        with pytest.raises(error):
            wire.receive(channel, time.monotonic() + 5, blob_bytes=1000)


def test_a_message_that_does_not_come_is_waited_for_until_the_deadline() -> None:
    channel, other = socket.socketpair()
    with channel, other:
        other.sendall(wire.head({"names": []}, 10) + b"12345")
        with pytest.raises(TimeoutError):
            wire.receive(channel, time.monotonic() + 0.05, blob_bytes=1000)
