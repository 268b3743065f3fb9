"""A model that replays completions recorded from another one, found by the exact prompt.

One JSON object a line, in files `*.jsonl` or `*.jsonl.gz`:

    {"prompt": "584df79187...", "completion": "[[ ## answer ## ]] ...", "about": "What was inflation in 1974?",
     "usage": {"prompt_tokens": 2310, "completion_tokens": 402}, "seconds": 9.8,
     "model": "a frontier model through an OpenAI-compatible endpoint", "date": "2026-11-21"}

`prompt` is the hash of roles and texts (see `prompts`). "sample": 2 marks the second of several completions of one
prompt. What a call reports is what the recorded call took. It does not answer what it was not asked before: an
unknown prompt is an error that says what is recorded.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from finexpert.errors import ConfigurationError, DataError, UnknownPrompt
from finexpert.language_models.engines import Engine, Stamp, asking, text_response
from finexpert.language_models.recordings.prompts import about, as_recorded, from_request, prompt_hash
from finexpert.storage import foreign_json

RECORDED = "recorded"
_NEAREST = 3
# Of 100; below it a question has a few common words with this one.
_NEAR = 70
MOST_BYTES = 1 << 30

Key = tuple[str, int | None]


@dataclass(frozen=True)
class Recording:
    """One recorded completion."""

    prompt: str
    completion: str
    about: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    model: str
    date: str
    sample: int | None = None

    @property
    def key(self) -> Key:
        return self.prompt, self.sample


class RecordedModel(Engine):
    """The engine of a model that replays. Where two files hold the same prompt, the later file wins."""

    endpoint = "the recordings"

    def __init__(self, paths: Sequence[Path | str] = (), *, packaged: bool = True) -> None:
        self._given = [Path(path) for path in paths]
        self._packaged = packaged
        places: list[Path | Traversable] = [*(packaged_files() if packaged else ()), *self._given]
        self.counts: dict[str, int] = {}
        self._recordings: dict[Key, Recording] = {}
        for place in places:
            found = list(read(place))
            self.counts[place.name] = self.counts.get(place.name, 0) + len(found)
            self._recordings.update((recording.key, recording) for recording in found)

    def answer(self, request: Any) -> tuple[Any, Stamp]:
        prompt = from_request(request)
        recording = self._find(prompt_hash(prompt)) or self._find(prompt_hash(as_recorded(prompt)))
        if recording is None:
            raise UnknownPrompt(self._unknown(about(prompt)))
        response = text_response(
            request.model, recording.completion, recording.prompt_tokens, recording.completion_tokens
        )
        return response, Stamp(recording.prompt, recording.seconds, source="recording")

    def _find(self, prompt: str) -> Recording | None:
        call = asking.get()
        sample = call.sample if call else None
        return self._recordings.get((prompt, sample)) or self._recordings.get((prompt, None))

    def _unknown(self, question: str) -> str:
        """First line: what is missing. Then what to do, and what is there, the nearest first."""
        from rapidfuzz import fuzz, process

        known = sorted({recording.about for recording in self._recordings.values()})
        asked = [about for about in known if about.endswith("?")]
        nearest = process.extract(question, asked, scorer=fuzz.token_set_ratio, limit=_NEAREST, score_cutoff=_NEAR)
        here = [f"{path.name} ({self.counts[path.name]})" for path in self._given]
        where = f" in {', '.join(here)}" if here else ""
        lines = [
            f"this prompt is not among the recorded ones{where}: {question!r}",
            "To ask it of a model, set a provider's key (for example OPENAI_API_KEY), start a local server",
            "such as Ollama, or name a model with --lm or FINEXPERT_LM; `finexpert doctor` shows what is found.",
        ]
        if question in known:
            lines.append(
                "The question is recorded with another prompt: data, settings, version or earlier turns differ."
            )
        elif nearest:
            lines += ["Recorded are, among others:", *(f"  - {text}" for text, _, _ in nearest)]
        return "\n".join(lines)

    def describe(self) -> dict[str, Any]:
        """How many completions of which models each file holds."""
        models = sorted({recording.model for recording in self._recordings.values()})
        return {"files": dict(self.counts), "models": models}

    def dump_state(self) -> dict[str, Any]:
        return {"paths": [str(path) for path in self._given], "packaged": self._packaged}


def packaged_files() -> list[Traversable]:
    """The recordings that come with the package, by name."""
    folder = files("finexpert.datasets") / RECORDED
    if not folder.is_dir():
        return []
    return sorted((file for file in folder.iterdir() if is_recording(file.name)), key=lambda file: file.name)


def is_recording(name: str) -> bool:
    """Whether a file is read as a recording.

    >>> is_recording("fred.jsonl.gz"), is_recording("README.md")
    (True, False)
    """
    return name.endswith((".jsonl", ".jsonl.gz"))


def _unpacked(content: bytes, place: Path | Traversable) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        plain = file.read(MOST_BYTES + 1)
    if len(plain) > MOST_BYTES:
        raise DataError(f"the recordings {place} unpack to more than {MOST_BYTES >> 20} MB: give them in several files")
    return plain


def read(place: Path | Traversable) -> Iterable[Recording]:
    """The recordings of a file; DataError names the line that is not one."""
    if not place.is_file():
        raise ConfigurationError(
            f"the recordings {place} are not there; check FINEXPERT_RECORDINGS or --save-completions"
        )
    try:
        content = place.read_bytes()
        text = (_unpacked(content, place) if place.name.endswith(".gz") else content).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataError(
            f"the recordings {place} cannot be read ({error}): bring the file back from a copy, "
            "or leave it out of FINEXPERT_RECORDINGS"
        ) from error
    # Not splitlines: JSON may hold the other characters that it splits at.
    *lines, rest = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield parse(line, f"{place}, line {number}")
    # A writer that was killed leaves an unfinished last line; the next one cuts it off.
    if rest.endswith("}"):
        yield parse(rest, f"{place}, last line")


def parse(line: str, where: str) -> Recording:
    """One line of a recording; DataError says where it is not one."""
    try:
        data = foreign_json.parse(line)
        return Recording(
            prompt=data["prompt"],
            completion=data["completion"],
            about=data.get("about", ""),
            prompt_tokens=int(data["usage"]["prompt_tokens"]),
            completion_tokens=int(data["usage"]["completion_tokens"]),
            seconds=float(data["seconds"]),
            model=data.get("model", ""),
            date=data.get("date", ""),
            sample=data.get("sample"),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{where}: no recorded completion ({error!r}); remove the line") from error
