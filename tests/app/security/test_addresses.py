"""Addresses of data that lead elsewhere, and passwords in them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from finexpert.app.guarding.addresses import Rules, checked_address
from finexpert.errors import Refused
from finexpert.warehouse.engines.kinds import KINDS

NAMED = ("db.example.com", "*.data.example.com", "acme.snowflakecomputing.com", "bigquery.googleapis.com")
ALLOWED = Rules(NAMED, resolve=lambda host: ["10.0.0.7"])
LOCAL = Rules(local=True, resolve=lambda host: [host])


@pytest.mark.parametrize(
    "address",
    [
        "postgresql+psycopg://desk@db.example.com/markets",
        "postgresql+psycopg://desk:pw@eu.data.example.com:5433/markets?schema=macro&sslmode=require",
        "mysql+pymysql://desk@db.example.com/markets?charset=utf8mb4",
        "clickhouse://desk:pw@db.example.com:8443/markets?secure=true",
        "sc://desk:pw@db.example.com:443/markets?use_ssl=true",
        "snowflake://desk:pw@acme/MARKETS/PUBLIC?warehouse=W&role=READER",
        "bigquery://project/dataset?maximum_bytes_billed=10000000000",
        "databricks://token:pw@db.example.com?http_path=/sql/1.0/warehouses/1&catalog=main&schema=markets",
        "mssql://desk:pw@db.example.com/markets",
        "trino://desk:pw@db.example.com:443/hive/markets",
    ],
)
def test_a_host_that_the_owner_named(address: str) -> None:
    assert checked_address(address, ALLOWED) == address


@pytest.mark.parametrize(
    "address",
    [
        "postgresql+psycopg://desk@evil.example/markets",
        "postgresql+psycopg://desk@localhost/markets",
        "postgresql+psycopg://desk@127.0.0.1:5432/markets",
        "postgresql+psycopg://desk@[::1]/markets",
        "postgresql+psycopg://desk@2130706433/markets",
        "postgresql+psycopg://desk@0x7f.1/markets",
        "postgresql+psycopg://desk@db.example.com.evil.example/markets",
        "postgresql+psycopg://desk@db.example.com,evil.example/markets",
        "postgresql+psycopg://desk@db.example.com/markets?host=evil.example",
        "postgresql+psycopg://desk@db.example.com/markets?hostaddr=127.0.0.1",
        "postgresql+psycopg://desk@db.example.com/markets?service=x",
        "postgresql+psycopg://desk@db.example.com/markets?passfile=/etc/shadow",
        "postgresql+psycopg://desk@db.example.com/markets?options=-c%20session_preload_libraries=x",
        "mysql+pymysql://desk@db.example.com/m?unix_socket=/run/mysqld.sock",
        "mysql+pymysql://desk@db.example.com/m?read_default_file=/etc/mysql/my.cnf",
        "mysql+pymysql://desk@db.example.com/m?local_infile=1",
        "postgresql:///markets",
        "postgresql+psycopg://%2Fvar%2Frun%2Fpostgresql/markets",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "s3://desk/exports/a.csv",
        "s3:/desk/exports/a.csv",
        "gs://desk/a.csv",
        "https://db.example.com/a.csv",
        "https:/db.example.com/a.csv",
        "clickhouse://desk@evil.example/markets",
        "clickhouse://desk@db.example.com/markets?http_proxy=http://evil.example",
        "clickhouse://desk@db.example.com/markets?ca_cert=/etc/shadow",
        "clickhouse+native://desk@db.example.com/markets",
        "sc://db.example.com;x=evil.example:15002/markets",
        "snowflake://desk@evil/MARKETS",
        "snowflake://desk@acme/MARKETS?host=evil.example",
        "snowflake://desk@acme/MARKETS?authenticator=https://evil.example",
        "snowflake://desk@acme/MARKETS?private_key_file=/etc/shadow",
        "snowflake://desk@acme:443/MARKETS",
        "snowflake://desk@acme.snowflakecomputing.com.evil.example/MARKETS",
        "bigquery://project/dataset?credentials_path=/etc/shadow",
        "bigquery://project/dataset?credentials_base64=e30=",
        "databricks://token@db.example.com?http_path=/sql/1&credentials_provider=x",
        "mssql+pyodbc://desk@db.example.com/markets?odbc_connect=Server%3Devil.example",
        "mssql+pyodbc://dsn-of-the-server",
        "mssql://desk@db.example.com;Server=evil.example/markets",
        "trino://desk@db.example.com/hive?cert=/etc/shadow&key=/etc/shadow",
        "trino+rest://desk@db.example.com/hive",
        "gopher://db.example.com/x",
        "oracle://db.example.com/x",
        "sqlite:////etc/passwd",
        "sqlite:///../../secret.db",
        "sqlite:///:memory:?uri=true",
        "/etc/passwd",
        "../../etc/passwd",
        "~/.ssh/id_rsa",
        "",
        "x" * 3_000,
        "postgresql://db.example.com/x\r\nHost: evil",
    ],
)
def test_an_address_that_leads_elsewhere(address: str) -> None:
    with pytest.raises(Refused) as refused:
        checked_address(address, ALLOWED)
    assert len(str(refused.value)) < 700


def test_every_engine_that_is_asked_by_address_may_be_connected_by_its_owner() -> None:
    forms = {kind.form for name, kind in KINDS.items() if name != "sqlite"}
    assert len(forms) > 8
    for form in forms:
        assert checked_address(form, Rules(("*",), resolve=lambda host: ["10.0.0.7"])) == form


@pytest.mark.parametrize(
    "number", ["169.254.169.254", "fe80::1", "0.0.0.0", "224.0.0.1", "fd00:ec2::254", "::ffff:169.254.169.254"]
)
@pytest.mark.parametrize("rules", [ALLOWED, LOCAL], ids=["named", "local"])
def test_nobody_connects_to_a_clouds_keys_by_whatever_name(number: str, rules: Rules) -> None:
    pointed = Rules(rules.hosts, local=rules.local, resolve=lambda host: ["10.0.0.7", number])
    for kind in ("postgresql+psycopg", "clickhouse", "trino"):
        with pytest.raises(Refused, match="not one that data may be connected at"):
            checked_address(f"{kind}://desk@db.example.com/markets", pointed)


def test_a_path_has_to_lie_in_a_folder_that_the_owner_named(tmp_path: Path) -> None:
    data, outside = tmp_path / "data", tmp_path / "outside"
    for folder in (data, outside):
        folder.mkdir()
        (folder / "a.csv").write_text("a\n1\n")
    (data / "link.csv").symlink_to(outside / "a.csv")
    rules = Rules(folders=(data,))
    assert checked_address(str(data / "a.csv"), rules) == str(data / "a.csv")
    for path in (outside / "a.csv", data / ".." / "outside" / "a.csv", data / "link.csv", Path(f"{data}2/a.csv")):
        with pytest.raises(Refused):
            checked_address(str(path), rules)


@pytest.mark.parametrize("kind", ["postgresql+psycopg", "clickhouse", "trino", "mssql"])
def test_a_password_is_in_no_reply_and_no_log(house: Any, caplog: pytest.LogCaptureFixture, kind: str) -> None:
    house.desk.rules = LOCAL
    with house.client("ann", "owner") as ann:
        body = {"name": "Db", "address": f"{kind}://desk:hunter2hunter2@127.0.0.1:1/x"}
        reply = ann.post("/api/sources", json=body)
        said = reply.text + ann.get("/api/audit").text + ann.get("/metrics").text + caplog.text
    assert reply.status_code >= 400
    assert "hunter2" not in said


def test_a_sealed_address_is_not_readable_in_the_state(house: Any, tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "x.db").executescript("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)")
    house.desk.rules = Rules(folders=(tmp_path,))
    desk, ann = house.desk, house.office.ann
    source = desk.add_source(ann, "Db", f"sqlite:///{tmp_path / 'x.db'}")
    desk.state.engine.dispose()
    kept = b"".join(path.read_bytes() for path in desk.folder.glob("state.sqlite*"))
    assert str(tmp_path).encode() not in kept
    assert str(tmp_path) not in "".join(each.model_dump_json() for each in desk.sources(ann))
    assert desk.schema(ann, source.id).tables[0].name == "t"


@pytest.mark.parametrize(
    "number",
    [
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::a9fe:a9fe",
        "2002:a9fe:a9fe::",
        "2001:0:a9fe:a9fe::5601:5601",
        "::ffff:169.254.169.254",
        "168.63.129.16",
        "192.0.0.192",
        "fd20:ce::254",
    ],
)
def test_a_named_host_leads_to_no_address_that_hands_out_keys(number: str) -> None:
    rules = Rules(NAMED, resolve=lambda host: [number])
    with pytest.raises(Refused, match="not one that data may be connected at"):
        checked_address("postgresql+psycopg://desk@db.example.com/markets", rules)
