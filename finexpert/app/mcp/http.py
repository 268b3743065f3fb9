"""MCP under `/mcp` of a server, over streamable HTTP. The server's own guard says who a request is from; nothing here asks for a login.

mount(app, desk)
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver import Context
from mcp.server.request_state import RequestStateSecurity
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from finexpert.app.mcp.at_desk import DeskBackend
from finexpert.app.mcp.building import server
from finexpert.errors import NotLoggedIn

if TYPE_CHECKING:
    from fastapi import FastAPI

    from finexpert.app.desk import Desk

PATH = "/mcp"
_MOST_SESSIONS = 2_000
_LARGEST_REQUEST = 1_000_000


def mount(app: FastAPI, desk: Desk) -> None:
    """Add the door to an app whose requests carry `request.state.person`."""

    def backend(context: Context[Any, Any]) -> DeskBackend:
        request = context.request_context.request
        return DeskBackend(desk, _person({} if request is None else request.scope))

    # A reply to a question back may reach another server of the same secret.
    key = hashlib.sha256(f"mcp:{desk.sealer.cookie_key}".encode()).digest()
    made = server(backend, RequestStateSecurity(keys=[key]))
    inside = made.streamable_http_app(
        streamable_http_path=PATH,
        # Older clients keep a session on one server. Of several side by side none knows the sessions of another.
        stateless_http=not (desk.options.state or "sqlite").startswith("sqlite"),
        max_sessions=_MOST_SESSIONS,
        max_request_body_size=_LARGEST_REQUEST,
        # The guard has looked at host and origin.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    (route,) = [route for route in inside.routes if isinstance(route, Route)]
    app.router.routes.append(Route(PATH, endpoint=_AsPerson(AuthContextMiddleware(route.app))))
    around = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with around(app) as state, made.session_manager.run():
            yield state

    app.router.lifespan_context = lifespan


class _AsPerson:
    """Tells the SDK who it is, so that it binds sessions and sealed states to that person."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = AccessToken(token="", client_id=_person(scope).id, scopes=[])
        await self.app({**scope, "user": AuthenticatedUser(known)}, receive, send)


def _person(scope: Any) -> Any:
    person = scope.get("state", {}).get("person")
    if person is None:
        raise NotLoggedIn("log in, or send a token: `Authorization: Bearer fx_...`")
    return person
