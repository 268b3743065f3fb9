"""Getting the conversations: the download over a faulty server, and the command."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from pathlib import Path

import pytest
import typer
from served import Served, send
from typer.testing import CliRunner

from finexpert.cli.data.convfinqa import convfinqa
from finexpert.datasets.convfinqa import download as convfinqa_download
from finexpert.datasets.convfinqa.conversations import load
from finexpert.errors import DataError

SAMPLE = (files("finexpert.datasets") / "questions" / "convfinqa_sample.json").read_bytes()
Serve = Callable[..., str]


def archive(*names: str, content: bytes = SAMPLE) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name in names:
            file.writestr(name, content)
    return buffer.getvalue()


GOOD = archive("data/train.json", "data/dev.json", "data/train_turn.json", "__MACOSX/data/dev.json", "../../evil.json")


class Answers(Served):
    """Serves the given answers in turn, (status, body, bytes cut off the end); the last one for ever."""

    def __init__(self, *answers: tuple[int, bytes, int]) -> None:
        self.left = list(answers)
        super().__init__()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        status, body, cut = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        send(handler, body[: len(body) - cut], status, length=len(body))


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda *answers: f"{stack.enter_context(Answers(*answers)).address}/data.zip"


def test_a_download_writes_the_conversation_files_and_nothing_else(serve: Serve, tmp_path: Path) -> None:
    seen: list[int] = []
    paths = convfinqa_download.download(
        tmp_path / "a" / "b", address=serve((200, GOOD, 0)), progress=lambda done, total: seen.append(done)
    )
    assert [path.name for path in paths] == ["train.json", "dev.json"]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["dev.json", "train.json"]
    assert len(load(paths[0])) == len(load())
    assert seen[-1] == len(GOOD)


def test_a_download_goes_on_after_passing_faults(serve: Serve, tmp_path: Path) -> None:
    address = serve((500, b"", 0), (200, GOOD, 10), (200, b"<html>please wait</html>", 0), (200, GOOD, 0))
    assert len(convfinqa_download.download(tmp_path, address=address, pause=0.01)) == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((404, b"", 0), "answered 404"),
        ((503, b"", 0), "not fetched in 2 attempts: the answer was 503"),
        ((200, b"<html>", 0), "no complete zip archive"),
        ((200, GOOD[:-30], 0), "no complete zip archive"),
        ((200, archive("data/train.json"), 0), "the archive holds no dev.json"),
    ],
)
def test_a_download_that_fails_says_what_to_do(
    serve: Serve, tmp_path: Path, answer: tuple[int, bytes, int], reason: str
) -> None:
    with pytest.raises(DataError, match=reason) as caught:
        convfinqa_download.download(tmp_path, address=serve(answer), attempts=2, pause=0.01)
    assert "finexpert data convfinqa --from" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_no_network(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="ConnectError"):
        convfinqa_download.download(tmp_path, address="http://127.0.0.1:9/data.zip", attempts=1)


@pytest.fixture
def command() -> Callable[..., str]:
    app = typer.Typer()
    app.command()(convfinqa)

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"}, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    return run


def test_the_command_takes_a_folder(command: Callable[..., str], tmp_path: Path, own_home: Path) -> None:
    (tmp_path / "dev.json").write_bytes(SAMPLE)
    (tmp_path / "notes.txt").write_text("not one of them")
    output = command("--from", str(tmp_path))
    assert "dev.json" in output
    assert {str(len(load())), str(sum(len(c.turns) for c in load()))} <= set(output.replace("│", " ").split())
    assert "Next: finexpert eval convfinqa --sample 20" in output
    assert (own_home / "convfinqa" / "dev.json").read_bytes() == SAMPLE


def test_the_command_takes_an_archive_and_lines(command: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "data.zip").write_bytes(GOOD)
    out = tmp_path / "out"
    command("--from", str(tmp_path / "data.zip"), "--out", str(out))
    assert sorted(path.name for path in out.iterdir()) == ["dev.json", "train.json"]
    (tmp_path / "mine.jsonl").write_text("\n".join(json.dumps(record) for record in json.loads(SAMPLE)))
    output = command("--from", str(tmp_path / "mine.jsonl"), "--out", str(out))
    assert f"--records {out / 'mine.json'}" in output
    assert len(load(out / "mine.json")) == len(load())


def test_the_command_refuses_what_cannot_be_read_and_keeps_what_was_there(
    command: Callable[..., str], tmp_path: Path, own_home: Path
) -> None:
    (tmp_path / "dev.json").write_bytes(SAMPLE)
    command("--from", str(tmp_path / "dev.json"))
    (tmp_path / "dev.json").write_text('[{"id": "a"}]')
    with pytest.raises(DataError, match=r"dev.json, record 1 \(a\)"):
        command("--from", str(tmp_path / "dev.json"))
    assert (own_home / "convfinqa" / "dev.json").read_bytes() == SAMPLE
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds none of"):
        command("--from", str(tmp_path / "empty"))
    with pytest.raises(DataError, match=r"there is no .*gone\.json: give a file.*--from"):
        command("--from", str(tmp_path / "gone.json"))
