"""The same over PostgreSQL, whose errors repeat the cells that a cast could not read: no cell in a prompt, and none in what is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.confidentiality.conftest import CANARY, HERE, NUMBER, Left, _planted, run_commands
from tests.confidentiality.test_nothing_leaks import CELLS, contents

ASKED = ("ask-json", "ask-leaking", "chat", "replay-json")


@pytest.fixture(scope="module")
def over_postgres(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: Callable[[], AbstractContextManager[Path]]
) -> Iterator[Left]:
    folder = tmp_path_factory.mktemp("left")
    with postgres_server() as server:
        address = f"postgresql+psycopg://postgres@/postgres?host={server}"
        with sa.create_engine(address, poolclass=sa.pool.NullPool).begin() as connection:
            connection.exec_driver_sql("CREATE TABLE sales (date DATE PRIMARY KEY, note TEXT, amount DOUBLE PRECISION)")
            for month in range(6):
                row = (f"2020-0{month + 1}-01", f"{CANARY}{month}", NUMBER + month)
                connection.exec_driver_sql("INSERT INTO sales VALUES (%s, %s, %s)", row)
        lines = [line for line in (HERE / "commands.txt").read_text().splitlines() if line.partition(":")[0] in ASKED]
        commands = folder / "commands.txt"
        commands.write_text("\n".join(lines).replace("sales.duckdb", address) + "\n")
        yield run_commands(folder, commands, _planted())


def test_no_cell_over_postgres(over_postgres: Left) -> None:
    kept = contents(over_postgres.folder, "**/*")
    leaks = {
        (name, secret)
        for name, held in kept.items()
        for secret in CELLS.values()
        if secret.encode() in held and name not in ("sales.duckdb", "seen.json")
    }
    assert leaks == set()


def test_no_cell_of_postgres_in_a_prompt(over_postgres: Left) -> None:
    assert over_postgres.seen["codes"] | {"ask-leaking": 0} == dict.fromkeys(ASKED, 0)
    prompts: list[Any] = over_postgres.seen["prompts"]
    assert len(prompts) > 4
    assert not [prompt for prompt in prompts if any(cell in prompt for cell in CELLS.values())]
    assert any("notes" in prompt for prompt in prompts)
