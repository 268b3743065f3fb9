"""The secret of a server: made once, whole, and never a short one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import SecretStr

from finexpert.app.guarding.sealing import Sealer
from finexpert.errors import ConfigurationError, StoreError


def test_servers_that_start_at_once_have_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        sealers = list(pool.map(lambda _: Sealer.of(tmp_path, None), range(8)))
    sealed = sealers[0].seal("postgresql://desk:pw@db/markets")
    assert {each.open(sealed) for each in sealers} == {"postgresql://desk:pw@db/markets"}
    (kept,) = (tmp_path / "serve").iterdir()
    assert (kept.name, kept.stat().st_mode & 0o777) == ("secret", 0o600)


@pytest.mark.parametrize("left", ["", "ab12"])
def test_a_secret_that_was_cut_off_is_not_used(tmp_path: Path, left: str) -> None:
    (tmp_path / "serve").mkdir()
    (tmp_path / "serve" / "secret").write_text(left)
    with pytest.raises(StoreError, match="bring it back from a copy, or remove the file"):
        Sealer.of(tmp_path, None)


def test_a_secret_that_can_be_guessed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="fewer than 16 characters"):
        Sealer.of(tmp_path, SecretStr("short"))
