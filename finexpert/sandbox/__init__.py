"""Runs generated pandas scripts inside a boundary of the operating system; see `runner.py`.

Names are loaded when they are first used: what shuts a process in is needed without what runs scripts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from finexpert.isolation.limits import Limits
    from finexpert.isolation.rungs import available_rung, describe
    from finexpert.sandbox.runner import Sandbox
    from finexpert.sandbox.verdict import ScriptOutcome

_HOME = {
    "Limits": "finexpert.isolation.limits",
    "Sandbox": "finexpert.sandbox.runner",
    "ScriptOutcome": "finexpert.sandbox.verdict",
    "available_rung": "finexpert.isolation.rungs",
    "describe": "finexpert.isolation.rungs",
}

__all__ = ["Limits", "Sandbox", "ScriptOutcome", "available_rung", "describe"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'finexpert.sandbox' has no attribute {name!r}")
