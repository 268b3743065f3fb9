"""Servers on this machine that a test answers for."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import socket

    import uvicorn

Messages = list[dict[str, Any]]


class Served:
    """Hands every request to `answer`; `faults` gives a name a list of faults, one for each request, before it is served."""

    def __init__(self) -> None:
        self.faults: defaultdict[str, list[str]] = defaultdict(list)
        self.requests: Counter[str] = Counter()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

            do_POST = do_GET

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._http.server_port}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        raise NotImplementedError

    def fault_of(self, name: str) -> str:
        """Counts a request for a name, and takes its next fault."""
        self.requests[name] += 1
        return self.faults[name].pop(0) if self.faults[name] else ""

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def body_of(handler: BaseHTTPRequestHandler) -> bytes:
    return handler.rfile.read(int(handler.headers["Content-Length"]))


def send(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    status: int = 200,
    *,
    length: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> None:
    """An answer; `length` is what it says of its length."""
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body) if length is None else length), **(headers or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def send_json(
    handler: BaseHTTPRequestHandler, content: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> None:
    """A text stays as it is."""
    text = content if isinstance(content, str) else json.dumps(content)
    send(handler, text.encode(), status, headers={"Content-Type": "application/json", **(headers or {})})


def completion(text: str = "the answer", usage: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The body of a chat completion."""
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "served",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": usage or {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    }


class ServedModel(Served):
    """A model behind OpenAI's protocol: `reply` makes a text of the messages; `keys` are those that it was sent."""

    def __init__(self, reply: Callable[[Messages], str]) -> None:
        self.reply = reply
        self.keys: list[str | None] = []
        super().__init__()
        self.url = f"{self.address}/v1"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        asked = json.loads(body_of(handler))
        self.keys.append(handler.headers.get("Authorization"))
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        send_json(handler, completion(self.reply(asked["messages"]), usage))


@contextmanager
def running(config: uvicorn.Config, listening: socket.socket | None = None) -> Iterator[tuple[str, int]]:
    """Host and port of a server in a thread, which ends with the block."""
    import uvicorn

    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]} if listening is not None else {})
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        host, port = server.servers[0].sockets[0].getsockname()[:2]
        yield host, port
    finally:
        server.should_exit = True
        thread.join(60)
