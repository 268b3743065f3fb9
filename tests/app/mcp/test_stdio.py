"""`finexpert mcp` as a process, with the SDK's own client: the FRED demo, a filings demo, and what ends it."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from sample_library import sample_info, sample_pages

from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library
from finexpert.language_models.recordings.recorder import Recorder
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.session import Session
from finexpert.settings import Settings

FINEXPERT = str(Path(sys.executable).parent / "finexpert")
QUESTION = "What was the net revenue of Harborlight Ferries in 2022?"
TODAY = dt.date(2024, 9, 30)


def served(arguments: list[str], act: Callable[[Client], Awaitable[Any]], mode: str = "auto") -> Any:
    """Starts the command and talks to it."""
    own = {name: value for name, value in os.environ.items() if name.startswith(("FINEXPERT_", "DSPY_"))}
    command = StdioServerParameters(
        command=FINEXPERT, args=["mcp", "--lm", "recorded", "--as-of", str(TODAY), *arguments], env=own
    )

    async def main() -> Any:
        async with Client(command, mode=mode) as client:
            return await act(client)

    return asyncio.run(main())


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_the_fred_demo(mode: str) -> None:
    async def act(client: Client) -> Any:
        asked = await client.call_tool("ask", {"question": "How many recessions have there been in the last 30 years?"})
        facts = asked.structured_content
        assert facts is not None
        again = await client.call_tool("replay", {"id": facts["id"]})
        unknown = await client.call_tool("ask", {"question": "Something that nobody recorded?"})
        return facts, again.structured_content, unknown

    facts, again, unknown = served([], act, mode)
    assert (facts["text"], facts["flags"]) == ("3 recessions", ["sample economy: made-up numbers"])
    assert again == {"same": True, "text": "3 recessions", "missing": [], "differences": []}
    assert unknown.is_error


def test_the_filings_demo(tmp_path: Path, desk: Any, own_home: Path) -> None:
    desk.says("page", desk.fields(
        answers="true", entity="net revenue", answer="step 1",
        steps=[{"kind": "cell", "id": 1, "row": "net revenue", "column": "2022"}],
    ))  # fmt: skip
    recordings = tmp_path / "filings.jsonl"
    model = Recorder(recordings).wrap(ScriptedModel(desk.reply))
    with Library.open(tmp_path / "filings", embedder=embedder("words"), make=True) as library:
        for page in sample_pages():
            library.add([page], sample_info(page))
        settings = Settings(as_of=TODAY, embedder="words", cache=False)
        with Session(library, settings=settings, models=LanguageModels(model)) as session:
            assert session.ask(QUESTION).value == 412

    async def act(client: Client) -> Any:
        found = await client.call_tool("search_filings", {"phrases": ["net revenue"], "company": "HRBX", "year": 2022})
        asked = await client.call_tool("ask", {"question": QUESTION})
        page = asked.structured_content["citations"][0]["page"]
        read = await client.call_tool("read_page", {"page": page})
        return found.structured_content, asked.structured_content, read.structured_content

    arguments = ["--library", str(tmp_path / "filings"), "--recordings", str(recordings)]
    os.environ["FINEXPERT_EMBEDDER"] = "words"
    try:
        found, asked, read = served(arguments, act)
    finally:
        del os.environ["FINEXPERT_EMBEDDER"]
    assert asked["text"] == "412.00 million USD [1]"
    assert asked["citations"][0]["page"] in [page["page"] for page in found["pages"]]
    assert "$ 412" in read["text"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--data", "nothing.duckdb"], "nothing.duckdb"),
        (["--library", "nowhere"], "there is no library in"),
        (["--mode", "fast"], "mode"),
    ],
)
def test_a_wrong_option_ends_it_and_says_why(tmp_path: Path, arguments: list[str], said: str) -> None:
    ran = subprocess.run(
        [FINEXPERT, "mcp", "--lm", "recorded", *arguments], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert said in ran.stderr
    assert ran.stdout == ""


def test_it_ends_when_its_client_goes_and_writes_nothing_but_the_protocol() -> None:
    request = '{"jsonrpc":"2.0","id":1,"method":"ping"}\nno json\n'
    ran = subprocess.run(
        [FINEXPERT, "mcp", "--lm", "recorded"], input=request, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert all(line.startswith('{"jsonrpc":"2.0"') for line in ran.stdout.splitlines())
