"""From settings to models: who is asked, how, and what a layer may change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from finexpert.errors import ConfigurationError
from finexpert.language_models.roles import LanguageModels, ModelSpec, build_lm
from finexpert.settings import Settings


def _models(environ: dict[str, str] | None = None, **given: Any) -> LanguageModels:
    return LanguageModels.from_settings(Settings(**given), environ=environ or {}, probe=lambda url, timeout: None)


def test_recorded_completions_answer_where_nothing_is_found() -> None:
    models = _models()
    assert models.replaying
    assert models.default.cache is False
    described = models.describe()
    assert (described["model"], described["replaying"]) == ("recorded", True)
    assert "recorded completions answer" in described["found"]


def test_recorded_by_name_though_a_key_is_there() -> None:
    assert _models({"OPENAI_API_KEY": "k"}, lm="recorded").replaying


def test_a_provider_is_found() -> None:
    models = _models({"ANTHROPIC_API_KEY": "k"}, temperature=0.5, max_tokens=900)
    assert models.default.model.startswith("anthropic/")
    assert (models.default.kwargs["temperature"], models.default.kwargs["max_tokens"]) == (0.5, 900)


def test_a_server_by_its_address_alone() -> None:
    def probe(url: str, timeout: float) -> Any:
        return {"data": [{"id": "qwen"}]} if url == "http://10.0.0.5:9000/v1/models" else None

    models = LanguageModels.from_settings(Settings(api_base="http://10.0.0.5:9000/v1"), environ={}, probe=probe)
    assert models.default.model == "openai/qwen"
    assert models.default.engine.endpoint == "http://10.0.0.5:9000/v1"
    assert models.describe()["found"] == "by FINEXPERT_API_BASE"


def test_a_layer_changes_what_it_names_and_keeps_the_rest(server: Any) -> None:
    models = _models(
        lm="served",
        api_base=server.url,
        api_key="key-of-the-server",
        max_tokens=500,
        layers={"planning": {"temperature": 0.9}, "script_generation": {"model": "coder", "max_tokens": 50}},
    )
    models.default("d")
    models.for_layer("sql_extraction")("e")
    models.for_layer("planning")("p")
    models.for_layer("script_generation")("s")
    asked = [(body["model"], body["temperature"], body["max_tokens"]) for body in server.seen]
    assert asked == [("served", 0.0, 500), ("served", 0.0, 500), ("served", 0.9, 500), ("coder", 0.0, 50)]
    assert set(server.keys) == {"Bearer key-of-the-server"}
    layers = models.describe()["layers"]
    assert layers["script_generation"]["model"] == "openai/coder"
    assert "key-of-the-server" not in str(models.describe())


def test_a_layer_with_another_server_is_not_given_the_key(server: Any) -> None:
    models = _models(
        lm="served", api_base="http://10.9.9.9/v1", api_key="key-one", layers={"planning": {"api_base": server.url}}
    )
    models.for_layer("planning")("p")
    assert server.keys == ["Bearer none"]


def test_a_layer_with_another_provider_is_not_given_address_and_key() -> None:
    models = _models(
        lm="openai/served",
        api_base="http://10.9.9.9/v1",
        api_key="key-one",
        layers={"planning": {"model": "groq/qwen"}},
    )
    engine = models.for_layer("planning").engine
    assert engine.endpoint is None
    with pytest.raises(
        ConfigurationError, match="there is no key for groq/qwen: set FINEXPERT_API_KEY or GROQ_API_KEY"
    ):
        models.for_layer("planning")("p")


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ({"plannning": {}}, "the layers are keyword_rephrasing"),
        ({"planning": {"temprature": 1}}, r"planning\.temprature"),
        ({"planning": {"max_tokens": "many"}}, r"planning\.max_tokens"),
    ],
)
def test_a_mistake_in_a_layer_is_named(layers: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        _models(lm="openai/x", layers=layers)


@pytest.mark.parametrize(
    ("model", "given", "taken"),
    [
        ("openai/gpt-5.6", (0.0, 1000), (None, None)),
        ("openai/gpt-5.6", (0.0, 20_000), (None, 20_000)),
        ("azure/o3-mini", (0.2, None), (None, None)),
        ("openai/gpt-5-chat-latest", (0.2, 1000), (0.2, 1000)),
        ("openai/gpt-4o", (0.2, 1000), (0.2, 1000)),
        ("groq/openai/gpt-oss-120b", (0.0, 1000), (0.0, 1000)),
    ],
)
def test_models_that_reason_are_asked_as_they_want_it(
    model: str, given: tuple[Any, ...], taken: tuple[Any, ...]
) -> None:
    lm = build_lm(ModelSpec(model=model, temperature=given[0], max_tokens=given[1]))
    tokens = lm.kwargs.get("max_completion_tokens", lm.kwargs.get("max_tokens"))
    assert (lm.kwargs["temperature"], tokens) == taken


def test_the_address_in_the_environment_is_named_and_its_price_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://10.0.0.5/v1")
    engine = build_lm(ModelSpec(model="openai/gpt-4o")).engine
    assert engine.endpoint == "http://10.0.0.5/v1"
    assert not engine.price_is_known()


def test_new_completions_are_recorded(server: Any, tmp_path: Path) -> None:
    _models(lm="served", api_base=server.url, record=tmp_path / "new.jsonl").for_layer("planning")("hello")
    models = _models(lm="recorded", recordings=[tmp_path / "new.jsonl"])
    assert models.default("hello") == ["the answer"]
    assert models.describe()["recordings"]["files"]["new.jsonl"] == 1


def test_repeats_are_asked_anew(server: Any) -> None:
    models = _models(lm="served", api_base=server.url, layers={"planning": {"max_tokens": 9}})
    assert models.repeat(1) is models
    for number in (1, 2, 3, 2):
        models.repeat(number).default("hello")
        models.repeat(number).for_layer("planning")("hello")
    assert len(server.seen) == 6
    assert models.repeat(2).describe() != models.describe()


def test_a_key_is_in_no_text(server: Any) -> None:
    spec = ModelSpec(model="openai/x", api_base=server.url, api_key=SecretStr("key-one"))
    lm = build_lm(spec)
    assert "key-one" not in f"{spec!r} {lm!r} {lm.kwargs} {lm.dump_state()} {lm.engine.__getstate__()}"


def test_every_role_of_critics_and_panel_can_have_a_model_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """By settings alone, in the environment too; what is set for critique goes for both critics."""
    from finexpert.modes import MODES

    asked = {role for mode in MODES.values() for role in mode.layers} - {"checks", "retries", "revision", "escalation"}
    given = {role: {"model": f"openai/{role}", "temperature": 0.5} for role in sorted(asked)}
    monkeypatch.setenv("FINEXPERT_LAYERS", json.dumps(given))
    models = LanguageModels.from_settings(Settings(lm="openai/usual", cache=False))
    for role in asked:
        assert models.for_layer(role).model == f"openai/{role}"
        assert models.for_layer(role).kwargs["temperature"] == 0.5
    monkeypatch.delenv("FINEXPERT_LAYERS")
    critics = {"critique": {"model": "openai/critic"}, "calculation_critic": {"model": "openai/own"}}
    models = LanguageModels.from_settings(Settings(lm="openai/usual", cache=False, layers=critics))
    found = [models.for_layer(role).model for role in ("extraction_critic", "calculation_critic", "planning")]
    assert found == ["openai/critic", "openai/own", "openai/usual"]


def test_each_model_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recordings are thousands of lines: they are read once."""
    built: list[str] = []

    def counted(spec: ModelSpec, **given: Any) -> Any:
        built.append(spec.model)
        return build_lm(spec, **given)

    monkeypatch.setattr("finexpert.language_models.roles.build_lm", counted)
    LanguageModels.from_settings(Settings(lm="recorded"), environ={})
    assert built == ["recorded"]
    built.clear()
    LanguageModels.from_settings(Settings(lm="openai/gpt-5.6", fallback_lm="xai/grok-4.7"), environ={})
    assert built == ["openai/gpt-5.6", "xai/grok-4.7"]


def test_the_strong_model_has_no_address_and_no_key_but_its_own() -> None:
    given = Settings(
        lm="openai/small", api_base="http://here/v1", api_key=SecretStr("of-small"), strong_lm="xai/grok-4.7"
    )
    models = LanguageModels.from_settings(given, environ={})
    assert models.strong is not None
    stronger = models.stronger()
    assert stronger.for_layer("planning").model == "xai/grok-4.7"
    assert "here" not in str(stronger.default.engine.endpoint)
    assert "of-small" not in f"{stronger.default.engine.__dict__}"
    assert models.describe()["strong"]["model"] == "xai/grok-4.7"
    drawn = models.drawn_again().for_layer("planning")
    assert (drawn.kwargs["temperature"], drawn.model) == (0.7, "openai/small")


def test_an_address_of_a_strong_model_without_its_name_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="FINEXPERT_STRONG_LM"):
        LanguageModels.from_settings(Settings(lm="openai/small", strong_api_base="http://there/v1"), environ={})


def _mode(folder: Path) -> int:
    return folder.stat().st_mode & 0o777


def test_completions_are_read_by_their_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DSPY_CACHEDIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".dspy_cache"
    build_lm(ModelSpec(model="served", api_base="http://127.0.0.1:9/v1"), cache=False)
    assert not folder.exists()
    folder.mkdir(mode=0o755)
    build_lm(ModelSpec(model="served", api_base="http://127.0.0.1:9/v1"))
    assert _mode(folder) == 0o700


def test_a_folder_for_completions_that_is_named_keeps_its_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared, new = tmp_path / "shared", tmp_path / "new"
    shared.mkdir(mode=0o755)
    for folder, mode in ((shared, 0o755), (new, 0o700)):
        monkeypatch.setenv("DSPY_CACHEDIR", str(folder))
        build_lm(ModelSpec(model="served", api_base="http://127.0.0.1:9/v1"))
        assert _mode(folder) == mode
