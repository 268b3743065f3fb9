"""Recording and replaying: the same answers and the same usage, through DSPy, from several writers."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any

import dspy
import pytest

from finexpert.errors import ConfigurationError, DataError, UnknownPrompt
from finexpert.language_models.model import LanguageModel
from finexpert.language_models.recordings.recorded import RecordedModel, packaged_files, read
from finexpert.language_models.recordings.recorder import Recorder
from finexpert.language_models.scripted import ScriptedModel
from finexpert.language_models.usage import Meter, layer

ANSWER = "[[ ## answer ## ]]\n11.0\n\n[[ ## completed ## ]]"


def _replaying(*paths: Path) -> LanguageModel:
    return LanguageModel("recorded", RecordedModel(paths, packaged=False), cache=False, num_retries=0)


@pytest.fixture
def recording(tmp_path: Path, served: Any, server: Any) -> Path:
    """One question of a program, asked of the server and recorded."""
    path = tmp_path / "new" / "fred.jsonl"
    server.delay = 0.02
    server.reply = lambda body: (200, _body(ANSWER))
    lm = Recorder(path, model="a model for tests").wrap(served())
    with dspy.context(lm=lm), layer("planning"):
        assert _program()(question="What was inflation in 1974?").answer == "11.0"
    return path


def _program() -> dspy.Module:
    return dspy.Predict("question -> answer")


def _body(text: str) -> dict[str, Any]:
    return {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 2310, "completion_tokens": 402, "total_tokens": 2712},
    }


def test_what_is_written(recording: Path) -> None:
    (line,) = [json.loads(line) for line in recording.read_text().splitlines()]
    assert len(line.pop("prompt")) == 64
    assert 0.02 <= line.pop("seconds") < 5
    assert len(line.pop("date")) == 10
    assert line == {
        "completion": ANSWER,
        "about": "What was inflation in 1974?",
        "usage": {"prompt_tokens": 2310, "completion_tokens": 402},
        "model": "a model for tests",
        "layer": "planning",
    }


def test_replayed_answer_and_usage(recording: Path) -> None:
    lm = _replaying(recording)
    with dspy.context(lm=lm), Meter() as meter:
        assert _program()(question="What was inflation in 1974?").answer == "11.0"
    usage = meter.usage()
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cost_usd) == (1, 2310, 402, None)
    assert usage.model_seconds == pytest.approx(next(iter(read(recording))).seconds)
    assert [call.replayed for call in meter.calls].count(True) == 1


def test_the_name_of_the_model_and_its_temperature_are_no_part_of_a_prompt(recording: Path) -> None:
    lm = LanguageModel("another/name", RecordedModel([recording], packaged=False), temperature=0.7, cache=False)
    with dspy.context(lm=lm):
        assert _program()(question="What was inflation in 1974?").answer == "11.0"


def test_an_unknown_prompt_comes_out_of_a_program_at_once(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    lm = _replaying(recording)
    answer = RecordedModel.answer

    def counted(self: RecordedModel, request: Any) -> Any:
        asked.append(request)
        return answer(self, request)

    monkeypatch.setattr(RecordedModel, "answer", counted)
    with dspy.context(lm=lm), pytest.raises(UnknownPrompt) as caught:
        dspy.ChainOfThought("question -> answer")(question="What was inflation in 1975?")
    assert len(asked) == 1
    first, *rest = str(caught.value).splitlines()
    assert "What was inflation in 1975?" in first
    assert "fred.jsonl (1)" in first
    assert "  - What was inflation in 1974?" in rest
    assert "--lm" in rest[1]


def test_a_known_question_with_another_prompt(recording: Path) -> None:
    with dspy.context(lm=_replaying(recording)), pytest.raises(UnknownPrompt, match="recorded with another prompt"):
        dspy.ChainOfThought("question -> answer")(question="What was inflation in 1974?")


def test_nothing_recorded() -> None:
    with pytest.raises(UnknownPrompt, match="not among the recorded ones"):
        _replaying()("hello")


def test_an_unknown_prompt_in_threads_of_an_evaluation(recording: Path) -> None:
    devset = [
        dspy.Example(question=q, answer="11.0").with_inputs("question") for q in ("a?", "What was inflation in 1974?")
    ]
    evaluate = dspy.Evaluate(devset=devset, metric=lambda gold, pred: gold.answer == pred.answer, num_threads=2)
    with dspy.context(lm=_replaying(recording)):
        assert evaluate(_program()).score == 50.0


def test_compressed(recording: Path, tmp_path: Path) -> None:
    packed = tmp_path / "fred.jsonl.gz"
    packed.write_bytes(gzip.compress(recording.read_bytes()))
    with dspy.context(lm=_replaying(packed)):
        assert _program()(question="What was inflation in 1974?").answer == "11.0"
    with pytest.raises(ConfigurationError, match=r"fred\.jsonl\.gz"):
        Recorder(packed)


def test_a_prompt_is_kept_once_and_each_sample_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    texts = iter("abcdef")
    lm = ScriptedModel(lambda messages: next(texts))
    for _ in range(2):
        Recorder(path).wrap(lm)("hello")
    Recorder(path).wrap(lm).copy(rollout_id=2)("hello")
    Recorder(path).wrap(lm).copy(rollout_id=2)("hello")
    assert [(r.completion, r.sample) for r in read(path)] == [("a", None), ("c", 2)]
    replay = _replaying(path)
    assert replay("hello") == ["a"]
    assert replay.copy(rollout_id=2)("hello") == ["c"]
    assert replay.copy(rollout_id=3)("hello") == ["a"]


def test_what_the_cache_serves_is_recorded(tmp_path: Path, served: Any, server: Any) -> None:
    lm = served(cache=True)
    lm("hello")
    Recorder(tmp_path / "a.jsonl").wrap(lm)("hello")
    (line,) = read(tmp_path / "a.jsonl")
    assert (line.completion, line.prompt_tokens) == ("the answer", 12)
    assert line.seconds > 0
    assert len(server.seen) == 1


def test_what_is_replayed_is_not_recorded_again(recording: Path, tmp_path: Path) -> None:
    with dspy.context(lm=Recorder(tmp_path / "b.jsonl").wrap(_replaying(recording))):
        _program()(question="What was inflation in 1974?")
    assert not (tmp_path / "b.jsonl").exists()


def test_a_failed_call_is_not_recorded(tmp_path: Path, served: Any, server: Any) -> None:
    server.reply = lambda body: (500, {"error": {"message": "broken"}})
    with pytest.raises(Exception, match="keeps failing"):
        Recorder(tmp_path / "a.jsonl").wrap(served())("hello")
    assert not (tmp_path / "a.jsonl").exists()


def test_characters_that_look_like_line_ends(tmp_path: Path) -> None:
    text = "a\u2028b\x85c\x1cd\r\ne"
    Recorder(tmp_path / "a.jsonl").wrap(ScriptedModel([text]))("hello")
    assert _replaying(tmp_path / "a.jsonl")("hello") == [text]
    Recorder(tmp_path / "a.jsonl").wrap(ScriptedModel(["x"]))("another")
    assert _replaying(tmp_path / "a.jsonl")("another") == ["x"]


def test_the_line_of_a_killed_writer_is_passed_over_and_then_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    Recorder(path).wrap(ScriptedModel(["one"]))("1")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    assert _replaying(path)("1") == ["one"]
    Recorder(path).wrap(ScriptedModel(["two"]))("2")
    assert path.read_bytes().startswith(whole)
    assert [r.completion for r in read(path)] == ["one", "two"]


def test_a_line_that_is_no_recording_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    Recorder(path).wrap(ScriptedModel(["one"]))("1")
    path.write_text(path.read_text() + '{"prompt": "x"}\n')
    with pytest.raises(DataError, match=r"a\.jsonl, line 2"):
        RecordedModel([path], packaged=False)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"absent\.jsonl are not there"):
        RecordedModel([tmp_path / "absent.jsonl"])


def test_threads_write_one_file(tmp_path: Path) -> None:
    lm = Recorder(tmp_path / "a.jsonl").wrap(ScriptedModel(lambda messages: messages[-1]["content"] * 2))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: copy_context().run(lm, str(i % 20)), range(60)))
    assert sorted(r.completion for r in read(tmp_path / "a.jsonl")) == sorted(str(i) * 2 for i in range(20))


WRITER = """
import sys
from finexpert.language_models.recordings.recorder import Recorder
from finexpert.language_models.scripted import ScriptedModel
lm = Recorder(sys.argv[1]).wrap(ScriptedModel(lambda messages: "x" * 20_000))
for i in range(30):
    lm(f"prompt {i}")
"""


def test_two_processes_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path)]) for _ in range(2)]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    assert len(list(read(path))) == 30


def test_the_packaged_recordings_can_be_read() -> None:
    for file in packaged_files():
        assert list(read(file))
