"""The doors of logging in: a form for a token, the company's login by OpenID Connect, and logging out.

GET /login       a form, and a link to the company's login where one is set
POST /login      token=fx_...      a cookie for some hours
POST /logout
GET /auth/start, /auth/back        OpenID Connect: code flow with PKCE, state and nonce by Authlib
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, FastAPI, Form, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.routing import Route

from finexpert.app.desk import Desk
from finexpert.app.guard import COOKIE, error_json, status_of
from finexpert.app.guarding.limits import Limit
from finexpert.app.options import ServeOptions
from finexpert.app.page.templating import render
from finexpert.app.people import access
from finexpert.app.people.people import Person, Role
from finexpert.errors import ConfigurationError, FinexpertError, Forbidden, NotLoggedIn

log = logging.getLogger(__name__)

_STATE_SECONDS = 600


def local_path(next: str) -> str:
    """Where to go after a login: a path of this server, whatever was asked for.

    >>> local_path("/c/1"), local_path("//evil.example"), local_path("https://evil.example"), local_path("/\\\\evil")
    ('/c/1', '/', '/', '/')
    """
    parts = urlsplit(next)
    harmless = next.startswith("/") and not next.startswith("//") and "\\" not in next and next.isprintable()
    return next if harmless and not parts.scheme and not parts.netloc else "/"


def mount(app: FastAPI, desk: Desk) -> None:
    """Add the doors of logging in."""
    app.include_router(_router(desk))
    if desk.options.oidc_issuer:
        app.mount("/auth", _company(desk))


def _router(desk: Desk) -> APIRouter:
    router, options = APIRouter(include_in_schema=False), desk.options
    tries = Limit(options.logins_per_minute, "logins")

    @router.get("/login")
    def form(next: str = "/") -> Response:
        if options.is_local:
            return RedirectResponse(local_path(next), 303)
        return HTMLResponse(_page(options, next))

    @router.post("/login")
    def log_in(request: Request, token: Annotated[str, Form()], next: Annotated[str, Form()] = "/") -> Response:
        tries.hit(request.client.host if request.client else "?")
        person = access.person_of_token(desk.state, token.strip())
        if person is None:
            return HTMLResponse(_page(options, next, "This token is not known, was revoked, or has expired."), 401)
        reply = RedirectResponse(local_path(next), 303)
        set_cookie(
            request, reply, desk, access.login(desk.state, person, options.login_hours, access.token_id(token.strip()))
        )
        return reply

    @router.post("/logout")
    def log_out(request: Request) -> Response:
        if cookie := request.cookies.get(COOKIE):
            access.logout(desk.state, cookie)
        reply = RedirectResponse("/login", 303)
        reply.delete_cookie(COOKIE)
        return reply

    return router


def set_cookie(request: Request, reply: Response, desk: Desk, cookie: str) -> None:
    """Hand out the cookie of a login: no script reads it, and no other site sends it with a change."""
    seconds = int(desk.options.login_hours * 3600)
    https = request.url.scheme == "https" or bool(desk.options.url and desk.options.url.startswith("https:"))
    reply.set_cookie(COOKIE, cookie, max_age=seconds, httponly=True, samesite="lax", secure=https)


def _page(options: ServeOptions, next: str, problem: str = "") -> str:
    return render("login.html", company=bool(options.oidc_issuer), problem=problem, next=local_path(next))


def _company(desk: Desk) -> Starlette:
    """Login by OpenID Connect. State and nonce are in a signed cookie of ten minutes."""
    from authlib.integrations.starlette_client import OAuth

    options = desk.options
    if not options.oidc_client_id or not options.url:
        raise ConfigurationError(
            "a login by OpenID Connect needs FINEXPERT_SERVE_OIDC_CLIENT_ID, and FINEXPERT_SERVE_URL for the way back"
        )
    secret = options.oidc_client_secret
    oauth = OAuth()
    provider = oauth.register(
        "company",
        server_metadata_url=f"{str(options.oidc_issuer).rstrip('/')}/.well-known/openid-configuration",
        client_id=options.oidc_client_id,
        client_secret=secret.get_secret_value() if secret else None,
        client_kwargs={"scope": options.oidc_scope, "code_challenge_method": "S256"},
    )
    tries = Limit(options.logins_per_minute, "logins")

    async def start(request: Request) -> Response:
        try:
            reply: Response = await provider.authorize_redirect(request, f"{str(options.url).rstrip('/')}/auth/back")
        except Exception as error:  # noqa: BLE001 - Authlib chooses the HTTP library by itself, whose errors we do not know
            log.warning("the company's login at %s cannot be used: %s", options.oidc_issuer, error)
            raise NotLoggedIn(
                "the company's login cannot be reached just now: try again, or use a token at /login"
            ) from None
        return reply

    async def back(request: Request) -> Response:
        tries.hit(request.client.host if request.client else "?")
        try:
            told = await provider.authorize_access_token(request)
        except Exception as error:  # noqa: BLE001 - as above: whatever it is, nobody is logged in by it
            log.info("a login by the company was refused: %r", error)
            why = getattr(error, "error", "") or type(error).__name__
            raise NotLoggedIn(f"the company's login refused ({why}): begin again at /login") from None
        person = person_of_claims(told.get("userinfo") or {}, options)
        reply = RedirectResponse("/", 303)
        set_cookie(request, reply, desk, await run_in_threadpool(access.login, desk.state, person, options.login_hours))
        return reply

    async def refused(request: Request, error: Exception) -> Response:
        return JSONResponse(error_json(error, desk.said(error)), status_of(error))

    kept = Middleware(
        SessionMiddleware,
        secret_key=desk.sealer.cookie_key,
        session_cookie="finexpert_auth",
        max_age=_STATE_SECONDS,
        same_site="lax",
        https_only=options.url.startswith("https:"),
    )
    return Starlette(
        routes=[Route("/start", start), Route("/back", back)],
        middleware=[kept],
        exception_handlers={FinexpertError: refused},
    )


def person_of_claims(claims: Mapping[str, Any], options: ServeOptions) -> Person:
    """Who logged in, by what the provider says; NotLoggedIn or Forbidden where that is not enough."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject:
        raise NotLoggedIn("the company's login did not say who it is (no claim 'sub')")
    said = claims.get(options.oidc_groups_claim) or []
    groups = {said} if isinstance(said, str) else {str(group) for group in said}
    allowed = {*options.oidc_allowed, *options.oidc_teachers, *options.oidc_owners}
    if options.oidc_allowed and not groups & allowed:
        raise Forbidden("none of your groups may use this server: ask its owner")
    team = claims.get(options.oidc_team_claim) if options.oidc_team_claim else options.team
    if not isinstance(team, str) or not team:
        raise Forbidden(f"the company's login did not name your team (no claim {options.oidc_team_claim!r})")
    role: Role = "reader"
    if groups & set(options.oidc_teachers):
        role = "teacher"
    if groups & set(options.oidc_owners):
        role = "owner"
    name = next((str(claims[key]) for key in ("name", "preferred_username", "email") if claims.get(key)), subject)
    # A subject is unique at its issuer alone.
    whose = hashlib.sha256(f"{options.oidc_issuer} {subject}".encode()).hexdigest()[:32]
    return Person(f"oidc:{whose}", name[:120], role, team[:120])
