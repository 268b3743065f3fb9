"""Evaluations and a compile on a Ray cluster of two nodes: the results of threads, from the same recordings."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ray_nodes import two_nodes

# What a clock says, and which question came before which.
_OF_A_RUN = re.compile("seconds|stages|prefix_share")
FRED = ("eval", "fred", "--lm", "recorded", "--only", "year_cpi_rose_above_200,latest_recession")
SELECTS = """[[ ## selects ## ]]
[{"df_name": "cpi", "df_columns": ["date", "value"], "select_query": "SELECT date, value FROM cpi WHERE cpi_index = 'CPI'"}]

[[ ## completed ## ]]"""


def nothing_here(*given: Any) -> None:
    raise AssertionError("asked in this process")


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with two_nodes(monkeypatch) as cluster:
        yield cluster


def same(found: Any) -> Any:
    """What has to be the same however the questions were asked, in any order."""
    if isinstance(found, dict):
        return {name: same(each) for name, each in found.items() if not _OF_A_RUN.search(name)}
    if isinstance(found, list):
        return sorted(map(same, found), key=lambda each: json.dumps(each, sort_keys=True))
    return found


@pytest.mark.parametrize(
    "command",
    [
        (*FRED, "--rungs", "sql+script,+retries,+memory"),
        ("eval", "house", "--lm", "recorded", "--half", "keywords", "--every", "16"),
        ("eval", "convfinqa", "--lm", "recorded", "--sample", "3"),
    ],
)
def test_the_results_are_those_of_threads(
    finexpert: Any, tracked: Path, home: Path, nodes: Any, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert finexpert(*command, "--json", "threads.json").code == 0
    monkeypatch.setattr("finexpert.datasets.evaluations.journal.side_by_side", nothing_here)
    assert finexpert(*command, "--json", "ray.json", "--engine", "ray").code == 0
    on_threads, on_ray = (json.loads(Path(f"{name}.json").read_text()) for name in ("threads", "ray"))
    assert on_threads["measured"]["done"] >= 2
    assert same(on_ray) == same(on_threads)


def test_a_budget_ends_the_run_and_the_next_one_goes_on(finexpert: Any, tracked: Path, home: Path, nodes: Any) -> None:
    command = (
        *FRED,
        "--mode",
        "direct",
        "--mode",
        "checked",
        "--engine",
        "ray",
        "--threads",
        "1",
        "--json",
        "out.json",
    )
    ran = finexpert(*command, "--budget", "calls=1")
    assert "budget of this run is used up" in ran.out + ran.err
    assert json.loads(Path("out.json").read_text())["measured"]["done"] == 1
    ran = finexpert(*command)
    assert "going on after 1 answers" in ran.out + ran.err
    assert json.loads(Path("out.json").read_text())["measured"]["done"] == 4


def test_completions_are_kept_by_threads_alone(finexpert: Any, tracked: Path, home: Path) -> None:
    ran = finexpert(*FRED, "--engine", "ray", "--save-completions", "kept.jsonl")
    assert ran.code == 1
    assert "engine ray keeps no completions" in ran.err


class Handler(BaseHTTPRequestHandler):
    """A model that writes half of what is asked: one SELECT, where an example fetches one frame."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"index": 0, "message": {"role": "assistant", "content": SELECTS}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        said = {"id": "1", "object": "chat.completion", "created": 1, "model": "served"}
        content = json.dumps({**said, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing is written."""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("FINEXPERT_API_KEY", "none")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


def test_a_compile_scores_as_in_threads(
    finexpert: Any, tracked: Path, home: Path, served: str, nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("compile", "sql_extraction", "--lm", "openai/served", "--api-base", served, "--no-end-to-end", "--fresh")
    small = ("--train", "4", "--val", "3", "--holdout", "4", "--candidates", "1", "--threads", "2")
    told = []
    for engine in ("threads", "ray"):
        ran = finexpert(*command, *small, "--engine", engine)
        assert ran.code == 0, ran.err
        lines = [line for line in ran.out.splitlines() if " on val" in line or re.search(r"\d calls", line)]
        told.append([re.sub(r", [\d.]+ min", "", line) for line in lines])
        monkeypatch.setattr("finexpert.optimizers.compiling.search.side_by_side", nothing_here)
    assert len(told[0]) >= 3
    assert told[1] == told[0]
