"""A server on a port, for clients that speak by bytes."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from finexpert.app.serving import config_of


@pytest.fixture
def port(request: pytest.FixtureRequest, make_office: Any) -> Iterator[int]:
    """Of a server that waits for the SECONDS of the test's module, with its OPTIONS; its desk is the module's DESK."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        office = make_office(
            request_seconds=getattr(request.module, "SECONDS", 5.0), **getattr(request.module, "OPTIONS", {})
        )
        request.module.DESK = office.desk
        server = uvicorn.Server(config_of(office.desk))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join(30)
