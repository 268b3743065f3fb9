"""The company's login: a provider of our own for the tests, asked over HTTP as a real one is."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import uvicorn
from authlib.integrations.httpx_client import AsyncOAuth2Client
from fastapi import FastAPI, Form, Request
from fastapi.responses import RedirectResponse
from joserfc import jwt
from joserfc.jwk import RSAKey
from served import running
from starlette.testclient import TestClient

from finexpert.app.guard import COOKIE
from finexpert.app.server import create_app
from finexpert.errors import ConfigurationError

BASE = "https://finexpert.example"


class Provider:
    """A provider of OpenID Connect whose one user is `claims`; `lies` changes what its token says."""

    def __init__(self) -> None:
        self.key, self.other = RSAKey.generate_key(2048), RSAKey.generate_key(2048)
        self.claims: dict[str, Any] = {"sub": "7", "name": "Ann", "groups": ["desk"]}
        self.lies: dict[str, Any] = {}
        self.signer = self.key
        self.asked: dict[str, Any] = {}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.issuer = f"http://127.0.0.1:{self.port}"

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.get("/.well-known/openid-configuration")
        def about() -> dict[str, Any]:
            place = self.issuer
            return {
                "issuer": place,
                "authorization_endpoint": f"{place}/authorize",
                "token_endpoint": f"{place}/token",
                "jwks_uri": f"{place}/keys",
                "id_token_signing_alg_values_supported": ["RS256"],
            }

        @app.get("/keys")
        def keys() -> dict[str, Any]:
            return {"keys": [self.key.as_dict(private=False, kid="1", alg="RS256", use="sig")]}

        @app.get("/authorize")
        def authorize(request: Request) -> RedirectResponse:
            self.asked = dict(request.query_params)
            return RedirectResponse(f"{self.asked['redirect_uri']}?code=c&state={self.asked['state']}")

        @app.post("/token")
        def token(code_verifier: str = Form()) -> dict[str, Any]:
            now = int(time.time())
            said = {"iss": self.issuer, "aud": "finexpert", "iat": now, "exp": now + 60, "nonce": self.asked["nonce"]}
            signed = jwt.encode({"alg": "RS256", "kid": "1"}, {**said, **self.claims, **self.lies}, self.signer)
            return {"access_token": "a", "token_type": "Bearer", "id_token": signed, "expires_in": 60}

        return app


@pytest.fixture(scope="module")
def started() -> Iterator[Provider]:
    provider = Provider()
    with running(uvicorn.Config(provider.app(), port=provider.port, log_level="error")):
        yield provider


@pytest.fixture
def provider(started: Provider) -> Provider:
    started.claims, started.lies, started.signer = {"sub": "7", "name": "Ann", "groups": ["desk"]}, {}, started.key
    return started


@pytest.fixture
def browser(provider: Provider, make_office: Any) -> Iterator[TestClient]:
    options = {
        "url": BASE,
        "oidc_issuer": provider.issuer,
        "oidc_client_id": "finexpert",
        "oidc_client_secret": "s" * 20,
        "oidc_teachers": ["desk"],
        "logins_per_minute": 100,
    }
    app = create_app(make_office(**options).desk, close=False)
    with TestClient(app, base_url=BASE, follow_redirects=False) as browser:
        yield browser


def log_in(browser: TestClient) -> httpx.Response:
    """The way of a browser: to the provider, and back with its code."""
    away = browser.get("/auth/start").headers["location"]
    asked = parse_qs(urlsplit(away).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [f"{BASE}/auth/back"]
    back = httpx.get(away).headers["location"]
    return browser.get(back)  # type: ignore[return-value]


def test_who_the_company_knows_is_logged_in(browser: TestClient) -> None:
    assert "Log in with your company" in browser.get("/login").text
    reply = log_in(browser)
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    assert "httponly" in reply.headers["set-cookie"].lower()
    me = browser.get("/api/me").json()
    assert (me["name"], me["role"]) == ("Ann", "teacher")


@pytest.mark.parametrize(
    "lies",
    [
        {"nonce": "another"},
        {"aud": "another"},
        {"iss": "https://evil.example"},
        {"exp": 1},
        {"sub": ""},
    ],
    ids=lambda lies: next(iter(lies)),
)
def test_a_token_of_the_company_that_is_not_for_us(browser: TestClient, provider: Provider, lies: Any) -> None:
    provider.lies = lies
    assert log_in(browser).status_code == 401
    assert COOKIE not in browser.cookies
    assert browser.get("/api/me").status_code == 401


def test_a_token_that_the_company_did_not_sign(browser: TestClient, provider: Provider) -> None:
    provider.signer = provider.other
    assert log_in(browser).status_code == 401
    assert browser.get("/api/me").status_code == 401


def test_coming_back_without_having_left(browser: TestClient) -> None:
    assert browser.get("/auth/back?code=c&state=x").status_code == 401
    assert browser.get("/auth/back").status_code == 401
    assert COOKIE not in browser.cookies


def test_what_a_login_needs(make_office: Any) -> None:
    office = make_office(oidc_issuer="https://id.example", login=True)
    with pytest.raises(ConfigurationError, match="FINEXPERT_SERVE_OIDC_CLIENT_ID"):
        create_app(office.desk, close=False)


def test_a_provider_that_is_away_is_said(make_office: Any) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        issuer = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        office = make_office(url=BASE, oidc_issuer=issuer, oidc_client_id="finexpert")
        with TestClient(create_app(office.desk, close=False), base_url=BASE) as browser:
            reply = browser.get("/auth/start")
    assert reply.status_code == 401
    assert "try again, or use a token at /login" in reply.json()["error"]["message"]
    assert issuer not in reply.text


def test_a_provider_that_goes_away_in_between_is_said(
    browser: TestClient, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*_: Any, **__: Any) -> None:
        raise ConnectionError("no route to id.internal")

    monkeypatch.setattr(AsyncOAuth2Client, "fetch_token", gone)
    reply = log_in(browser)
    assert reply.status_code == 401
    assert "begin again at /login" in reply.json()["error"]["message"]
    assert "id.internal" not in reply.text
