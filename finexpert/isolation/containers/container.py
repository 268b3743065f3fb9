"""The rung of a container: the engine's command line, and why it cannot be used where it cannot.

    >>> Engine("docker", "sha256:" + "0" * 64).problem_of_name() is None
    True
    >>> Engine("docker", "finexpert:latest").problem_of_name()
    "FINEXPERT_SANDBOX_IMAGE is 'finexpert:latest', which may change under its name: give it as sha256:<64 digits> or ...@sha256:<64 digits>"

Inside runs the same worker with the same lock, so that an engine that ignores a flag fails closed. No folder of this machine is
mounted and no image is pulled: the data go in, and the answer comes out, over standard input and output. An engine on another
machine is refused, as the data would leave this one. With rootful podman and runc on Linux this was run; Docker's engine and
rootless podman were not.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from finexpert.isolation.limits import Limits
from finexpert.settings import Settings

_words = str.split

VARIABLE = "FINEXPERT_SANDBOX_IMAGE"
ENGINES = ("podman", "docker")
INTERPRETER = "/usr/local/bin/python3"
# What the engine's own client may need of the environment; nothing of it goes into the container.
_CLIENT = frozenset(
    _words(
        "PATH HOME USER XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME DBUS_SESSION_BUS_ADDRESS LANG TMPDIR DOCKER_HOST "
        "DOCKER_CONTEXT DOCKER_CONFIG CONTAINER_HOST CONTAINERS_CONF CONTAINERS_STORAGE_CONF STORAGE_DRIVER"
    )
)
_BY_DIGEST = re.compile(r"(?:[a-z0-9][\w.\-/:]*@)?sha256:[0-9a-f]{64}")
_PROBE_SECONDS = 60
_OVERHEAD_BYTES = 512 << 20  # the relay and the warm worker, beside the child


def client_environment() -> dict[str, str]:
    """What the engine's client is told of this process's environment."""
    return {name: value for name, value in os.environ.items() if name in _CLIENT}


@dataclass(frozen=True)
class Engine:
    """podman or docker, and the image that it is to run."""

    program: str
    image: str

    @property
    def name(self) -> str:
        return os.path.basename(self.program)  # noqa: PTH119  a program's path, perhaps of another system

    def problem_of_name(self) -> str | None:
        """Why the image cannot be named like this; None if it can."""
        if _BY_DIGEST.fullmatch(self.image):
            return None
        return (
            f"{VARIABLE} is {self.image!r}, which may change under its name: give it as sha256:<64 digits> "
            f"or ...@sha256:<64 digits>"
        )

    def command(self, name: str, *arguments: str, limits: Limits) -> list[str]:
        """The command line that runs the image's interpreter with the arguments, shut in."""
        memory = str(limits.resident_bytes + _OVERHEAD_BYTES)
        own = ["--http-proxy=false", "--read-only-tmpfs=false"] if self.name == "podman" else []
        return [
            *(self.program, "run", "--rm", "--interactive", "--name", name, "--pull", "never", *own),
            *("--network", "none", "--read-only", "--user", "65534:65534", "--cap-drop", "ALL"),
            *("--security-opt", "no-new-privileges", "--ipc", "none", "--hostname", "sandbox"),
            *("--memory", memory, "--memory-swap", memory, "--pids-limit", "64", "--cpus", "1"),
            *("--ulimit", "nofile=256:256", "--ulimit", "nproc=1024:1024", "--ulimit", "core=0:0"),
            *("--log-driver", "none", "--tmpfs", "/cache:rw,noexec,nosuid,nodev,size=64k,mode=1777"),
            *("--workdir", "/", "--entrypoint", INTERPRETER, self.image),
            *("-I", "-B", "-W", "ignore", "-X", "utf8", *arguments),
        ]

    def relay(self, name: str, setup: Mapping[str, object], limits: Limits) -> list[str]:
        """The command line of a worker in a container."""
        return self.command(name, "-m", "finexpert.isolation.containers.relay", json.dumps(setup), limits=limits)

    def remove(self, name: str) -> None:
        """Kill a container that did not end by itself; nothing happens if it is gone."""
        try:
            self.ask("rm", "--force", name)
        except (OSError, subprocess.SubprocessError):
            return

    def ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the engine and return what it says."""
        return subprocess.run(
            [self.program, *arguments],
            env=client_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )


def _elsewhere(engine: Engine) -> str | None:
    """The address of an engine that is not on this machine."""
    host = os.environ.get("DOCKER_HOST" if engine.name == "docker" else "CONTAINER_HOST", "")
    if engine.name == "docker" and not host:
        host = engine.ask("context", "inspect", "--format", "{{.Endpoints.docker.Host}}").stdout.strip()
    return host if host and not host.startswith(("unix://", "npipe://")) else None


@functools.cache
def problem(engine: Engine) -> str | None:
    """Why an engine cannot be used; None if it can. Runs the image's interpreter once, shut in as a worker is."""
    if (why := engine.problem_of_name()) is not None:
        return why
    try:
        if (host := _elsewhere(engine)) is not None:
            return f"{engine.name} works on another machine ({host}): the data would leave this one"
        name = f"finexpert-probe-{os.getpid()}"
        done = engine.ask(
            *engine.command(name, "-c", "import finexpert.isolation.containers.relay", limits=Limits())[1:]
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"{engine.program} cannot be run: {error}"
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return f"{engine.name} fails with exit status {done.returncode}: {lines[-1] if lines else 'no message'}"


def image() -> str | None:
    """The image of the setting `sandbox_image`, FINEXPERT_SANDBOX_IMAGE, if it is set."""
    return os.environ.get(VARIABLE) or Settings().sandbox_image or None


def engines() -> list[Engine]:
    """The engines on the path, with the image that is set; none if it is not set."""
    named = image()
    found = [shutil.which(name) for name in ENGINES] if named else []
    return [Engine(program, named) for program in found if program and named]


def usable() -> Engine | None:
    """The first engine that runs the image."""
    return next((engine for engine in engines() if problem(engine) is None), None)


def state() -> str | None:
    """Why no container can be used; None if one can."""
    if image() is None:
        return f"no image is set: `finexpert sandbox image` makes one and says what to set {VARIABLE} to"
    if not engines():
        return "neither podman nor docker is installed"
    reasons = [problem(engine) for engine in engines()]
    return None if None in reasons else "; ".join(reason for reason in reasons if reason)
