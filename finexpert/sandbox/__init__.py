"""Runs generated pandas scripts inside a boundary of the operating system; see `runner.py`."""

from finexpert.sandbox.limits import Limits
from finexpert.sandbox.rungs import available_rung, describe
from finexpert.sandbox.runner import Sandbox
from finexpert.sandbox.verdict import ScriptOutcome

__all__ = ["Limits", "Sandbox", "ScriptOutcome", "available_rung", "describe"]
