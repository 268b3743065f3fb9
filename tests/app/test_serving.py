"""The socket of a server: taken before anything else begins, or an error in words."""

from __future__ import annotations

import pytest

from finexpert.app.serving import listen
from finexpert.errors import ConfigurationError


def test_a_port_in_use_is_said_with_what_to_do() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port} of 127.0.0.1: .*--port"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "192.0.2.1"])
def test_an_address_that_is_not_of_this_machine_is_said(host: str) -> None:
    with pytest.raises(ConfigurationError, match=host):
        listen(host, 0)
