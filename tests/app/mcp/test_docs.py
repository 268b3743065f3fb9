"""docs/mcp.md: its snippets are JSON with options that there are, and its numbers are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from mcp import Client

from finexpert.app.mcp import http, shown
from finexpert.cli.main import app

TEXT = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text()
SNIPPETS = re.findall(r"^```json\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_snippet_is_json_and_starts_what_there_is(snippet: str) -> None:
    (servers,) = [value for name, value in json.loads(snippet).items() if name in ("mcpServers", "servers")]
    server = servers["finexpert"]
    if "url" in server:
        assert server["url"].endswith(http.PATH)
        return
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    options = {flag for parameter in commands["mcp"].params for flag in parameter.opts}
    assert (server["command"], server["args"][0]) == ("finexpert", "mcp")
    assert {word for word in server["args"] if word.startswith("--")} <= options


def test_the_tools_are_those_of_the_server(talk: Any) -> None:
    async def act(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    assert set(re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)) == talk(act)


def test_the_bounds_are_those_of_the_code() -> None:
    assert f"cut at {shown.MOST_ROWS} rows" in TEXT
    assert f"at most {http._LARGEST_REQUEST // 1_000_000} MB" in TEXT
