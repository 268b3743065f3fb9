"""The lines of statements and the ratios of a warehouse of company facts: `measures.yaml` beside this file.

    >>> line = lines()["revenue"]
    >>> line.unit, line.concepts[0]
    ('money', 'us-gaap:RevenuesNetOfInterestExpense')
    >>> ratios()["net_margin"].by
    'revenue'

Nothing is computed here.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator

BEFORE = "_before"
_NAME = re.compile(r"[a-z_]+")


def _full(name: str) -> str:
    return name if ":" in name else f"us-gaap:{name}"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    also: tuple[str, ...]


class Line(_Entry):
    """A line of a statement; `concepts` are tried in their order, for each period of its own."""

    description: str = Field(alias="is")
    unit: Literal["money", "per share", "shares"]
    concepts: tuple[str, ...]

    @field_validator("concepts")
    @classmethod
    def _with_taxonomy(cls, concepts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(_full, concepts))


class Ratio(_Entry):
    """What is summed and, of a ratio, what it is divided by: SQL over lines of a fiscal year."""

    of: str
    by: str | None = None

    @property
    def lines(self) -> list[str]:
        """The lines that it is made of, with `_before` where the year before is meant."""
        words = _NAME.findall(f"{self.of} {self.by or ''}")
        return list(dict.fromkeys(word for word in words if word.removesuffix(BEFORE) in lines()))


@cache
def _content() -> dict[str, Any]:
    text = (files("finexpert.datasets") / "edgar" / "measures.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(text)
    return content


@cache
def lines() -> dict[str, Line]:
    """The lines by name, in the order of the file."""
    return {name: Line.model_validate(entry) for name, entry in _content()["lines"].items()}


@cache
def ratios() -> dict[str, Ratio]:
    """The ratios by name, in the order of the file."""
    return {name: Ratio.model_validate(entry) for name, entry in _content()["ratios"].items()}


@cache
def parts() -> list[tuple[str, str]]:
    """Concepts that may be a mere part of their line, each with every other that makes it one where both are filed."""
    return [(_full(name), _full(other)) for name, others in _content()["parts"].items() for other in others]


@cache
def compared() -> tuple[str, ...]:
    """The lines of which some ratio needs the value of the year before."""
    used = {word.removesuffix(BEFORE) for ratio in ratios().values() for word in ratio.lines if word.endswith(BEFORE)}
    return tuple(name for name in lines() if name in used)
