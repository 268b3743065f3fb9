"""Runs an exported script shut in: it reads its data file and nothing else of this machine, and reaches no network.

    run_export(Path("answer.py"))   ->   "4.1\\n"

An exported script is a file like any other: whoever sends it may have changed it.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import tempfile
from pathlib import Path

from finexpert.core import syntax
from finexpert.errors import RecordError, SandboxUnavailable
from finexpert.isolation import launch
from finexpert.isolation.guests.zygote import problem
from finexpert.storage import foreign_files

WORKER = launch.WORKER.with_name("export_worker.py")
MOST_CHARS = 4_000_000
MEMORY = 6 << 30
_SHOWN = 2_000
# What DuckDB asks of the system, and refuses to start without.
_OF_THE_SYSTEM = ("/proc/self", "/proc/stat", "/proc/meminfo", "/sys/fs/cgroup", "/sys/devices/system/cpu")


def run_export(path: Path, seconds: float = 120.0) -> str:
    """What an exported script prints.

    Raises RecordError for a file that is no exported script over a DuckDB file, or that fails or takes longer than `seconds`, and
    SandboxUnavailable where nothing can be shut in.
    """
    if why := problem():
        raise SandboxUnavailable(
            f"{path} was not run: nothing can be shut in here ({why}). Read it, then run it with python"
        )
    code = _read(path)
    data = _data_file(code, path)
    setup = {
        "parent": os.getpid(),
        "readable": [*launch.readable(), *_folders("duckdb", "pytz"), str(data), f"{data}.wal", *_OF_THE_SYSTEM],
        "site": [*launch.site_folders(), *_folders("duckdb")],
        "memory": MEMORY,
        "seconds": int(seconds),
    }
    with tempfile.TemporaryDirectory(prefix="finexpert-") as cache:
        try:
            ran = subprocess.run(
                launch.python(str(WORKER), json.dumps(setup)),
                input=code.encode("utf-8", "surrogatepass"),
                env=launch.environment(cache),
                cwd="/",
                capture_output=True,
                check=False,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            raise RecordError(f"{path} was ended: it took longer than {seconds:g} s") from None
    if ran.returncode:
        last = (ran.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {ran.returncode}"])[-1]
        raise RecordError(f"{path} failed, shut in: {last[:_SHOWN]}")
    return ran.stdout.decode(errors="replace")


def _read(path: Path) -> str:
    try:
        code = foreign_files.read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(
            f"{path} cannot be read as an exported script: {error}; `finexpert export` writes one"
        ) from error
    if len(code) > MOST_CHARS:
        raise RecordError(f"{path} has {len(code):,} characters: no exported script has as many")
    return code


def _data_file(code: str, path: Path) -> Path:
    """The DuckDB file that a script attaches; no other kind of file is opened to it."""
    try:
        tree = syntax.parse(code)
    except SyntaxError as error:
        raise RecordError(f"{path} is no Python: {error}") from error
    found = [
        node.value.removeprefix("ATTACH '").partition("' AS warehouse")[0].replace("''", "'")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("ATTACH '")
    ]
    if len(found) != 1:
        raise RecordError(
            f"{path} reads no DuckDB file: only exported scripts over one are run here; read it, then run it with python"
        )
    data = Path(found[0])
    try:
        with open(data, "rb", opener=foreign_files.regular) as opened:
            start = opened.read(12)
    except OSError as error:
        raise RecordError(f"the data of {path} cannot be read: {error}") from error
    if start[8:12] != b"DUCK":
        raise RecordError(f"{data}, which {path} reads, is no DuckDB file")
    return data.resolve()


def _folders(*packages: str) -> list[str]:
    specs = [importlib.util.find_spec(name) for name in packages]
    return [str(Path(spec.origin).parent.parent) for spec in specs if spec is not None and spec.origin]
