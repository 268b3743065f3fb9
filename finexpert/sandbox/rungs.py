"""Which boundary this machine offers: the ladder, and what each rung needs.

    >>> RUNGS
    ('bwrap+landlock+seccomp', 'landlock+seccomp')

The first rung that works is taken. There is no rung without the operating system: then nothing is executed.
"""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
import sys
from typing import Any

from finexpert.errors import ConfigurationError, SandboxUnavailable
from finexpert.sandbox import landlock, launch, seccomp

WITH_BWRAP = "bwrap+landlock+seccomp"
WITHOUT_BWRAP = "landlock+seccomp"
RUNGS = (WITH_BWRAP, WITHOUT_BWRAP)
_PROBE_SECONDS = 30
_CACHE = "/cache"


def bwrap_program() -> str | None:
    """The bwrap on the path, if there is one."""
    return shutil.which("bwrap")


@functools.cache
def _bwrap_problem(program: str) -> str | None:
    """Why bwrap cannot be used; None if it can. Runs the interpreter once in the very namespace of a worker."""
    probe = [*launch.bubblewrap(program, _CACHE), *launch.python("-c", "pass")]
    user = launch.user()
    try:
        done = subprocess.run(
            probe,
            env=launch.environment(_CACHE),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"{program} cannot be run: {error}"
    if done.returncode == 0:
        return None
    words = done.stderr.decode(errors="replace").strip().splitlines()
    return f"{program} fails with exit status {done.returncode}: {words[-1] if words else 'no message'}"


def _core_problem() -> str | None:
    """Why Landlock and seccomp cannot be used; None if they can."""
    if not sys.platform.startswith("linux"):
        return f"the system is {sys.platform}, not Linux"
    if not seccomp.supported():
        return f"the processor is {platform.machine()}; x86_64 and aarch64 are known"
    if landlock.version() < 1:
        return f"the kernel {platform.release()} has no Landlock (5.13 or newer, and not switched off by a container)"
    return None


def _bwrap_state() -> str | None:
    program = bwrap_program()
    return "bwrap is not installed" if program is None else _bwrap_problem(program)


def available_rung() -> str:
    """The strongest rung that works here, found by a cheap probe.

    Raises SandboxUnavailable if there is none.
    """
    problem = _core_problem()
    if problem:
        raise SandboxUnavailable(
            f"no script can be run: {problem}. Questions that SQL alone answers still work; see `finexpert doctor`"
        )
    return WITHOUT_BWRAP if _bwrap_state() else WITH_BWRAP


def chosen_rung(name: str | None) -> str:
    """The rung of that name if it works here; the strongest for None.

    Raises SandboxUnavailable if it does not work, ConfigurationError if there is no such rung.
    """
    strongest = available_rung()
    if name is None or name == strongest:
        return strongest
    if name not in RUNGS:
        raise ConfigurationError(f"there is no sandbox rung {name!r}; choose one of {', '.join(RUNGS)}")
    if name == WITH_BWRAP:
        raise SandboxUnavailable(f"the sandbox rung {name} does not work here: {_bwrap_state()}; install bubblewrap")
    return name


def describe() -> dict[str, Any]:
    """What stands for and against each rung, for `finexpert doctor`."""
    problem = _core_problem()
    root = os.geteuid() == 0
    nobody = root and launch.user() == launch.NOBODY
    return {
        "rung": None if problem else available_rung(),
        "problem": problem,
        "landlock": landlock.version() if sys.platform.startswith("linux") else 0,
        "seccomp": seccomp.supported(),
        "bwrap": bwrap_program(),
        "bwrap_problem": None if problem else _bwrap_state(),
        "user": "nobody" if nobody else "root without capabilities" if root else "the same user",
    }


def not_covered(rung: str) -> list[str]:
    """What a rung does not promise, in words for people.

    >>> len(not_covered(WITHOUT_BWRAP)) - len(not_covered(WITH_BWRAP))
    1
    """
    always = [
        "faults of the kernel in the system calls that a script may make",
        "what time and load of the machine say to other processes",
        "what an answer itself says about the frames that it was computed from",
    ]
    return always if rung == WITH_BWRAP else ["whether a file exists, and how large it is", *always]
