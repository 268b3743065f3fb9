"""What a server counts, for Prometheus. No question, name or value stands in a label."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from finexpert.core.answers import Answer

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """Counters of one desk, in a registry of their own."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self._asked = Counter("finexpert_questions_asked", "Questions put under way.", registry=registry)
        self._ended = Counter("finexpert_questions_ended", "Questions ended, by how.", ["outcome"], registry=registry)
        self._own = Histogram(
            "finexpert_own_seconds", "Time of an answer outside of the model.", buckets=_SECONDS, registry=registry
        )
        self._model = Histogram(
            "finexpert_model_seconds", "Time of an answer in the model.", buckets=_SECONDS, registry=registry
        )
        self._calls = Counter(
            "finexpert_model_calls", "Calls of language models, by layer.", ["layer"], registry=registry
        )
        self._usd = Counter("finexpert_model_usd", "What they cost, where the price is known.", registry=registry)
        self._requests = Counter(
            "finexpert_http_requests", "HTTP requests.", ["method", "route", "status"], registry=registry
        )

    def asked(self) -> None:
        self._asked.inc()

    def answered(self, answer: Answer) -> None:
        usage = answer.usage
        self._ended.labels(answer.status).inc()
        self._own.observe(max(0.0, usage.seconds - usage.model_seconds))
        self._model.observe(usage.model_seconds)
        for layer, calls in usage.by_layer.items():
            self._calls.labels(layer).inc(calls)
        self._usd.inc(usage.cost_usd or 0.0)

    def failed(self, state: str) -> None:
        self._ended.labels(state).inc()

    def request(self, method: str, route: str, status: int) -> None:
        # A method is whatever the client wrote: each new one would be a counter for ever.
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).inc()

    def gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """A number that is asked for when it is read."""
        Gauge(name, about, registry=self.registry).set_function(value)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)
