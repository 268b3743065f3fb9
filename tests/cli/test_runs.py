"""`finexpert runs`: the store in the terminal, and MLflow's page without any network."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from finexpert import tracking
from finexpert.settings import Settings


@pytest.fixture
def two_runs(home: Path, tracked: Path) -> list[str]:
    """Two evaluations with a rung each, in the store of the current folder."""
    assert tracked.is_file()
    tracking.start(Settings(home=home), "finexpert eval fred")
    ids = []
    for model, right in (("small", 0.5), ("large", 0.75)):
        with tracking.run(f"fred {model}", parent=True, params={"model": model, "questions": 4}) as id:
            tracking.log({"accuracy": right}, {})
            with tracking.run("sql", parent=False):
                tracking.log({"accuracy": 0.25}, {})
        ids.append(id)
    tracking.finish()
    return ids


def test_runs_are_listed_and_compared(finexpert: Any, two_runs: list[str]) -> None:
    listed = finexpert("runs", "list", "--json").json
    assert [run["id"] for run in listed] == two_runs[::-1]
    shown = " ".join(finexpert("runs", "list").out.split())
    assert "fred large" in shown
    assert "accuracy 0.75" in shown
    ran = finexpert("runs", "compare", two_runs[0][:8], "fred large")
    assert ran.code == 0
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["model", "small", "large"] in lines
    assert ["accuracy", "0.5", "0.75"] in lines
    assert not [line for line in lines if line[:1] == ["questions"]]
    assert ["questions", "4", "4"] in [
        line.split() for line in finexpert("runs", "compare", *two_runs, "--all").out.splitlines()
    ]


def test_what_is_not_there_is_said(finexpert: Any, two_runs: list[str]) -> None:
    assert "there is no run 'zzz'" in finexpert("runs", "compare", "zzz", two_runs[0]).err
    assert "there is no experiment 'no'; there are" in finexpert("runs", "list", "--experiment", "no").err
    assert finexpert("runs", "compare", two_runs[0]).code == 2
    Path("runs", "mlflow.db").unlink()
    for command in (("runs", "--no-browser"), ("runs", "list")):
        ran = finexpert(*command)
        assert (ran.code, "there is no MLflow store" in ran.err, "eval fred" in ran.err) == (1, True, True)


def test_a_server_of_ones_own_is_named(finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEXPERT_TRACKING_URI", "https://mlflow.example")
    assert finexpert("runs", "--no-browser").out == "MLflow: https://mlflow.example\n"
    monkeypatch.setenv("FINEXPERT_TRACKING_URI", "https://anna:hunter22@mlflow.example")
    assert finexpert("runs", "--no-browser").out == "MLflow: https://anna@mlflow.example\n"


@pytest.mark.usefixtures("two_runs")
def test_another_server_at_the_port_is_not_taken_for_the_page(finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*given: Any, **options: Any) -> None:
        pytest.fail("a server is started")

    monkeypatch.setattr(subprocess, "Popen", started)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ran = finexpert("runs", "--no-browser", "--port", str(port))
    assert (ran.code, ran.out) == (1, "")
    assert f"port {port} is taken" in ran.err
    assert "--port 0" in ran.err


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("two_runs")
def test_the_page_opens_without_a_network(own_home: Path) -> None:
    # Whoever asks the network is sent to a place where nobody answers.
    nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
    program = [str(Path(sys.executable).with_name("finexpert")), "runs", "--no-browser", "--port", "0"]
    with subprocess.Popen(program, env=os.environ | nowhere, stdout=subprocess.PIPE, text=True) as page:
        try:
            assert page.stdout is not None
            found = re.fullmatch(r"MLflow: (http://127\.0\.0\.1:\d+)\n", page.stdout.readline())
            assert found
            answered = httpx.post(f"{found[1]}/api/2.0/mlflow/experiments/search", json={"max_results": 10}, timeout=60)
            assert "finexpert eval fred" in [each["name"] for each in answered.json()["experiments"]]
        finally:
            page.send_signal(signal.SIGINT)
            page.wait(60)
    assert page.returncode == 130
    for _ in range(100):
        try:
            httpx.get(found[1], timeout=1)
        except httpx.TransportError:
            return
        time.sleep(0.1)
    pytest.fail("MLflow's page goes on")
