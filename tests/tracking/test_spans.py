"""Spans of questions: what a collector and MLflow get, from the command line and from Python, and what they must not get."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from served import Served, body_of, send

from finexpert import tracking
from finexpert.errors import ConfigurationError, DataError
from finexpert.tracking import spans

RECESSIONS = "How many recessions have there been in the last 30 years?"


class Collector(Served):
    """An OpenTelemetry collector that keeps what it is sent."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.paths: list[str] = []
        super().__init__()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.paths.append(handler.path)
        self.bodies.append(body_of(handler))
        send(handler, b"")

    @property
    def spans(self) -> list[Any]:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        found = []
        for body in self.bodies:
            sent = ExportTraceServiceRequest.FromString(_plain(body))
            found += [span for part in sent.resource_spans for scope in part.scope_spans for span in scope.spans]
        return found


def _plain(body: bytes) -> bytes:
    import gzip

    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as made:
        yield made


def ask(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    program = [str(Path(sys.executable).with_name("finexpert")), "ask", RECESSIONS, "--as-of", "2024-09-30"]
    return subprocess.run(
        [*program, "--lm", "recorded", *options],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ,
        check=False,
    )


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def test_a_collector_gets_the_spans_of_a_question_and_no_value(collector: Collector, tmp_path: Path) -> None:
    ran = ask(tmp_path, "--trace", collector.address)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert set(collector.paths) == {"/v1/traces"}
    by_name = {span.name: span for span in collector.spans}
    root, planning = by_name["question"], by_name["planning"]
    (call,) = [span for name, span in by_name.items() if name.startswith("chat ")]
    assert {"extracting", "checking", "answering"} <= set(by_name)
    assert not root.parent_span_id
    assert planning.parent_span_id == root.span_id
    assert call.parent_span_id == planning.span_id
    assert by_name["checking"].parent_span_id == by_name["extracting"].span_id
    said = attributes(root)
    assert (said["finexpert.status"], said["finexpert.calls"], said["finexpert.source"]) == ("answered", 1, "duckdb")
    assert said["gen_ai.usage.input_tokens"] > 1000
    assert f"{said['finexpert.record']}.json" in ran.stdout.replace("\n", "")
    assert attributes(call)["finexpert.layer"] == "planning"
    assert all(span.start_time_unix_nano <= span.end_time_unix_nano for span in collector.spans)
    sent = b"".join(map(_plain, collector.bodies))
    for word in (b"recession", b"gdp", b"SELECT", b"interpretation"):
        assert word not in sent.lower()


def test_a_collector_that_does_not_answer_costs_no_answer(tmp_path: Path) -> None:
    ran = ask(tmp_path, "--trace", "http://127.0.0.1:9")
    assert (ran.returncode, "Answer: 3 recessions" in ran.stdout) == (0, True)
    (said,) = ran.stderr.splitlines()
    assert "did not reach http://127.0.0.1:9/v1/traces: is a collector there?" in said


def test_a_place_that_is_none(tmp_path: Path) -> None:
    ran = ask(tmp_path, "--trace", "jaeger:4318")
    assert (ran.returncode, "the setting trace is 'jaeger:4318': say 'mlflow'" in ran.stderr) == (1, True)


@pytest.mark.filterwarnings("ignore")
def test_mlflow_gets_them_from_python(desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlflow
    monkeypatch.chdir(tmp_path)
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    desk.says("planning", desk.plan(), "I cannot say.")
    session = desk.session(memory=False, trace="mlflow", tracking_uri=uri, retries=0)
    try:
        assert session.ask("How many months?").status == "answered"
        *_, answer = session.events("How many days?")
        assert answer.status == "failed"
        assert session.ask("What was that again?").status == "failed"
        mlflow.flush_trace_async_logging()
        client = mlflow.MlflowClient(tracking_uri=uri)
        experiment: Any = client.get_experiment_by_name(spans.EXPERIMENT)
        traces = client.search_traces(locations=[experiment.experiment_id])
    finally:
        mlflow.set_tracking_uri(None)
    assert [trace.data.spans[0].name for trace in traces] == ["question"] * 3
    assert sorted(trace.info.status.value for trace in traces) == ["ERROR", "ERROR", "OK"]
    (good,) = [trace for trace in traces if trace.info.status.value == "OK"]
    assert {"planning", "extracting", "scripting", "answering"} < {span.name for span in good.data.spans}
    kept = (tmp_path / "mlflow.db").read_bytes()
    assert not [word for word in (*desk.canaries, "SELECT date", "How many months") if word.encode() in kept]


def test_a_tracker_that_breaks_is_said_once_and_costs_no_answer(
    desk: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(span: spans.Span) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(spans, "_writer", lambda where, uri: broken)
    desk.says("planning", desk.plan())
    assert desk.session(memory=False, trace="http://collector").ask("How many months?").value == 6
    assert [record.getMessage() for record in caplog.records if "trace" in record.getMessage()] == [
        "the question's trace was not written: OSError"
    ]


def test_a_store_that_cannot_be_reached_costs_no_answer_and_is_left_alone(
    desk: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried = []

    def away(uri: str, experiment: str) -> str:
        tried.append(uri)
        raise DataError("the MLflow store http://mlflow.internal cannot be used")

    monkeypatch.setattr(tracking, "choose", away)
    monkeypatch.setattr(spans, "_away_until", {})
    desk.says("planning", desk.plan())
    session = desk.session(memory=False, trace="mlflow", tracking_uri="http://mlflow.internal")
    assert [session.ask(question).value for question in ("How many months?", "How many days?")] == [6, 6]
    assert len(tried) == 1
    assert sum("not written for a minute" in record.getMessage() for record in caplog.records) == 1


def test_what_runs_side_by_side_stays_beside_each_other() -> None:
    found = spans._nested(
        [
            spans.Span(name, began, ended, {})
            for name, began, ended in [("b", 2, 5), ("a", 1, 9), ("c", 4, 8), ("d", 10, 11)]
        ]
    )
    assert [(each.name, [inner.name for inner in each.inner]) for each in found] == [("a", ["b", "c"]), ("d", [])]


def test_a_setting_is_checked() -> None:
    spans.check("mlflow")
    with pytest.raises(ConfigurationError, match="FINEXPERT_TRACE"):
        spans.check("nowhere")
