"""Streams over one stream: whole, in pieces, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.isolation.containers import packets
from finexpert.isolation.wire import WireError

_PACKETS = st.lists(
    st.tuples(st.sampled_from([packets.INPUT, packets.OUTPUT, packets.PRINTED]), st.binary(max_size=99))
)


@given(sent=_PACKETS, size=st.integers(min_value=1, max_value=40))
def test_packets_arrive_as_sent_however_they_are_cut(sent: list[tuple[bytes, bytes]], size: int) -> None:
    line = b"".join(packets.pack(kind, data) for kind, data in sent)
    reader = packets.Reader()
    got = [packet for place in range(0, len(line), size) for packet in reader.feed(line[place : place + size])]
    assert [tuple(packet) for packet in got] == sent


@pytest.mark.parametrize("line", [b"Error: no such image\n", b"O\xff\xff\xff\xff", b"x\0\0\0\0"])
def test_what_is_no_packet_is_refused(line: bytes) -> None:
    with pytest.raises(WireError, match="no packet"):
        packets.Reader().feed(line)
