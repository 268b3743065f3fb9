"""A small warehouse with the traps of the real one: long and wide tables, gaps, a canary in a text column and in a number."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa

from finexpert.errors import QueryError
from finexpert.warehouse import profile
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse
from finexpert.warehouse.quoting import literal
from finexpert.warehouse.warehouse import Warehouse

# A question in the SQL of several engines.
Natively = dict[str, str]


@pytest.fixture(scope="session")
def natively() -> list[Natively]:
    """The questions of `same_natively.sql`, each by engine; an engine that is not named takes DuckDB's."""
    blocks = (Path(__file__).parent / "same_natively.sql").read_text().split("\n\n")
    lines = [[line.split(": ", 1) for line in block.splitlines() if line and line[:2] != "--"] for block in blocks]
    return [{str(line[0]): line[1] for line in block} for block in lines]


MONTHS = pd.date_range("2020-01-01", "2024-12-01", freq="MS")


def small_tables() -> list[Table]:
    prices = pd.concat(
        pd.DataFrame({"date": MONTHS, "cpi_index": name, "value": [start + 0.5 * i for i in range(len(MONTHS))]})
        for name, start in (("CPI", 250.0), ("Core CPI", 260.0))
    )
    days = pd.date_range("2023-12-20", "2024-02-10", freq="D")
    rates = pd.DataFrame(
        {"date": days, "dff": [5.0 + i / 100 for i in range(len(days))], "dgs10": [None, 4.0] * 26 + [4.1]}
    )
    jobs = pd.DataFrame({"date": MONTHS, "unrate": 4.0, "unemploy": range(6000, 6000 + len(MONTHS))})
    firms = pd.DataFrame(
        {
            "symbol": ["ZQXCANARY1", "BBB"],
            "employees": [918273645, 20],
            "founded": pd.to_datetime(["1990-05-01", "2030-01-01"]),
        }
    )
    return [
        Table("cpi", prices, "Consumer prices", {"value": "index 1982-1984=100, monthly"}, ["cpi_index"], "date"),
        Table("rates", rates, "", {"dff": "percent, daily"}, (), "date"),
        Table("jobs", jobs, "Labour market", {"unemploy": "thousands of persons"}, (), "date"),
        Table("firms", firms),
    ]


@pytest.fixture(scope="session", autouse=True)
def enough_time_to_look() -> Iterator[None]:
    """Keys and dates are found whatever else the machine does meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profile, "SECONDS", 30.0)
        yield


@pytest.fixture(scope="session")
def small_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_warehouse(
        tmp_path_factory.mktemp("warehouse") / "small.duckdb", small_tables(), label="made-up numbers"
    )


@pytest.fixture(scope="session")
def warehouse(small_file: Path) -> Iterator[DuckDBWarehouse]:
    with DuckDBWarehouse(small_file) as opened:
        yield opened


@pytest.fixture(scope="session")
def postgres(postgres_server: Callable[[], AbstractContextManager[Path]]) -> Iterator[str]:
    """The URL of a PostgreSQL that lives as long as the test run, as a user who may do everything; skips where none starts."""
    with postgres_server() as folder:
        yield f"postgresql+psycopg://postgres@/postgres?host={folder}"


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Callable[[str], str]]:
    """The URL of a database on a MariaDB that lives as long as the test run, as a user who may do everything.

    Skips where none starts. Debian has the server as the package mariadb-server.
    """
    install, server = (shutil.which(name) for name in ("mariadb-install-db", "mariadbd"))
    if install is None or server is None or find_spec("pymysql") is None:
        pytest.skip(
            "MariaDB: pymysql is not installed, or mariadbd is not on the path (Debian: package mariadb-server, in /usr/sbin)"
        )
    # Not the folder of pytest: a socket's path is short, and another user must reach it.
    folder = Path(tempfile.mkdtemp(prefix="my"))
    process = None
    try:
        process = _start_mariadb(install, server, folder)
        yield lambda database: f"mysql+pymysql://root@/{database}?unix_socket={folder / 'socket'}"
    finally:
        if process is not None:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                # A server that is busy with what a test left running does not end by itself; nothing of it is kept.
                process.kill()
                process.wait(30)
        shutil.rmtree(folder)


def _start_mariadb(install: str, server: str, folder: Path) -> subprocess.Popen[bytes]:
    # MariaDB refuses to run as root; `nobody` is there on every system, so no user has to be made.
    as_user = ["--user=nobody"] if os.geteuid() == 0 else []
    if as_user:
        shutil.chown(folder, "nobody", "nogroup")
    data = [f"--datadir={folder / 'data'}", *as_user]
    # Each removes what looks left over in a folder of temporary files that it shares with others that start beside it.
    surroundings = {**os.environ, "TMPDIR": str(folder)}
    make = [install, "--no-defaults", *data, "--auth-root-authentication-method=normal", "--skip-test-db"]
    try:
        made = subprocess.run(make, capture_output=True, text=True, timeout=120, check=False, cwd="/", env=surroundings)
        if made.returncode:
            pytest.skip(f"MariaDB: mariadb-install-db failed: {made.stderr.strip()[-300:]}")
        where = [f"--socket={folder / 'socket'}", f"--pid-file={folder / 'pid'}", "--skip-networking"]
        quick = ["--innodb-flush-log-at-trx-commit=0", "--max-allowed-packet=1G"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [server, "--no-defaults", *data, *where, *quick],
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd="/",
                env=surroundings,
            )
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"MariaDB cannot start: {error}")
    for _ in range(1200):
        if b"ready for connections" in (folder / "log").read_bytes():
            return process
        if process.poll() is not None:
            break
        time.sleep(0.05)
    process.kill()
    pytest.skip(f"MariaDB did not come up: {(folder / 'log').read_text()[-300:]}")


SQL_TYPES = {
    "DATE": "date",
    "DOUBLE": "double precision",
    "VARCHAR": "text",
    "BIGINT": "bigint",
    "TIMESTAMP": "timestamp",
}


@pytest.fixture(scope="session")
def load_tables() -> Callable[[str, str, DuckDBWarehouse], None]:
    """Writes the tables of a DuckDB file into a schema of the database at a URL, with comments and declared categories."""

    def load(url: str, schema: str, source: DuckDBWarehouse) -> None:
        on_server, on_mysql = url.startswith("postgresql"), url.startswith("mysql")
        # NullPool: no connection of the loading stays open beside those that are tested.
        engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
        quoted = engine.dialect.identifier_preparer.quote_identifier
        with engine.begin() as connection:
            run = partial(connection.exec_driver_sql, execution_options={"no_parameters": True})
            if on_server or on_mysql:
                run(f"DROP SCHEMA IF EXISTS {quoted(schema)} {'CASCADE' if on_server else ''}")
                run(f"CREATE SCHEMA {quoted(schema)}")
            for table in source._tables:
                place = f"{quoted(schema)}.{quoted(table.name)}"
                columns = []
                for one in table.columns:
                    allowed = ", ".join(literal(value) for value in one.categories or ())
                    check = f" CHECK ({quoted(one.name)} IN ({allowed}))" if allowed else ""
                    said = f" COMMENT {literal(one.comment)}" if on_mysql else ""
                    kind = "datetime(6)" if on_mysql and one.type == "TIMESTAMP" else SQL_TYPES[one.type]
                    columns.append(f"{quoted(one.name)} {kind}{said}{check}")
                said = f" COMMENT {literal(table.comment)}" if on_mysql else ""
                run(f"CREATE TABLE {place} ({', '.join(columns)}){said}")
                comments = [(f"TABLE {place}", table.comment)]
                comments += [(f"COLUMN {place}.{quoted(one.name)}", one.comment) for one in table.columns]
                for what, comment in comments if on_server else ():
                    if comment:
                        run(f"COMMENT ON {what} IS {literal(comment)}")
                _insert(connection, schema, table.name, source.query(f"SELECT * FROM {table.name}").data)
        engine.dispose()

    return load


def _insert(connection: sa.Connection, schema: str, name: str, data: pd.DataFrame) -> None:
    rows = [
        {
            key: None if pd.isna(value) else value.date() if isinstance(value, pd.Timestamp) else value
            for key, value in row.items()
        }
        for row in data.to_dict("records")
    ]
    target = sa.table(name, *(sa.column(str(column)) for column in data.columns), schema=schema)
    typed: list[dict[str, object]] = [
        {
            str(k): v.isoformat() if isinstance(v, dt.date) and connection.dialect.name == "sqlite" else v
            for k, v in row.items()
        }
        for row in rows
    ]
    connection.execute(target.insert(), typed)


@pytest.fixture
def attack() -> Callable[[Warehouse, Sequence[str]], list[str]]:
    """Tries hostile statements and gives back those that were let through.

    Each has to end within 30 s, no refusal may tell a number of the rows, and no file may be there afterwards.
    """

    def attacked(warehouse: Warehouse, statements: Sequence[str]) -> list[str]:
        let_through, said = [], []
        for statement in statements:
            started = time.perf_counter()
            try:
                warehouse.query(statement.replace("\\n", "\n"))
            except QueryError as refused:
                said.append(f"{refused} {refused.__cause__}")
            else:
                let_through.append(statement)
            assert time.perf_counter() - started < 30, statement
        assert not [one for one in said if "918273645" in one]
        assert not [*Path("/tmp").glob("finexpert-stolen*")]
        return let_through

    return attacked
