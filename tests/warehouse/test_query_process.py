"""SELECTs in a process of their own: the same answers, a limit of memory that holds, and what happens when the process is lost.

Not here: what a locked process is denied in detail (`tests/sandbox`), and the rules of growth (`test_attack_statements.py`).
"""

from __future__ import annotations

import datetime as dt
import fcntl
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.attacks.statements import Peak
from finexpert.errors import ConfigurationError, DataError, QueryError
from finexpert.isolation.guests.zygote import problem, zygote
from finexpert.isolation.lockdown import CANARY_NAMES
from finexpert.isolation.watchdog import process_of
from finexpert.warehouse.isolated import SELECTS
from finexpert.warehouse.isolated.pool import QueryPool
from finexpert.warehouse.isolated.process import QueryProcess
from finexpert.warehouse.local import duckdb_warehouse as warehouses
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

HERE = Path(__file__).parent
GROWING = [line for line in (HERE / "growth.sql").read_text().splitlines() if not line.startswith("--")]
SAME = (HERE / "selects.sql").read_text().splitlines()
# Each kind of expression that DuckDB's grammar has: what its first use loads must have been loaded before the process was locked.
KINDS = (HERE / "expressions.sql").read_text().splitlines()
TYPES = [
    "SELECT 1::TINYINT AS a, 2::UBIGINT AS b, 3::HUGEINT AS c, 1.5::FLOAT AS d, 2.25::DECIMAL(10, 2) AS e, NULL AS f",
    "SELECT 1e30::HUGEINT AS a, true AS b, NULL::BOOLEAN AS c, 'x' AS d, ''::VARCHAR AS e",
    "SELECT DATE '2024-02-29' AS a, TIMESTAMP '2024-02-29 12:34:56' AS b, TIMESTAMPTZ '2024-02-29 12:34:56+01' AS c",
    "SELECT TIME '12:34:56' AS a, '2f5d9c1e-0000-4000-8000-000000000001'::UUID AS b, 'x'::ENUM('x', 'y') AS c",
    "SELECT 1 AS a, 2 AS a, 3 AS \"a_1\"",
    "SELECT * FROM cpi WHERE false",
    "SELECT chr(128512) AS smile, 'ä' AS umlaut",
    "SELECT i, i % 7 AS k, 'n' || i AS t FROM range(20000) AS t(i)",
    "SELECT [1] AS many",
    "SELECT symbol + 1 FROM firms",
    "SELECT CAST(symbol AS INT) FROM firms",
    "SELECT nosuch FROM firms",
    "SELECT 1; SELECT 2",
    "SELECT \x00",
    "SELECT '\ud800' AS broken",
]  # fmt: skip
RUNAWAY = "SELECT count(*) FROM range(100000000000) AS t(i) WHERE sin(i) > 2"
MOST_BYTES = 100 << 20

pytestmark = pytest.mark.skipif(problem() is not None, reason=f"no process of its own: {problem()}")


@pytest.fixture(scope="module")
def here(small_file: Path) -> Iterator[DuckDBWarehouse]:
    with DuckDBWarehouse(small_file, isolated=False, row_cap=15_000) as opened:
        yield opened


@pytest.fixture(scope="module")
def apart(small_file: Path) -> Iterator[DuckDBWarehouse]:
    with DuckDBWarehouse(small_file, row_cap=15_000, processes=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def without_rules(small_file: Path) -> Iterator[DuckDBWarehouse]:
    with DuckDBWarehouse(
        small_file, seconds=0.5, memory="256MB", process_bytes=512 << 20, processes=1, growth_rules=False
    ) as opened:
        yield opened


def process_id(opened: DuckDBWarehouse) -> int:
    """The process that answered last."""
    assert isinstance(opened._file, QueryPool)
    with opened._file._borrowed() as process:
        found = process_of(process._handle)
    assert found is not None
    return found


def is_running(process: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)
    wait_for_end(process)


def wait_for_end(process: int) -> None:
    for _ in range(250):
        if not is_running(process):
            return
        time.sleep(0.02)
    pytest.fail(f"process {process} still runs")


@pytest.mark.parametrize("select", [*SAME, *TYPES, *KINDS], ids=lambda text: ascii(text)[:50])
def test_the_answer_is_the_same_in_another_process(here: DuckDBWarehouse, apart: DuckDBWarehouse, select: str) -> None:
    said: list[str] = []
    frames = []
    for opened in (here, apart):
        try:
            frames.append(opened.query(select, as_of=dt.date(2024, 1, 31)))
        except QueryError as error:
            said.append(str(error))
    assert len(frames) + len(said) == 2
    assert len(set(said)) == (0 if frames else 1)
    if frames:
        pd.testing.assert_frame_equal(frames[0].data, frames[1].data, check_exact=True)
        assert frames[0].truncated == frames[1].truncated
        assert frames[0].fingerprint == frames[1].fingerprint


def test_an_arrow_makes_a_function_and_reads_json(apart: DuckDBWarehouse) -> None:
    select = "SELECT list_sum(list_transform([1, 2, 3], x -> x * 2)) AS n, '{\"a\": 1}'::JSON ->> 'a' AS a"
    assert apart.query(select).data.values.tolist() == [[12, "1"]]


@pytest.mark.parametrize("select", GROWING, ids=lambda text: text[:60])
def test_what_grows_without_rules_ends_in_an_error(without_rules: DuckDBWarehouse, select: str, soon: Any) -> None:
    without_rules.query("SELECT 1 AS one")

    def grow() -> None:
        with Peak() as peak, pytest.raises(QueryError, match=r"memory|took longer than 0\.5 s"):
            without_rules.query(select)
        assert peak.bytes < MOST_BYTES

    soon(0.5 + 1, grow)
    assert without_rules.query("SELECT count(*) AS n FROM firms").data["n"].item() == 2


def test_the_rules_refuse_most_of_these_before_they_run(small_file: Path) -> None:
    with DuckDBWarehouse(small_file, seconds=0.01, memory="64MB", isolated=False) as opened:
        refused = 0
        for select in GROWING:
            with pytest.raises(QueryError) as caught:
                opened.query(select)
            refused += "far too long" in str(caught.value)
    assert refused >= 10


def test_a_process_can_open_nothing(apart: DuckDBWarehouse, here: DuckDBWarehouse) -> None:
    assert isinstance(apart._file, QueryPool)
    denied = dict(apart._file.denied)
    assert tuple(denied) == CANARY_NAMES
    assert denied["read a file"] == "EACCES"
    assert denied["open a socket"] == "EPERM"
    assert "in a process of their own with at most 2048 MB; self-test: read a file: EACCES" in apart.boundary
    assert here.boundary == "SELECTs run in this process, held by rules alone (as asked)"


def test_where_no_process_can_be_locked_the_rules_stay(small_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warehouses, "problem", lambda: "the system is odd, not Linux")
    with DuckDBWarehouse(small_file) as opened:
        assert "in this process, held by rules alone (the system is odd" in opened.boundary
        assert opened.query("SELECT count(*) AS n FROM firms").data["n"].item() == 2
        with pytest.raises(QueryError, match="far too long"):
            opened.query(GROWING[2])
    with pytest.raises(ConfigurationError, match="isolated=True is not possible here: the system is odd"):
        DuckDBWarehouse(small_file, isolated=True)


def test_a_process_that_starts_later_reads_the_file_that_was_opened(tmp_path: Path) -> None:
    path = build_warehouse(tmp_path / "a.duckdb", [Table("t", pd.DataFrame({"n": [1, 2]}))])
    with DuckDBWarehouse(path) as older:
        build_warehouse(path, [Table("t", pd.DataFrame({"n": [3, 4, 5]}))])
        assert older.query("SELECT n FROM t").data["n"].tolist() == [1, 2]
        path.unlink()
        kill(process_id(older))
        assert older.query("SELECT n FROM t").data["n"].tolist() == [1, 2]


def test_a_lost_process_is_replaced(apart: DuckDBWarehouse) -> None:
    for _ in range(3):
        lost = process_id(apart)
        kill(lost)
        assert apart.query("SELECT count(*) AS n FROM jobs").data["n"].item() > 0
        assert process_id(apart) != lost


def test_a_process_that_is_lost_while_it_answers_is_an_error_of_the_select(small_file: Path) -> None:
    with DuckDBWarehouse(small_file, seconds=10, processes=1) as opened:
        timer = threading.Timer(0.3, os.kill, [process_id(opened), signal.SIGKILL])
        timer.start()
        with pytest.raises(QueryError, match="it broke the database's process"):
            opened.query(RUNAWAY)
        assert opened.query("SELECT 1 AS one").data["one"].item() == 1


def test_closing_ends_a_query_that_runs(small_file: Path) -> None:
    opened = DuckDBWarehouse(small_file, seconds=20, processes=1)
    process = process_id(opened)
    threading.Timer(0.3, opened.close).start()
    with pytest.raises(DataError, match="small is closed"):
        opened.query(RUNAWAY)
    wait_for_end(process)


def test_what_processes_are_forked_from_is_replaced(small_file: Path) -> None:
    with DuckDBWarehouse(small_file) as opened:
        first = zygote(SELECTS)
        process = process_id(opened)
        first._process.kill()
        first._process.wait()
        wait_for_end(process)
        assert opened.query("SELECT 1 AS one").data["one"].item() == 1
        assert zygote(SELECTS) is not first


def test_no_process_outlives_its_parent(small_file: Path) -> None:
    code = (
        "import sys, threading, time\n"
        "from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse\n"
        "from finexpert.isolation.watchdog import process_of\n"
        f"opened = DuckDBWarehouse({str(small_file)!r}, seconds=60)\n"
        "opened.query('SELECT 1 AS one')\n"
        "with opened._file._borrowed() as process:\n"
        "    print(process_of(process._handle), flush=True)\n"
        f"opened.query({RUNAWAY!r})\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        process = int(parent.stdout.readline())
        time.sleep(0.3)
        assert is_running(process)
        parent.kill()
    wait_for_end(process)


def test_a_fork_of_this_process_asks_processes_of_its_own(apart: DuckDBWarehouse) -> None:
    mine = process_id(apart)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            rows = apart.query("SELECT count(*) AS n FROM firms").data["n"].item()
            status = 0 if rows == 2 and process_id(apart) != mine else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert process_id(apart) == mine


def test_no_handle_is_left(small_file: Path) -> None:
    def handles() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    zygote(SELECTS)
    before = handles()
    for _ in range(3):
        with DuckDBWarehouse(small_file, seconds=0.1) as opened:
            for select in (RUNAWAY, "SELECT 1 AS one", "SELECT nosuch", RUNAWAY):
                try:
                    opened.query(select)
                except QueryError:
                    continue
        opened.close()
    assert handles() == before


def test_a_process_is_watched_where_many_files_are_open() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < 3_000:
        pytest.skip(f"a process may hold no more than {hard} files open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 3_000), hard))
    ours, theirs = socket.socketpair()
    process = QueryProcess.__new__(QueryProcess)
    try:
        process._channel = socket.socket(fileno=fcntl.fcntl(ours.fileno(), fcntl.F_DUPFD_CLOEXEC, 2_000))
        process.alive, process._opening = True, None
        assert not process.lost
        theirs.close()
        assert process.lost
    finally:
        process._channel.close()
        ours.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
