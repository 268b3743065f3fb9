"""A worker in a container: reached over the standard input and output of the engine's client.

    worker = ContainerZygote(engine, Limits())
    worker.ready()
    worker.call(request)   ->   Reply(frame=Frame(...), status=0, stdout=b"", seconds=0.03)

One thread takes apart what comes out (`packets.py`) and one for each call puts together what goes in, so that a call looks as it
does for a worker of this machine. What comes out is not trusted: it passes the same gate.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator

from finexpert.errors import SandboxFailure, SandboxUnavailable
from finexpert.isolation import wire
from finexpert.isolation.containers import container, packets, surroundings
from finexpert.isolation.containers.packets import CHUNK, Reader
from finexpert.isolation.handle import Child, Handle, Lost
from finexpert.isolation.limits import Limits
from finexpert.isolation.lockdown import CANARY_NAMES
from finexpert.isolation.spawn import end, spawn
from finexpert.isolation.wire import WireError

_GRACE = 5.0
_END_SECONDS = 3.0


class ContainerZygote(Handle):
    """One worker in one container."""

    canaries = CANARY_NAMES

    def __init__(self, engine: container.Engine, limits: Limits) -> None:
        super().__init__(limits)
        self._engine = engine
        self._name = f"finexpert-{secrets.token_hex(8)}"
        self._outside = tempfile.mkdtemp(prefix="finexpert-")
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._line, theirs = socket.socketpair()
        self._heard: dict[bytes, queue.SimpleQueue[bytes | None]] = {
            packets.READY: queue.SimpleQueue(),
            packets.STATUS: queue.SimpleQueue(),
        }
        self._inner: tuple[socket.socket, int] | None = None
        self._lock = threading.Lock()
        self._mapped: int | None = None
        self._cleaning: threading.Thread | None = None
        arguments = engine.relay(self._name, {"outside": self._outside}, limits)
        try:
            self._process = spawn(
                arguments,
                env=container.client_environment(),
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._errors,
            )
        except BaseException:
            self._line.close()
            self._errors.close()
            shutil.rmtree(self._outside, ignore_errors=True)
            raise
        finally:
            theirs.close()
        self._started = time.monotonic()
        self._reading = threading.Thread(target=self._read, name="sandbox-container", daemon=True)
        self._reading.start()

    def ready(self) -> None:
        if self._mapped is not None:
            return
        remaining = self._started + self._limits.start_seconds - time.monotonic()
        try:
            data = self._heard[packets.READY].get(timeout=max(remaining, 0.01))
        except queue.Empty:
            data = None
        except BaseException:
            self.kill()
            raise
        why = self._wrong(data)
        if why is not None:
            self.kill()
            raise SandboxUnavailable(f"no script was run: {why}; see `finexpert doctor`")
        self._forget_folder()

    def _wrong(self, data: bytes | None) -> str | None:
        """What is wrong with a worker that says this when it is warm."""
        if data is None:
            return f"the sandbox's container did not come up ({self._last_words()})"
        try:
            said = json.loads(data)
            gaps, build, self._mapped = list(said["gaps"]), said["build"], int(said["mapped"])
        except (ValueError, KeyError, TypeError):
            return "the sandbox's container does not speak as it should"
        if gaps:
            return f"the sandbox's container is not shut in: {'; '.join(map(str, gaps))}"
        if build != surroundings.build():
            return "the sandbox's image was made by another version of finexpert: `finexpert sandbox image` makes one"
        return None

    def _said(self) -> bytes:
        self._errors.seek(0)
        return self._errors.read(1 << 16)

    def _forget_folder(self) -> None:
        shutil.rmtree(self._outside, ignore_errors=True)

    def _read(self) -> None:
        """Take apart what comes from the container until it ends or is no packet."""
        reader = Reader()
        with contextlib.suppress(OSError, WireError):
            while data := self._line.recv(CHUNK):
                for kind, content in reader.feed(data):
                    self._sort(kind, content)
        self._shut()
        for waiting in self._heard.values():
            waiting.put(None)

    def _sort(self, kind: bytes, content: bytes) -> None:
        if kind in self._heard:
            self._shut()
            self._heard[kind].put(content)
            return
        # Under the lock: a descriptor that is closed meanwhile may be another file's. A listener that is gone is an OSError.
        with self._lock, contextlib.suppress(OSError):
            if self._inner is None:
                return
            channel, printing = self._inner
            if kind == packets.OUTPUT:
                channel.sendall(content)
            elif kind == packets.PRINTED:
                wire.write(printing, content)

    def _shut(self) -> None:
        """The child has nothing more to say."""
        with self._lock:
            inner, self._inner = self._inner, None
            if inner is not None:
                with contextlib.suppress(OSError):
                    inner[0].shutdown(socket.SHUT_RDWR)
                os.close(inner[1])

    def _feed(self, inner: socket.socket) -> None:
        """Put together what goes to the child until the parent or the child has closed the channel."""
        with inner, contextlib.suppress(OSError):
            while data := inner.recv(CHUNK):
                self._line.sendall(packets.pack(packets.INPUT, data))
            self._line.sendall(packets.pack(packets.CLOSE))

    @contextlib.contextmanager
    def _child(self) -> Iterator[Child]:
        channel, inner = socket.socketpair()
        output, printing = os.pipe()
        memory = (self._mapped or 0) + self._limits.memory_bytes
        order = json.dumps({"memory": memory, "cpu_seconds": self._limits.cpu_seconds}).encode()
        feeding = threading.Thread(target=self._feed, args=(inner,), name="sandbox-container", daemon=True)
        self._inner = inner, printing
        try:
            try:
                self._line.sendall(packets.pack(packets.RUN, order))
            except OSError as error:
                raise Lost(f"the sandbox's container does not answer: {error}") from None
            feeding.start()
            yield Child(channel, output, None)
        finally:
            channel.close()
            os.close(output)
            self._shut()
            if feeding.ident is None:
                inner.close()
            elif self.alive:
                feeding.join(_GRACE)

    def _exit_status(self) -> int:
        try:
            data = self._heard[packets.STATUS].get(timeout=_GRACE)
            if data is None:
                raise ValueError("it has ended")
            return int(json.loads(data)["status"])
        except (queue.Empty, ValueError, KeyError, TypeError) as error:
            raise SandboxFailure(
                f"the sandbox's container is lost ({error}); the script's result was thrown away"
            ) from None

    def _strike(self) -> None:
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)

    def _clean(self) -> None:
        self._forget_folder()
        self._cleaning = threading.Thread(target=self._clean_up, name="sandbox-container-end")
        try:
            self._cleaning.start()
        except RuntimeError:  # the interpreter ends and starts no thread any more
            self._clean_up()

    def _clean_up(self) -> None:
        """Wait until the engine has removed the container: nobody who waits for an answer should."""
        try:
            # The relay ends when nobody speaks to it, and its container with it.
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._engine.remove(self._name)
            end(self._process)
            self._process.wait()
        self._reading.join(_GRACE)
        self._line.close()
        self._errors.close()

    def gone(self) -> None:
        if self._cleaning is not None and self._cleaning.ident is not None:
            self._cleaning.join()

    def abandon(self) -> None:
        self.alive = False
        self._line.close()
        self._process.returncode = 0
