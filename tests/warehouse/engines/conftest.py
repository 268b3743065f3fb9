"""Engines that run inside of a test: ClickHouse as chDB, and Spark Connect on this machine. They are in the group `engines`."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pytest
import sqlalchemy as sa

from finexpert.warehouse.engines.connections import engine_of
from finexpert.warehouse.engines.kinds import EngineLimits
from finexpert.warehouse.quoting import literal

# What a database of a name is addressed by.
Address = Callable[[str], str]
Load = Callable[[Address, str, Path], None]
GROUP = "`uv sync --group engines` installs it"


@pytest.fixture(scope="session")
def clickhouse(tmp_path_factory: pytest.TempPathFactory) -> Address:
    if find_spec("chdb") is None or find_spec("clickhouse_connect") is None:
        pytest.skip(f"ClickHouse: chdb is not installed; {GROUP}")
    folder = tmp_path_factory.mktemp("clickhouse")
    return lambda database: f"clickhouse://desk:hunter2@chdb/{database}?interface=chdb&path={folder}"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A Spark Connect server that lives as long as the test run."""
    submit = Path(sys.executable).with_name("spark-submit")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark: there is no Java")
    if not submit.exists() or find_spec("grpc") is None:
        pytest.skip(f"Spark: pyspark is not installed; {GROUP}")
    folder = tmp_path_factory.mktemp("spark")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.port": port, "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": 1,
        "spark.sql.warehouse.dir": folder / "tables", "spark.driver.memory": "1g",
    }  # fmt: skip
    command = [
        str(submit),
        "--master",
        "local[1]",
        "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
    ]
    command += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        home = Path(find_spec("pyspark").origin or "").parent  # type: ignore[union-attr]
        local = (
            os.environ
            | {"SPARK_HOME": str(home)}
            | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost"}
        )
        process = subprocess.Popen(
            [*command, "spark-internal"], stdout=log, stderr=log, cwd=folder, env=local, start_new_session=True
        )
    try:
        for _ in range(1200):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, f"Spark did not come up: {(folder / 'log').read_text()[-300:]}"
            time.sleep(0.1)
        yield lambda database: f"sc://127.0.0.1:{port}/{database}"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


@pytest.fixture(scope="session", params=["clickhouse", "spark"])
def running(request: pytest.FixtureRequest) -> Address:
    """Each of them in turn."""
    found: Address = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="session")
def load_parquet(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Writes the tables of a DuckDB file into a new database, with their comments."""

    def load(address: Address, database: str, file: Path) -> None:
        engine, dialect = engine_of(address("default"), EngineLimits(600, 10_000_000))
        if dialect == "clickhouse":
            # The program's own connection cannot write.
            engine = sa.create_engine(address("default").replace("clickhouse:", "clickhousedb+connect:"))
        folder = tmp_path_factory.mktemp("parquet")
        with duckdb.connect(str(file), read_only=True) as source, engine.connect() as connection:
            run = connection.exec_driver_sql
            run(f"CREATE DATABASE {database}")
            for name, comment in source.sql(
                "SELECT table_name, coalesce(comment, '') FROM duckdb_tables() WHERE table_name[1] <> '_'"
            ).fetchall():
                path, place = folder / f"{name}.parquet", f"{database}.`{name}`"
                source.execute(f"COPY \"{name}\" TO '{path}'")
                rows, alter = f"parquet.`{path}`", "ALTER COLUMN `{}` COMMENT"
                made = f"USING parquet COMMENT {literal(comment)}"
                if dialect == "clickhouse":
                    rows, alter = f"file('{path}', Parquet)", "COMMENT COLUMN `{}`"
                    made = f"ENGINE = MergeTree ORDER BY tuple() COMMENT {literal(comment)}"
                run(f"CREATE TABLE {place} {made} AS SELECT * FROM {rows}")
                said = (
                    f"SELECT column_name, comment FROM duckdb_columns() WHERE table_name = '{name}' AND comment <> ''"
                )
                for column, text in source.sql(said).fetchall():
                    run(f"ALTER TABLE {place} {alter.format(column)} {literal(text)}")
        engine.dispose()

    return load
