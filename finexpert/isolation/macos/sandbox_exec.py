"""The rung of macOS: `sandbox-exec` with a profile that denies everything but reading the libraries.

    >>> [line for line in profile(["/opt/lib/python3.11"], "/opt/bin/python3.11").splitlines() if "process" in line]
    ['(deny process-fork)', '(allow process-exec (literal "/opt/bin/python3.11"))']

**Not run on a Mac.** The profile follows what is published of others'; a worker proves by the canaries of
`lockdown.py` that it denies what it must, and nothing is run if it does not. To fork after a Mac's libraries have started
threads is unsafe, so a worker runs one script and ends (`single_use.py`), and the next is started ahead.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from finexpert.isolation import launch

PROGRAM = "sandbox-exec"
_UNQUOTED = re.compile(r'[\\"\x00-\x1f]')
_SYSTEM = (
    "/usr/lib",
    "/System/Library",
    "/System/Volumes/Preboot/Cryptexes",
    "/usr/share/zoneinfo",
    "/private/var/db/timezone",
)
_FILES = ("/", "/dev/null", "/dev/random", "/dev/urandom")


def problem() -> str | None:
    """Why this rung cannot be used; None if it can."""
    if sys.platform != "darwin":
        return f"the system is {sys.platform}, not macOS"
    return None if shutil.which(PROGRAM) else f"{PROGRAM} is not on the path"


def _quoted(path: str) -> str:
    """A path in a profile.

    >>> _quoted('/opt/"x')
    Traceback (most recent call last):
        ...
    ValueError: the path '/opt/"x' cannot stand in a sandbox profile
    """
    if _UNQUOTED.search(path):
        raise ValueError(f"the path {path!r} cannot stand in a sandbox profile")
    return f'"{path}"'


def readable() -> list[str]:
    """Every path that a worker may read, beside the system's libraries."""
    standard = {sysconfig.get_path("stdlib"), str(Path(os.__file__).parent)}
    library = sysconfig.get_config_var("LIBDIR")
    # Of the folder with libpython the one file: it may hold anything else.
    shared = [str(file) for file in sorted(Path(library).glob("libpython3*.dylib"))] if library else []
    framework = sysconfig.get_config_var("PYTHONFRAMEWORKPREFIX")
    paths = [
        *sorted(standard),
        *launch.site_folders(),
        *launch.own_folders(),
        *shared,
        *([framework] if framework else []),
    ]
    return list(dict.fromkeys(os.path.realpath(path) for path in paths))


def profile(paths: Sequence[str], interpreter: str) -> str:
    """The profile in the language of sandbox-exec."""
    below = "".join(f"\n  (subpath {_quoted(path)})" for path in [*paths, *_SYSTEM])
    files = "".join(f"\n  (literal {_quoted(path)})" for path in [*_FILES, interpreter])
    return "\n".join(
        [
            "(version 1)",
            "(deny default)",
            "(deny network*)",
            "(deny process-fork)",
            "(deny file-write*)",
            f"(allow process-exec (literal {_quoted(interpreter)}))",
            "(allow file-read-metadata)",
            f"(allow file-read*{below}{files})",
            # Older systems do not know this operation and would refuse the whole profile.
            f"(if (defined? 'file-map-executable) (allow file-map-executable{below}{files}))",
            '(allow file-write-data (literal "/dev/null"))',
            "(allow sysctl-read)",
            "(allow signal (target self))",
        ]
    )


def command(arguments: Sequence[str], interpreter: str) -> list[str]:
    """The command line of a worker: its own, behind sandbox-exec."""
    return [shutil.which(PROGRAM) or PROGRAM, "-p", profile(readable(), interpreter), *arguments]
