"""`finexpert.toml` of a folder that somebody else made, and what else lies in it: no question and no key goes where it says, unless its user trusts the host."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from finexpert.app.options import ServeOptions
from finexpert.cli.serve import options_from
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
    # with a key of its own, which only means that whoever wrote it pays
    'api_base = "https://elsewhere.example/v1"\napi_key = "none"',
    'fallback_lm = "openai/x"\nfallback_api_base = "https://elsewhere.example"\nfallback_api_key = "k"',
    '[layers.planning]\nmodel = "openai/x"\napi_base = "https://elsewhere.example"\napi_key = "k"',
    'api_base = ["https://elsewhere.example"]',
    'trace = "https://elsewhere.example"',
    'trace = "http://127.0.0.1?@elsewhere.example"',
    'tracking_uri = "https://elsewhere.example"',
    'tracking_uri = "postgresql://elsewhere.example/runs"',
    'tracking_uri = "file://elsewhere.example/runs"',
    'store = "postgresql://elsewhere.example/taught"',
    'store = "postgresql://localhost/x?host=elsewhere.example"',
    'store = "postgresql://localhost,elsewhere.example/x"',
    'trusted_hosts = ["elsewhere.example"]\napi_base = "https://elsewhere.example"',
]
FINE = [
    'lm = "openai/x"\napi_base = "http://127.0.0.1:8000/v1"',
    'api_base = "http://localhost:11434"',
    'api_base = "http://[::1]:8080/v1/"',
    '[layers.planning]\nmodel = "openai/Qwen/Qwen3-8B:free"\n[layers.planning.extra]\nreasoning_effort = "low"\ntop_k = 5',
    'trace = "http://localhost:4318"\nstore = "taught.sqlite"\ndata = "trades.duckdb"',
    'store = "postgresql://ann:pw@127.0.0.1:5432/taught"\ntracking_uri = "file:///srv/runs"',
    'data = "postgresql+psycopg://desk@db.example/markets"\nsources = ["s3://desk/trades.parquet"]',
    'lm = "openai/x"\napi_base = "http://localhost:8000"\napi_key = "none"\n[layers.planning]\napi_key = "other"',
    "[layers.planning.extra.extra_body]\ntop_k = 5\nchat_template_kwargs = {enable_thinking = false}",
    'lm = "together_ai/openai/gpt-oss-120b"\nembedder = "words"\ntrace = "mlflow"\ntracking_uri = "sqlite:///runs.db"',
]


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("FINEXPERT_LM", "FINEXPERT_API_BASE", "FINEXPERT_API_KEY", "FINEXPERT_LAYERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("text", ELSEWHERE)
def test_nothing_goes_to_an_address_of_the_file(text: str) -> None:
    Path("finexpert.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=r"finexpert\.toml of the current folder"):
        Settings()


@pytest.mark.parametrize(
    "extra",
    [
        'custom_llm_provider = "groq"', 'api_base = ""', 'api_base = "word"', "ssl_verify = false", 'mock_response = "hello"',
        'success_callback = ["langfuse"]', 'model_list = ["x"]', "store = true", 'organization = "theirs"', 'user = "x"',
        'extra_body = {store = true}', 'extra_body = {options = {store = true}}', 'Custom_llm_provider = "groq"', 'vertex_project = "theirs"',
    ],
)  # fmt: skip
def test_no_argument_of_the_file_leads_elsewhere(monkeypatch: pytest.MonkeyPatch, extra: str) -> None:
    monkeypatch.setenv("FINEXPERT_API_BASE", "http://127.0.0.1:9/v1")
    Path("finexpert.toml").write_text(f"[layers.planning.extra]\n{extra}\n")
    with pytest.raises(
        ConfigurationError, match=r"finexpert\.toml of the current folder names layers\.planning\.extra\."
    ):
        Settings()


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        ('api_key = "theirs"', {}),
        ('lm = "openai/x"\napi_key = "theirs"', {}),
        ('fallback_lm = "openai/x"\nfallback_api_key = "theirs"\napi_base = "http://localhost"', {}),
        ('strong_api_key = "theirs"', {}),
        ('api_key = "theirs"', {"FINEXPERT_API_BASE": "https://gateway.example"}),
        ('[layers.planning]\nmodel = "openai/gpt-4o"\napi_key = "theirs"', {}),
        ('[layers.planning]\napi_key = "theirs"', {"FINEXPERT_API_BASE": "https://gateway.example"}),
        ('api_base = "http://localhost"\n[layers.planning]\nmodel = "anthropic/x"\napi_key = "theirs"', {}),
    ],
)
def test_no_key_of_the_file_has_questions_kept_for_its_owner(
    monkeypatch: pytest.MonkeyPatch, text: str, environ: dict[str, str]
) -> None:
    Path("finexpert.toml").write_text(text)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match="names a key as") as refused:
        Settings()
    assert "theirs" not in str(refused.value)
    monkeypatch.setenv("FINEXPERT_TRUSTED_HOSTS", '["gateway.example"]')
    if environ:
        Settings()


@pytest.mark.parametrize("text", FINE)
def test_what_reaches_nobody_else_may_stand_there(text: str) -> None:
    Path("finexpert.toml").write_text(text)
    Settings()


TRUSTED = ('api_base = "https://{}/v1"', 'strong_lm = "openai/x"\nstrong_api_base = "https://{}"', 'trace = "http://{}:4318"',
           '[layers.planning]\napi_base = "https://{}/v1"', 'tracking_uri = "https://{}"', 'store = "postgresql://ann@{}/taught"')  # fmt: skip


@pytest.mark.parametrize("text", TRUSTED)
def test_a_host_that_the_user_trusts_may_stand_there(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("FINEXPERT_TRUSTED_HOSTS", '["gateway.example", "*.desk.example"]')
    for host in ("gateway.example", "GATEWAY.example", "llm.desk.example"):
        Path("finexpert.toml").write_text(text.format(host))
        Settings()
    for host in ("elsewhere.example", "gateway.example.elsewhere.example", "desk.example", "x.desk.example@elsewhere.example",
                 "elsewhere.example/.desk.example", "elsewhere.example#.desk.example", "elsewhere.example\\\\.desk.example"):  # fmt: skip
        Path("finexpert.toml").write_text(text.format(host))
        with pytest.raises(ConfigurationError, match="names an address"):
            Settings()


def test_the_refusal_names_the_next_command(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("finexpert.toml").write_text('api_base = "https://desk:secret@gateway.example/v1?key=secret2"')
    with pytest.raises(ConfigurationError) as refused:
        Settings()
    assert "secret" not in str(refused.value)
    Path("finexpert.toml").write_text('api_base = "https://gateway.example/v1"\napi_key = "none"')
    with pytest.raises(ConfigurationError) as refused:
        Settings()
    (command,) = re.findall(r"`(export [^`]*)`", str(refused.value))
    told = subprocess.run(["sh", "-c", f"{command}; printenv FINEXPERT_TRUSTED_HOSTS"], check=True, capture_output=True)
    monkeypatch.setenv("FINEXPERT_TRUSTED_HOSTS", told.stdout.decode().strip())
    assert Settings().api_base == "https://gateway.example/v1"


def test_what_the_environment_names_goes_before_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("finexpert.toml").write_text('api_base = "https://elsewhere.example"')
    monkeypatch.setenv("FINEXPERT_API_BASE", "https://gateway.example")
    assert Settings().api_base == "https://gateway.example"


DATA_ELSEWHERE = [
    'data = "postgresql+psycopg://elsewhere.example/x"',
    'data = "postgres://elsewhere.example/x?schema=a"',
    'data = "postgresql:/elsewhere.example/x"',
    'data = "./postgresql://elsewhere.example/x"',
    'data = "Prices=postgresql://elsewhere.example/x"',
    'data = "postgresql://localhost:5/x?schema=a@elsewhere.example/y"',
    'data = "postgresql://localhost,elsewhere.example/x"',
    'sources = ["a.duckdb", "postgresql://elsewhere.example/x"]',
    'sources = ["a.duckdb", "postgresql:/elsewhere.example/x"]',
]


@pytest.mark.parametrize("text", DATA_ELSEWHERE)
@pytest.mark.parametrize("variable", ["PGPASSWORD", "PGPASSFILE", "PGSERVICE", None])
def test_a_password_for_databases_goes_to_no_server_of_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, variable: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    if "@" not in text:
        Path("finexpert.toml").write_text(text)
        Settings()
    (tmp_path / ".pgpass").touch() if variable is None else monkeypatch.setenv(variable, "secret")
    for file in (text, text.replace("elsewhere.example", "gateway.example.elsewhere.example")):
        monkeypatch.setenv("FINEXPERT_TRUSTED_HOSTS", '["gateway.example"]')
        Path("finexpert.toml").write_text(file)
        with pytest.raises(ConfigurationError, match="names"):
            Settings()


def test_a_token_of_the_environment_goes_to_no_spark_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_CONNECT_AUTHENTICATE_TOKEN", "secret")
    Path("finexpert.toml").write_text('data = "sc://elsewhere.example:15002/x"')
    with pytest.raises(ConfigurationError, match="FINEXPERT_TRUSTED_HOSTS"):
        Settings()


@pytest.mark.parametrize("text", [
    'data = "postgresql+psycopg://gateway.example/x?schema=macro&sslmode=require"',
    'data = "postgresql://ann@127.0.0.1:5432/x?schema=core,fin"',
    'data = "Prices=postgresql://localhost/x"',
    'data = "mysql+pymysql://elsewhere.example/x"',
    'data = "sqlite:///prices.db"\nsources = ["sqlite:////srv/prices.db", "a=b.duckdb", "s3://elsewhere/*.csv", "exports/"]',
    'data = "https://elsewhere.example/a.csv?token=a@b"',
])  # fmt: skip
def test_where_no_password_goes_elsewhere_the_file_may_name_data(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("PGPASSWORD", "secret")
    monkeypatch.setenv("FINEXPERT_TRUSTED_HOSTS", '["gateway.example"]')
    Path("finexpert.toml").write_text(text)
    Settings()


@pytest.mark.parametrize("address", [
    "postgresql://prod.example/x?hostaddr=10.0.0.1", "postgresql://prod.example/x?passfile=/srv/pgpass",
    "postgresql://prod.example/x?service=prod", "postgresql:/prod.example/x?schema=a&host=elsewhere.example",
    "postgres://localhost/x?options=-crole%3Downer", "./postgresql://localhost/x?%68ost=elsewhere.example",
    "mysql+pymysql://prod.example/x?read_default_file=~/.my.cnf", "Prod=mysql+pymysql://prod.example/x?read_default_group=client",
    "mysql+pymysql://prod.example/x?charset=utf8mb4&init_command=DELETE%20FROM%20t", "mysql+pymysql://prod.example/x?unix_socket=/tmp/x",
    "mariadb+pymysql://prod.example/x?INIT_COMMAND=DELETE%20FROM%20t", "snowflake://ann@account/X?host=elsewhere.example",
    "databricks://token@host?http_path=/sql/1&credentials_provider=x", "clickhouse://host/x?http_proxy=http://elsewhere.example",
    "bigquery://project/x?credentials_path=/srv/key", "trino://host/x?session_properties={}", "postgresql://localhost/x?",
])  # fmt: skip
@pytest.mark.parametrize("form", ['data = "{}"', 'sources = ["a.duckdb", "{}"]'])
def test_options_that_lead_elsewhere_stand_in_no_address_of_the_file(
    monkeypatch: pytest.MonkeyPatch, address: str, form: str
) -> None:
    monkeypatch.setenv("FINEXPERT_TRUSTED_HOSTS", '["*"]')
    Path("finexpert.toml").write_text(form.format(address))
    with pytest.raises(ConfigurationError, match="option"):
        Settings()


def test_the_page_of_runs_takes_no_module_of_the_current_folder(tmp_path: Path) -> None:
    for name in ("mlflow", "enum", "click", "sqlalchemy"):
        Path(f"{name}.py").write_text("open('taken', 'w').close(); raise SystemExit(7)")
    (tmp_path / "runs.db").touch()
    command, environ = page_command(Settings(tracking_uri=f"sqlite:///{tmp_path}/runs.db"), 1)
    asked = command[: command.index("mlflow") + 1]
    assert subprocess.run([*asked, "--version"], env=environ, check=False, capture_output=True).returncode == 0
    assert not Path("taken").exists()


SERVED_ELSEWHERE = [
    'state = "postgresql+psycopg://ann@elsewhere.example:5611/x"',
    'state = "postgresql://localhost/x?hostaddr=10.0.0.1"',
    'state = "postgresql://localhost,elsewhere.example/x"',
    'state = "postgresql://localhost:5/x@elsewhere.example/y"',
    'state = "sqlite://elsewhere.example/x"',
    'oidc_issuer = "https://elsewhere.example"',
    'oidc_issuer = "elsewhere.example"',
    'url = "https://elsewhere.example/finexpert"',
    'host = "0.0.0.0"',
    'host = "::"',
    'hosts = ["localhost", "elsewhere.example"]',
    'hosts = ["*"]',
    'proxies = ["10.0.0.1"]',
    'proxies = ["*"]',
]
SERVED_HERE = [
    'state = "postgresql+psycopg://ann@127.0.0.1:5432/x"\noidc_issuer = "http://localhost:8080/realms/desk"',
    'state = "sqlite:///state.db"\nurl = "http://localhost:8400"\nhosts = ["localhost"]\nproxies = ["127.0.0.1"]',
    'host = "::1"\nport = 9000\nteam = "rates"\ndata_folders = ["/srv/data"]',
]


@pytest.mark.parametrize("text", SERVED_ELSEWHERE)
def test_no_server_of_the_file_keeps_or_sends_anything_elsewhere(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("finexpert.toml").write_text(f"[serve]\n{text}\n")
    monkeypatch.setenv("FINEXPERT_TRUSTED_HOSTS", '["gateway.example"]')
    with pytest.raises(ConfigurationError, match=r"finexpert\.toml of the current folder names an address as serve\."):
        ServeOptions()
    with pytest.raises(ConfigurationError):
        options_from()


@pytest.mark.parametrize("text", SERVED_HERE)
def test_a_server_of_the_file_on_this_machine(text: str) -> None:
    Path("finexpert.toml").write_text(f"[serve]\n{text}\n")
    ServeOptions()


def test_what_is_served_elsewhere_where_the_user_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("finexpert.toml").write_text(
        '[serve]\nstate = "postgresql://db.desk.example/x"\nhosts = ["a.desk.example"]\nhost = "0.0.0.0"\n'
    )
    monkeypatch.setenv("FINEXPERT_TRUSTED_HOSTS", '["*.desk.example", "0.0.0.0"]')
    assert ServeOptions().state == "postgresql://db.desk.example/x"
    Path("finexpert.toml").write_text('[serve]\nstate = "postgresql://elsewhere.example/x"\nhost = "0.0.0.0"\n')
    monkeypatch.setenv("FINEXPERT_TRUSTED_HOSTS", "[]")
    monkeypatch.setenv("FINEXPERT_SERVE_STATE", "postgresql://db.desk.example/x")
    assert options_from(host="127.0.0.1").state == "postgresql://db.desk.example/x"


@pytest.mark.parametrize("home", [".", "/srv/home", "~/.local/share/finexpert"])
def test_the_home_is_not_the_folders_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: str) -> None:
    """A record at home is the user's own, and its server is asked."""
    Path("finexpert.toml").write_text(f'home = "{home}"')
    monkeypatch.delenv("FINEXPERT_HOME", raising=False)
    with pytest.raises(ConfigurationError, match="set FINEXPERT_HOME"):
        Settings()
    monkeypatch.setenv("FINEXPERT_HOME", str(tmp_path))
    assert Settings().home == tmp_path
