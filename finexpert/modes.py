"""Modes: how much is done for one answer, as data.

    >>> mode("reviewed").layers[-1], mode("direct").has("checks")
    ('revision', False)

A mode is a name for a tuple of layers; which model, temperature and address each of them has stands in the settings
(`layers`), and how often something is repaired in `retries`. Nothing here asks a model or runs a plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from finexpert.errors import ConfigurationError

SourceKind = Literal["warehouse", "filing", "library", "sources"]


@dataclass(frozen=True)
class Mode:
    """A name for a tuple of layers; `sources` are the kinds of source that it can answer from."""

    name: str
    about: str
    layers: tuple[str, ...]
    sources: tuple[SourceKind, ...] = ("warehouse", "filing")

    def has(self, layer: str) -> bool:
        return layer in self.layers

    @property
    def reviews(self) -> bool:
        """Whether critics look at what the first plan gave."""
        return self.has("calculation_critic")


_CHECKED = ("planning", "checks", "retries")
_ANY: tuple[SourceKind, ...] = ("warehouse", "filing", "library", "sources")
_CRITICS = ("extraction_critic", "calculation_critic")

MODES: Mapping[str, Mode] = {
    each.name: each
    for each in (
        Mode("direct", "the planner alone: no checks, no repairs", ("planning",)),
        Mode("checked", "deterministic checks and repairs", _CHECKED, _ANY),
        Mode(
            "cheap-first",
            "checked by the cheap model twice; where a check or the two disagree, by FINEXPERT_STRONG_LM",
            (*_CHECKED, "escalation"),
            _ANY,
        ),
        Mode("reviewed", "checked, then critics that recompute, and one revision", (*_CHECKED, *_CRITICS, "revision")),
        Mode(
            "panel",
            "manager, extractor, reasoner, two critics, synthesiser",
            ("manager", "extractor", "reasoner", "checks", "retries", *_CRITICS, "synthesiser", "revision"),
        ),
        Mode("single-call", "the baseline: one call, nothing checked", ("single_call",)),
    )
}

CHECKED = MODES["checked"]


def mode(name: str) -> Mode:
    """The mode of a name.

    >>> mode("six")
    Traceback (most recent call last):
        ...
    finexpert.errors.ConfigurationError: there is no mode 'six'; the modes are direct, checked, cheap-first, \
reviewed, panel, single-call (--mode, FINEXPERT_MODE)
    """
    if name not in MODES:
        raise ConfigurationError(
            f"there is no mode {name!r}; the modes are {', '.join(MODES)} (--mode, FINEXPERT_MODE)"
        )
    return MODES[name]


def fits(chosen: Mode, kind: SourceKind) -> None:
    """Raise ConfigurationError where a mode cannot answer from a kind of source."""
    if kind not in chosen.sources:
        there = ", ".join(each.name for each in MODES.values() if kind in each.sources)
        raise ConfigurationError(
            f"the mode {chosen.name!r} does not answer from a {kind}; there it is one of: {there} (--mode, FINEXPERT_MODE)"
        )
