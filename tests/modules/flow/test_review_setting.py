"""The setting `review`: off by itself; on, code is looked at by a model of its own."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import ScriptedModel
from finexpert.modules.flow.options import Options
from finexpert.settings import Settings

CLEAN = {"finding": "nothing", "verdict": "no violation", "rule": "none", "line": "0", "confidence": "95"}


def test_it_is_off_by_itself(desk: Any) -> None:
    desk.says("planning", desk.plan())
    answer = desk.session().ask("How many months were there?")
    assert (answer.value, answer.usage.by_layer) == (6, {"planning": 1})
    assert not Options.of(Settings()).review


def test_it_is_on_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEXPERT_REVIEW", "1")
    assert Options.of(Settings()).review


def test_the_reviewer_may_have_a_model_of_its_own(desk: Any, sandbox: Any) -> None:
    from finexpert.session import Session

    desk.says("planning", desk.plan())
    own = ScriptedModel(lambda messages: desk.fields(**CLEAN))
    models = LanguageModels(ScriptedModel(desk.reply), {"adversarial_review": own})
    settings = Settings(cache=False, review=True, memory=False)
    with Session(desk.warehouse, settings=settings, models=models, sandbox=sandbox) as session:
        answer = session.ask("How many months were there?")
    assert answer.usage.by_layer == {"planning": 1, "adversarial_review": 2}
    assert (desk.layers, len(own.prompts)) == (["planning"], 2)


def test_a_layer_of_that_name_may_be_set() -> None:
    given = Settings(lm="recorded", layers={"adversarial_review": {"temperature": 0.5}})
    assert LanguageModels.from_settings(given).describe()["layers"]["adversarial_review"]["temperature"] == 0.5
