"""Finds a language model by itself: from the usual environment variables, or on a server of this machine.

    >>> discover({"ANTHROPIC_API_KEY": "k"}).found
    'Anthropic, by ANTHROPIC_API_KEY'
    >>> discover({}, probe=lambda url, timeout: None) is None
    True

The order: FINEXPERT_LM; the server of FINEXPERT_API_BASE or OPENAI_BASE_URL; the keys of the providers; a server on a usual local port.
Nothing is asked of a model here: servers are asked for the names of their models, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from finexpert.errors import ModelUnreachable
from finexpert.language_models.providers import PROVIDERS, Provider, full_name
from finexpert.language_models.spec import ModelSpec

if TYPE_CHECKING:
    import httpx

Probe = Callable[[str, float], Any]

_LOCAL = 0.2
_REMOTE = 3.0
_BASE_URLS = ("FINEXPERT_API_BASE", "OPENAI_BASE_URL", "OPENAI_API_BASE")
_OPENAI_ITSELF = "api.openai.com"
_OLLAMA = "http://127.0.0.1:11434"
# Servers that speak OpenAI's protocol, by their usual port.
_LOCAL_SERVERS = (("vLLM", 8000), ("LM Studio", 1234), ("llama.cpp", 8080))
_NO_CHAT = ("embed", "rerank", "whisper", "tts", "bge-", "moderation", "dall-e", "image")


def discover(environ: Mapping[str, str], probe: Probe | None = None) -> ModelSpec | None:
    """The model to ask, None if nothing is found; `found` says how it was found.

    `probe(url, timeout)` gives the JSON at an address, None if there is none. Raises ModelUnreachable when a server
    that the environment names does not answer.
    """
    asked = probe or get_json
    return _named(environ) or _by_base_url(environ, asked) or _by_key(environ) or _local(environ, asked)


def _named(environ: Mapping[str, str]) -> ModelSpec | None:
    model = environ.get("FINEXPERT_LM")
    if not model:
        return None
    base, key = environ.get("FINEXPERT_API_BASE"), environ.get("FINEXPERT_API_KEY")
    return ModelSpec(
        model=full_name(model, base), api_base=base, api_key=SecretStr(key) if key else None, found="by FINEXPERT_LM"
    )


def _by_base_url(environ: Mapping[str, str], probe: Probe) -> ModelSpec | None:
    name = next((name for name in _BASE_URLS if environ.get(name)), None)
    if name is None or urlsplit(environ[name]).hostname == _OPENAI_ITSELF:
        return None
    base = environ[name].rstrip("/")
    local = urlsplit(base).hostname in ("127.0.0.1", "localhost", "::1")
    key = environ.get("FINEXPERT_API_KEY" if name == "FINEXPERT_API_BASE" else "OPENAI_API_KEY")
    answer = probe(f"{base}/models", _LOCAL * 5 if local else _REMOTE) if key is None else _with_key(probe, base, key)
    model = _first_chat_model(answer)
    if model is None:
        raise ModelUnreachable(
            f"{name} is {base}, and no model is listed at {base}/models. Start the server, name a model with --lm, "
            f"or unset {name}."
        )
    return ModelSpec(model=f"openai/{model}", api_base=base, api_key=SecretStr(key or "none"), found=f"by {name}")


def _with_key(probe: Probe, base: str, key: str) -> Any:
    if probe is not get_json:
        return probe(f"{base}/models", _REMOTE)
    return get_json(f"{base}/models", _REMOTE, {"Authorization": f"Bearer {key}"})


def _by_key(environ: Mapping[str, str]) -> ModelSpec | None:
    provider = next((provider for provider in PROVIDERS if _is_set(provider, environ)), None)
    if provider is None:
        return None
    model = provider.model.format_map(environ)
    return ModelSpec(model=model, found=f"{provider.name}, by {' and '.join(provider.variables)}")


def _is_set(provider: Provider, environ: Mapping[str, str]) -> bool:
    if not all(environ.get(name) for name in provider.variables):
        return False
    return provider.needs is None or find_spec(provider.needs) is not None


def _local(environ: Mapping[str, str], probe: Probe) -> ModelSpec | None:
    """The first of the local servers that lists a model; all are asked at the same time."""
    ollama = _address(environ.get("OLLAMA_HOST"))
    places = [("Ollama", ollama, f"{ollama}/api/tags")]
    for name, port in _LOCAL_SERVERS:
        base = f"http://127.0.0.1:{port}/v1"
        places.append((name, base, f"{base}/models"))
    with ThreadPoolExecutor(len(places)) as pool:
        answers = list(pool.map(lambda place: probe(place[2], _LOCAL), places))
    for (name, base, _), answer in zip(places, answers, strict=True):
        model = _first_chat_model(answer)
        if model is not None:
            prefix = "ollama_chat" if name == "Ollama" else "openai"
            found = f"a local server ({name}'s usual port) at {base}"
            # A placeholder, or LiteLLM would send the key of another provider along.
            return ModelSpec(model=f"{prefix}/{model}", api_base=base, api_key=SecretStr("none"), found=found)
    return None


def _address(host: str | None) -> str:
    """The address of Ollama, which may be given as a host and a port alone.

    >>> _address("0.0.0.0:11435")
    'http://127.0.0.1:11435'
    """
    if not host:
        return _OLLAMA
    base = host if "://" in host else f"http://{host}"
    if urlsplit(base).port is None:
        base = f"{base.rstrip('/')}:11434"
    return base.replace("0.0.0.0", "127.0.0.1").rstrip("/")


def _first_chat_model(answer: Any) -> str | None:
    """The first model that is not one for embeddings or the like, in a listing of OpenAI's or Ollama's form.

    >>> _first_chat_model({"data": [{"id": "nomic-embed-text"}, {"id": "qwen3"}]})
    'qwen3'
    """
    if not isinstance(answer, dict):
        return None
    listed = answer.get("data") or answer.get("models")
    if not isinstance(listed, list):
        return None
    names = [item.get("id") or item.get("name") for item in listed if isinstance(item, dict)]
    chat = [name for name in names if isinstance(name, str) and not any(word in name.lower() for word in _NO_CHAT)]
    return chat[0] if chat else None


def get_json(url: str, timeout: float, headers: Mapping[str, str] | None = None) -> Any:
    """The JSON at an address, None if there is none."""
    response = _get(url, timeout, headers)
    try:
        return response.json() if response is not None and response.is_success else None
    except ValueError:
        return None


def answers(base: str) -> bool:
    """Whether a server answers at a base URL, whatever it says: a model's own address need not list models."""
    return _get(f"{base.rstrip('/')}/models", _REMOTE, None) is not None


def _get(url: str, timeout: float, headers: Mapping[str, str] | None) -> httpx.Response | None:
    import httpx

    # A proxy is for the outside: it knows no server of this machine.
    outside = urlsplit(url).hostname not in ("127.0.0.1", "localhost", "::1")
    try:
        with httpx.Client(timeout=timeout, trust_env=outside) as client:
            return client.get(url, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return None
