"""The manifest of a compiled program: what each layer was compiled with, and why it was kept.

    {"format": 1, "name": "frontier", "created": "2026-11-21T10:00:00Z", "dspy": "3.4.1", "options": {"drafts": false},
     "layers": {"planning": {"file": "planning.json", "class": "finexpert.modules.planning.Planning",
                "sha256": "5d1c...", "predictors": {"warehouse": {"name": "MakePlan", "fields": [...]}},
                "optimizer": "GEPA", "examples": "c0ffee...", "model": "openai/gpt", "scores": {"holdout": {...}},
                "decision": {"keep": true, ...}}}}

It is written last, so a folder without it is no compiled program. It holds no prompt and no example.
"""

from __future__ import annotations

import datetime as dt
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from finexpert.errors import DataError
from finexpert.optimizers.program.decision import Decision, Score
from finexpert.optimizers.program.fingerprints import SignatureFacts
from finexpert.storage import foreign_files

MANIFEST = "manifest.json"
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class BeforeAfter(_Part):
    """Scores of one split."""

    before: Score
    after: Score


class Provenance(_Part):
    """How a layer was compiled; empty where it was left as it stands in the code."""

    optimizer: str | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)
    examples: str | None = Field(default=None, description="fingerprint of the example set")
    model: str | None = None
    teacher: str | None = None
    scores: dict[str, BeforeAfter] = Field(default_factory=dict, description="by split")
    decision: Decision | None = None
    left_out: Decision | None = Field(
        default=None, description="why what was compiled, and kept by the first gate, is not in the combined program"
    )


class LayerEntry(Provenance):
    """One layer: its file, what the state belongs to, and how it came about."""

    file: str = Field(pattern=r"^[A-Za-z_]\w*\.json$")
    class_: str = Field(alias="class")
    sha256: str
    predictors: dict[str, SignatureFacts]


class ChosenOptions(_Part):
    """The options that were found best for this program and model; None leaves them to the settings."""

    drafts: bool | None = None
    judge: bool | None = None
    demonstrations: int | None = Field(
        default=None, ge=0, description="0: the compiled layers go by instructions alone"
    )
    retries: int | None = Field(default=None, ge=0, le=10)

    def chosen(self) -> dict[str, Any]:
        """Those that were chosen.

        >>> ChosenOptions(drafts=False).chosen()
        {'drafts': False}
        """
        return self.model_dump(exclude_none=True)


class Combined(_Part):
    """The combined program on a sample: before, after, and the second gate."""

    sample: str
    scores: BeforeAfter
    decision: Decision


class Manifest(_Part):
    """The content of `manifest.json`."""

    format: Literal[1] = 1
    name: str = Field(pattern=NAME)
    created: dt.datetime = Field(default_factory=lambda: dt.datetime.now(dt.UTC))
    finexpert: str = Field(default_factory=lambda: version("finexpert"))
    dspy: str = Field(default_factory=lambda: version("dspy"))
    python: str = Field(default_factory=platform.python_version)
    layers: dict[str, LayerEntry]
    options: ChosenOptions = ChosenOptions()
    evidence: dict[str, Decision] = Field(default_factory=dict, description="the decision behind each chosen option")
    combined: list[Combined] = Field(default_factory=list)

    @property
    def refused(self) -> list[str]:
        """What the gate said no to: layers, options and samples that were kept anyway or should not be here."""
        decisions = {f"layer {name}": entry.decision for name, entry in self.layers.items()}
        decisions |= {f"option {name}": decision for name, decision in self.evidence.items()}
        decisions |= {f"the program on {part.sample}": part.decision for part in self.combined}
        return [what for what, decision in decisions.items() if decision is not None and not decision.passed]


def read(folder: Path) -> Manifest:
    """The manifest of a folder; DataError says why it is none."""
    path = folder / MANIFEST
    try:
        return Manifest.model_validate_json(foreign_files.read_bytes(path))
    except FileNotFoundError:
        raise DataError(
            f"{folder} is no compiled program: it has no {MANIFEST}. `finexpert compiled list` shows what there is"
        ) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole file"
        raise DataError(
            f"{path} is not a manifest of this version of finexpert: {where}: {first['msg']}. "
            f"Compile again, or use the version that wrote it"
        ) from error
