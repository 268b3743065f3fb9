"""The circuit breaker by itself, with a clock and a random number handed in, and in front of a server."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from dspy.lm15 import AuthError, LM15Error, RateLimitError, ServerError
from pydantic import SecretStr

from finexpert.errors import CircuitOpen, ConfigurationError, ModelUnreachable
from finexpert.language_models.circuit_breaker import Breakers, CircuitBreaker
from finexpert.language_models.model import LanguageModel
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.usage import Meter
from finexpert.settings import Settings

PLACE = "http://model.test/v1"


class World:
    """Time that passes only when somebody sleeps, or when it is told to."""

    def __init__(self, random: float = 1.0) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self.breaker = CircuitBreaker(PLACE, clock=lambda: self.now, random=lambda: random, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def call(self, error: BaseException | None = None) -> str:
        """What became of a call that would end like this."""
        try:
            with self.breaker.guarded():
                if error is not None:
                    raise error
        except CircuitOpen:
            return "not made"
        except (LM15Error, KeyboardInterrupt):
            return "failed"
        return "answered"


def broken(status: int = 500, **given: Any) -> ServerError:
    return ServerError("broken", status=status, **given)


@pytest.fixture
def world() -> World:
    return World()


def opened() -> World:
    world = World()
    for _ in range(5):
        world.call(broken())
    return world


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        ("....", "closed"),
        ("xxxx", "closed"),
        ("xxxxx", "open"),
        (".....xxxxx", "open"),
        ("......xxxxx", "closed"),  # fewer than half
        (".........x" * 20, "closed"),  # one in ten, as long as it lasts
        ("xx" + " " * 70 + "xxxx", "closed"),  # a minute lies between
        ("aaaaaaaaaa", "closed"),  # refused keys: the provider answers
        ("bbbbbbbbbb", "closed"),  # too many requests: it answers too
        ("iiiiiiiiii", "closed"),  # Ctrl-C says nothing
    ],
)
def test_when_it_opens(world: World, outcomes: str, state: str) -> None:
    """`.` an answer, `x` a failure, a space a second without a call."""
    errors: dict[str, Any] = {"x": broken, "a": lambda: AuthError("no"), "b": lambda: RateLimitError("slow")}
    errors |= {".": lambda: None, "i": KeyboardInterrupt}
    for outcome in outcomes:
        world.now += 1.0 if outcome == " " else 0.001
        if outcome != " ":
            world.call(errors[outcome]())
    assert world.breaker.state == state


def test_while_it_is_open_no_call_is_made_and_the_error_says_what_to_do() -> None:
    world = opened()
    with pytest.raises(CircuitOpen) as caught, world.breaker.guarded():
        pytest.fail("the call was made")
    assert str(caught.value) == (
        f"{PLACE} failed 5 of the last 5 times and is not asked for another 5 s (last: HTTP 500): "
        "try again then, or name another model with --lm or FINEXPERT_FALLBACK_LM"
    )
    assert isinstance(caught.value, ModelUnreachable)


def test_one_call_tries_it_while_the_others_are_held_off() -> None:
    world = opened()
    world.now += 5
    with world.breaker.guarded():
        assert world.breaker.state == "half-open"
        assert world.call() == "not made"
    assert (world.breaker.state, world.call()) == ("closed", "answered")


def test_each_try_that_fails_doubles_the_pause_up_to_a_minute() -> None:
    world, pauses = opened(), []
    for _ in range(6):
        start = world.now
        while world.call(broken()) == "not made":
            world.now += 0.5
        pauses.append(world.now - start)
    assert pauses == [5, 10, 20, 40, 60, 60]


def test_a_try_that_is_interrupted_leaves_the_next_one_to_try() -> None:
    world = opened()
    world.now += 5
    assert world.call(KeyboardInterrupt()) == "failed"
    assert world.breaker.state == "open"
    assert world.call() == "answered"


def test_a_call_that_began_before_does_not_close_it(world: World) -> None:
    with world.breaker.guarded():
        for _ in range(5):
            world.call(broken())
    assert world.breaker.state == "open"


@pytest.mark.parametrize(("asked", "pause"), [(2.0, 5), (20.0, 20), (3600.0, 30)])
def test_a_failing_server_is_left_as_long_as_it_asks_within_bounds(world: World, asked: float, pause: float) -> None:
    for _ in range(5):
        error = broken(503, retry_after=asked)
        world.call(error)
        assert error.retry_after == min(asked, 30)
    world.now += pause - 0.1
    assert world.call() == "not made"
    world.now += 0.1
    assert world.call() == "answered"


@pytest.mark.parametrize(("asked", "waited"), [(None, []), (0.0, []), (4.0, [4.0]), (3600.0, [30.0])])
def test_too_many_requests_hold_all_calls_back_and_lose_none(asked: float | None, waited: list[float]) -> None:
    world = World(random=0.0)
    assert world.call(RateLimitError("slow down", retry_after=asked)) == "failed"
    assert world.call() == "answered"
    assert world.slept == waited


def test_nobody_is_held_back_for_ever(world: World) -> None:
    """Others may be told to wait again and again."""

    def sleep(seconds: float) -> None:
        world.now += 10
        world.breaker._held_until = world.now + 30

    world.breaker._sleep = sleep
    world.call(RateLimitError("slow down", retry_after=30.0))
    start = world.now
    assert world.call() == "answered"
    assert world.now - start == 30


@pytest.mark.parametrize(("random", "first", "seventh"), [(0.0, 0.5, 15.0), (1.0, 1.0, 30.0)])
def test_waits_between_tries_grow_and_differ(random: float, first: float, seventh: float) -> None:
    breaker = World(random).breaker
    assert (breaker.back_off(1), breaker.back_off(7)) == (first, seventh)


def test_the_clock_of_the_wall_may_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    breaker = CircuitBreaker(PLACE)
    for jump in (86_400.0, -86_400.0, 0.0, 0.0, 0.0):
        monkeypatch.setattr(time, "time", lambda jump=jump: 1e9 + jump)
        with pytest.raises(ServerError), breaker.guarded():
            raise broken()
    for jump in (86_400.0, -86_400.0):
        monkeypatch.setattr(time, "time", lambda jump=jump: 1e9 + jump)
        with pytest.raises(CircuitOpen), breaker.guarded():
            pytest.fail("the call was made")


def test_threads_ask_side_by_side(world: World) -> None:
    together = threading.Barrier(4, timeout=10)

    def ask(_: int) -> int:
        with world.breaker.guarded():
            return together.wait()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(ask, range(4))) == [0, 1, 2, 3]


def test_it_can_be_pickled_with_a_program() -> None:
    again = pickle.loads(pickle.dumps(opened().breaker))
    assert (again.place, again.state) == (PLACE, "closed")


def test_one_breaker_a_place() -> None:
    breakers = Breakers()
    assert breakers.of("here") is breakers.of("here") is not breakers.of("there")
    assert breakers.states() == {"here": "closed", "there": "closed"}


# In front of servers.


@pytest.fixture
def other(server: Any) -> Iterator[Any]:
    made = type(server)()
    yield made
    made.close()


def models(server: Any, **given: Any) -> LanguageModels:
    key = SecretStr("first-key")
    settings = Settings(lm="openai/first", api_base=server.url, api_key=key, cache=False, **given)
    made = LanguageModels.from_settings(settings)
    for model in (made.default, made.default.fallback, *map(made.for_layer, given.get("layers", ()))):
        if model is not None:
            model.num_retries = 0
    return made


def unreachable(model: LanguageModel) -> str:
    with pytest.raises(ModelUnreachable) as caught:
        model("hello")
    return str(caught.value)


def test_a_server_that_fails_is_left_alone_by_every_layer(server: Any) -> None:
    asked = models(server, layers={"planning": {"temperature": 0.7}})
    server.reply = lambda body: (500, {"error": {"message": "broken"}})
    for layer in ("planning", "sql_extraction", "planning", "sql_extraction", "planning"):
        assert "keeps failing" in unreachable(asked.for_layer(layer))
    assert "is not asked for another" in unreachable(asked.for_layer("script_generation"))
    assert len(server.seen) == 5


def test_a_minute_of_failures_and_then_fine(server: Any) -> None:
    model = models(server).default
    world = World()
    model.engine.breaker = world.breaker
    recovers = world.now + 60
    server.reply = lambda body: (200, ok()) if world.now >= recovers else (500, {"error": {"message": "broken"}})
    while world.now < recovers:
        unreachable(model)
        world.now += 1
    assert len(server.seen) == 5 + 3  # after 5, 15 and 35 seconds
    world.now += 60
    assert model("hello") == ["the answer"]
    assert model.engine.breaker.state == "closed"


def test_the_fallback_answers_with_its_own_key_and_is_counted(server: Any, other: Any) -> None:
    asked = models(server, fallback_lm="second", fallback_api_base=other.url)
    server.reply = lambda body: (503, "<html>busy</html>")
    with Meter() as meter:
        assert asked.default("hello") == ["the answer"]
    assert [call.model for call in meter.calls] == ["openai/second"]
    assert (meter.failed, meter.fell_back) == (1, 1)
    assert (server.keys, other.keys) == (["Bearer first-key"], ["Bearer none"])
    assert asked.describe()["fallback"]["api_base"] == other.url


def test_the_fallback_is_asked_at_once_where_the_first_is_left_alone(server: Any, other: Any) -> None:
    asked = models(server, fallback_lm="second", fallback_api_base=other.url, fallback_api_key="second-key")
    server.reply = lambda body: (500, {"error": {"message": "broken"}})
    for _ in range(7):
        assert asked.default("hello") == ["the answer"]
    assert (len(server.seen), len(other.seen)) == (5, 7)
    assert set(other.keys) == {"Bearer second-key"}


def test_where_both_fail_both_are_named(server: Any, other: Any) -> None:
    asked = models(server, fallback_lm="second", fallback_api_base=other.url)
    server.reply = other.reply = lambda body: (500, {"error": {"message": "broken"}})
    said = unreachable(asked.default)
    assert server.url in said
    assert other.url in said


def test_a_refused_key_is_not_passed_over(server: Any, other: Any) -> None:
    asked = models(server, fallback_lm="second", fallback_api_base=other.url)
    server.reply = lambda body: (401, {"error": {"message": "no"}})
    with pytest.raises(ConfigurationError):
        asked.default("hello")
    assert other.seen == []


def test_a_fallback_inherits_no_address_and_no_key(server: Any) -> None:
    fallback = models(server, fallback_lm="anthropic/claude").default.fallback
    assert fallback is not None
    assert (fallback.engine.endpoint, fallback.engine._api_key) == (None, None)
    assert fallback.engine.breaker is not models(server).default.engine.breaker


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"fallback_api_base": "http://127.0.0.1:9/v1"}, "set FINEXPERT_FALLBACK_LM"),
        ({"fallback_api_key": "k"}, "set FINEXPERT_FALLBACK_LM"),
        ({"fallback_lm": "recorded"}, "name a model"),
    ],
)
def test_a_fallback_that_cannot_be_is_refused(server: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        models(server, **given)


def test_a_repeat_is_passed_on(server: Any, other: Any) -> None:
    settings = {"fallback_lm": "second", "fallback_api_base": other.url}
    asked = models(server, **settings).repeat(2).default
    server.reply = lambda body: (500, {"error": {"message": "broken"}})
    assert asked._passed_on({"temperature": 0.3}) == {"rollout_id": 2, "temperature": 0.3}
    assert asked("hello") == ["the answer"]


def ok() -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "the answer"}, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "served", "choices": [choice]}
