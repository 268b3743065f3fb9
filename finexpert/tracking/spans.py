"""Spans of a question, for an OpenTelemetry collector or for MLflow: what was done, when, and what it cost.

    with traced("http://127.0.0.1:4318", "checked", "duckdb") as told:      or "mlflow"
        told.answer = session.ask("When did the latest recession start?")

    question                          status "answered", 1 call, 2,811 tokens, the record's id
        planning                      1 call
            chat openai/gpt-5.1       layer "planning", 2,570 + 241 tokens
        extracting
        answering

A span holds no question, prompt, completion, SELECT or value of the data: whoever sees it needs no right to see those. The record of an
answer has them, and the span has the record's id. A collector or a store that does not answer costs no answer: it is said by a warning.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from finexpert.core.progress import Event, watch
from finexpert.errors import ConfigurationError, DataError
from finexpert.language_models.secrets import shown
from finexpert.language_models.usage import Call, Meter

if TYPE_CHECKING:
    from finexpert.core.answers import Answer

MLFLOW = "mlflow"
EXPERIMENT = "finexpert questions"
_SECONDS = 5
_AWAY_SECONDS = 60.0
_away_until: dict[str, float] = {}
_log = logging.getLogger(__name__)
_inside: ContextVar[bool] = ContextVar("finexpert_traced", default=False)
Attributes = Mapping[str, str | int | float | bool]


@dataclass(frozen=True)
class Span:
    """One span; times are in nanoseconds since 1970."""

    name: str
    began: int
    ended: int
    attributes: Attributes
    failed: bool = False
    inner: Sequence[Span] = ()


@dataclass
class Told:
    """What is known of a question when it ends; `answer` is None where an error ended it."""

    answer: Answer | None = None
    stages: list[tuple[Event, int]] = field(default_factory=list)
    hearing: threading.Lock = field(default_factory=threading.Lock)

    def hear(self, event: Event) -> None:
        if event.state == "ended":
            with self.hearing:
                self.stages.append((event, time.time_ns()))


def check(where: str) -> None:
    """Raise ConfigurationError for a place that is none."""
    if where != MLFLOW and not where.startswith(("http://", "https://")):
        raise ConfigurationError(
            f"the setting trace is {where!r}: say 'mlflow', or the address of an OpenTelemetry collector such as "
            "http://127.0.0.1:4318 (--trace, FINEXPERT_TRACE)"
        )


@contextmanager
def traced(where: str | None, mode: str, dialect: str, tracking_uri: Callable[[], str]) -> Iterator[Told]:
    """Within it, what the watch around it hears becomes spans, written to `where` at the end; nothing where that is None."""
    told = Told()
    # "What was that again?" asks a question within the question: one of them is traced.
    if where is None or _inside.get():
        yield told
        return
    token = _inside.set(True)
    try:
        yield from _traced(told, where, mode, dialect, tracking_uri)
    finally:
        _inside.reset(token)


def _traced(told: Told, where: str, mode: str, dialect: str, tracking_uri: Callable[[], str]) -> Iterator[Told]:
    write = _writer_unless_away(where, tracking_uri() if where == MLFLOW else "")
    began, clock = time.time_ns(), time.perf_counter()
    error = ""
    with watch().heard_by(told.hear), Meter() as meter:
        try:
            yield told
        except BaseException as ended:
            error = type(ended).__name__
            raise
        finally:
            root = {"finexpert.mode": mode, "finexpert.source": dialect, **_outcome(told.answer, error)}
            calls = [_call_span(call, began, clock) for call in meter.calls]
            inner = _nested([*(_stage_span(event, ended) for event, ended in told.stages), *calls])
            failed = told.answer is None or told.answer.status == "failed"
            _written(write, Span("question", began, time.time_ns(), root, failed, inner))


def _written(write: Callable[[Span], None], span: Span) -> None:
    try:
        write(span)
    except Exception as error:  # noqa: BLE001 - whatever a tracker does, an answer is not lost for it
        _log.warning("the question's trace was not written: %s", type(error).__name__)


def _outcome(answer: Answer | None, error: str) -> dict[str, str | int | float | bool]:
    if answer is None:
        return {"error.type": error}
    usage = answer.usage
    known: dict[str, Any] = {
        "finexpert.status": answer.status,
        "finexpert.confidence": answer.confidence,
        "finexpert.record": answer.record.id if answer.record is not None else None,
        "finexpert.failure.layer": answer.failure.layer if answer.failure else None,
        "finexpert.failure.kind": answer.failure.kind if answer.failure else None,
        "finexpert.calls": usage.calls,
        "finexpert.cost_usd": usage.cost_usd,
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
    }
    return {name: value for name, value in known.items() if value is not None}


def _stage_span(event: Event, ended: int) -> Span:
    attributes: dict[str, str | int | float | bool] = {"finexpert.calls": event.calls}
    if event.usd is not None:
        attributes["finexpert.cost_usd"] = event.usd
    if event.note:
        attributes["error.type"] = event.note
    return Span(event.stage, ended - int(event.seconds * 1e9), ended, attributes, failed=bool(event.note))


def _call_span(call: Call, began: int, clock: float) -> Span:
    ended = began + int((call.ended - clock) * 1e9)
    attributes: dict[str, str | int | float | bool] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": call.model,
        "gen_ai.usage.input_tokens": call.prompt_tokens,
        "gen_ai.usage.output_tokens": call.completion_tokens,
        "finexpert.layer": call.layer or "",
        "finexpert.replayed": call.replayed or call.cached,
    }
    if call.cost is not None:
        attributes["finexpert.cost_usd"] = call.cost
    return Span(f"chat {call.model}", ended - int(call.waited * 1e9), ended, attributes)


def _nested(spans: Sequence[Span]) -> list[Span]:
    """Spans within those that surround them in time: stages and calls side by side stay beside each other."""
    roots: list[tuple[Span, list[Any]]] = []
    for span in sorted(spans, key=lambda span: (span.began, -span.ended)):
        level = roots
        while level and level[-1][0].began <= span.began and span.ended <= level[-1][0].ended:
            level = level[-1][1]
        level.append((span, []))
    return [_frozen(each) for each in roots]


def _frozen(each: tuple[Span, list[Any]]) -> Span:
    span, inner = each
    return Span(span.name, span.began, span.ended, span.attributes, span.failed, [_frozen(one) for one in inner])


def _writer_unless_away(where: str, uri: str) -> Callable[[Span], None]:
    """What writes; nothing where the store cannot be reached, which is looked at again after a minute."""
    if time.monotonic() < _away_until.get(uri, 0.0):
        return lambda span: None
    try:
        return _writer(where, uri)
    except DataError as error:
        # It takes long to find out, and no question waits for it again so soon.
        _away_until[uri] = time.monotonic() + _AWAY_SECONDS
        _log.warning("traces of questions are not written for a minute: %s", error)
        return lambda span: None


def _writer(where: str, uri: str) -> Callable[[Span], None]:
    check(where)
    return _to_mlflow(uri) if where == MLFLOW else _to_collector(where)


@cache
def _to_collector(address: str) -> Callable[[Span], None]:
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
    except ModuleNotFoundError as error:
        raise ConfigurationError("a collector needs OpenTelemetry: pip install 'finexpert[trace]'") from error
    # What is waiting when the process ends is sent then.
    provider = TracerProvider(resource=Resource.create({"service.name": "finexpert"}))
    place = address.rstrip("/")
    endpoint = place if place.endswith("/v1/traces") else f"{place}/v1/traces"
    # The exporter logs every try of a dead address; one line that says what to do takes their place.
    logging.getLogger(OTLPSpanExporter.__module__).setLevel(logging.CRITICAL)

    class Reporting(SpanExporter):
        """The exporter, which says once a batch that it was lost."""

        def __init__(self) -> None:
            self.inner: Any = OTLPSpanExporter(endpoint=endpoint, timeout=_SECONDS)

        def export(self, spans: Any) -> Any:
            result = self.inner.export(spans)
            if result is not SpanExportResult.SUCCESS:
                _log.warning(
                    "%d spans did not reach %s: is a collector there? The answer is not touched",
                    len(spans),
                    shown(endpoint),
                )
            return result

        def shutdown(self) -> None:
            self.inner.shutdown()

    provider.add_span_processor(BatchSpanProcessor(Reporting()))
    tracer = provider.get_tracer("finexpert")

    def write(span: Span, outer: Any = None) -> None:
        context = trace.set_span_in_context(outer) if outer is not None else None
        made = tracer.start_span(span.name, context, attributes=dict(span.attributes), start_time=span.began)
        if span.failed:
            made.set_status(trace.StatusCode.ERROR)
        for inner in span.inner:
            write(inner, made)
        made.end(span.ended)

    return write


@cache
def _to_mlflow(uri: str) -> Callable[[Span], None]:
    from finexpert import tracking

    experiment = tracking.choose(uri, EXPERIMENT)
    import mlflow

    def write(span: Span, outer: Any = None) -> None:
        given: dict[str, Any] = {"experiment_id": experiment} if outer is None else {"parent_span": outer}
        given |= {"attributes": dict(span.attributes), "start_time_ns": span.began}
        made = mlflow.start_span_no_context(span.name, **given)
        for inner in span.inner:
            write(inner, made)
        made.end(status="ERROR" if span.failed else "OK", end_time_ns=span.ended)

    return write
