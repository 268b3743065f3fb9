"""Modes as data, and the settings and options that follow from them."""

from __future__ import annotations

import pytest

from finexpert.errors import ConfigurationError
from finexpert.modes import CHECKED, MODES, fits, mode
from finexpert.modules.financial_expert import Options
from finexpert.settings import Settings


def test_every_mode_is_found_by_its_name() -> None:
    assert list(MODES) == ["direct", "checked", "cheap-first", "reviewed", "panel", "single-call"]
    assert all(mode(name) is each for name, each in MODES.items())
    assert Settings().mode == CHECKED.name == Options().mode.name


@pytest.mark.parametrize(
    ("name", "retries", "drafts"),
    [("direct", 0, True), ("checked", 2, True), ("reviewed", 2, True), ("panel", 2, False), ("single-call", 0, True)],
)
def test_options_of_a_mode(name: str, retries: int, drafts: bool) -> None:
    options = Options.of(Settings(mode=name))
    assert (options.mode.name, options.retries, options.drafts) == (name, retries, drafts)
    assert Options.of(Settings(), mode=MODES[name]) == options


def test_an_unknown_mode_is_refused_when_settings_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEXPERT_MODE", "six")
    with pytest.raises(ConfigurationError, match="no mode 'six'; the modes are direct, checked"):
        Settings()


def test_a_mode_says_what_it_answers_from() -> None:
    for each in MODES.values():
        fits(each, "warehouse")
        fits(each, "filing")
    fits(CHECKED, "library")
    with pytest.raises(
        ConfigurationError, match="'reviewed' does not answer from a library; there it is one of: checked"
    ):
        fits(MODES["reviewed"], "library")
