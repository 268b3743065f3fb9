"""What `finexpert ask` takes before its first request to a model; run with -s, it prints the numbers of docs/results.md."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import psutil
import pytest
from served import Served

ASK = ("ask", "How many recessions have there been in the last 30 years?", "--lm", "openai/x", "--api-base")
MOST_MEGABYTES = 350


@pytest.fixture
def asked() -> Iterator[tuple[str, threading.Event, threading.Event]]:
    """A server's address, what is set when it is asked, and what lets it answer."""
    first, answers = threading.Event(), threading.Event()

    class Waiting(Served):
        def answer(self, handler: BaseHTTPRequestHandler) -> None:
            first.set()
            answers.wait(60)

    with Waiting() as server:
        yield f"{server.address}/v1", first, answers
        answers.set()


def test_memory_before_the_first_request(home: Path, asked: tuple[str, threading.Event, threading.Event]) -> None:
    address, first, _ = asked
    program = str(Path(sys.executable).with_name("finexpert"))
    began = time.perf_counter()
    with subprocess.Popen(
        [program, *ASK, address], env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert first.wait(120)
            wall = time.perf_counter() - began
            tree = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
            # Pages that several processes share count once.
            megabytes = sum(each.memory_full_info().pss for each in tree) / 2**20
            seconds = sum(sum(each.cpu_times()[:2]) for each in tree)
        finally:
            process.kill()
    print(f"{wall:.1f} s, {seconds:.1f} s of processors, {megabytes:.0f} MB in {len(tree)} processes")
    assert megabytes < MOST_MEGABYTES
