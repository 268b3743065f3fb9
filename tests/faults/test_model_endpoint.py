"""What becomes of a question when the model's endpoint fails: an error that says which and what to do, and the next works.

A row a fault: what the endpoint does with the request, the class of the error, and words that its message must hold.
"""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from finexpert.errors import ConfigurationError, ModelError, ModelUnreachable

QUESTION = "How many months have sales?"
KEY = "planted-key-7f3a9c"
ERROR = '{"error": {"message": "broken"}}'
EMPTY = '{"id": "1", "object": "chat.completion", "created": 1, "choices": []}'
NO_TEXT = (
    '{"id": "1", "object": "chat.completion", "created": 1, "choices": [{"index": 0, "finish_reason": "stop",'
    ' "message": {"role": "assistant", "content": null}}]}'
)

BROKEN = {
    "hangs": ("hangs", ModelUnreachable, "gave no answer within 1 s"),
    "drips": ("drips", ModelUnreachable, "gave no answer within 1 s"),
    "drops mid-stream": ("drops", ModelUnreachable, "finexpert doctor"),
    "drops in a chunk": ("drops_in_a_chunk", ModelUnreachable, "finexpert doctor"),
    "resets": ("resets", ModelUnreachable, "finexpert doctor"),
    "closes without a word": ("says_nothing", ModelUnreachable, "finexpert doctor"),
    "speaks another protocol": ("speaks_another_protocol", ModelUnreachable, "finexpert doctor"),
    "500": (("500 Broken", ERROR), ModelUnreachable, "Try again later"),
    "502 from a proxy": (("502 Bad Gateway", "<html>bad gateway</html>"), ModelUnreachable, "Try again later"),
    "429": (("429 Too Many Requests", ERROR), ModelUnreachable, "run fewer threads"),
    "a web page": (("200 OK", "<html>welcome</html>"), ModelUnreachable, "check FINEXPERT_API_BASE"),
    "broken JSON": (("200 OK", '{"id": "1", "choices": [{"ind'), ModelUnreachable, "FINEXPERT_API_BASE"),
    "nothing": (("200 OK", ""), ModelUnreachable, "FINEXPERT_API_BASE"),
    "other JSON": (("200 OK", "[1, 2, 3]"), ModelError, "FINEXPERT_API_BASE"),
    "bytes that are no text": (("200 OK", b"\xff\xfe\x00\xd8" * 20), ModelUnreachable, "FINEXPERT_API_BASE"),
    "another encoding than it says": (
        ("200 OK", gzip.compress(ERROR.encode())[:20], {"Content_Encoding": "gzip"}),
        ModelUnreachable,
        "FINEXPERT_API_BASE",
    ),
    "a redirect to nowhere": (("302 Found", "", {"Location": "/elsewhere"}), ModelError, "FINEXPERT"),
    "a refused key": (("401 Unauthorized", ERROR), ConfigurationError, "FINEXPERT_API_KEY"),
}


def fault(faults: Any, given: Any) -> Any:
    if isinstance(given, str):
        return getattr(faults, given)
    status, body, *more = given
    return faults.answers(status, body, **(more[0] if more else {}))


@pytest.mark.parametrize(("given", "kind", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_endpoint_is_named_and_the_next_question_works(
    asking: Any, endpoint: Any, faults: Any, within: Any, given: Any, kind: type[Exception], words: str
) -> None:
    session = asking(timeout=1.0)
    endpoint.fault = fault(faults, given)
    with within(10), pytest.raises(ModelError if kind is not ConfigurationError else kind) as caught:
        session.ask(QUESTION)
    said = str(caught.value)
    assert isinstance(caught.value, kind), said
    assert words in said
    assert endpoint.url in said
    assert "openai/served" in said
    assert KEY not in said
    assert (session.workspace.turns, session.workspace.frames) == ([], {})
    endpoint.fault = None
    assert session.ask(QUESTION).value == 6


# Texts that are a completion, and no answer: the question fails, the model can be used.
UNUSABLE = {
    "no choices": ("200 OK", EMPTY),
    "no text": ("200 OK", NO_TEXT),
    "a text of another form": ("200 OK", NO_TEXT.replace("null", '"I would rather talk of the weather."')),
    "a text that is cut off": ("200 OK", NO_TEXT.replace("null", '"[[ ## interpretation ## ]]\\nas as"')),
}


@pytest.mark.parametrize("given", UNUSABLE.values(), ids=UNUSABLE)
def test_an_unusable_text_fails_the_question_alone(asking: Any, endpoint: Any, faults: Any, given: Any) -> None:
    session = asking()
    endpoint.fault = fault(faults, given)
    answer = session.ask(QUESTION)
    assert (answer.status, answer.value) == ("failed", None)
    assert (answer.failure.layer, answer.failure.kind) == ("planning", "output")
    endpoint.fault = None
    assert session.ask(QUESTION).value == 6


def test_an_endpoint_that_refuses_connections(asking: Any, endpoint: Any) -> None:
    session = asking()
    endpoint.close()
    with pytest.raises(ModelUnreachable, match=f"no connection to {endpoint.url} .* see `finexpert doctor`"):
        session.ask(QUESTION)
    assert session.workspace.turns == []


def test_a_wait_that_the_endpoint_asks_for_is_kept(asking: Any, endpoint: Any, faults: Any) -> None:
    session = asking(retries=1)
    limited = faults.answers("429 Too Many Requests", ERROR, Retry_After="1")

    def once(endpoint: Any, connection: Any) -> None:
        endpoint.fault = None
        limited(endpoint, connection)

    endpoint.fault = once
    answer = session.ask(QUESTION)
    assert (answer.value, endpoint.asked) == (6, 2)


def test_failures_in_a_row_are_met_without_asking(asking: Any, endpoint: Any, faults: Any) -> None:
    session = asking()
    endpoint.fault = faults.answers("500 Broken", ERROR)
    for _ in range(8):
        with pytest.raises(ModelUnreachable) as caught:
            session.ask(QUESTION)
    assert endpoint.asked == 5
    assert "is not asked for another" in str(caught.value)
    assert "FINEXPERT_FALLBACK_LM" in str(caught.value)


def test_another_model_answers_where_one_is_named(desk: Any, endpoint: Any, faults: Any) -> None:
    from finexpert.language_models.roles import LanguageModels
    from finexpert.settings import Settings

    dead = "http://127.0.0.1:9/v1"
    settings = Settings(lm="first", api_base=dead, fallback_lm="second", fallback_api_base=endpoint.url, cache=False)
    models = LanguageModels.from_settings(settings)
    models.default.num_retries = 0
    session = desk.session()
    session.models = models
    answer = session.ask(QUESTION)
    assert (answer.value, answer.usage.calls, endpoint.asked) == (6, 1, 1)
