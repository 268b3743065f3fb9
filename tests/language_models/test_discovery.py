"""What is found, in which order, and that nothing is found in a bare world quickly."""

from __future__ import annotations

import time
from typing import Any

import pytest

from finexpert.errors import ModelUnreachable
from finexpert.language_models.discovery import discover, get_json
from finexpert.language_models.providers import PREFIXES, PROVIDERS, prefix

OLLAMA = {"http://127.0.0.1:11434/api/tags": {"models": [{"name": "nomic-embed-text:latest"}, {"name": "qwen3:8b"}]}}
VLLM = {"http://127.0.0.1:8000/v1/models": {"data": [{"id": "Qwen/Qwen3-8B"}]}}
WEB = {"http://127.0.0.1:8080/v1/models": {"data": "a web site"}, "http://127.0.0.1:8000/v1/models": ["no"]}


@pytest.mark.parametrize(
    ("environ", "answers", "model", "found"),
    [
        ({}, {}, None, ""),
        ({}, WEB, None, ""),
        ({"OPENAI_API_KEY": ""}, {}, None, ""),
        ({"FINEXPERT_LM": "recorded", "OPENAI_API_KEY": "k"}, OLLAMA, "recorded", "FINEXPERT_LM"),
        ({"FINEXPERT_LM": "x", "FINEXPERT_API_BASE": "http://h/v1"}, {}, "openai/x", "FINEXPERT_LM"),
        ({"ANTHROPIC_API_KEY": "k"}, OLLAMA, "anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY"),
        ({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, {}, "openai/gpt-5.6", "OPENAI_API_KEY"),
        ({"AZURE_API_KEY": "k", "AZURE_API_BASE": "b", "AZURE_DEPLOYMENT": "d"}, {}, "azure/d", "AZURE_API_KEY"),
        ({"AZURE_API_KEY": "k"}, {}, None, ""),
        ({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://api.openai.com/v1"}, {}, "openai/gpt-5.6", "OpenAI,"),
        (
            {"OPENAI_BASE_URL": "http://h/v1/"},
            {"http://h/v1/models": {"data": [{"id": "m"}]}},
            "openai/m",
            "OPENAI_BASE",
        ),
        ({}, OLLAMA | VLLM, "ollama_chat/qwen3:8b", "Ollama"),
        ({}, VLLM, "openai/Qwen/Qwen3-8B", "vLLM"),
    ],
)
def test_what_is_found(environ: dict[str, str], answers: dict[str, Any], model: str | None, found: str) -> None:
    spec = discover(environ, probe=lambda url, timeout: answers.get(url))
    assert (spec.model if spec else None) == model
    assert found in (spec.found if spec else "")


def test_no_key_of_a_provider_goes_to_a_local_server() -> None:
    spec = discover({}, probe=lambda url, timeout: VLLM.get(url))
    assert spec is not None
    assert spec.api_key is not None
    assert spec.api_key.get_secret_value() == "none"


def test_a_server_that_is_named_and_does_not_answer() -> None:
    with pytest.raises(ModelUnreachable, match="OPENAI_API_BASE is http://h/v1"):
        discover({"OPENAI_API_BASE": "http://h/v1"}, probe=lambda url, timeout: None)


def test_a_real_server_is_asked_with_the_key(server: Any) -> None:
    server.models = ["text-embedding-3", "qwen"]
    spec = discover({"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"})
    assert spec is not None
    assert (spec.model, spec.api_base) == ("openai/qwen", server.url)


def test_nothing_at_an_address() -> None:
    assert get_json("http://127.0.0.1:9/v1/models", 0.2) is None
    assert get_json("not an address", 0.2) is None


def test_the_ports_are_asked_at_the_same_time(soon: Any) -> None:
    def slow(url: str, timeout: float) -> None:
        time.sleep(timeout)

    def ask() -> None:
        assert discover({}, probe=slow) is None

    soon(0.75, ask)  # one after the other would take 0.8


def test_the_default_models_are_known_to_litellm() -> None:
    import litellm

    for provider in PROVIDERS:
        first, _, rest = provider.model.partition("/")
        assert prefix(provider.model) == first
        # OpenRouter's and Azure's models are not in the list: the first changes daily, the second is the user's own.
        if first not in ("openrouter", "azure"):
            known = [name for name in (provider.model, rest) if litellm.model_cost.get(name, {}).get("mode") == "chat"]
            assert known, provider.model
    providers = {str(getattr(name, "value", name)) for name in litellm.provider_list}
    assert PREFIXES - providers <= {"bedrock_converse"}
