"""What many questions are asked with: the source, the program and its models, opened once; and what tells that they are the same.

with surroundings("trades.duckdb", settings=settings, threads=4) as shared:
    Session(**shared)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from finexpert.answers.cache.key import WITHOUT, meaning_of
from finexpert.answers.sources.opening import open_several
from finexpert.answers.sources.sources import Sources, are_several
from finexpert.batch.questions import BatchQuestion
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.knowledge.taught import Taught
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.sandbox import Limits, Sandbox
from finexpert.settings import Settings, with_options
from finexpert.warehouse.opening import is_warehouse, open_data
from finexpert.warehouse.warehouse import Warehouse

Shared = Mapping[str, Any]
# Each is a process that waits for scripts.
_MOST_WORKERS = 4
# They bound a run, and change no answer.
_OF_A_RUN = {name for name in Settings.model_fields if name.startswith("budget_run_")}


@contextmanager
def surroundings(
    source: Any,
    *,
    expert: FinancialExpert | None = None,
    settings: Settings | None = None,
    models: LanguageModels | None = None,
    sandbox: Sandbox | None = None,
    taught: Taught | None = None,
    threads: int = 4,
) -> Iterator[Shared]:
    """What a `Session` takes; what was not given is opened, and closed at the end."""
    expert = expert or FinancialExpert()
    settings = with_options(settings or Settings(), getattr(expert, "options", {}))
    # Nobody is there who could agree to keep what a question explains.
    settings = settings.model_copy(update={"learn": False})
    with ExitStack() as stack:
        opened = _opened(stack, source, settings)
        shared: dict[str, Any] = {"source": opened, "expert": expert, "settings": settings}
        shared["models"] = models or LanguageModels.from_settings(settings)
        shared["taught"] = taught or _taught(stack, settings)
        if not isinstance(opened, Filing | Library):
            shared["sandbox"] = sandbox or stack.enter_context(_sandbox(settings, threads))
        yield shared


def _opened(stack: ExitStack, source: Any, settings: Settings) -> Warehouse | Filing | Library | Sources:
    if isinstance(source, Filing | Library | Sources) or is_warehouse(source):
        return source
    if are_several(source):
        several, own = open_several(source, settings)
        for each in own:
            stack.callback(each.close)
        return several
    opened = open_data(source, settings=settings)
    stack.callback(opened.close)
    return opened


def _taught(stack: ExitStack, settings: Settings) -> Taught | None:
    if not settings.memory:
        return None
    taught = Taught.from_settings(settings)
    stack.callback(taught.close)
    return taught


def _sandbox(settings: Settings, threads: int) -> Sandbox:
    workers = max(settings.workers, min(threads, _MOST_WORKERS))
    return Sandbox(Limits(wall_seconds=settings.script_seconds), workers=workers)


def _state(source: Warehouse | Filing | Library, settings: Settings) -> list[str | None]:
    """What tells whether the data are the same."""
    if isinstance(source, Filing | Library):
        return [source.fingerprint]
    return [source.name, source.snapshot(), source.schema_card(settings.privacy), meaning_of(source)]


def _each(source: Any) -> Mapping[str, Warehouse | Filing | Library]:
    """The sources by their names; one alone has none."""
    return source.by_name if isinstance(source, Sources) else {"": source}


def mark(shared: Shared, asked: Sequence[BatchQuestion], clarify: bool) -> str:
    """What must be the same for a run to go on with the answers of one before."""
    settings, several = shared["settings"], _each(shared["source"])
    data = [part for name, each in several.items() for part in [*filter(None, [name]), *_state(each, settings)]]
    questions = sorted({question.key for question in asked})
    return _digest([data, questions, str(settings.as_of), *_program(shared, clarify)])


def data_mark(shared: Shared) -> str | None:
    """What tells that the data are the same; None where a source does not say it."""
    sources = _each(shared["source"])
    states = {name: _state(each, shared["settings"]) for name, each in sources.items()}
    if any(is_warehouse(each) and each.snapshot() is None for each in sources.values()):
        return None
    return _digest([states])


def program_mark(shared: Shared, clarify: bool) -> str:
    """What must be the same for an answer to be computed again: all of `mark` but the rows, the questions and the day.

    A metric is no row: a SELECT of before would compute it as it was defined then.
    """
    metrics = [repr(each.metrics) for each in _each(shared["source"]).values() if is_warehouse(each)]
    return _digest([metrics, *_program(shared, clarify)])


def _program(shared: Shared, clarify: bool) -> list[Any]:
    settings, taught = shared["settings"], shared["taught"]
    model = {name: value for name, value in shared["models"].describe().items() if name != "found"}
    return [
        clarify,
        model,
        shared["expert"].dump_state(),
        taught.fingerprint() if taught else None,
        settings.model_dump(mode="json", exclude=set(WITHOUT) | _OF_A_RUN),
    ]


def _digest(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:16]
