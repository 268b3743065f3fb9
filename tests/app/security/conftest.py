"""A server on a port, for clients that speak by bytes."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from served import running

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
        with running(config_of(office.desk), listening) as (_, bound):
            yield bound
