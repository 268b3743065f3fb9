"""The process that runs scripts: a warm, locked interpreter that forks one child a script.

    python worker.py '{"control": 5, "parent": 4711, "readable": [...], "site": [...]}'

It is started by path with an environment made for it (`isolation/launch.py`) and speaks over the control socket: it says
`ready`, and for each `run` message with the descriptors of a channel and a pipe it forks a child. The child locks itself,
proves it, says so on the channel, and only then reads the script. It does not import what it does not need: no
database, no language model, no network library.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import types
from collections.abc import Callable
from pathlib import Path

_LOST = 70  # exit status if the lock could not be set up
_CHANNEL = 3


def make_importable() -> None:
    """Let what stands in two folders be imported from them alone, without running an __init__ or listing another folder."""
    home = Path(__file__).resolve().parents[1]
    for name, path in (("finexpert", home), *((f"finexpert.{one}", home / one) for one in ("isolation", "sandbox"))):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules.setdefault(name, package)


def warm_up() -> None:
    """Import and use once what scripts need, so that each child starts with it."""
    import io

    import matplotlib
    import matplotlib.pyplot as plt
    import pandas as pd
    import pyarrow as pa

    import finexpert.sandbox.script  # noqa: F401
    from finexpert.sandbox.tables import decode_input, encode_input

    matplotlib.use("Agg")
    pa.set_cpu_count(1)
    figure, axes = plt.subplots()
    axes.plot([1, 2], label="a")
    axes.legend()
    figure.savefig(io.BytesIO(), format="png")
    plt.close("all")
    days = pd.to_datetime(["2020-01-31", "2021-01-31"])
    frame = decode_input(encode_input(pd.DataFrame({"key": ["a", "b"], "value": [1.0, 2.0], "day": days})))
    frame.groupby("key")["value"].sum()
    frame.set_index("day").resample("YE")["value"].last()
    frame.merge(frame, on="key").pivot_table(index="key", values="value_x")


def serve(lock: Callable[[], None], prove: Callable[[], list[list[str]]]) -> None:
    """What a child does: lock, prove, say so, read the script, run it, answer."""
    from finexpert.isolation import lockdown, wire

    try:
        lock()
        denials = prove()
    except (lockdown.NotLocked, OSError) as error:
        wire.write(_CHANNEL, wire.pack({"hello": "open", "why": str(error)}))
        return
    wire.write(_CHANNEL, wire.pack({"hello": "locked", "denied": denials}))
    from finexpert.sandbox import script, tables

    request, blobs = wire.read(_CHANNEL)
    frames = {name: tables.decode_input(blob) for name, blob in zip(request["frames"], blobs, strict=True)}
    report, results = script.run(request, frames)
    frame = wire.pack(report, results)
    sys.stdout.flush()
    wire.write(_CHANNEL, frame)


def _lock_and_serve(memory: int, cpu_seconds: int, zygote: int) -> None:
    from finexpert.isolation import lockdown

    serve(lambda: lockdown.enter_child(zygote, memory=memory, cpu_seconds=cpu_seconds), lockdown.prove)


def _child(message: dict[str, int], descriptors: list[int], zygote: int) -> None:
    status = _LOST
    try:
        channel, output = descriptors
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.dup2(channel, 200)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.dup2(200, _CHANNEL)
        os.closerange(_CHANNEL + 1, 1024)
        _lock_and_serve(message["memory"], message["cpu_seconds"], zygote)
        status = 0
    except EOFError:
        status = 0
    finally:
        # Never return into the zygote's loop, whatever the script did to this process.
        os._exit(status)


def _loop(control: socket.socket) -> None:
    """Fork one child a message, one at a time; end when the parent is gone."""
    zygote = os.getpid()
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 4096, 2)
        if not data:
            return
        process = os.fork()
        if process == 0:
            _child(json.loads(data), descriptors, zygote)
        for descriptor in descriptors:
            os.close(descriptor)
        handle = os.pidfd_open(process)
        socket.send_fds(control, [b"{}"], [handle])
        waiting = select.poll()
        waiting.register(handle, select.POLLIN)
        waiting.register(control, select.POLLIN)
        ready = [descriptor for descriptor, _ in waiting.poll()]
        if handle not in ready:
            # The parent says nothing while a script runs: it is gone.
            os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        os.close(handle)
        if control.fileno() in ready and handle not in ready:
            return
        control.send(json.dumps({"status": status}).encode())


def main() -> None:
    make_importable()
    from finexpert.isolation import lockdown

    setup = json.loads(sys.argv[1])
    control = socket.socket(fileno=setup["control"])
    abi = lockdown.enter_zygote(setup["parent"], setup["readable"])
    sys.path += setup["site"]
    warm_up()
    gc.collect()
    gc.freeze()
    myself = os.pidfd_open(os.getpid())
    socket.send_fds(control, [json.dumps({"landlock": abi}).encode()], [myself])
    os.close(myself)
    _loop(control)


if __name__ == "__main__":
    main()
