"""What a container must be like, looked at from inside; and which build of the sandbox's files this is.

    >>> "outside" in " ".join(gaps(os.__file__))
    True

An engine may ignore a flag, or be a script that does nothing: what was asked for is proved here before a script is read.
Limits of memory and processes of the engine are not looked at: the worker sets its own.
"""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path

_words = str.split

# The files that a container holds, by their places in this package.
INSIDE = (
    *(f"isolation/{name}.py" for name in _words("landlock launch limits lockdown seccomp watchdog wire")),
    *(f"isolation/containers/{name}.py" for name in _words("packets relay surroundings")),
    *(f"sandbox/{name}.py" for name in _words("policy script tables values worker")),
)
HOME = Path(__file__).parents[2]


def _status() -> dict[str, str]:
    lines = Path("/proc/self/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _networks() -> list[str]:
    try:
        lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    except OSError:
        return []
    return [name for line in lines if (name := line.split(":")[0].strip()) != "lo"]


def gaps(outside: str) -> list[str]:
    """What a container lacks of what it must be; `outside` is a folder of the parent, which must not be seen here."""
    status = _status()
    found = []
    if os.path.lexists(outside):
        found.append("it sees the files outside")
    if not os.statvfs("/").f_flag & os.ST_RDONLY:
        found.append("its file system can be written")
    if _networks():
        found.append(f"it has a network ({_networks()[0]})")
    if os.geteuid() == 0:
        found.append("it runs as root")
    if int(status.get("CapBnd", "0"), 16) or int(status.get("CapEff", "0"), 16):
        found.append("it has capabilities")
    if status.get("NoNewPrivs") != "1":
        found.append("it may gain privileges")
    return found


@functools.cache
def build() -> str:
    """The fingerprint of what stands inside: an image of another build is not used.

    >>> len(build())
    16
    """
    digest = hashlib.sha256()
    for name in INSIDE:
        digest.update(name.encode() + b"\0" + (HOME / name).read_bytes() + b"\0")
    return digest.hexdigest()[:16]
