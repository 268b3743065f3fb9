"""What surrounds a call of a language model: its layer, and the meters and budgets that it counts for.

    >>> with within(layer="planning"):
    ...     current().layer
    'planning'

It travels in DSPy's settings, because DSPy's own threads (`dspy.Parallel`, `dspy.Evaluate`) carry those and no other
context variable. Threads started with a copied context carry it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

_KEY = "finexpert_scope"


@dataclass(frozen=True)
class Scope:
    """The layer that asks, and what counts the call, the outermost first."""

    # `Meter`s and `Budget`s: both put themselves here, so they know of the scope and it knows nothing of them.
    meters: tuple[Any, ...] = ()
    budgets: tuple[Any, ...] = ()
    layer: str | None = None

    def __reduce__(self) -> tuple[type[Scope], tuple[()]]:
        # MLflow pickles DSPy's settings with a program; what is being counted now is not part of it.
        return Scope, ()


def current() -> Scope:
    """The scope of the calling thread or task."""
    import dspy

    scope: Scope = dspy.settings.get(_KEY) or Scope()
    return scope


@contextmanager
def within(**changes: Any) -> Iterator[Scope]:
    """Within it, the scope has these changes."""
    import dspy

    scope = replace(current(), **changes)
    with dspy.context(**{_KEY: scope}):
        yield scope
