"""Passwords and keys in addresses of servers stand in nothing that is shown or kept."""

from __future__ import annotations

import pytest

from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.secrets import redacted, shown
from finexpert.settings import Settings

SECRET = "s3cret-of-the-desk"
ADDRESSES = [
    f"http://desk:{SECRET}@127.0.0.1:1/v1",
    f"http://desk:a@{SECRET}@127.0.0.1:1/v1",
    f"http://desk:a/{SECRET}@127.0.0.1:1/v1",
    f"http://desk:a?{SECRET}@127.0.0.1:1/v1",
    f"http://desk:a#{SECRET}@127.0.0.1:1/v1",
    f"http://127.0.0.1:1/v1?api_key={SECRET}",
    f"http://127.0.0.1:1/v1?a=1&X-Token={SECRET}&b=2",
    f"http://127.0.0.1:1/v1#{SECRET}",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_is_told_of_a_model_holds_no_secret_of_its_address(address: str) -> None:
    assert SECRET not in shown(address)
    models = LanguageModels.from_settings(
        Settings(lm="openai/x", api_base=address, layers={"planning": {"max_tokens": 5}}), environ={}
    )
    assert SECRET not in str(models.describe())
    assert models.default.engine.endpoint == address


@pytest.mark.parametrize("address", [each for each in ADDRESSES if "#" not in each and "a?" not in each])
def test_an_error_holds_no_secret_of_an_address(address: str) -> None:
    assert SECRET not in redacted(f"refused by {address} (HTTP 401)", [])


@pytest.mark.parametrize("text", ["at 10:30 a@b.example", "http://127.0.0.1:8000/v1?page=2", "SELECT a ? b & c = 1"])
def test_other_words_stay(text: str) -> None:
    assert redacted(text, []) == text
