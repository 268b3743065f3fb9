"""Ordinary analysis works with every lock in place, and is not refused."""

from __future__ import annotations

import pandas as pd

from finexpert.answers import AnswerFormat
from finexpert.sandbox import Sandbox, policy


def test_benign_script_works(benign: tuple[str, str], on_each_rung: Sandbox, frames: dict[str, pd.DataFrame]) -> None:
    _, code = benign
    assert policy.refusals(code) == []
    assert on_each_rung.run(code, frames, AnswerFormat(kind="boolean")).value is True
