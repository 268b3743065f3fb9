"""A server on this machine that a test answers for."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Served:
    """Hands every GET to `answer`; `faults` gives a name a list of faults, one for each request, before it is served."""

    def __init__(self) -> None:
        self.faults: defaultdict[str, list[str]] = defaultdict(list)
        self.requests: Counter[str] = Counter()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
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
