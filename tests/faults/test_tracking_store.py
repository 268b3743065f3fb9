"""An MLflow store that cannot be used: a DataError that names it, soon."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import mlflow
import pytest

from finexpert import tracking
from finexpert.errors import DataError
from finexpert.settings import Settings


@pytest.fixture(autouse=True)
def same_store_afterwards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "2")
    before = mlflow.get_tracking_uri()
    yield
    mlflow.set_tracking_uri(before)


def test_a_server_that_is_not_there() -> None:
    started = time.monotonic()
    with pytest.raises(DataError, match=r"127\.0\.0\.1:9 cannot be used.*FINEXPERT_TRACKING_URI"):
        tracking.start(Settings(tracking_uri="http://127.0.0.1:9"), "a test")
    assert time.monotonic() - started < 60


@pytest.mark.filterwarnings("ignore")  # of the libraries that meet the broken file
def test_a_store_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_bytes(b"not a database" * 100)
    with pytest.raises(DataError, match=r"mlflow\.db cannot be used"):
        tracking.start(Settings(tracking_uri=f"sqlite:///{tmp_path}/mlflow.db"), "a test")
