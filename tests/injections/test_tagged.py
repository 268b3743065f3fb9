"""The tag of a trace: set where a question is traced, and nothing anywhere else."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from finexpert import tracking


@pytest.mark.parametrize(("span", "expected"), [(object(), [{"finexpert.injections": "code"}]), (None, [])])
def test_a_trace_is_tagged_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, span: object, expected: list[dict[str, str]]
) -> None:
    tags: list[dict[str, str]] = []
    written = tags.append
    stands_for: Any = SimpleNamespace(
        get_current_active_span=lambda: span, update_current_trace=lambda tags: written(tags)
    )
    monkeypatch.setitem(sys.modules, "mlflow", stands_for)
    tracking.tag_trace("finexpert.injections", "code")
    assert tags == expected


def test_without_mlflow_nothing_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "mlflow", raising=False)
    tracking.tag_trace("finexpert.injections", "code")
    assert "mlflow" not in sys.modules
