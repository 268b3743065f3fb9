"""Models that answer from a list or a function; warehouse and sandbox stand in the conftest above."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel


@pytest.fixture
def scripted() -> Callable[[object], tuple[LanguageModels, list[str]]]:
    """Models that answer from a list or a function, and the prompts that they were given."""

    def make(answers: object) -> tuple[LanguageModels, list[str]]:
        prompts: list[str] = []
        rest = iter(answers) if isinstance(answers, list) else None

        def reply(messages: list[dict[str, str]]) -> str:
            prompts.append("\n".join(str(message["content"]) for message in messages))
            return str(next(rest)) if rest is not None else str(answers(prompts[-1]))  # type: ignore[operator]

        return LanguageModels(ScriptedModel(reply)), prompts

    return make
