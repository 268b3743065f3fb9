"""Load on a server: people who ask at once, and how long the program itself takes; `finexpert bench serve` prints it.

    python -m finexpert.app.load HOME LATENCY        a server over the sample economy, whose model is a script

The model answers after so many seconds. The server is a process of its own, as it is for people.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx

PLAN = """[[ ## interpretation ## ]]
Months with an unemployment rate above {least} percent.
[[ ## selects ## ]]
[{{"df_name": "months", "df_columns": ["months"],
  "select_query": "SELECT count(*) AS months FROM unemployment WHERE unrate > {least}"}}]
[[ ## answer_kind ## ]]
integer
[[ ## unit ## ]]
months
[[ ## completed ## ]]"""
_LEAST = re.compile(r"above (\d+\.\d+) percent")
_QUESTION = "How many months had an unemployment rate above {least} percent?"


@dataclass
class Load:
    """What came of a run."""

    answered: int = 0
    wrong: int = 0
    errors: list[str] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    most_mb: float = 0.0
    kept: int = 0

    def facts(self) -> dict[str, Any]:
        own = sorted(self.own)
        return {
            "answered": self.answered,
            "wrong": self.wrong,
            "errors": len(self.errors),
            "first error": self.errors[0] if self.errors else None,
            "own time, median s": round(own[len(own) // 2], 3) if own else None,
            "own time, 95th percentile s": round(own[int(len(own) * 0.95)], 3) if own else None,
            "memory of all processes, MB": round(self.most_mb),
            "answers found afterwards": self.kept,
        }


class LoadServer:
    """A server with a scripted model in a process of its own. Use it as a context manager."""

    def __init__(self, home: Path, latency: float, **options: Any) -> None:
        # What the person who runs this has set is not for a server whose model is a script.
        environ = {name: value for name, value in os.environ.items() if not name.startswith("FINEXPERT_")}
        environ |= {f"FINEXPERT_SERVE_{name.upper()}": str(value) for name, value in options.items()}
        command = [sys.executable, "-P", "-m", "finexpert.app.load", str(home), str(latency)]
        self.process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self._gone(60)

    def kill(self) -> None:
        """End it as a machine without power does."""
        self.process.kill()
        self._gone(10)

    def _gone(self, seconds: float) -> None:
        self.process.wait(seconds)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def wait(self, seconds: float = 120) -> None:
        """Come back when it takes questions."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if httpx.get(f"{self.address}/readyz", timeout=5).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.1)
        raise TimeoutError(f"{self.address} was not ready in {seconds:g} s")

    def megabytes(self) -> float:
        """What the server and its children take, shared memory once."""
        total = 0.0
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if _is_of(process, self.process.pid):
                    kept = re.search(r"Pss:\s+(\d+)", (process / "smaps_rollup").read_text())
                    total += int(kept[1]) / 1024 if kept else 0
            except (OSError, ValueError):
                continue
        return total


def _is_of(process: Path, parent: int) -> bool:
    """Whether a process is another one, or descends from it."""
    number = int(process.name)
    while number > 1:
        if number == parent:
            return True
        number = int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    return False


async def people(server: LoadServer, number: int, questions: int, pause: float, latency: float) -> Load:
    """So many people ask so many questions each, one after the other, with a pause between them."""
    load = Load()
    limits = httpx.Limits(max_connections=number * 2)
    async with httpx.AsyncClient(base_url=server.address, timeout=latency * 10 + 120, limits=limits) as client:
        source = (await client.get("/api/sources")).json()[0]["id"]
        asking = [_person(client, source, each, questions, pause, number, load) for each in range(number)]
        watching = asyncio.create_task(_memory(server, load))
        await asyncio.gather(*asking)
        watching.cancel()
        found = (await client.get("/api/conversations")).json()
        load.kept = sum(each["answers"] for each in found)
    return load


async def _memory(server: LoadServer, load: Load) -> None:
    while True:
        load.most_mb = max(load.most_mb, await asyncio.to_thread(server.megabytes))
        await asyncio.sleep(2)


async def _person(
    client: httpx.AsyncClient, source: str, each: int, questions: int, pause: float, number: int, load: Load
) -> None:
    # People do not press a key in the same instant for ever.
    await asyncio.sleep(pause * each / max(1, number))
    conversation = (await client.post("/api/conversations", json={"source": source})).json()["id"]
    for turn in range(questions):
        least = f"{3 + (each * 7 + turn) % 60 / 10:.1f}"
        try:
            reply = await client.post(
                f"/api/conversations/{conversation}/ask", json={"question": _QUESTION.format(least=least)}
            )
            answer = reply.json()
        except (httpx.HTTPError, ValueError) as error:
            load.errors.append(repr(error))
            continue
        if reply.status_code != 200 or answer.get("status") != "answered":
            load.errors.append(reply.text[:300])
            continue
        load.answered += 1
        load.wrong += f"> {least}" not in answer["selects"][0]["sql"]
        # From the door to the door: what the program took beside the model, waiting included.
        load.own.append(reply.elapsed.total_seconds() - answer["usage"]["model_seconds"])
        await asyncio.sleep(pause)


def measured(home: Path, number: int, questions: int, pause: float, latency: float) -> dict[str, Any]:
    """The facts of a run on a fresh server."""
    with LoadServer(home, latency, questions_per_minute=100_000, requests_per_minute=1_000_000,
                    questions_each=10_000, grace_seconds=5) as server:  # fmt: skip
        server.wait()
        return asyncio.run(people(server, number, questions, pause, latency)).facts()


def _scripted(messages: list[dict[str, str]]) -> str:
    found = _LEAST.findall(messages[-1]["content"])
    return PLAN.format(least=found[-1])


def main(home: str, latency: str) -> None:
    """Serve with a scripted model until a signal ends it; the address is the first line that is printed."""
    from finexpert.app.desk import Desk
    from finexpert.app.options import ServeOptions
    from finexpert.app.serving import serve
    from finexpert.language_models.roles import LanguageModels
    from finexpert.language_models.scripted import ScriptedModel
    from finexpert.settings import Settings

    settings = Settings(home=Path(home), as_of=dt.date(2024, 9, 30), cache=False)
    models = LanguageModels(ScriptedModel(_scripted, latency=float(latency)))
    desk = Desk(settings, ServeOptions(port=0), models=models)
    desk.metrics.gauge("finexpert_threads", "Threads of the process.", threading.active_count)
    serve(desk, lambda address: print(address, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
