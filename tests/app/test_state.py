"""The state: durable, whole, of one form; in PostgreSQL too, where two servers share it."""

from __future__ import annotations

import datetime as dt
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa

from finexpert.app.actions import keeping
from finexpert.app.actions.asking import Wish
from finexpert.app.guarding.sealing import Sealer
from finexpert.app.state import tables
from finexpert.app.state.naming import now
from finexpert.app.state.state import State
from finexpert.errors import Busy, ConfigurationError, StoreError
from finexpert.settings import Settings


def test_a_transaction_is_kept_whole_or_not_at_all() -> None:
    def half(state: State) -> None:
        with state.writing() as connection:
            connection.execute(tables.servers.insert().values(id="a", beat=now()))
            raise RuntimeError

    with State.open(Settings()) as state:
        with pytest.raises(RuntimeError):
            half(state)
        assert state.rows(sa.select(tables.servers)) == []


def test_the_file_is_its_owners_only() -> None:
    settings = Settings()
    with State.open(settings) as state, state.writing() as connection:
        connection.execute(tables.servers.insert().values(id="a", beat=now()))
    for path in (settings.home / "serve").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


def test_many_threads_write_at_once() -> None:
    with State.open(Settings()) as state:

        def write(start: int) -> None:
            for number in range(start, start + 20):
                with state.writing() as connection:
                    connection.execute(tables.servers.insert().values(id=str(number), beat=now()))
                state.rows(sa.select(tables.servers.c.id))

        threads = [threading.Thread(target=write, args=(start * 100,)) for start in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(state.rows(sa.select(tables.servers))) == 320


def test_a_state_of_another_form_is_refused() -> None:
    with State.open(Settings()) as state, state.writing() as connection:
        connection.execute(tables.meta.update().values(value="99"))
    with pytest.raises(StoreError, match="has the form 99"):
        State.open(Settings())


@pytest.mark.parametrize("address", ["mysql+pymysql://x/y", "no address", "postgresql+nothing://x/y"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises((ConfigurationError, StoreError)) as error:
        State.open(Settings(), address)
    assert "FINEXPERT_SERVE_STATE" in str(error.value) or "driver" in str(error.value)


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(StoreError, match=r"\*\*\*") as error:
        State.open(Settings(), "postgresql://desk:hunter2hunter2@127.0.0.1:1/x")
    assert "hunter2" not in str(error.value)


def test_what_is_sealed_with_another_secret_is_said() -> None:
    sealed = Sealer("a" * 32).seal("postgresql://desk:hunter-two@db/x")
    assert "hunter-two" not in sealed
    assert Sealer("a" * 32).open(sealed) == "postgresql://desk:hunter-two@db/x"
    with pytest.raises(StoreError, match="another FINEXPERT_SERVE_SECRET"):
        Sealer("b" * 32).open(sealed)


def _watch(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server see no further beat of another for long enough."""
    with monkeypatch.context() as patch:
        patch.setattr(keeping, "DEAD_AFTER", dt.timedelta(seconds=0.3))
        desk._beat()
        time.sleep(0.4)
        desk._beat()


@pytest.mark.parametrize("hours", [-24, -1, 1, 24])
def test_another_servers_clock_says_nothing_of_whether_it_lives(
    office: Any, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    servers = tables.servers
    with office.desk.state.writing() as connection:
        for id in ("living", "dead"):
            beat = now() + dt.timedelta(hours=hours)
            connection.execute(servers.insert().values(id=id, beat=beat))
    office.desk._beat()
    assert {row["id"] for row in office.desk.state.rows(sa.select(servers))} == {"living", "dead", office.desk.server}
    with monkeypatch.context() as patch:
        patch.setattr(keeping, "DEAD_AFTER", dt.timedelta(seconds=0.3))
        for number in range(4):
            with office.desk.state.writing() as connection:
                # It beats, and its clock goes back meanwhile.
                beat = now() + dt.timedelta(hours=hours - number)
                connection.execute(servers.update().where(servers.c.id == "living").values(beat=beat))
            office.desk._beat()
            time.sleep(0.2)
    assert {row["id"] for row in office.desk.state.rows(sa.select(servers))} == {"living", office.desk.server}


def test_two_servers_share_a_state_in_postgresql(
    postgres_server: Any, make_office: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres_server() as folder:
        address = f"postgresql://postgres@/postgres?host={folder}"
        given = {"state": address, "home": tmp_path, "secret": "c" * 32}
        one, two = make_office(**given), make_office(**given)
        conversation = one.conversation()
        one.model.says("planning", one.model.plan(), one.model.plan("answer = len(sales) * 2", select=None))
        assert one.ask("How many?", conversation).value == 6
        assert two.ask("Twice that?", conversation).value == 12
        assert [each.value for each in one.desk.conversation(one.ann, conversation)] == [6, 12]

        free = threading.Event()
        one.model.says("planning", lambda prompt: (free.wait(20), one.model.plan())[1])
        running = one.desk.start(one.ann, conversation, Wish("How many now?"))
        with pytest.raises(Busy, match="another question"):
            two.desk.start(two.ann, conversation, Wish("And now?"))
        free.set()
        assert running.done.wait(20)

        # A server that stopped beating has what it held taken from it.
        with one.desk.state.writing() as connection:
            held = {"state": "running", "server": "dead"}
            connection.execute(tables.answers.update().where(tables.answers.c.id == running.id).values(held))
            connection.execute(tables.conversations.update().values(asking=running.id))
            connection.execute(tables.servers.insert().values(id="dead", beat=sa.text("now() - interval '1 hour'")))
        _watch(two.desk, monkeypatch)
        assert two.desk.conversation(two.ann, conversation)[-1].state == "interrupted"
        assert two.ask("How many?", conversation).status == "answered"

        # SELECTs that end at once have a number each.
        answer = two.desk.conversation(two.ann, conversation)[0]
        with ThreadPoolExecutor(4) as pool:
            again = [
                pool.submit(office.desk.run_select, office.ann, answer.id, office.model.good)
                for office in (one, two) * 2
            ]
            numbers = [each.result(30).number for each in again]
        assert len(set(numbers)) == 4
        for office in (one, two):
            office.desk.close()
