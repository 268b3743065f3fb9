"""How a worker is started: which folders it may read, its environment, its user, its command line.

    >>> sorted(environment("/cache"))[:3]
    ['ARROW_DEFAULT_MEMORY_POOL', 'HOME', 'JE_ARROW_MALLOC_CONF']

Nothing of the parent's environment is passed on. Only the standard library, the packages, the C libraries and the time
zones can be read, one by one: an environment often lies in a project's folder, which must stay closed.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
import threading
import zoneinfo
from collections.abc import Mapping
from pathlib import Path

NOBODY = 65534
WORKER = Path(__file__).parents[1] / "sandbox" / "worker.py"
PACKAGES = ("numpy", "pandas", "pyarrow", "matplotlib", "scipy", "dateutil", "tzdata", "statsmodels", "sklearn")
# Without compiled bytecode of these a worker needs five seconds instead of one, at every start.
_BYTECODE = ("numpy/__init__.py", "pandas/core/frame.py", "scipy/stats/_stats_py.py", "matplotlib/pyplot.py")
_IMPORTS = "import pandas, pyarrow.ipc, scipy.stats, matplotlib.pyplot, matplotlib.backends.backend_agg"
_compiling = threading.Lock()


def interpreter() -> str:
    """The real interpreter, outside of any virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


@functools.cache
def site_folders() -> tuple[str, ...]:
    """The folders in which the packages that scripts use are installed."""
    found: dict[str, None] = {}
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin:
            found[str(Path(spec.origin).parent.parent)] = None
    return tuple(found)


def _library_folders() -> list[str]:
    """The folders of the C libraries: the usual ones, and those that this process has loaded some from."""
    machine = platform.machine()
    triplet = sysconfig.get_config_var("MULTIARCH") or f"{machine}-linux-gnu"
    usual = ["/lib64", "/usr/lib64", f"/lib/{triplet}", f"/usr/lib/{triplet}", f"/lib/ld-linux-{machine}.so.1"]
    return [path for path in usual if Path(path).exists()]


@functools.cache
def _shared_python() -> tuple[str, ...]:
    """The folder of libpython, if the interpreter is not linked statically."""
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        return ()
    return tuple(sorted({str(Path(match).parent) for match in re.findall(r"/\S*/libpython3[^/\s]*\.so\S*", maps)}))


def _own_library() -> list[str]:
    """libpython itself, where its folder is not one of the usual ones."""
    usual = {os.path.realpath(path) for path in _library_folders()}
    return [
        str(file)
        for folder in _shared_python()
        if os.path.realpath(folder) not in usual
        for file in sorted(Path(folder).glob("libpython3*.so*"))
    ]


def home() -> Path:
    """The folder of the package from which a worker is started."""
    return WORKER.parents[1]


def own_folders() -> list[str]:
    """What a worker imports of this project."""
    return [str(home() / name) for name in ("isolation", "sandbox")]


def readable() -> list[str]:
    """Every path that a worker may read, and nothing else."""
    standard = {sysconfig.get_path("stdlib"), str(Path(os.__file__).parent)}
    dynamic = {str(Path(folder) / "lib-dynload") for folder in standard}
    zones = [path for path in zoneinfo.TZPATH if Path(path).is_dir()]
    packages = [*site_folders(), *own_folders()]
    paths = [*sorted(standard | dynamic), *packages, *_library_folders(), *_own_library(), *zones]
    return [path for path in dict.fromkeys(paths) if Path(path).exists()]


def open_to_others(path: str) -> bool:
    """Whether any user can read the path.

    >>> open_to_others("/usr/lib"), open_to_others("/proc/1/environ")
    (True, False)
    """
    real = Path(os.path.realpath(path))
    try:
        modes = [place.stat().st_mode for place in (real, *real.parents)]
    except OSError:
        return False
    return bool(modes[0] & 0o004) and all(mode & 0o001 for mode in modes[1:])


def user() -> int | None:
    """The user that a worker becomes: nobody, if this is root and nobody can read the interpreter; None: the same user.

    A root that cannot become nobody stays root and gives up every capability.
    """
    if os.geteuid() != 0:
        return None
    return NOBODY if all(open_to_others(path) for path in [*readable(), interpreter()]) else None


def environment(cache: str) -> dict[str, str]:
    """A worker's whole environment; `cache` is an empty folder that matplotlib believes it can write to."""
    made = {
        "PATH": "/nonexistent",
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",  # the order of sets, and so the answer, is the same when a record is run again
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "NUMEXPR_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "JE_ARROW_MALLOC_CONF": "background_thread:false",  # a process that forks must have one thread
        "MALLOC_ARENA_MAX": "2",
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": cache,
    }
    if _shared_python():
        made["LD_LIBRARY_PATH"] = ":".join(_shared_python())
    return made


def python(*arguments: str) -> list[str]:
    """The interpreter without site, user folders or the script's folder on its path.

    Not `-I`: it would ignore PYTHONHASHSEED, and the environment is made here anyway.
    """
    return [interpreter(), "-s", "-P", "-S", "-B", "-W", "ignore", "-X", "utf8", *arguments]


def bubblewrap(program: str, cache: str) -> list[str]:
    """The bwrap command in front of a worker's: no /proc, no /dev, nothing but the readable paths.

    Its environment must be clean before it is started: `--clearenv` leaves the old one in its own process.
    """
    binds = [part for path in [*readable(), interpreter()] for part in ("--ro-bind", path, path)]
    return [
        *(program, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox"),
        *binds,
        *("--size", "4096", "--tmpfs", cache, "--remount-ro", "/", "--chdir", "/"),
    ]


def command(setup: Mapping[str, object], *, bwrap: str | None, cache: str) -> list[str]:
    """The whole command line of a worker."""
    own = python(str(WORKER), json.dumps({**setup, "readable": readable(), "site": list(site_folders())}))
    return [*bubblewrap(bwrap, cache), *own] if bwrap else own


def _has_bytecode(site: Path) -> bool:
    files = [site / name for name in _BYTECODE if (site / name).is_file()]
    tag = sys.implementation.cache_tag
    return all((file.parent / "__pycache__" / f"{file.stem}.{tag}.pyc").is_file() for file in files)


def compile_packages() -> None:
    """Write the packages' bytecode once, as any first import does: a worker may not write.

    Does nothing if it is there, or if this user may not write it either.
    """
    with _compiling:
        _compile_packages()


@functools.cache
def _compile_packages() -> None:
    missing = [site for site in site_folders() if not _has_bytecode(Path(site)) and os.access(site, os.W_OK)]
    if not missing or sys.dont_write_bytecode:
        return
    own = [word for word in python() if word != "-B"]
    code = f"import sys; sys.path += {list(site_folders())!r}; {_IMPORTS}"
    with tempfile.TemporaryDirectory(prefix="finexpert-") as cache:
        subprocess.run([*own, "-c", code], env=environment(cache), capture_output=True, check=False, timeout=300)
