"""Makes the image of the container rung: an interpreter, the packages that scripts use, and the worker; no shell, no tools.

    build("/usr/bin/podman")   ->   'sha256:52cc21b24b95fa4e...'

On Linux it is made from the interpreter and packages that run this program, so that nothing is downloaded and versions are the
same; elsewhere `containerfile()` is what the engine's own build is given. Nothing of this project but the sandbox's files is in it.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zoneinfo
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path, PurePosixPath
from typing import IO

from finexpert.errors import SandboxUnavailable
from finexpert.isolation import launch
from finexpert.isolation.containers import container, surroundings

TAG = "localhost/finexpert-sandbox:build"
_LEFT_OUT = {"site-packages", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3"}
_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
_LIBRARY = PurePosixPath("/usr/local/lib") / _VERSION
_PACKAGE = _LIBRARY / "site-packages" / "finexpert"
_BYTECODE = sys.implementation.cache_tag
_DISTRIBUTIONS = {"dateutil": "python-dateutil"}
# An engine may give a file system that it mounts the mode of the folder below it.
_FOLDERS = {"proc": 0o755, "dev": 0o755, "sys": 0o755, "etc": 0o755, "tmp": 0o755, "cache": 0o1777}
_BUILD_SECONDS = 900


def distributions() -> list[Distribution]:
    """The packages that scripts use, as far as they are installed, and what they need."""
    waiting, found = list(launch.PACKAGES), dict[str, Distribution]()
    while waiting:
        name = re.split(r"[^\w.\-]", waiting.pop())[0].lower().replace("_", "-")
        name = _DISTRIBUTIONS.get(name, name)
        if name in found:
            continue
        try:
            found[name] = importlib.metadata.distribution(name)
        except PackageNotFoundError:
            continue
        waiting += [need for need in found[name].requires or [] if "extra ==" not in need]
    return list(found.values())


def _standard_library() -> Iterator[tuple[PurePosixPath, Path]]:
    standard = Path(sysconfig.get_path("stdlib"))
    for folder, folders, files in os.walk(standard):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        for name in files:
            if name.startswith("_tkinter"):
                continue
            file = Path(folder) / name
            yield _LIBRARY / file.relative_to(standard).as_posix(), file


def _packages() -> Iterator[tuple[PurePosixPath, Path]]:
    for one in distributions():
        for entry in one.files or []:
            # A package may bring programs; they stand above the folder of the packages.
            if ".." not in entry.parts and "tests" not in entry.parts:
                file = Path(str(one.locate_file(entry)))
                for each in (file, Path(str(file.parent / "__pycache__" / f"{file.stem}.{_BYTECODE}.pyc"))):
                    if each.is_file():
                        relative = PurePosixPath(*entry.parts).parent / each.relative_to(file.parent).as_posix()
                        yield _LIBRARY / "site-packages" / relative, each


def _shared_libraries(programs: list[Path]) -> dict[PurePosixPath, Path]:
    """The C libraries that the files need and do not bring, by the place where the loader looks for them."""
    loader = shutil.which("ldd")
    if loader is None:
        raise SandboxUnavailable("the image cannot be made: ldd, which tells what an interpreter needs, is not there")
    said = subprocess.run([loader, *map(str, programs)], capture_output=True, text=True, check=False).stdout
    usual = PurePosixPath("/lib") / (sysconfig.get_config_var("MULTIARCH") or f"{platform.machine()}-linux-gnu")
    found = {usual / name: Path(path) for name, path in re.findall(r"^\s*(\S+) => (/\S+)", said, re.MULTILINE)}
    brought = tuple(os.path.realpath(folder) for folder in launch.site_folders())
    found = {place: file for place, file in found.items() if not os.path.realpath(file).startswith(brought)}
    for path in set(re.findall(r"^\s*(/\S+) \(0x", said, re.MULTILINE)):
        found[PurePosixPath(path)] = Path(path)
    return found


def _own_folders() -> list[PurePosixPath]:
    """The folders of this package in an image, from the package itself down."""
    return [
        PurePosixPath("."),
        *sorted({folder for name in surroundings.INSIDE for folder in PurePosixPath(name).parents[:-1]}),
    ]


def _worker() -> Iterator[tuple[PurePosixPath, Path]]:
    for name in surroundings.INSIDE:
        yield _PACKAGE / name, surroundings.HOME / name


def files() -> dict[PurePosixPath, Path]:
    """Every file of the image, by its place there."""
    found = dict([*_standard_library(), *_packages(), *_worker()])
    interpreter = Path(launch.interpreter())
    found[PurePosixPath("/usr/local/bin") / _VERSION] = interpreter
    found[PurePosixPath(container.INTERPRETER)] = interpreter
    zones = next((Path(path) for path in zoneinfo.TZPATH if Path(path).is_dir()), None)
    if zones is not None:
        found |= {
            PurePosixPath("/usr/share/zoneinfo") / file.relative_to(zones).as_posix(): file
            for file in zones.rglob("*")
            if file.is_file()
        }
    programs = [file for place, file in found.items() if ".so" in place.suffixes]
    return found | _shared_libraries([interpreter, *programs])


def write(target: IO[bytes]) -> int:
    """Write the image's files as a tar; how many. Owned by root and readable by all, so that any user can run it."""
    chosen = files()
    with tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT, dereference=True) as archive:
        for name, mode in _FOLDERS.items():
            folder = _entry(tarfile.TarInfo(name))
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            archive.addfile(folder)
        for package in _own_folders():
            archive.addfile(_entry(tarfile.TarInfo(str(_PACKAGE / package / "__init__.py").lstrip("/"))))
        for place, file in chosen.items():
            with file.open("rb") as content:
                entry = archive.gettarinfo(arcname=str(place).lstrip("/"), fileobj=content)
                archive.addfile(_entry(entry), content)
    return len(chosen)


def _entry(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.type = tarfile.REGTYPE
    entry.mode = 0o755 if entry.mode & 0o100 else 0o644
    return entry


def containerfile() -> str:
    """What an engine's own build is given where this machine's interpreter is not for Linux. Not built by those who wrote it.

    >>> containerfile().splitlines()[0]
    '# docker build --file - FOLDER, where FOLDER is that of the package finexpert; then docker images --no-trunc'
    """
    pins = " ".join(f"{one.name}=={one.version}" for one in distributions())
    copied = "\n".join(
        f"COPY {' '.join(name for name in surroundings.INSIDE if PurePosixPath(name).parent == folder)} {_PACKAGE / folder}/"
        for folder in _own_folders()[1:]
    )
    return f"""\
# docker build --file - FOLDER, where FOLDER is that of the package finexpert; then docker images --no-trunc
FROM docker.io/library/python:{_VERSION.removeprefix("python")}-slim
RUN pip install --no-cache-dir {pins} && mkdir -m 1777 /cache
{copied}
RUN cd {_PACKAGE} && touch {" ".join(str(folder / "__init__.py") for folder in _own_folders())}
ENTRYPOINT ["{container.INTERPRETER}"]
"""


def build(program: str) -> str:
    """Make the image with an engine; its digest.

    Raises SandboxUnavailable if the engine refuses, or this is not Linux.
    """
    if not sys.platform.startswith("linux"):
        raise SandboxUnavailable(
            "an image is made from this machine's interpreter on Linux only: "
            "`finexpert sandbox image --containerfile` prints what to build elsewhere"
        )
    launch.compile_packages()
    command = [program, "import", "--change", f"ENTRYPOINT {container.INTERPRETER}", "-", TAG]
    try:
        with tempfile.TemporaryFile() as archive:
            write(archive)
            archive.seek(0)
            environment = container.client_environment()
            done = subprocess.run(
                command, env=environment, stdin=archive, capture_output=True, timeout=_BUILD_SECONDS, check=False
            )
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(f"{program} could not make the image: {error}") from error
    digest = re.findall(rb"[0-9a-f]{64}", done.stdout)
    if done.returncode or not digest:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise SandboxUnavailable(f"{program} could not make the image: {words[-1] if words else 'no message'}")
    return f"sha256:{digest[-1].decode()}"
