"""What an attack aims at: files with secrets, a file to change, sockets that listen; and whether any of it was touched.

    with Aims() as aims:
        code = case.filled(aims.places)
        ...
        aims.touched()   ->   ['a file was made: out']

Everything lies in one folder that is removed afterwards. It tells what happened, not who did it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

SECRET_VARIABLE = "FINEXPERT_ATTACK_SECRET"
_SHARED = Path("/dev/shm")


def canary() -> str:
    """A word that stands nowhere else.

    >>> len(canary())
    39
    """
    return f"canary-{secrets.token_hex(16)}"


class Aims:
    """Fresh files and sockets for one attack."""

    def __init__(self) -> None:
        self.secret, self.cell = canary(), f"word{secrets.token_hex(8)}"
        self._token = f"finexpert-{secrets.token_hex(8)}"
        self.folder = Path(tempfile.mkdtemp(prefix="finexpert-attack-"))
        (self.folder / "secret").write_text(self.secret + "\n")
        (self.folder / "victim").write_text("alive")
        (self.folder / "planted.py").write_text(f"WORD = {self.secret!r}\n")
        (self.folder / ".aws").mkdir()
        (self.folder / ".aws" / "credentials").write_text(f"[default]\naws_secret_access_key = {self.secret}\n")
        self._sockets = {
            "a TCP connection": socket.create_server(("127.0.0.1", 0)),
            "a UDP packet": socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            "a connection to a socket file": socket.socket(socket.AF_UNIX),
            "a connection to an abstract socket": socket.socket(socket.AF_UNIX),
        }
        tcp, udp, unix, abstract = self._sockets.values()
        udp.bind(("127.0.0.1", 0))
        unix.bind(str(self.folder / "unix"))
        abstract.bind(f"\0{self._token}")
        for one in (unix, abstract):
            one.listen()
        for one in self._sockets.values():
            one.setblocking(False)
        self.places: dict[str, object] = {
            **{name: str(self.folder / name) for name in ("secret", "victim", "unix", "out")},
            "folder": str(self.folder),
            "token": self._token,
            "abstract": self._token,
            "forge": FORGE,
            "port": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
        }
        self._before = self._state()

    def _state(self) -> dict[str, tuple[int, int, int, bytes]]:
        found = {}
        for path in sorted(self.folder.rglob("*")):
            seen = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found[str(path.relative_to(self.folder))] = (seen.st_mode, seen.st_mtime_ns, seen.st_nlink, content)
        return found

    def touched(self) -> list[str]:
        """What was made, changed, removed or connected to since the beginning."""
        after = self._state()
        found = [f"a file was made: {name}" for name in after.keys() - self._before.keys()]
        found += [f"a file was removed: {name}" for name in self._before.keys() - after.keys()]
        found += [f"a file was changed: {name}" for name, was in self._before.items() if after.get(name, was) != was]
        if (_SHARED / self._token).exists():
            found.append("shared memory was made")
        for what, one in self._sockets.items():
            with contextlib.suppress(BlockingIOError):
                if one.type == socket.SOCK_DGRAM:
                    one.recv(1)
                else:
                    one.accept()[0].close()
                found.append(f"{what} came in")
        return found

    def __enter__(self) -> Self:
        os.environ[SECRET_VARIABLE] = self.secret
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.environ.pop(SECRET_VARIABLE, None)
        for one in self._sockets.values():
            one.close()
        shutil.rmtree(self.folder, ignore_errors=True)


# How a script answers in the worker's place: a frame of the protocol, on the channel to the parent.
FORGE = """
import io, json, os, struct
import pyarrow as pa
def frame(header, *blobs, lengths=None):
    text = json.dumps({**header, 'blobs': lengths or [len(blob) for blob in blobs]}).encode()
    return b'FXS1' + struct.pack('<I', len(text)) + text + b''.join(blobs)
def send(header, *blobs, lengths=None):
    data = memoryview(frame(header, *blobs, lengths=lengths))
    while data:
        data = data[os.write(3, data[:1 << 18]):]
    os._exit(0)
def table(content, compression=None, change=(b'', b'')):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, content.schema, options=pa.ipc.IpcWriteOptions(compression=compression, use_threads=False)) as stream:
        stream.write_table(content)
    send({'status': 'done', 'answer': ['table', '']}, sink.getvalue().replace(*change) if change[0] else sink.getvalue())
""".strip()
