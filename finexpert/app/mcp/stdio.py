"""MCP over stdin and stdout: the client is answered at once, while the sources are opened beside it.

Clients give a server some seconds to say who it is, and importing and opening may take longer. What is wrong with an option is found in
the first moments, and ends the command; what is found later is the result of the tools.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from finexpert.app.mcp.building import server

if TYPE_CHECKING:
    from finexpert.app.mcp.local import LocalBackend

# Most clients wait for half a minute or longer.
_WAIT = 5.0


def serve(opened: Callable[[], LocalBackend], wait: float = _WAIT) -> None:
    """Serve until stdin ends. Raises what `opened` raises within `wait` seconds."""
    with ThreadPoolExecutor(1, "opening") as pool:
        backend: Future[LocalBackend] = pool.submit(opened)
        try:
            try:
                backend.exception(wait)
            except TimeoutError:
                pass
            else:
                backend.result()
            server(lambda context: backend.result()).run("stdio")
        finally:
            if backend.exception() is None:
                backend.result().close()
