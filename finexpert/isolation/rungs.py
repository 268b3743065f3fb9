"""Which boundary this machine offers: the ladder, and what each rung needs.

    >>> RUNGS
    ('bwrap+landlock+seccomp', 'landlock+seccomp', 'container', 'sandbox-exec')

The first rung that works is taken, and kept for as long as the process lives: a bwrap that vanishes makes scripts fail, it does
not make the boundary weaker. There is no rung without the operating system: then nothing is executed.
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
from finexpert.isolation import landlock, launch, seccomp
from finexpert.isolation.containers import container
from finexpert.isolation.macos import sandbox_exec

WITH_BWRAP = "bwrap+landlock+seccomp"
WITHOUT_BWRAP = "landlock+seccomp"
IN_CONTAINER = "container"
ON_MACOS = "sandbox-exec"
RUNGS = (WITH_BWRAP, WITHOUT_BWRAP, IN_CONTAINER, ON_MACOS)
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


def problem(rung: str) -> str | None:
    """Why a rung cannot be used here; None if it can."""
    match rung:
        case "bwrap+landlock+seccomp":
            return _core_problem() or _bwrap_state()
        case "landlock+seccomp":
            return _core_problem()
        case "container":
            return container.state()
        case "sandbox-exec":
            return sandbox_exec.problem()
    raise ConfigurationError(f"there is no sandbox rung {rung!r}; choose one of {', '.join(RUNGS)}")


@functools.cache
def _pinned() -> str:
    """The strongest rung, looked for once."""
    reasons = {}
    for rung in RUNGS:
        why = problem(rung)
        if why is None:
            return rung
        reasons[rung] = why
    # Why bwrap cannot be used says nothing where its core cannot.
    words = "; ".join(f"{rung}: {why}" for rung, why in reasons.items() if rung != WITH_BWRAP)
    raise SandboxUnavailable(
        f"no script can be run ({words}). Questions that SQL alone answers still work; see `finexpert doctor`"
    )


def available_rung() -> str:
    """The strongest rung that works here, found by a cheap probe and pinned for the process.

    Raises SandboxUnavailable if there is none.
    """
    return _pinned()


def chosen_rung(name: str | None) -> str:
    """The rung of that name if it works here; the strongest for None.

    Raises SandboxUnavailable if it does not work, ConfigurationError if there is no such rung.
    """
    if name is None:
        return available_rung()
    why = problem(name)
    if why is not None:
        raise SandboxUnavailable(f"the sandbox rung {name} does not work here: {why}")
    return name


def describe() -> dict[str, Any]:
    """What stands for and against each rung, for `finexpert doctor`."""
    root = os.geteuid() == 0
    nobody = root and launch.user() == launch.NOBODY
    reasons = {rung: problem(rung) for rung in RUNGS}
    return {
        "rung": next((rung for rung, why in reasons.items() if why is None), None),
        "rungs": {rung: why or "works" for rung, why in reasons.items()},
        "landlock": landlock.version() if sys.platform.startswith("linux") else 0,
        "seccomp": seccomp.supported(),
        "bwrap": bwrap_program(),
        "engines": [engine.program for engine in container.engines()],
        "user": "nobody" if nobody else "root without capabilities" if root else "the same user",
    }


_ALWAYS = (
    "what time and load of the machine say to other processes",
    "what an answer itself says about the frames that it was computed from",
)
_KERNEL = "faults of the kernel in the system calls that a script may make"
_METADATA = "whether a file exists, and how large it is"
_NOT_COVERED: dict[str, tuple[str, ...]] = {
    WITH_BWRAP: (_KERNEL,),
    WITHOUT_BWRAP: (_METADATA, _KERNEL),
    IN_CONTAINER: (
        _KERNEL,
        "faults of the container engine, which runs as root in most installations",
        "what is held in memory is bounded by the engine, not watched from here",
    ),
    ON_MACOS: (
        _METADATA,
        "system calls that sandbox-exec lets through: there is no filter of system calls",
        "address space, which macOS does not limit: only what is held in memory is watched",
        "this rung was never run on a Mac by those who wrote it: its self-test decides",
    ),
}


def not_covered(rung: str) -> list[str]:
    """What a rung does not promise, in words for people.

    >>> [len(not_covered(rung)) for rung in RUNGS]
    [3, 4, 5, 6]
    """
    return [*_NOT_COVERED[rung], *_ALWAYS]
