"""`finexpert.toml` of a folder that somebody else made, and what else lies in it: no key of the environment goes where it says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from finexpert.errors import ConfigurationError
from finexpert.settings import Settings
from finexpert.tracking.runs import page_command

ELSEWHERE = [
    'lm = "openai/x"\napi_base = "https://elsewhere.example/v1"',
    'api_base = "https://elsewhere.example/v1"',
    'lm = "anthropic/x"\napi_base = "http://10.0.0.1"',
    'api_base = "http://127.0.0.1.elsewhere.example"',
    'api_base = "http://localhost@elsewhere.example"',
    'api_base = "http://elsewhere.example\\\\@127.0.0.1"',
    'api_base = "http://127.0.0.1:80@elsewhere.example/"',
    'api_base = "http://localhost#@elsewhere.example"',
    'api_base = " http://elsewhere.example"',
    'api_base = "elsewhere.example"',
    'fallback_lm = "openai/x"\nfallback_api_base = "https://elsewhere.example"',
    'strong_lm = "openai/x"\nstrong_api_base = "https://elsewhere.example"',
    'strong_lm = "huggingface/https://elsewhere.example"',
    '[layers.planning]\napi_base = "https://elsewhere.example"',
    '[layers.planning]\nmodel = "anthropic/x"\napi_base = "https://elsewhere.example"',
    '[layers.planning]\nmodel = "huggingface/https://elsewhere.example"',
    '[layers.planning.extra]\nbase_url = "https://elsewhere.example"',
    '[layers.planning.extra]\naws_region_name = "elsewhere.example/#"',
    '[layers.planning.extra.extra_body]\nplaces = ["//elsewhere.example"]',
    'lm = "huggingface/https://elsewhere.example"',
    'fallback_lm = "huggingface/https://elsewhere.example"',
    'embedder = "huggingface/https://elsewhere.example"',
]
FINE = [
    'lm = "openai/x"\napi_base = "http://127.0.0.1:8000/v1"',
    'api_base = "http://localhost:11434"',
    'api_base = "http://[::1]:8080/v1/"',
    'api_base = "https://gateway.example/v1"\napi_key = "none"',
    'fallback_lm = "openai/x"\nfallback_api_base = "https://gateway.example"\nfallback_api_key = "k"',
    '[layers.planning]\nmodel = "openai/x"\napi_base = "https://gateway.example"\napi_key = "k"',
    '[layers.planning]\nmodel = "openai/Qwen/Qwen3-8B:free"\n[layers.planning.extra]\nreasoning_effort = "low"\ntop_k = 5',
    'lm = "together_ai/openai/gpt-oss-120b"\nembedder = "words"\ntrace = "mlflow"\ntracking_uri = "sqlite:///runs.db"',
]


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("FINEXPERT_LM", "FINEXPERT_API_BASE", "FINEXPERT_API_KEY", "FINEXPERT_LAYERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("text", ELSEWHERE)
def test_no_key_goes_to_an_address_of_the_file(text: str) -> None:
    Path("finexpert.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=r"finexpert\.toml of the current folder names an address") as refused:
        Settings()
    assert "elsewhere.example" not in str(refused.value)


@pytest.mark.parametrize("text", FINE)
def test_what_reaches_nobody_else_may_stand_there(text: str) -> None:
    Path("finexpert.toml").write_text(text)
    Settings()


def test_a_key_of_the_environment_is_none_that_stands_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("finexpert.toml").write_text('api_base = "https://elsewhere.example"\napi_key = "none"')
    monkeypatch.setenv("FINEXPERT_API_KEY", "sk-of-the-environment")
    with pytest.raises(ConfigurationError, match="names an address as api_base"):
        Settings()
    # What the environment names goes before the file.
    monkeypatch.setenv("FINEXPERT_API_BASE", "https://gateway.example")
    assert Settings().api_base == "https://gateway.example"


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ('trace = "https://elsewhere.example"', "OTEL_EXPORTER_OTLP_HEADERS"),
        ('trace = "https://elsewhere.example"', "OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
        ('tracking_uri = "https://elsewhere.example"', "MLFLOW_TRACKING_TOKEN"),
        ('tracking_uri = "https://elsewhere.example"', "MLFLOW_TRACKING_PASSWORD"),
    ],
)
def test_what_is_sent_along_with_traces_and_runs_goes_to_no_address_of_the_file(
    monkeypatch: pytest.MonkeyPatch, text: str, variable: str
) -> None:
    Path("finexpert.toml").write_text(text)
    Settings()
    monkeypatch.setenv(variable, "secret")
    with pytest.raises(ConfigurationError, match=re.escape(f"unset {variable}")):
        Settings()


def test_the_page_of_runs_takes_no_module_of_the_current_folder(tmp_path: Path) -> None:
    for name in ("mlflow", "enum", "click", "sqlalchemy"):
        Path(f"{name}.py").write_text("open('taken', 'w').close(); raise SystemExit(7)")
    (tmp_path / "runs.db").touch()
    command, environ = page_command(Settings(tracking_uri=f"sqlite:///{tmp_path}/runs.db"), 1)
    asked = command[: command.index("mlflow") + 1]
    assert subprocess.run([*asked, "--version"], env=environ, check=False, capture_output=True).returncode == 0
    assert not Path("taken").exists()
