"""Addresses that nobody may be led to, in every form in which they are written."""

from __future__ import annotations

import pytest

from finexpert.core import hosts

KEYS = ("169.254.169.254", "fe80::1", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "0.0.0.0")  # fmt: skip


@pytest.mark.parametrize("text", KEYS)
def test_where_a_cloud_hands_out_keys(text: str) -> None:
    (number,) = hosts.resolved("any", lambda host: [text])
    assert hosts.hands_out_keys(number)
    assert not hosts.is_public(number)


@pytest.mark.parametrize(
    "text", ["10.1.2.3", "192.168.0.1", "127.0.0.1", "::1", "fd12::1", "100.64.0.1", "::ffff:10.0.0.1"]
)
def test_what_only_this_network_reaches_is_not_public(text: str) -> None:
    (number,) = hosts.resolved("any", lambda host: [text])
    assert not hosts.is_public(number)
    assert not hosts.hands_out_keys(number)


def test_numbers_are_read_as_the_system_reads_them() -> None:
    assert {str(number) for number in hosts.resolved("2130706433")} == {"127.0.0.1"}
