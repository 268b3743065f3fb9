"""Lines that are added to a file at home, such as what people said about answers: killed in the middle, on a full disk, and by several at once."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from finexpert.answers import feedback
from finexpert.storage.private_files import append_line, whole_lines

WRITER = """
import json, resource, signal, sys
from pathlib import Path
from finexpert.storage.private_files import append_line
path, name, times, most = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if most:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
print("begun", flush=True)
for number in range(times):
    append_line(path, json.dumps({"of": name, "number": number, "text": "x" * 5_000}))
    print(number, flush=True)
"""


def writer(path: Path, name: str, times: int, most: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), name, str(times), str(most)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def one(id: str) -> feedback.Feedback:
    return feedback.Feedback(id=id, door="chat", at=dt.datetime.now(dt.UTC), up=True, question="What were the fees?")


@pytest.mark.parametrize(
    "cut",
    ["{", '{"id": "20', '{"settles": "a", "became"', "\x00" * 400, '{"id": "\u00e9'.encode()[:-1].decode("latin-1")],
)
def test_what_was_cut_off_before_costs_nothing(tmp_path: Path, cut: str) -> None:
    feedback.add(tmp_path, one("first"))
    with (tmp_path / feedback.FILE).open("ab") as file:
        file.write(cut.encode("latin-1"))
    assert [each.id for each in feedback.queue(tmp_path)] == ["first"]
    feedback.add(tmp_path, one("second"))
    feedback.settle(tmp_path, "first", "nothing")
    assert [(each.id, each.settled) for each in feedback.queue(tmp_path)] == [("first", "nothing"), ("second", "")]


@pytest.mark.parametrize("after", [0.0, 0.005, 0.01, 0.02, 0.05, 0.1])
def test_a_killed_writer_leaves_whole_lines(tmp_path: Path, after: float) -> None:
    path = tmp_path / "said.jsonl"
    with writer(path, "a", 10_000) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after)
        process.kill()
        confirmed = len(process.stdout.read().splitlines())
    append_line(path, json.dumps({"of": "b", "number": 0}))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["number"] for line in lines if line["of"] == "a"][:confirmed] == list(range(confirmed))
    assert lines[-1]["of"] == "b"


@pytest.mark.parametrize("most", [100, 4_096, 12_000, 20_000])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, most: int) -> None:
    path = tmp_path / "said.jsonl"
    with writer(path, "a", 10, most) as process:
        said, why = process.communicate(timeout=60)
    assert "OSError" in why
    written = len(said.splitlines()) - 1
    assert [json.loads(line)["number"] for line in whole_lines(path)] == list(range(written))
    assert path.read_bytes()[-1:] in (b"", b"\n")


def test_several_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    processes = [writer(path, name, 50) for name in "abcd"]
    for process in processes:
        process.communicate(timeout=60)
    lines = [json.loads(line) for line in whole_lines(path)]
    assert len(lines) == 200
    for name in "abcd":
        assert [line["number"] for line in lines if line["of"] == name] == list(range(50))
