"""`finexpert bench`: how much time the program itself takes.

finexpert bench overhead -n 30
finexpert bench memory --entries 100000
"""

from __future__ import annotations

import datetime as dt
import tempfile
import time
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.bench import frame
from finexpert.cli.bench.library import library
from finexpert.cli.bench.parallel import parallel_command
from finexpert.cli.bench.sandbox import sandbox
from finexpert.cli.bench.serve import serve_command
from finexpert.cli.bench.soak import soak_command
from finexpert.cli.bench.warehouse import warehouse

if TYPE_CHECKING:
    from finexpert.core.answers import Usage
    from finexpert.embeddings.embedding import Embedder
    from finexpert.knowledge.taught import Taught
    from finexpert.settings import Settings

bench_app = typer.Typer(help="Measure what the program itself costs.", no_args_is_help=True)
bench_app.command()(library)
bench_app.command("parallel")(parallel_command)
bench_app.command()(sandbox)
bench_app.command("serve")(serve_command)
bench_app.command("soak")(soak_command)
bench_app.command()(warehouse)

# What an instant model answers: a frame of 900 rows, one of 16,000, and a script over both.
_SELECTS = (
    ("unemployment", "unrate", "SELECT date, unrate FROM unemployment WHERE unrate IS NOT NULL ORDER BY date"),
    ("rates", "dff", "SELECT date, dff FROM rates WHERE dff IS NOT NULL ORDER BY date"),
)
_CODE = """
monthly = rates.set_index("date")["dff"].resample("MS").mean()
both = pd.concat([unemployment.set_index("date")["unrate"], monthly], axis=1).dropna()
answer = both["unrate"].corr(both["dff"])
period = (both.index.min(), both.index.max())
"""


@bench_app.command()
def overhead(
    n: Annotated[int, typer.Option("-n", min=3, help="Questions to time, after two that are not counted.")] = 30,
    data: common.Data = None,
    as_json: common.Json = False,
) -> None:
    """Time a question with a model that answers at once: median and 95th percentile by stage, in milliseconds."""
    settings = common.settings_from(drafts=True, as_of=dt.date(2024, 9, 30))
    from finexpert.datasets.fred.database import open_data
    from finexpert.language_models.roles import LanguageModels
    from finexpert.language_models.scripted import ScriptedModel
    from finexpert.session import Session
    from finexpert.testing import fields

    selects = [{"df_name": name, "df_columns": ["date", column], "select_query": sql} for name, column, sql in _SELECTS]
    plan = fields(interpretation="by month", selects=selects, code=_CODE, answer_kind="number", unit="")
    rows: list[dict[str, float]] = []
    models = LanguageModels(ScriptedModel(lambda messages: plan))
    with Session(open_data(data, settings=settings), settings=settings, models=models) as session:
        if session.sandbox is not None:
            session.sandbox.warm()
        for number in range(n + frame.WARM_UP):
            session.workspace.frames.clear()
            session.workspace.turns.clear()
            start = time.perf_counter()
            answer = session.ask(f"What is the correlation of unemployment and the federal funds rate? ({number})")
            if answer.status != "answered":
                raise RuntimeError(f"the benchmark's own plan failed: {answer.text}")
            rows.append(_stages(answer.usage.stages, time.perf_counter() - start, answer.usage.model_seconds))
    _tell(rows[frame.WARM_UP :], as_json)


@bench_app.command()
def filing(
    rounds: Annotated[int, typer.Option(min=1, help="Times to hold all conversations, after one not counted.")] = 5,
    as_json: common.Json = False,
) -> None:
    """Time the turns of the sample pages with recorded completions: median and 95th percentile, in milliseconds."""
    settings = common.settings_from(lm="recorded")
    from finexpert.datasets.convfinqa.conversations import load
    from finexpert.datasets.convfinqa.evaluation import PLANNER, ConversationBench
    from finexpert.language_models.roles import LanguageModels

    bench = ConversationBench(LanguageModels.from_settings(settings), settings)
    rows: list[dict[str, float]] = []
    for number in range(rounds + 1):
        for conversation in load():
            for turn in bench.converse(conversation, PLANNER).turns:
                if turn.failure is not None:
                    raise RuntimeError(f"the benchmark's own turn failed: {turn.failure.message}")
                if number:
                    rows.append(_turn_stages(turn.usage))
    _tell(rows, as_json)


@bench_app.command()
def memory(
    entries: Annotated[int, typer.Option(min=1, help="Processes that the store holds.")] = 100_000,
    phrases: Annotated[
        int, typer.Option(min=2, max=40, help="Texts by which each is found: names, and what it does.")
    ] = 3,
    n: Annotated[int, typer.Option("-n", min=1, help="Questions, after two that are not counted.")] = 100,
    store: Annotated[
        str | None, typer.Option(help="A new file or postgresql:// address to fill, or one that this command filled.")
    ] = None,
    as_json: common.Json = False,
) -> None:
    """Time what a question costs where much was taught: median and 95th percentile, in milliseconds.

    The store is filled with made-up processes; without --store it is a file that is removed again.
    """
    settings = common.settings_from()
    from finexpert.knowledge.made_up import question

    with tempfile.TemporaryDirectory(prefix="finexpert-bench-") as folder:
        place = store or Path(folder) / "knowledge.sqlite"
        seconds = _fill(place, entries, phrases)
        with _made_up(place) as taught:
            size = taught.memory.size
            first = _looked_up(taught, question(0))
            rows = [_looked_up(taught, question(number)) for number in range(1, n + 2)][1:]
    embedding = _embedding(settings, n)
    facts: dict[str, Any] = {
        "entries": size,
        "phrases": phrases,
        "filled in s": round(seconds, 1),
        "first question after opening, ms": round(1000 * first["all of it, nothing found"], 1),
    } | embedding
    _tell(rows, as_json, f"a question beside its embedding, {size:,} processes", facts)


def _made_up(place: str | Path) -> Taught:
    from finexpert.errors import ConfigurationError
    from finexpert.knowledge.made_up import MadeUpEmbedder
    from finexpert.knowledge.taught import Taught

    taught = Taught.open(place, MadeUpEmbedder())
    made_with = taught.memory.entries.made_with()
    if made_with not in (None, MadeUpEmbedder.name):
        taught.close()
        raise ConfigurationError(
            f"{taught.memory.entries.place} holds what somebody taught: give --store a file that is not there yet"
        )
    return taught


def _fill(place: str | Path, entries: int, phrases: int) -> float:
    from finexpert.knowledge.made_up import fill

    with _made_up(place) as taught, common.progress("filling", entries) as done:
        start = time.perf_counter()
        fill(taught.memory, entries, phrases, done)
        return time.perf_counter() - start


def _looked_up(taught: Taught, question: str) -> dict[str, float]:
    """Seconds of what is looked up for a question before any model is asked, in the order in which it is."""
    from finexpert.knowledge.plain_words import unfamiliar

    memory, glossary = taught.memory, taught.glossary
    vectors = memory.embedder.embed([question])
    seconds: dict[str, float] = {}

    def timed(stage: str, call: Callable[[], object]) -> None:
        start = time.perf_counter()
        call()
        seconds[stage] = time.perf_counter() - start

    timed("terms of the glossary, plain words", lambda: (glossary.named_in(question), unfamiliar(question)))
    timed("processes that are named", lambda: memory.named_in(question))
    timed("nearest in meaning", lambda: memory.search_vectors(vectors, 12))
    timed("is there anything", lambda: (memory.empty, glossary.empty))
    return seconds | {"all of it, nothing found": sum(seconds.values())}


def _embedding(settings: Settings, n: int) -> dict[str, Any]:
    """What the embedder at hand takes for a question, loaded before."""
    from finexpert.embeddings.embedding import embedder
    from finexpert.knowledge.made_up import question

    chosen: Embedder = embedder(settings.embedder)
    numbers = count()
    seconds = frame.seconds_of(lambda: chosen.embed([f"{question(number := next(numbers))} ({number})"]), n)
    return {"embedder": chosen.name, "embedding of a question, median ms": frame.figures(seconds)["median_ms"]}


def _turn_stages(usage: Usage) -> dict[str, float]:
    outside = usage.seconds - usage.model_seconds
    execution, record = usage.stages["execution"], usage.stages["record"]
    return {
        "planning (prompt, look-up, parsing)": outside - execution - record,
        "checks, cells, quotes, operations": execution,
        "checks of the result, record": record,
        "all, outside the model": outside,
    }


def _stages(stages: dict[str, float], total: float, model: float) -> dict[str, float]:
    return {
        "planning (prompt, parsing)": stages["planning"] - model,
        "SQL extraction (checks, query)": stages["sql"],
        "script (sandbox)": stages["script"],
        "execution, the rest": stages["execution"] - stages["sql"] - stages["script"],
        "record": stages["record"],
        "all, outside the model": total - model,
    }


def _tell(
    rows: list[dict[str, float]],
    as_json: bool,
    title: str = "time outside the model",
    facts: Mapping[str, Any] | None = None,
) -> None:
    stages = {name: frame.figures([row[name] for row in rows]) for name in rows[0]}
    frame.tell(
        {"n": len(rows), **(facts or {}), "stages": stages},
        as_json,
        title=f"{title}, n = {len(rows)}",
        columns=("stage", "median, ms", "95th percentile, ms"),
        rows=[(name, *figure.values()) for name, figure in stages.items()],
        facts=facts,
    )
