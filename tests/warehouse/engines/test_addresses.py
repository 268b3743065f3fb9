"""How connections to engines by address begin: what drivers are told, what is said where one is missing, and no password in any of it."""

from __future__ import annotations

import inspect
import re
import struct
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from finexpert.errors import ConfigurationError, DataError
from finexpert.warehouse.database_address import public_address
from finexpert.warehouse.engines.connections import engine_of
from finexpert.warehouse.engines.failures import failure
from finexpert.warehouse.engines.kinds import KINDS, EngineLimits
from finexpert.warehouse.opening import open_data

# By engine: an address, the module of its driver, and what its connect is given that a statement is bounded by.
ADDRESSES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "clickhouse": ("clickhouse://desk:hunter2@nowhere.invalid:8443/markets?secure=true", "clickhouse_connect",
                   {"ch_readonly": 2, "ch_max_execution_time": 3, "ch_limit": 101, "ch_join_use_nulls": 1}),
    "snowflake": ("snowflake://desk:hunter2@account/MARKETS/PUBLIC?warehouse=W&role=READER", "snowflake.sqlalchemy", {"session_parameters": {
        "STATEMENT_TIMEOUT_IN_SECONDS": 3, "STATEMENT_QUEUED_TIMEOUT_IN_SECONDS": 3, "ROWS_PER_RESULTSET": 101, "MULTI_STATEMENT_COUNT": 1,
        "TIMEZONE": "UTC", "QUERY_TAG": "finexpert"}}),
    "databricks": ("databricks://token:hunter2@nowhere.invalid?http_path=/sql/1&catalog=main&schema=markets", "databricks.sqlalchemy",
                   {"session_configuration": {"STATEMENT_TIMEOUT": "3", "ANSI_MODE": "true", "TIMEZONE": "UTC"}}),
    "mssql": ("mssql://desk:hunter2@nowhere.invalid/markets", "mssql_python", {"timeout": 3}),
    "trino": ("trino://desk:hunter2@nowhere.invalid:443/hive/markets", "trino",
              {"session_properties": {"query_max_run_time": "3s"}, "timezone": "UTC"}),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ADDRESSES))
def test_a_driver_is_told_what_a_statement_may_take(name: str) -> None:
    address, module, expected = ADDRESSES[name]
    if find_spec(module.partition(".")[0]) is None or find_spec(module) is None:
        pytest.skip(f"{name}: {module} is not installed; `uv sync --group engines` installs it")
    engine, dialect = engine_of(address, EngineLimits(2.5, 100))
    given = asked_of_the_driver(engine)
    assert dialect == KINDS[name].dialect
    assert given | expected == given


def asked_of_the_driver(engine: sa.Engine) -> dict[str, Any]:
    """What the connect of a driver would be given, of which it knows every name."""
    given: dict[str, Any] = {}

    class Asked(Exception):
        pass

    def asked(dialect: sa.Dialect, record: object, positional: object, arguments: dict[str, Any]) -> None:
        given.update(arguments)
        raise Asked

    sa.event.listen(engine, "do_connect", asked)
    with pytest.raises(Asked):
        engine.connect()
    connect: Any = engine.dialect.loaded_dbapi
    inspect.signature(connect.connect).bind(**given)
    return given


@pytest.mark.parametrize("address", ["bigquery://project/dataset?maximum_bytes_billed=1000", "bigquery://project"])
def test_bigquery_ends_a_job_after_its_seconds(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    helpers = pytest.importorskip("sqlalchemy_bigquery._helpers", reason="`uv sync --group engines` installs it")
    nobody = pytest.importorskip("google.auth.credentials").AnonymousCredentials()
    monkeypatch.setattr(helpers.google.auth, "default", lambda scopes: (nobody, "project"))
    given = asked_of_the_driver(engine_of(address, EngineLimits(2.5, 100))[0])
    config = given["client"].default_query_job_config
    assert int(config.job_timeout_ms) == 3000
    assert config.maximum_bytes_billed == (1000 if "?" in address else None)


@pytest.mark.parametrize("address", [
    "mysql+pymysql://desk:hunter2@db/markets?init_command=DROP%20TABLE%20t", "mysql+pymysql://desk@db/markets?INIT_COMMAND=DROP%20TABLE%20t",
    "mariadb+pymysql://db/markets?charset=utf8mb4&read_default_file=~/.my.cnf", "mysql://db/markets?read_default_group=client",
    "postgresql+psycopg://desk@db/markets?hostaddr=10.0.0.1", "postgresql://db/markets?passfile=/srv/pgpass",
    "postgres://db/markets?service=prod", "postgresql+psycopg://db/markets?schema=a&servicefile=/srv/services",
])  # fmt: skip
def test_no_address_makes_a_client_read_files_or_run_statements(address: str) -> None:
    with pytest.raises(ConfigurationError, match=r"may not hold the option \w+: \w+") as refused:
        open_data(address)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("said", [TypeError("'NoneType' object is not subscriptable"), IndexError("x"), struct.error("y"), UnicodeDecodeError("utf-8", b"", 0, 1, "z")])  # fmt: skip
@pytest.mark.parametrize(
    "address", ["mysql+pymysql://desk:hunter2@db/markets", "postgresql+psycopg://desk:hunter2@db/markets"]
)
def test_a_server_that_answers_as_none_is_a_typed_error(
    monkeypatch: pytest.MonkeyPatch, said: Exception, address: str
) -> None:
    def connect(engine: sa.Engine) -> None:
        raise said

    monkeypatch.setattr(sa.Engine, "connect", connect)
    with pytest.raises(DataError, match="markets at db does not answer as a server of") as refused:
        open_data(address)
    assert "hunter2" not in str(refused.value)


def test_sql_server_begins_with_what_a_statement_may_take() -> None:
    (begun,) = KINDS["mssql"].begin(EngineLimits(2.5, 100))
    assert begun.startswith("SET LOCK_TIMEOUT 3000; SET ROWCOUNT 101; SET ANSI_NULLS, ANSI_WARNINGS")


@pytest.mark.parametrize("name", ["oracle", *ADDRESSES])
def test_a_driver_that_is_missing_is_named_with_its_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*given: object, **named: object) -> None:
        raise sa.exc.NoSuchModuleError(f"no plugin for {given}")

    monkeypatch.setattr(sa, "create_engine", missing)
    address = ADDRESSES[name][0] if name in ADDRESSES else "oracle://desk:hunter2@nowhere.invalid/db"
    said = (
        rf"pip install 'finexpert\[{KINDS[name].extra}\]'"
        if name in KINDS
        else "databases of the kind oracle are not read"
    )
    with pytest.raises(ConfigurationError, match=said) as caught:
        open_data(Path(address))
    assert "hunter2" not in str(caught.value)


def test_no_secret_of_an_address_is_shown() -> None:
    for address, *_ in ADDRESSES.values():
        assert "hunter2" not in public_address(address)
    for secret in (
        "access_token=hunter2",
        "http_headers=hunter2",
        "credentials_base64=hunter2",
        "extra_credential=hunter2",
        "private_key=hunter2",
    ):
        assert "hunter2" not in public_address(f"trino://desk@db/hive?{secret}&schema=a"), secret


@pytest.mark.parametrize("name", ["clickhouse", "trino"])
def test_a_server_that_does_not_answer_is_named_without_its_password(name: str) -> None:
    address, module, _ = ADDRESSES[name]
    pytest.importorskip(module)
    local = address.replace("nowhere.invalid:8443", "127.0.0.1:9").replace("nowhere.invalid:443", "127.0.0.1:9")
    with pytest.raises(DataError, match=r"cannot be read|cannot be asked") as caught:
        open_data(Path(local.replace("?secure=true", "")))
    assert "hunter2" not in f"{caught.value}{caught.value.__cause__}"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://key:hunter2@bucket/a.parquet", "holds no credentials: the credentials of the environment"),
        ("https://desk:hunter2@db/a.parquet", "holds no user or password"),
        ("https://nowhere.invalid/a.parquet?token=hunter2", "https://nowhere.invalid/a.parquet cannot be fetched"),
        ("http://nowhere.invalid/a.parquet?token=hunter2", "a host of it is not known here"),
        ("abfss://hunter2@b/c.csv", "files at abfss:// are not read"),
    ],
)
def test_files_elsewhere_are_refused_with_the_reason(address: str, said: str) -> None:
    with pytest.raises(DataError, match=re.escape(said)) as caught:
        open_data(Path(address))
    assert "hunter2" not in f"{caught.value}{caught.value.__cause__}"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ('FATAL:  database "nope" does not exist', "the server has no such database"),
        ('FATAL:  role "nobody" does not exist', "it refuses the user or the password"),
        ('FATAL:  password authentication failed for user "ann"', "it refuses the user or the password"),
        ("connection refused", "see that it runs"),
    ],
)
def test_a_connection_that_was_never_made_says_why(message: str, said: str) -> None:
    error = sa.exc.OperationalError(
        "", None, RuntimeError(f"connection failed: {message}"), connection_invalidated=True
    )
    found = failure(error, "SELECT 1", [], 1, "nope at 127.0.0.1:5432")
    assert isinstance(found, DataError)
    assert said in str(found)
