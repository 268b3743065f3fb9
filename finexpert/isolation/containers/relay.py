"""Inside a container: starts a worker and speaks for it over standard input and output.

    python -I -B -m finexpert.isolation.containers.relay '{"outside": "/tmp/finexpert-x", "build": "3f2c..."}'

The worker is the same as outside a container, with the same lock. The relay looks first whether the container is what was
asked for, says what is missing, and then carries bytes: it does not read what a script says. It ends when its input does.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import subprocess
import sys
from collections import deque

from finexpert.isolation import launch, wire
from finexpert.isolation.containers import packets, surroundings
from finexpert.isolation.containers.packets import CHUNK, Packet, Reader
from finexpert.isolation.watchdog import pages_of

CACHE = "/cache"
_MOST_WAITING = 4 * CHUNK
_NOT_UP = 70  # exit status; why stands in what the worker wrote before


def _say(kind: bytes, data: bytes = b"") -> None:
    wire.write(1, packets.pack(kind, data))


def _start() -> tuple[socket.socket, int]:
    """The control socket of a warm worker, and the address space that it has mapped."""
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    setup = {"control": theirs.fileno(), "parent": os.getpid()}
    worker = subprocess.Popen(
        launch.command(setup, bwrap=None, cache=CACHE),
        env=launch.environment(CACHE),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        cwd="/",
        pass_fds=(theirs.fileno(),),
    )
    theirs.close()
    data, handles, _, _ = socket.recv_fds(control, 4096, 1)
    if not data or not handles:
        raise SystemExit(_NOT_UP)
    os.close(handles[0])
    pages = pages_of(worker.pid)
    return control, pages[0] if pages else 0


class _Exchange:
    """One child: what comes in for it goes to its channel, what it says and prints goes out."""

    def __init__(self, channel: socket.socket, output: int) -> None:
        self._channel, self._output = channel, output
        self._waiting: deque[bytes] = deque()
        self._closing = False
        self._open = {channel.fileno(), output}
        channel.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(channel, selectors.EVENT_READ)
        self._selector.register(output, selectors.EVENT_READ)
        self._selector.register(0, selectors.EVENT_READ)

    def carry(self, reader: Reader) -> None:
        """Until the child has closed both. Exits if the input ends."""
        with self._selector:
            while self._open:
                self._listen_where_there_is_room()
                for key, events in self._selector.select():
                    if key.fd == 0:
                        self._take(reader)
                    elif key.fd == self._output:
                        self._forward(os.read(self._output, CHUNK), packets.PRINTED, self._output)
                    else:
                        self._talk(events)

    def _listen_where_there_is_room(self) -> None:
        listening = 0 in self._selector.get_map()
        if (sum(map(len, self._waiting)) < _MOST_WAITING) is listening:
            return
        if listening:
            self._selector.unregister(0)
        else:
            self._selector.register(0, selectors.EVENT_READ)

    def _take(self, reader: Reader) -> None:
        for kind, data in _read(reader):
            if kind == packets.INPUT:
                self._waiting.append(data)
            elif kind == packets.CLOSE:
                self._closing = True
        self._send()

    def _talk(self, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._send()
        if events & selectors.EVENT_READ:
            try:
                data = self._channel.recv(CHUNK)
            except ConnectionResetError:
                data = b""
            self._forward(data, packets.OUTPUT, self._channel.fileno())

    def _forward(self, data: bytes, kind: bytes, source: int) -> None:
        if data:
            _say(kind, data)
        else:
            self._selector.unregister(source)
            self._open.discard(source)

    def _send(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._waiting:
                try:
                    sent = self._channel.send(self._waiting[0])
                except (BrokenPipeError, ConnectionResetError):
                    self._waiting.clear()
                    break
                rest = self._waiting.popleft()[sent:]
                if rest:
                    self._waiting.appendleft(rest)
        if self._closing and not self._waiting:
            with contextlib.suppress(OSError):
                self._channel.shutdown(socket.SHUT_WR)
        if self._channel.fileno() in self._open:
            more = selectors.EVENT_WRITE if self._waiting else 0
            self._selector.modify(self._channel, selectors.EVENT_READ | more)


def _read(reader: Reader) -> list[Packet]:
    data = os.read(0, CHUNK)
    if not data:
        # Nobody is there any more. Everything below ends with this process.
        os._exit(0)
    return reader.feed(data)


def _serve(control: socket.socket, order: bytes, reader: Reader) -> None:
    channel, theirs = socket.socketpair()
    output, printing = os.pipe()
    with channel:
        socket.send_fds(control, [order], [theirs.fileno(), printing])
        _, handles, _, _ = socket.recv_fds(control, 4096, 1)
        theirs.close()
        for descriptor in (printing, *handles):
            os.close(descriptor)
        _Exchange(channel, output).carry(reader)
    os.close(output)
    _say(packets.STATUS, control.recv(4096))


def main() -> None:
    setup = json.loads(sys.argv[1])
    gaps = surroundings.gaps(setup["outside"])
    control, mapped = _start()
    _say(packets.READY, json.dumps({"gaps": gaps, "mapped": mapped, "build": surroundings.build()}).encode())
    reader = Reader()
    while True:
        for kind, data in _read(reader):
            # Input that comes after a child has ended is for nobody.
            if kind == packets.RUN:
                _serve(control, data, reader)


if __name__ == "__main__":
    main()
