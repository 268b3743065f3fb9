"""`finexpert bench soak`: thousands of questions through many threads, while one call of the model in ten goes wrong.

    finexpert bench soak -n 2000 --threads 1,4,16

The model is a script: it answers after a random time, or is not there, or talks of something else, or writes SQL or a
script that does not run. Everything else is real: warehouse, sandbox, glossary. Each question must end in an answer or
in a failure that says why, and when all are done, memory and open files must be what they were after the first ones.
How fast a real model is, is not measured here.
"""

from __future__ import annotations

import datetime as dt
import faulthandler
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.bench import frame

if TYPE_CHECKING:
    from finexpert.knowledge.taught import Taught
    from finexpert.language_models.roles import LanguageModels
    from finexpert.sandbox import Sandbox
    from finexpert.settings import Settings
    from finexpert.warehouse.warehouse import Warehouse

STUCK_SECONDS = 120.0
# What a process may still grow by after the first fifth: caches fill, arenas are split.
GROWTH_MB, GROWTH_FILES = 48.0, 12
_SELECT = "SELECT date, unrate FROM unemployment WHERE unrate IS NOT NULL ORDER BY date"
_CODE = "answer = len(unemployment)"
UNREACHABLE = "the model is not there"


@dataclass
class Soaked:
    """What a run came to; `levels` are (questions done, MB resident, open files)."""

    threads: int
    seconds: float = 0.0
    ends: Counter[str] = field(default_factory=Counter)
    untyped: list[str] = field(default_factory=list)
    stuck: int = 0
    levels: list[tuple[int, float, int]] = field(default_factory=list)

    @property
    def grown(self) -> tuple[float, int]:
        """MB and files between the end of the first fifth and the end."""
        (mb, files), (mb_then, files_then) = self.ends_of_levels
        return round(mb_then - mb, 1), files_then - files

    @property
    def ends_of_levels(self) -> tuple[tuple[float, int], tuple[float, int]]:
        """MB and files when the first fifth was done, which warms up, and at the end."""
        if not self.levels:
            return (0.0, 0), (0.0, 0)
        return self.levels[len(self.levels) // 5][1:], self.levels[-1][1:]

    @property
    def passed(self) -> bool:
        mb, files = self.grown
        return not self.untyped and not self.stuck and mb <= GROWTH_MB and files <= GROWTH_FILES

    def facts(self) -> dict[str, Any]:
        done = sum(self.ends.values())
        return {
            "threads": self.threads,
            "questions": done,
            "questions a second": round(done / self.seconds, 1) if self.seconds else 0.0,
            "ended as": dict(self.ends.most_common()),
            "errors of no known kind": self.untyped,
            "without an end": self.stuck,
            "resident MB, warm and at the end": [round(mb, 1) for mb, _ in self.ends_of_levels],
            "open files, warm and at the end": [files for _, files in self.ends_of_levels],
            "passed": self.passed,
        }


@dataclass
class World:
    """What all questions share."""

    source: Warehouse
    sandbox: Sandbox
    models: LanguageModels
    taught: Taught
    settings: Settings

    def ask(self, number: int) -> str:
        """One question in a conversation of its own; how it ended."""
        from finexpert.errors import FinexpertError
        from finexpert.session import Session

        own = Session(self.source, settings=self.settings, models=self.models, sandbox=self.sandbox, taught=self.taught)
        try:
            with own as session:
                answer = session.ask(f"How many months of stress have an unemployment rate? ({number})")
        except FinexpertError as error:
            return f"error: {type(error).__name__}"
        return answer.status if answer.failure is None else f"failed: {answer.failure.layer}"


def models(latency: float, faults: float, seed: int = 2026) -> LanguageModels:
    """A model that takes up to twice the latency, and goes wrong in so large a part of its calls."""
    from finexpert.errors import ModelUnreachable
    from finexpert.language_models.roles import LanguageModels
    from finexpert.language_models.scripted import ScriptedModel
    from finexpert.testing import fields

    def selects(select: str) -> list[dict[str, Any]]:
        return [{"df_name": "unemployment", "df_columns": ["date", "unrate"], "select_query": select}]

    def plan(select: str, code: str) -> str:
        said = {"interpretation": "Months with an unemployment rate.", "selects": selects(select), "code": code}
        return fields(**said, answer_kind="integer", unit="")

    mistakes = (
        UNREACHABLE,
        "Let us talk of the weather.",
        plan(_SELECT.replace("unrate", "rate_of_nothing"), _CODE),
        plan(_SELECT, "answer = unemployment['nothing'].mean()"),
    )
    dice, lock = random.Random(seed), threading.Lock()

    def answer(messages: list[dict[str, str]]) -> str:
        with lock:
            seconds, wrong = dice.uniform(0, 2 * latency), dice.random() < faults
            fault = dice.choice(mistakes)
        time.sleep(seconds)
        if wrong and fault == UNREACHABLE:
            raise ModelUnreachable("the scripted model is not there: this fault is injected")
        if wrong:
            return fault
        asked = messages[-1]["content"]
        if "`[[ ## interpretation ## ]]`" in asked:
            return plan(_SELECT, _CODE)
        return fields(selects=selects(_SELECT)) if "`[[ ## selects ## ]]`" in asked else fields(code=_CODE)

    return LanguageModels(ScriptedModel(answer))


def soak(world: World, questions: int, threads: int) -> Soaked:
    """Ask the questions, so many at a time; gives up, with the stacks on stderr, when none ends for two minutes."""
    result, every = Soaked(threads), max(1, questions // 50)
    started = time.perf_counter()
    pool = ThreadPoolExecutor(threads)
    waiting: set[Future[str]] = {pool.submit(world.ask, number) for number in range(questions)}
    done = 0
    while waiting:
        ended, waiting = wait(waiting, timeout=STUCK_SECONDS, return_when=FIRST_COMPLETED)
        if not ended:
            result.stuck = len(waiting)
            faulthandler.dump_traceback(sys.stderr, all_threads=True)
            break
        for each in ended:
            _note(result, each)
            done += 1
            if done % every == 0:
                result.levels.append((done, *level()))
    result.seconds = time.perf_counter() - started
    pool.shutdown(wait=not result.stuck, cancel_futures=True)
    return result


def _note(result: Soaked, ended: Future[str]) -> None:
    error = ended.exception()
    if error is None:
        result.ends[ended.result()] += 1
    else:
        result.ends["untyped"] += 1
        result.untyped.append(f"{type(error).__name__}: {error}"[:200])


def level() -> tuple[float, int]:
    """MB resident and open files of this process; zeros where the system does not show them."""
    process = Path("/proc/self")
    if not (process / "statm").exists():
        return 0.0, 0
    pages = int((process / "statm").read_text().split()[1])
    return pages * 4096 / 1e6, sum(1 for _ in (process / "fd").iterdir())


@contextmanager
def world(data: Path | None, settings: Settings, latency: float, faults: float, workers: int) -> Iterator[World]:
    """Warehouse, warm sandbox, a glossary with one keyword, and the scripted model."""
    from finexpert.datasets.fred.database import open_data
    from finexpert.embeddings.embedding import embedder
    from finexpert.knowledge.glossary import Keyword
    from finexpert.knowledge.taught import Taught
    from finexpert.sandbox import Limits, Sandbox

    with (
        tempfile.TemporaryDirectory(prefix="finexpert-soak-") as folder,
        open_data(data, settings=settings) as source,
        Sandbox(Limits(wall_seconds=settings.script_seconds), workers=workers) as sandbox,
    ):
        taught = Taught.open(Path(folder) / "knowledge.sqlite", embedder("words"))
        try:
            taught.glossary.define(Keyword(term="months of stress", meaning="months with an unemployment rate"), "soak")
            sandbox.warm()
            yield World(source, sandbox, models(latency, faults), taught, settings)
        finally:
            taught.close()


def soak_command(
    n: Annotated[int, typer.Option("-n", min=10, help="Questions for the last number of threads.")] = 2000,
    threads: Annotated[
        str, typer.Option(help="Numbers of threads; those before the last are asked a fifth of the questions.")
    ] = "1,4,16",
    latency: Annotated[float, typer.Option(min=0, help="Seconds that the model takes in the mean.")] = 0.05,
    faults: Annotated[float, typer.Option(min=0, max=1, help="Part of the model's calls that go wrong.")] = 0.1,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Warm sandbox processes.")] = 2,
    data: common.Data = None,
    as_json: common.Json = False,
) -> None:
    """Ask thousands of questions at once of a model that often fails; exit code 1 if one is lost, or memory or files leak."""
    numbers = _numbers(threads)
    settings = common.settings_from(as_of=dt.date(2024, 9, 30), judge=False, retries=1, embedder="words", cache=False)
    with world(data, settings, latency, faults, workers) as shared:
        runs = [soak(shared, max(10, n // 5), number) for number in numbers[:-1]]
        runs.append(soak(shared, n, numbers[-1]))
    facts = [run.facts() for run in runs]
    frame.tell(facts, as_json, title="soak", columns=list(facts[0]), rows=[list(row.values()) for row in facts])
    if not all(run.passed for run in runs):
        raise typer.Exit(1)


def _numbers(threads: str) -> list[int]:
    try:
        numbers = [int(number) for number in threads.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise typer.BadParameter(f"{threads!r} is no list of numbers such as 1,4,16", param_hint="--threads")
    return numbers
