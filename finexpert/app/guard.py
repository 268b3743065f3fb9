"""What every request passes before a door sees it: host, origin, size, who it is from, how often, and the headers of the reply.

    app.add_middleware(Guard, desk=desk)
    request.state.person              who it is from, at every door

Nothing but the doors of logging in, and whether the server lives, is open to who is not known.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import ExitStack
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from finexpert import errors as e
from finexpert.app.desk import Desk
from finexpert.app.guarding import bodies
from finexpert.app.guarding.heads import HeadRefused, check_head
from finexpert.app.guarding.limits import AtOnce, Limit
from finexpert.app.options import LOCAL_HOSTS
from finexpert.app.people import access
from finexpert.app.people.people import Person, local_person
from finexpert.errors import DeskError, FinexpertError, Forbidden, NotLoggedIn, Refused, StoreError, TooMany

log = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "finexpert_login"
UPLOADS = ("/api/sources/file", "/sources/file")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/@\s]+)(?::\d+)?")
_LARGE_AT_ONCE = 8  # bodies of one person that are read at once: each is in memory
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
# Who asks these is not known yet, or is a program that looks after the server.
_OPEN = ("/healthz", "/readyz", "/login", "/auth/", "/shared/", "/static/")
_STRICT = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; style-src 'unsafe-inline'"
# Nothing is loaded from anywhere else, and nothing that stands within a page is a script or a style.
_PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
_STRICT_DOORS = ("/api/", "/v1/", "/mcp", "/healthz", "/readyz", "/metrics", "/logout", "/auth/", "/shared/")
_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """The first thing in the server; the app is behind it."""

    def __init__(self, app: App, desk: Desk) -> None:
        self.app, self.desk, self.options = app, desk, desk.options
        self.nobody_else = local_person()
        self._under_way, self._bodies = AtOnce(self.options.under_way), AtOnce(_LARGE_AT_ONCE)
        self._requests = Limit(self.options.requests_per_minute, "requests")
        self._hosts = LOCAL_HOSTS | {self.options.host.lower()} | {host.lower() for host in self.options.hosts}
        self._own = urlsplit(self.options.url).netloc.lower() if self.options.url else ""
        self._any_host = not self.options.is_local and not self.options.hosts and not self._own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = _headers(scope)
        reply = _Reply(scope, send, self.desk, https=self._is_https(scope))
        try:
            check_head(scope["headers"])
            self._check_host(headers)
            person = await self._person(scope, headers)
            scope.setdefault("state", {})["person"] = person
            self._check_origin(scope, headers)
            key = person.id if person else _address(scope)
            self._requests.hit(key)
            if person is None and not scope["path"].startswith(_OPEN):
                if _is_page(scope, headers):
                    await reply.redirect(f"/login?next={quote(scope['path'])}")
                    return
                raise NotLoggedIn("log in, or send a token: `Authorization: Bearer fx_...`")
            upload = int(self.options.upload_mb * 1e6) if scope["path"] in UPLOADS else 0
            most = bodies.most(headers, upload, known=person is not None)
            with self._under_way.one(key), ExitStack() as body:
                if bodies.is_large(headers):
                    body.enter_context(self._bodies.one(key))
                await self.app(scope, bodies.limited(receive, most, body.close), reply.send)
        except (bodies.BodyRefused, HeadRefused) as error:
            await reply.refuse(error.status_code, Refused(error.detail), last=isinstance(error, HeadRefused))
        except StoreError as error:
            # Who asks may not be known yet: where the state is, and what is wrong with it, is for the log.
            log.error("the state could not say who a request is from: %s", error)
            away = StoreError("the server cannot read or write its state just now: try again; its log says more")
            await reply.refuse(status_of(away), away)
        except DeskError as error:
            await reply.refuse(status_of(error), error)

    def _is_https(self, scope: Scope) -> bool:
        return scope.get("scheme") in ("https", "wss") or bool(
            self.options.url and self.options.url.startswith("https:")
        )

    def _check_host(self, headers: dict[str, str]) -> None:
        """A name that was made to point here is not ours: without this, any page could ask a server without a login."""
        host = headers.get("host", "").lower()
        said = _HOST.fullmatch(host)
        name = said[1].strip("[]") if said else ""
        if not self._any_host and name not in self._hosts and host != self._own:
            raise Refused(
                f"this server is not called {host[:80]!r}: FINEXPERT_SERVE_HOSTS names what else it is called"
            )
        if self.options.is_local and any(each.startswith("x-forwarded") or each == "forwarded" for each in headers):
            raise Forbidden(
                "this server has no login and stands behind a proxy: set FINEXPERT_SERVE_URL, make a token, and start it again"
            )

    def _check_origin(self, scope: Scope, headers: dict[str, str]) -> None:
        """What changes something comes from a page of ours, or from a program with a token: no other page may send it."""
        changes = scope["type"] == "websocket" or scope["method"] not in _SAFE
        # A server without a login looks at no token: there the header says nothing of who sent it.
        if not changes or ("authorization" in headers and not self.options.is_local):
            return
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None:
            if not self._is_ours(urlsplit(origin.lower()), scope, headers):
                raise Forbidden("this was sent by a page of another site")
        elif site is not None:
            if site not in ("same-origin", "none"):
                raise Forbidden("this was sent by a page of another site")
        elif COOKIE in _cookies(headers):
            raise Forbidden("a request with a cookie has to say its origin: programs send a token instead")

    def _is_ours(self, origin: SplitResult, scope: Scope, headers: dict[str, str]) -> bool:
        """Whether a page is of this server; behind a proxy that says nothing of it, over HTTP or HTTPS."""
        if origin.netloc and origin.netloc == self._own:
            return origin.scheme == urlsplit(self.options.url).scheme.lower()
        direct = "https" if scope.get("scheme") in ("https", "wss") else "http"
        # Over HTTPS itself, or by the word of a proxy that is believed, no page over HTTP is ours: whoever sits between could have made it.
        schemes = {direct} if self.options.is_local or direct == "https" else {"http", "https"}
        return bool(origin.netloc) and origin.netloc == headers.get("host", "").lower() and origin.scheme in schemes

    async def _person(self, scope: Scope, headers: dict[str, str]) -> Person | None:
        """Who it is from. A token that is not good is refused, and is not passed over for a cookie."""
        said = headers.get("authorization")
        if said is not None and not self.options.is_local:
            kind, _, token = said.partition(" ")
            found = await asyncio.to_thread(access.person_of_token, self.desk.state, token.strip())
            if kind.lower() != "bearer" or found is None:
                # Whoever tries out tokens has the state read each time.
                self._requests.hit(_address(scope))
                raise NotLoggedIn("the token is not known, was revoked, or has expired")
            return found
        if self.options.is_local:
            return self.nobody_else
        cookie = _cookies(headers).get(COOKIE)
        return None if not cookie else await asyncio.to_thread(access.person_of_login, self.desk.state, cookie)


class _Reply:
    """Sends what the app says, with the headers that every reply has; and refusals of its own."""

    def __init__(self, scope: Scope, send: Send, desk: Desk, *, https: bool) -> None:
        self._scope, self._send, self._desk, self._https = scope, send, desk, https
        self._started = False

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            message["headers"] = self._with_headers(message.get("headers", []))
            route = getattr(self._scope.get("route"), "path", "other")
            self._desk.metrics.request(self._scope["method"], route, message["status"])
        await self._send(message)

    async def refuse(self, status: int, error: FinexpertError, *, last: bool = False) -> None:
        """Refuse the request; with `last` nothing more is read from its connection."""
        if self._scope["type"] == "websocket":
            await self._send({"type": "websocket.close", "code": 1008, "reason": type(error).__name__})
            return
        if self._started:
            raise error
        headers = [(b"content-type", b"application/json"), *([(b"connection", b"close")] if last else [])]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        if isinstance(error, TooMany):
            headers.append((b"retry-after", str(max(1, round(error.seconds))).encode()))
        await self._whole(status, headers, json.dumps(error_json(error, str(error))).encode())

    async def redirect(self, place: str) -> None:
        await self._whole(303, [(b"location", place.encode())], b"")

    async def _whole(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    def _with_headers(self, headers: Any) -> list[tuple[bytes, bytes]]:
        said = {name.lower() for name, _ in headers}
        path = self._scope["path"]
        strict = path.startswith(_STRICT_DOORS)
        own = {**_HEADERS, "content-security-policy": _STRICT if strict else _PAGE}
        if strict:
            own["cache-control"] = "no-store"
        if self._https:
            own["strict-transport-security"] = "max-age=31536000"
        kept = [(name, value) for name, value in headers if name.lower() != b"server"]
        return kept + [(name.encode(), value.encode()) for name, value in own.items() if name.encode() not in said]


def status_of(error: BaseException) -> int:
    """The HTTP status of an error."""
    for kind, status in (
        (e.NotFound, 404), (e.Forbidden, 403), (e.NotLoggedIn, 401), (e.TooMany, 429), (e.Busy, 409), (e.Refused, 400),
        (e.StaleEntry, 409), (e.NameTaken, 409), (e.NotKept, 422), (e.Cancelled, 409), (e.BudgetExceeded, 402), (e.CircuitOpen, 503),
        (e.ModelError, 502), (e.SandboxUnavailable, 503), (e.StoreError, 503), (e.FinexpertError, 422),
    ):  # fmt: skip
        if isinstance(error, kind):
            return status
    return 500


def error_json(error: BaseException, message: str) -> dict[str, Any]:
    """An error as every door says it; clients of OpenAI read the same form."""
    kind = type(error).__name__ if isinstance(error, FinexpertError) else "InternalError"
    return {"error": {"type": kind, "message": message}}


def _address(scope: Scope) -> str:
    """Who is not known is counted by the address."""
    return f"address {(scope.get('client') or ('?',))[0]}"


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _cookies(headers: dict[str, str]) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def _is_page(scope: Scope, headers: dict[str, str]) -> bool:
    wants_page = "text/html" in headers.get("accept", "")
    return bool(scope["type"] == "http" and scope["method"] == "GET" and wants_page) and not scope["path"].startswith(
        _STRICT_DOORS
    )
