"""`finexpert serve`: tokens of people, what is not served, and a server that runs as the command starts it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from finexpert.app.options import ServeOptions
from finexpert.app.people import access
from finexpert.app.state.state import State
from finexpert.cli.serve import given_sources, options_from
from finexpert.errors import ConfigurationError
from finexpert.settings import Settings


def test_a_token_is_made_listed_and_revoked(finexpert: Any) -> None:
    none = finexpert("serve", "token", "list")
    assert (none.out, "finexpert serve token create NAME" in none.err) == ("", True)
    made = finexpert(
        "serve", "token", "create", "anna", "--role", "teacher", "--days", "7", "--scope", "read", "--scope", "ask"
    )
    secret = made.out.strip()
    assert "is not shown again" in made.err
    with State.open(Settings()) as state:
        person = access.person_of_token(state, secret)
    assert person is not None
    assert (person.name, person.role, sorted(person.scopes)) == ("anna", "teacher", ["ask", "read"])
    renewed = finexpert("serve", "token", "renew", "anna", "--days", "9").out.strip()
    with State.open(Settings()) as state:
        assert access.person_of_token(state, secret) is None
        assert access.person_of_token(state, renewed) == person
    listed = finexpert("serve", "token", "list").out
    assert "anna: teacher of local, ask, read; until" in listed
    assert secret.rpartition("_")[2] not in listed
    assert finexpert("serve", "token", "revoke", "anna").out == "anna is revoked\n"
    assert "revoked" in finexpert("serve", "token", "list").out
    gone = finexpert("serve", "token", "revoke", "anna")
    assert (gone.code, "there is no token 'anna' in use" in gone.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--role", "king"], "the role 'king' is not known: reader, teacher, owner are"),
        (["--scope", "all"], "the scope 'all' is not known"),
        (["--days", "0"], "more than 0 and at most 730 days"),
    ],
)
def test_a_token_that_cannot_be_made(finexpert: Any, arguments: list[str], said: str) -> None:
    ran = finexpert("serve", "token", "create", "anna", *arguments)
    assert ran.code == 1
    assert said in ran.err


def test_others_are_not_served_without_a_login(finexpert: Any) -> None:
    ran = finexpert("serve", "--host", "0.0.0.0", "--lm", "recorded")
    assert ran.code == 1
    assert "finexpert serve token create NAME --role owner" in ran.err


def test_options_come_from_the_environment_and_the_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("finexpert.toml").write_text("[serve]\nport = 9000\nteam = 'rates'\n")
    monkeypatch.setenv("FINEXPERT_SERVE_TEAM", "credit")
    monkeypatch.setenv("FINEXPERT_SERVE_OIDC_ISSUER", "")
    options = ServeOptions()
    assert (options.port, options.team, options.oidc_issuer) == (9000, "credit", None)
    assert Settings().serve == {"port": 9000, "team": "rates"}
    assert options_from(port=1).port == 1
    monkeypatch.setenv("FINEXPERT_SERVE_UPLOAD_MB", "much")
    with pytest.raises(ConfigurationError, match="FINEXPERT_SERVE_UPLOAD_MB"):
        options_from()


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        ("Trades=x/trades.duckdb", "Trades", "x/trades.duckdb"),
        ("x/trades.duckdb", "trades", "x/trades.duckdb"),
        ("exports/", "exports", "exports/"),
        (
            "postgresql+psycopg://desk:a=b@db/markets?schema=x",
            "markets",
            "postgresql+psycopg://desk:a=b@db/markets?schema=x",
        ),
        ("Db=postgresql+psycopg://desk:a=b@db/markets", "Db", "postgresql+psycopg://desk:a=b@db/markets"),
    ],
)
def test_sources_of_the_command_line(text: str, name: str, place: str) -> None:
    (source,) = given_sources([text], None, Settings())
    assert (source.name, source.kind, source.place) == (name, "data", place)


@pytest.mark.timeout(300)
def test_the_sample_economy_is_asked_in_a_minute(home: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        Path(sys.executable).with_name("finexpert"),
        "serve",
        "--lm",
        "recorded",
        "--as-of",
        "2024-09-30",
        "--port",
        str(port),
    ]
    server = subprocess.Popen([*map(str, command)], env=os.environ, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        assert f"http://127.0.0.1:{port}" in server.stdout.readline()
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            (source,) = client.get("/api/sources").json()
            made = client.post("/api/conversations", json={"source": source["id"]}).json()
            question = {"question": "How many recessions have there been in the last 30 years?"}
            answer = client.post(f"/api/conversations/{made['id']}/ask", json=question).json()
            assert answer["text"] == "3 recessions"
            assert "sample economy: made-up numbers" in answer["flags"]
            assert client.get("/", headers={"accept": "text/html"}).status_code == 200
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(60)
        if server.stdout is not None:
            server.stdout.close()
    assert code in (0, -signal.SIGTERM)
