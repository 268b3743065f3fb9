"""A provider's embeddings: what is sent, what comes back, and what its errors become."""

from __future__ import annotations

import socket
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from finexpert.embeddings.embedding import embedder
from finexpert.embeddings.provider import LONGEST, ProviderEmbedder
from finexpert.errors import ConfigurationError, ModelUnreachable

KEY = "sk-planted0key0of0the0embedder0test"


def reply(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """A vector of three numbers a text, the first of which is the text's length, in the order that was asked."""
    rows = [
        {"object": "embedding", "index": number, "embedding": [float(len(text)), 1.0, 2.0]}
        for number, text in enumerate(body["input"])
    ]
    return 200, {"object": "list", "model": "small", "data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@pytest.fixture
def served(server: Any) -> ProviderEmbedder:
    """An embedder that asks the fake server."""
    server.reply = reply
    return ProviderEmbedder("openai/small", api_base=server.url, api_key=KEY, max_retries=0, num_retries=0)


def test_rows_of_length_1_in_the_order_of_the_texts(served: ProviderEmbedder, server: Any) -> None:
    vectors = served.embed(["a", "bbb"])
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, [[1 / 6**0.5, 1 / 6**0.5, 2 / 6**0.5], [3 / 14**0.5, 1 / 14**0.5, 2 / 14**0.5]])
    assert [body["input"] for body in server.seen] == [["a", "bbb"]]
    assert server.seen[0]["model"] == "small"


def test_the_name_holds_model_and_dimensions_asked_once(served: ProviderEmbedder, server: Any) -> None:
    assert served.name == served.name == "openai/small-3"
    assert len(server.seen) == 1
    assert served.embed([]).shape == (0, 3)


def test_empty_and_long_texts_are_made_acceptable(served: ProviderEmbedder, server: Any) -> None:
    assert served.embed(["", "x" * 100_000]).shape == (2, 3)
    assert [len(text) for text in server.seen[0]["input"]] == [1, LONGEST]


@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (401, ConfigurationError, r"openai/small refused \(HTTP 401\).*Set OPENAI_API_KEY.*FINEXPERT_EMBEDDER"),
        (404, ConfigurationError, r"openai/small refused \(HTTP 404\)"),
        (400, ConfigurationError, r"openai/small refused \(HTTP 400\)"),
        (429, ModelUnreachable, r"openai/small cannot be reached \(HTTP 429\)"),
        (500, ModelUnreachable, r"openai/small cannot be reached \(HTTP 500\).*FINEXPERT_EMBEDDER"),
    ],
)
def test_errors_of_the_provider_are_ours(
    served: ProviderEmbedder, server: Any, status: int, error: type[Exception], says: str
) -> None:
    server.reply = lambda body: (status, {"error": {"message": f"no, not with {KEY}", "code": status}})
    with pytest.raises(error, match=says) as caught:
        served.embed(["a"])
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_no_server_is_an_error_of_ours() -> None:
    lonely = ProviderEmbedder("openai/small", api_base="http://127.0.0.1:9/v1", api_key=KEY, max_retries=0)
    with pytest.raises(ModelUnreachable, match="openai/small cannot be reached"):
        lonely.embed(["a"])


@pytest.mark.parametrize("drips", [False, True])
def test_a_server_that_never_ends_its_answer_is_given_up(drips: bool) -> None:
    """It says nothing, or a byte now and then: each is in time, the whole never comes."""
    over = threading.Event()

    def serve(listening: socket.socket) -> None:
        while not over.is_set():
            with suppress(OSError), listening.accept()[0] as connection:
                connection.recv(65536)
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n"
                )
                while not over.wait(0.1):
                    if drips:
                        connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        slow = ProviderEmbedder(
            "openai/small", api_base=address, api_key=KEY, timeout=1.0, max_retries=0, num_retries=0
        )
        started = time.monotonic()
        try:
            with pytest.raises(
                ModelUnreachable, match=r"openai/small (gave no whole answer within 2 s|cannot be reached)"
            ):
                slow.embed(["a"])
            assert time.monotonic() - started < 15
        finally:
            over.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_many_texts_are_asked_in_several_requests(served: ProviderEmbedder, server: Any) -> None:
    vectors = served.embed(["x" * (n % 7 + 1) for n in range(450)])
    assert [len(body["input"]) for body in server.seen] == [200, 200, 50]
    assert np.allclose(vectors[449], served.embed(["x" * (449 % 7 + 1)])[0])


def test_without_a_key_nothing_is_sent() -> None:
    with pytest.raises(ConfigurationError, match="no key for the embedder openai/small: set OPENAI_API_KEY"):
        ProviderEmbedder("openai/small").embed(["a"])


@pytest.mark.parametrize("rows", [[], [[0.0, 0.0]], [[1.0, 2.0], [1.0, 2.0]]])
def test_unusable_vectors_are_refused(served: ProviderEmbedder, server: Any, rows: list[list[float]]) -> None:
    data = [{"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)]
    server.reply = lambda body: (200, {"object": "list", "model": "small", "data": data, "usage": {}})
    with pytest.raises(ModelUnreachable, match="gave vectors of shape"):
        served.embed(["a"])


def test_a_setting_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("finexpert.embeddings.embedding._made", {})
    assert "finexpert.embeddings.provider" in sys.modules
    chosen: Any = embedder("openai/small")
    assert chosen.inner.model == "openai/small"
