"""Calls over HTTP to a server that does as it is told: what is sent, and which error comes out of which failure."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import dspy
import pytest

from finexpert.core.progress import Watch, watching
from finexpert.errors import Cancelled, ConfigurationError, FinexpertError, ModelError, ModelUnreachable
from finexpert.language_models.circuit_breaker import CircuitBreaker
from finexpert.language_models.openai_server import OpenAIServer
from finexpert.language_models.roles import ModelSpec, build_lm
from finexpert.language_models.usage import Meter

KEY = "planted-key-7f3a9c"


def test_sends_what_the_spec_says(served: Any, server: Any) -> None:
    lm = served(
        temperature=0.3, max_tokens=77, extra={"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}
    )
    assert lm("hello") == ["the answer"]
    (body,) = server.seen
    assert body["model"] == "served"
    assert body["messages"] == [{"role": "user", "content": "hello"}]
    assert (body["temperature"], body["max_tokens"]) == (0.3, 77)
    assert "max_completion_tokens" not in body
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert server.keys == [f"Bearer {KEY}"]


def test_a_server_of_ones_own_is_asked_without_litellm(server: Any) -> None:
    code = (
        "import sys; from finexpert.language_models.roles import ModelSpec, build_lm; "
        f"print(build_lm(ModelSpec(model='served', api_base={server.url!r}))('hello'), 'litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "['the answer'] False"


@pytest.mark.parametrize(
    ("model", "given", "native"),
    [
        ("served", {}, True),
        ("openai/served", {}, True),
        ("Qwen/Qwen3-8B", {}, True),
        ("served", {"extra": {"reasoning_effort": "low"}}, False),
        ("gpt-5.6", {}, False),
        ("anthropic/claude-sonnet-5-5", {}, False),
        ("ollama_chat/qwen3", {}, False),
        ("served", {"api_base": None}, False),
        ("served", {"api_base": "http://anna:word@127.0.0.1:1/v1"}, False),
    ],
)
def test_what_litellm_alone_knows_is_asked_through_it(model: str, given: dict[str, Any], native: bool) -> None:
    spec = ModelSpec(**{"model": model, "api_base": "http://127.0.0.1:1/v1", **given})
    assert isinstance(build_lm(spec).engine, OpenAIServer) is native


def test_a_server_without_keys_is_asked_without_one(served: Any, server: Any) -> None:
    assert served(api_key=None)("hello") == ["the answer"]
    assert server.keys == ["Bearer none"]


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}, ConfigurationError, "OPENAI_API_KEY"),
        (403, {"error": {"message": "not allowed"}}, ConfigurationError, "refused"),
        (404, {"error": {"message": "no model served"}}, ConfigurationError, "does not know the model"),
        (400, {"error": {"message": f"bad field, key {KEY}"}}, ConfigurationError, "refused the request"),
        (429, {"error": {"message": "slow down"}}, ModelUnreachable, "fewer threads"),
        (500, {"error": {"message": f"broken with {KEY}"}}, ModelUnreachable, "keeps failing"),
        (503, "<html>busy</html>", ModelUnreachable, "keeps failing"),
        (200, "<html>a web site</html>", ModelUnreachable, "check FINEXPERT_API_BASE"),
        (200, {"hello": "world"}, ModelUnreachable, "check FINEXPERT_API_BASE"),
        (
            400,
            {"error": {"message": "no", "code": "content_filter"}},
            ModelError,
            "refused the content",
        ),
        (402, {"error": {"message": "no credit"}}, ModelUnreachable, "credit"),
        (429, {"error": {"message": "quota", "code": "insufficient_quota"}}, ModelUnreachable, "credit"),
        (
            400,
            {"error": {"message": "maximum context length is 8 tokens", "code": "context_length_exceeded"}},
            ModelError,
            "longer than",
        ),
    ],
)
def test_a_failure_becomes_an_error_of_ours(
    served: Any, server: Any, status: int, body: Any, kind: type[FinexpertError], words: str
) -> None:
    server.reply = lambda request: (status, body)
    with pytest.raises(FinexpertError) as caught:
        served()("hello")
    assert type(caught.value) is kind
    message = str(caught.value)
    assert words in message
    assert "openai/served" in message
    assert server.url in message
    assert KEY not in message


def test_no_key_in_any_error_on_the_way(served: Any, server: Any, caplog: pytest.LogCaptureFixture) -> None:
    """What DSPy's callbacks are told, MLflow writes into traces."""
    told: list[BaseException | None] = []

    class Listener(dspy.utils.callback.BaseCallback):  # type: ignore[misc]
        def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
            told.append(exception)

    server.reply = lambda request: (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    lm = served()
    lm.callbacks.append(Listener())
    with pytest.raises(ConfigurationError) as caught:
        lm("hello")
    chain: list[BaseException] = []
    link = told[0]
    while link is not None:
        chain.append(link)
        link = link.__cause__ or link.__context__
    assert len(chain) >= 3
    assert all(KEY not in str(link) + repr(vars(link)) for link in chain)
    assert caught.value.__cause__ is None
    assert KEY not in caplog.text


def test_a_hanging_server_is_left_after_the_timeout(served: Any, server: Any) -> None:
    server.delay = 1.5
    with pytest.raises(ModelUnreachable, match=r"gave no answer within 0\.5 s"):
        served(timeout=0.5)("hello")
    assert len(server.seen) == 1


def test_a_cancelled_question_does_not_wait_for_its_call(served: Any, server: Any, soon: Any) -> None:
    server.delay = 4.0
    lm = served(timeout=60.0)
    lm.engine.prepare()

    def cancelled() -> None:
        with watching(Watch()) as watch:
            threading.Timer(0.3, watch.cancel).start()
            with pytest.raises(Cancelled):
                lm("hello")

    soon(3.0, cancelled)
    # It says nothing about the server, and is no failure of it.
    assert lm.engine.breaker.state == "closed"
    assert not lm.engine.breaker._outcomes
    server.delay = 0.0
    assert lm("hello")


def test_nothing_listens() -> None:
    lm = build_lm(ModelSpec(model="openai/served", api_base="http://127.0.0.1:9/v1", retries=0), cache=False)
    with pytest.raises(ModelUnreachable, match=r"no connection to http://127\.0\.0\.1:9/v1"):
        lm("hello")


def test_tries_again_as_often_as_told_and_counts_one_call(
    served: Any, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("dspy.clients.execution.time.sleep", slept.append)
    # The breaker waits as long by a clock, which does not go on while nobody sleeps; it has tests of its own.
    monkeypatch.setattr(CircuitBreaker, "_enter", lambda breaker: object())
    server.headers = {"Retry-After": "3600"}
    server.reply = lambda request: (429, {"error": {"message": "slow down"}})
    with Meter() as meter, pytest.raises(ModelUnreachable):
        served(retries=2)("hello")
    assert len(server.seen) == 3
    assert [wait for wait in slept if wait] == [30.0, 30.0]  # the server sleeps for 0 s
    assert (meter.usage().calls, meter.failed) == (0, 1)


def test_tokens_that_are_not_reported_are_estimated(served: Any, server: Any) -> None:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "four" * 5}, "finish_reason": "stop"}]}
    server.reply = lambda request: (200, body)
    with Meter() as meter:
        served()("word" * 10)
    assert (meter.usage().prompt_tokens, meter.usage().completion_tokens) == (10, 5)


def test_the_price_of_a_server_of_ones_own_is_unknown_unless_given(served: Any) -> None:
    with Meter() as meter:
        served(model="openai/gpt-4o")("hello")
    assert meter.usage().cost_usd is None
    with Meter() as meter:
        served(extra={"input_cost_per_token": 0.5, "output_cost_per_token": 1.0})("hello")
    assert meter.usage().cost_usd == pytest.approx(12 * 0.5 + 3 * 1.0)


def test_state_is_saved_without_a_key_and_loads(served: Any, server: Any) -> None:
    lm = served(extra={"api_version": "1", "extra_headers": {"X-Key": KEY}})
    program = dspy.Predict("question -> answer")
    program.set_lm(lm)
    state = program.dump_state()
    assert KEY not in str(state)
    again = dspy.Predict("question -> answer").load_state(state, allow_unsafe_lm_state=True)
    assert type(again.lm) is type(lm)
    assert again.lm.engine.endpoint == server.url
    server.reply = lambda request: (200, {**request, **_body("[[ ## answer ## ]]\n42\n\n[[ ## completed ## ]]")})
    assert again(question="?").answer == "42"


def test_a_deep_copy_and_a_copy_ask_the_same_place(served: Any, server: Any) -> None:
    program = dspy.Predict("question -> answer")
    program.set_lm(served())
    server.reply = lambda request: (200, _body("[[ ## answer ## ]]\n42\n\n[[ ## completed ## ]]"))
    assert program.deepcopy()(question="?").answer == "42"
    lm = served()
    assert lm.copy(temperature=0.9)("hello")
    assert server.seen[-1]["temperature"] == 0.9


def _body(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
