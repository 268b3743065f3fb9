"""Appends the completions of a model to a file, so that `recorded` can replay them.

    recorder = Recorder(Path("fred.jsonl"), model="a frontier model through an OpenAI-compatible endpoint")
    lm = recorder.wrap(lm)

Several threads and processes may write one file: a line is written whole or not at all, and a prompt is kept once.
Completions that DSPy's cache serves are recorded too. Compressed files are read, not written.
"""

from __future__ import annotations

import datetime as dt
import errno
import fcntl
import json
import os
import threading
from pathlib import Path
from typing import Any

from finexpert.errors import ConfigurationError, DataError
from finexpert.language_models.engines import stamp_of
from finexpert.language_models.model import LanguageModel
from finexpert.language_models.recordings.prompts import about
from finexpert.language_models.recordings.recorded import Key, parse
from finexpert.storage.private_files import make_folder


class Recorder:
    """Writes to one file. `model` describes whose completions they are; without it the model's name is written."""

    def __init__(self, path: Path | str, model: str | None = None) -> None:
        self.path = Path(path)
        if not self.path.name.endswith(".jsonl"):
            raise ConfigurationError(
                f"completions are recorded to a file *.jsonl, not to {self.path}; see --save-completions"
            )
        self._model = model
        self._lock = threading.Lock()
        self._known: set[Key] = set()
        self._read_to = 0

    def wrap(self, lm: LanguageModel) -> LanguageModel:
        """The same model, whose completions are recorded here."""
        wrapped: LanguageModel = lm.copy()
        wrapped.recorder = self
        return wrapped

    def add(
        self, model: str, layer: str | None, sample: int | None, responses: list[Any], messages: list[dict[str, Any]]
    ) -> None:
        """Record what one call gave; nothing if it is recorded already or did not come from a model."""
        stamp = stamp_of(responses[0]) if responses else None
        if stamp is None or stamp.source == "recording":
            return
        response = responses[0]
        line: dict[str, Any] = {
            "prompt": stamp.prompt,
            "completion": response.text or "",
            "about": about([(message["role"], _content(message)) for message in messages]),
            "usage": {
                "prompt_tokens": response.usage.input_tokens or 0,
                "completion_tokens": response.usage.output_tokens or 0,
            },
            "seconds": round(stamp.seconds, 3),
            "model": self._model or model,
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
        }
        line |= {"layer": layer} if layer else {}
        line |= {"sample": sample} if sample is not None else {}
        self._append((stamp.prompt, sample), line)

    def _append(self, key: Key, line: dict[str, Any]) -> None:
        with self._lock:
            try:
                self._write(key, (json.dumps(line, ensure_ascii=False) + "\n").encode())
            except OSError as error:
                raise DataError(
                    f"the completion cannot be recorded in {self.path} ({error.strerror}): "
                    "make room, or name another file with --save-completions"
                ) from error

    def _write(self, key: Key, content: bytes) -> None:
        make_folder(self.path.parent)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            end = self._catch_up(descriptor)
            if key in self._known:
                return
            try:
                # On a disk that is nearly full a part is written, and that is no error.
                written = os.pwrite(descriptor, content, end)
                if written < len(content):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, end)
                raise
            self._known.add(key)
            self._read_to = end + len(content)
        finally:
            os.close(descriptor)

    def _catch_up(self, descriptor: int) -> int:
        """Read what others wrote since, cut off a line that a killed writer left unfinished; the end of the file."""
        size = os.fstat(descriptor).st_size
        if size < self._read_to:
            self._known.clear()
            self._read_to = 0
        content = os.pread(descriptor, size - self._read_to, self._read_to)
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(descriptor, self._read_to + whole)
        try:
            lines = content[:whole].decode().split("\n")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.path} holds bytes that are no text ({error}): name another file with --save-completions"
            ) from error
        self._known.update(parse(line, str(self.path)).key for line in lines if line.strip())
        self._read_to += whole
        return self._read_to


def _content(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())
