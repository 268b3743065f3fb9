"""Running a server: one process, which ends in order.

    serve(desk, ready=print)

After SIGTERM or Ctrl-C no more questions are taken, those under way are waited for, and what takes longer is given back.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable

import uvicorn

from finexpert.app.desk import Desk
from finexpert.app.guarding.slow import patient
from finexpert.app.people import access
from finexpert.app.server import create_app
from finexpert.app.state.naming import now
from finexpert.errors import ConfigurationError


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, desk: Desk, ready: Callable[[str], None], say: Callable[[str], None]
    ) -> None:
        super().__init__(config)
        self._desk, self._ready, self._say = desk, ready, say

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            host = self.config.host
            self._ready(self._desk.options.url or f"http://{f'[{host}]' if ':' in host else host}:{port}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if number := self._desk.under_way:
            questions = "the question that is" if number == 1 else f"{number} questions that are"
            self._say(f"ending: waits at most {self._desk.options.grace_seconds:g} s for {questions} under way")
        # Connections wait for their questions: both end together.
        drained = asyncio.create_task(asyncio.to_thread(self._desk.drain))
        await super().shutdown(sockets)
        await drained


def check_login(desk: Desk) -> None:
    """Whoever can be reached by others needs a login: ConfigurationError says how to have one."""
    options = desk.options
    if options.is_local or options.oidc_issuer:
        return
    good = [token for token in access.tokens(desk.state) if token.revoked is None and token.expires > now()]
    if not good:
        raise ConfigurationError(
            f"a server on {options.host} can be reached by others, and nobody could log in: make a token with "
            "`finexpert serve token create NAME --role owner`, or set FINEXPERT_SERVE_OIDC_ISSUER"
        )


def serve(desk: Desk, ready: Callable[[str], None], say: Callable[[str], None] = lambda text: None) -> None:
    """Serve until a signal ends it; `ready` is called with the address when questions are taken, `say` with what else is to be told."""
    check_login(desk)
    listening = listen(desk.options.host, desk.options.port)
    threading.Thread(target=desk.warm, name="finexpert-warming", daemon=True).start()
    with listening:
        _Server(config_of(desk), desk, ready, say).run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """The socket of a server, taken before anything else begins; ConfigurationError where it is not to be had."""
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
        )
    except (OSError, OverflowError) as error:
        why = str(getattr(error, "strerror", None) or error).partition(" (while")[0]
        raise ConfigurationError(
            f"cannot listen on port {port} of {host}: {why}. Give another one with --port (0 for any that is free), or end what listens there"
        ) from None


def config_of(desk: Desk) -> uvicorn.Config:
    """How the server of a desk takes requests."""
    options = desk.options
    return uvicorn.Config(
        create_app(desk),
        host=options.host,
        port=options.port,
        log_level="warning",
        # A path may hold what somebody searched for.
        access_log=False,
        server_header=False,
        # Half of the connections: the others are for requests that are under way.
        http=patient(options.request_seconds, 2 * options.under_way),
        proxy_headers=bool(options.proxies),
        forwarded_allow_ips=",".join(options.proxies) or "127.0.0.1",
        timeout_graceful_shutdown=int(options.grace_seconds) + 10,
        limit_concurrency=4 * options.under_way,
        ws_max_size=int(options.upload_mb * 1e6),
    )
