"""Testing what is built on finexpert, without a language model, a key or a network.

    from finexpert.testing import ScriptedModel, fields

    model = ScriptedModel([fields(interpretation="all months", selects=SELECTS, code="", answer_kind="integer", unit="")])
    with finexpert.Session(df, models=LanguageModels(model)) as session:
        assert session.ask("How many months?").value == 6
    assert len(model.prompts) == 1

A `ScriptedModel` answers with the texts of a list in turn, with the value of the first key of a mapping that stands in the prompt, or
with what a function gives for the messages. It costs nothing and keeps every prompt. `fields` writes a completion as a model does.
"""

from __future__ import annotations

import json
from typing import Any

from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel

__all__ = ["LanguageModels", "ScriptedModel", "fields"]


def fields(**values: Any) -> str:
    """A completion with these output fields; what is no text stands there as JSON.

    >>> print(fields(code="answer = 1", confidence=90))
    [[ ## code ## ]]
    answer = 1
    <BLANKLINE>
    [[ ## confidence ## ]]
    90
    <BLANKLINE>
    [[ ## completed ## ]]
    """
    said = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    return "".join(f"[[ ## {name} ## ]]\n{text}\n\n" for name, text in said.items()) + "[[ ## completed ## ]]"
