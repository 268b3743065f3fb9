"""Which addresses of the network nobody may be led to.

    resolved("db.example.com")      ->   [IPv4Address('203.0.113.7')]
    hands_out_keys(number)          whether a cloud hands out keys there, or the address is none of one machine
    is_public(number)               whether anybody on the internet reaches it

A name may lead anywhere, and an address of the newer kind to one of the older.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable

Number = ipaddress.IPv4Address | ipaddress.IPv6Address
_TRANSLATED = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48")))
# The addresses at which clouds hand out keys: AWS, Alibaba, Azure, Oracle, Google.
_METADATA = frozenset(
    map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd20:ce::254"))
)


def looked_up(host: str) -> list[str]:
    """The addresses of a host as this machine finds them."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


def resolved(host: str, look_up: Callable[[str], Iterable[str]] = looked_up) -> list[Number]:
    """The addresses of a host; OSError, UnicodeError or ValueError where there is none.

    As the C library reads numbers: 2130706433 and 0x7f.1 are 127.0.0.1.
    """
    return [ipaddress.ip_address(text.partition("%")[0]) for text in look_up(host)]


def hands_out_keys(number: Number) -> bool:
    """Whether nobody may connect there: link-local addresses hold a cloud's keys.

    >>> hands_out_keys(ipaddress.ip_address("169.254.169.254")), hands_out_keys(ipaddress.ip_address("64:ff9b::a9fe:a9fe"))
    (True, True)
    >>> hands_out_keys(ipaddress.ip_address("10.0.0.1"))
    False
    """
    return any(
        each.is_link_local or each.is_multicast or each.is_unspecified or each in _METADATA for each in meant(number)
    )


def is_public(number: Number) -> bool:
    """Whether an address is one of the internet.

    >>> [is_public(ipaddress.ip_address(text)) for text in ("93.184.216.34", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1")]
    [True, False, False, False]
    """
    return all(each.is_global for each in meant(number)) and not hands_out_keys(number)


def meant(number: Number) -> list[Number]:
    """The address, and those of the older kind that a tunnel or a translator leads it to."""
    if isinstance(number, ipaddress.IPv4Address):
        return [number]
    inside = [number.ipv4_mapped, number.sixtofour, *(number.teredo or ())]
    if any(number in net for net in _TRANSLATED):
        inside.append(ipaddress.IPv4Address(int(number) & 0xFFFFFFFF))
    return [number, *(each for each in inside if each is not None)]
