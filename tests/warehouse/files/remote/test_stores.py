"""Files at s3://, on a real server on this machine: one, a folder, a pattern; what changes, what is refused, and what nobody is told."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from tests.warehouse.files.remote.conftest import Bucket

from finexpert.core.answers import AnswerFormat
from finexpert.errors import DataError
from finexpert.settings import Settings
from finexpert.warehouse.files.files_warehouse import FilesWarehouse
from finexpert.warehouse.files.remote import stores
from finexpert.warehouse.files.remote.files import RemoteFile
from finexpert.warehouse.opening import open_data

CSV = b"account,amount\nA,10\nB,20\n"


def parquet(*amounts: float) -> bytes:
    file = io.BytesIO()
    pd.DataFrame({"amount": list(amounts)}).to_parquet(file)
    return file.getvalue()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def total(source: FilesWarehouse, table: str) -> float:
    return float(source.query(f"SELECT sum(amount) AS s FROM {table}").data["s"].item())


def opened(address: str | Path, settings: Settings) -> FilesWarehouse:
    source = open_data(address, settings=settings)
    assert isinstance(source, FilesWarehouse)
    return source


def test_one_file_a_folder_and_patterns(bucket: Bucket, settings: Settings) -> None:
    bucket.put("exports/trades.csv", CSV)
    bucket.put("exports/fees.parquet", parquet(1, 2))
    bucket.put("exports/2024/jan/fees.parquet", parquet(4))
    bucket.put("exports/2024/notes.md", b"no table")
    bucket.put("exports/_SUCCESS.csv", b"")
    for address, tables in (
        ("s3://desk/exports/trades.csv", {"trades": 30}),
        (Path("s3://desk/exports/"), {"fees": 3, "trades": 30}),
        ("s3a://desk/exports/*.parquet", {"fees": 3}),
        ("s3://desk/exports/20??/*/f*.parquet", {"fees": 4}),
        ("s3://desk/exports/**/*.parquet", {"exports_fees": 3, "jan_fees": 4}),
    ):
        with opened(address, settings) as source:
            assert {table.name: total(source, table.name) for table in source.tables} == tables
            assert str(source.address).startswith("s3")
    # Nothing of the files is left but what was read of them.
    assert {path.suffix for path in (settings.home / "cache").iterdir() if path.is_file()} == {".duckdb"}
    assert not list((settings.home / "cache").glob("remote-*"))


def test_parts_of_one_table_are_one_table(bucket: Bucket, settings: Settings) -> None:
    for number in range(3):
        bucket.put(f"lake/trades/part-0000{number}.parquet", parquet(number))
    with opened("s3://desk/lake/trades", settings) as source:
        assert [table.name for table in source.tables] == ["trades"]
        assert total(source, "trades") == 3


def test_what_did_not_change_is_not_copied_again_and_what_did_is(
    bucket: Bucket, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    parts = stores.StoreFiles.parts

    def noted(self: stores.StoreFiles, file: RemoteFile) -> Iterator[bytes]:
        copied.append(file.path)
        return parts(self, file)

    monkeypatch.setattr(stores.StoreFiles, "parts", noted)
    bucket.put("trades.csv", CSV)
    snapshots = []
    for _ in range(2):
        with opened("s3://desk/trades.csv", settings) as source:
            snapshots.append(source.snapshot())
    assert copied == ["desk/trades.csv"]
    bucket.put("trades.csv", CSV + b"C,5\n")
    with opened("s3://desk/trades.csv", settings) as source:
        assert total(source, "trades") == 35
        snapshots.append(source.snapshot())
    assert snapshots[0] == snapshots[1] != snapshots[2]
    assert "trades.csv 25 bytes" in str(snapshots[0])
    assert len(list((settings.home / "cache").glob("files-*.duckdb"))) == 1


def test_limits_and_what_is_not_there(bucket: Bucket, settings: Settings) -> None:
    bucket.put("large.csv", b"a\n" + b"1\n" * 600_000)
    bucket.put("bad.csv", b"a,b\n1,2\n1,2,3\n")
    bucket.put("other.txt.gz", b"x")
    for address, said in (
        ("s3://desk/large.csv", "means 1 MB, and at most 1 MB are copied (FINEXPERT_REMOTE_MB)"),
        ("s3://desk/none.csv", "holds no table: CSV, TSV, Parquet"),
        ("s3://desk/none/*.csv", "holds no table"),
        ("s3://desk/other.txt.gz", "is of no kind that is read"),
        ("s3://", "this is no address|names no bucket"),
        ("s3://*/a.csv", "has to be named without a pattern"),
        ("s3://nobodys-bucket/a.csv", "holds no table"),
        ("s3://desk/bad.csv", "s3://desk/bad.csv, line 3: it has 3 fields"),
    ):
        with pytest.raises(DataError) as caught:
            open_data(address, settings=settings.model_copy(update={"remote_mb": 1}))
        assert any(each in str(caught.value) for each in said.split("|")), str(caught.value)
        assert "hunter2" not in str(caught.value)
    assert not list((settings.home / "cache").glob("remote-*"))


def test_a_public_bucket_needs_no_credentials(
    bucket: Bucket, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bucket.put("trades.csv", CSV)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(
        DataError, match=r"cannot be read \(ACCESS_DENIED\): the credentials of the environment are used"
    ):
        open_data("s3://desk/trades.csv", settings=settings)
    bucket.client.put_object_acl(Bucket=bucket.name, Key="trades.csv", ACL="public-read")
    with opened("s3://desk/trades.csv", settings) as source:
        assert total(source, "trades") == 30


def test_a_record_holds_the_place_and_no_secret_and_is_computed_again(bucket: Bucket, settings: Settings) -> None:
    from finexpert.answers import replaying
    from finexpert.language_models.roles import LanguageModels
    from finexpert.session import Session
    from finexpert.testing import ScriptedModel, fields

    bucket.put("trades.csv", CSV)
    selects = [{"df_name": "n", "df_columns": ["s"], "select_query": "SELECT sum(amount) AS s FROM trades"}]
    model = ScriptedModel([fields(interpretation="the sum", selects=selects, code="", answer_kind="number", unit="")])
    with Session(opened("s3://desk/trades.csv", settings), models=LanguageModels(model), settings=settings) as session:
        answer = session.ask("How much is it?", answer_format=AnswerFormat(kind="number"))
    assert (answer.value, answer.status) == (30, "answered")
    record = answer.record
    assert record is not None
    assert record.source.address == "s3://desk/trades.csv"
    assert "hunter2" not in record.model_dump_json()
    with opened(str(record.source.address), settings) as again:
        assert replaying.replay(record, again, None).same  # type: ignore[arg-type]
