"""The answer cache: what is found again, what never is, how it is kept, and how a conversation uses it."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from finexpert.answers.cache.cache import AnswerCache
from finexpert.answers.cache.entry import dumped, restored
from finexpert.answers.cache.file import AnswerFile
from finexpert.answers.cache.key import context, of_source
from finexpert.core.answers import Answer, AnswerFormat, Citation
from finexpert.core.workspace import Turn, Value
from finexpert.errors import StoreError
from finexpert.filings.page.filing import Filing
from finexpert.settings import Settings
from finexpert.text.texts import as_asked

DAY = dt.date(2024, 9, 30)


def answered(value: Any = 5.4, question: str = "What was GDP in 2019?", **given: Any) -> tuple[Answer, Turn]:
    kind = given.pop("format", AnswerFormat(unit="percent"))
    answer = Answer(question=question, status="answered", value=value, format=kind, **given)
    return answer, Turn(question, Value(value, unit="percent", citations=tuple(answer.citations)), "as asked")


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    with AnswerCache(tmp_path / "home" / "answers.sqlite") as made:
        yield made


# What counts as the same question.


@pytest.mark.parametrize(
    "other",
    [
        "How high was GDP in 2019?",
        "What was GDP in 2018?",
        "what was gdp in 2019?",
        "What was GDP in 2019, or not?",
        "What was GDP in 2019?!x",
    ],
)
def test_questions_in_other_words_are_other_questions(other: str) -> None:
    assert as_asked(other) != as_asked("What was GDP in 2019?")


def test_spaces_and_the_last_mark_say_nothing() -> None:
    assert as_asked("What was GDP in  2019\n ?") == as_asked("What was GDP in 2019")


# What is kept.


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (5.4, AnswerFormat(unit="percent")),
        (3, AnswerFormat(kind="integer")),
        (True, AnswerFormat(kind="boolean")),
        (dt.date(2020, 1, 1), AnswerFormat(kind="date")),
        ([dt.date(2020, 1, 1)], AnswerFormat(kind="list", items="date")),
        ("higher", AnswerFormat(kind="text")),
        (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), AnswerFormat(kind="table")),
    ],
)
def test_an_answer_comes_back_as_it_was(value: Any, kind: AnswerFormat) -> None:
    citation = Citation(source="page 1", place="row", value=1.5)
    answer, turn = answered(value, format=kind, figures=[b"\x89PNG"], citations=[citation], flags=["careful"])
    text = dumped(answer, turn, dt.datetime.now(dt.UTC))
    assert text is not None
    back = restored(text)
    assert type(back.answer.value) is type(value)
    assert back.answer.text == answer.text
    assert (back.answer.figures, back.answer.flags) == ([b"\x89PNG"], ["careful"])
    assert back.turn.question == turn.question
    assert back.turn.value is not None
    assert back.turn.value.citations == (citation,)
    assert back.turn.value.value is back.answer.value


@pytest.mark.parametrize(
    ("value", "kind", "given"),
    [
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}), AnswerFormat(kind="table"), {}),
        ("x" * 600_000, AnswerFormat(kind="text"), {}),
        (5.4, AnswerFormat(), {"confidence": 49}),
    ],
)
def test_what_would_come_back_changed_or_is_doubtful_is_not_kept(
    cache: Any, value: Any, kind: AnswerFormat, given: dict[str, Any]
) -> None:
    answer, turn = answered(value, format=kind, **given)
    assert not cache.keep("k", answer, turn)
    assert len(cache) == 0


def test_a_failure_is_not_kept(cache: Any) -> None:
    failed = Answer(question="What was GDP in 2019?", status="failed")
    assert not cache.keep("k", failed, Turn(failed.question))


def test_an_answer_is_found_under_its_key_alone(cache: Any) -> None:
    answer, turn = answered()
    assert cache.keep("k", answer, turn)
    assert cache.find("k").answer.value == 5.4
    assert cache.find("other") is None


def test_a_later_answer_takes_the_place_of_an_earlier_one(cache: Any) -> None:
    for value in (5.4, 5.5):
        cache.keep("k", *answered(value))
    assert len(cache) == 1
    assert cache.find("k").answer.value == 5.5


# The file.


def test_file_and_folder_are_private(tmp_path: Path, cache: Any) -> None:
    cache.keep("k", *answered())
    home = tmp_path / "home"
    assert home.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in home.iterdir()} == {0o600}


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    file = AnswerFile(tmp_path / "a.sqlite", most=3, most_bytes=10_000)
    for name in ("one", "two", "three"):
        file.put(name, "body")
    file.body("one")
    file.put("four", "body")
    assert [file.body(name) for name in ("two", "three", "four", "one")] == [None, "body", "body", "body"]
    file.put("five", "b" * 9_995)
    assert file.count() == 2
    file.close()


def test_a_file_of_another_version_is_emptied(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    file = AnswerFile(path, most=3, most_bytes=10_000)
    file.put("k", "body")
    file.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    again = AnswerFile(path, most=3, most_bytes=10_000)
    assert again.count() == 0
    again.close()


@pytest.mark.parametrize("content", ["damaged", "foreign"])
def test_a_file_that_is_no_cache_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.sqlite"
    if content == "damaged":
        path.write_bytes(b"no database" * 100)
    else:
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE mine (a)")
        connection.commit()
        connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"a\.sqlite"):
        AnswerCache(path)
    assert path.read_bytes() == before


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    code = (
        "import sys; from pathlib import Path; from finexpert.answers.cache.file import AnswerFile\n"
        "file = AnswerFile(Path(sys.argv[1]), most=1000, most_bytes=10**6)\n"
        "for n in range(50): file.put(f'{sys.argv[2]}{n}', 'body')\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in "ab"]
    assert [process.wait(60) for process in started] == [0, 0]
    file = AnswerFile(path, most=1000, most_bytes=10**6)
    assert file.count() == 100
    file.close()


# In a conversation.


@pytest.fixture
def talk(desk: Any) -> Any:
    desk.says("planning", desk.plan())
    return desk.session(cache_answers=True)


FIRST = "How many months with sales were there in 2020?"
REWORDED = "How many  months with sales were there in 2020 ?"


def test_the_same_question_asks_no_model_and_says_so(desk: Any, talk: Any) -> None:
    first = talk.ask(FIRST)
    said = desk.session(cache_answers=True).ask(REWORDED)
    assert (said.value, said.question, len(desk.calls)) == (6, REWORDED, 1)
    assert (said.usage.calls, said.record.id) == (0, first.record.id)
    assert said.flags[0].startswith("answered before, on 20")
    assert FIRST in said.flags[0]
    assert "--no-cached" in said.flags[0]


def test_a_hit_is_a_turn_that_can_be_taken_back(desk: Any, talk: Any) -> None:
    talk.ask(FIRST)
    other = desk.session(cache_answers=True)
    other.ask(FIRST)
    assert other.workspace.turns[-1].value.value == 6
    assert other.workspace.turns[-1].plan is not None
    assert other.undo()
    assert not other.workspace.turns


def test_a_hit_can_be_refused_and_what_is_computed_takes_its_place(desk: Any, talk: Any) -> None:
    talk.ask(FIRST)
    desk.says("planning", desk.plan("answer = len(sales) + 1"))
    assert desk.session(cache_answers=True).ask(FIRST, cached=False).value == 7
    assert desk.session(cache_answers=True).ask(FIRST).value == 7
    assert len(desk.calls) == 2


def test_without_the_setting_nothing_is_kept(desk: Any, own_home: Path) -> None:
    desk.says("planning", desk.plan())
    desk.session().ask(FIRST)
    assert not (own_home / "cache" / "answers.sqlite").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"as_of": dt.date(2020, 12, 30)},
        {"answer_format": AnswerFormat(kind="number")},
        {"knowledge": "A month is a moon."},
        {"clarify": True},
    ],
    ids=str,
)
def test_what_is_said_with_a_question_counts(desk: Any, talk: Any, change: dict[str, Any]) -> None:
    talk.ask(FIRST)
    desk.session(cache_answers=True).ask(FIRST, **change)
    assert desk.layers.count("planning") == 2


@pytest.mark.parametrize("given_first", [False, True])
def test_a_day_that_was_asked_for_is_another_than_today_by_itself(desk: Any, given_first: bool) -> None:
    """Without --as-of rows are hidden by declared dates alone, so the same day may give another answer."""
    desk.says("planning", desk.plan())
    days = [dt.date.today(), None] if given_first else [None, dt.date.today()]
    for day in days:
        assert desk.session(cache_answers=True, as_of=None).ask(FIRST, as_of=day).status == "answered"
    assert desk.layers.count("planning") == 2


@pytest.mark.parametrize(
    "settings", [{"privacy": "samples"}, {"drafts": False, "retries": 1}, {"memory": False}], ids=str
)
def test_settings_count(desk: Any, talk: Any, settings: dict[str, Any]) -> None:
    talk.ask(FIRST)
    desk.says("sql_extraction", desk.fields(selects=[]))
    desk.session(cache_answers=True, **settings).ask(FIRST)
    assert desk.layers.count("planning") > 1


def test_what_was_taught_since_counts(desk: Any, talk: Any) -> None:
    talk.ask(FIRST)
    talk.define("moon month", "a month of 28 days")
    other = desk.session(cache_answers=True)
    other.ask(FIRST)
    assert desk.layers.count("planning") == 2
    desk.session(cache_answers=True).ask(FIRST)
    assert desk.layers.count("planning") == 2


def test_the_program_counts(desk: Any, talk: Any) -> None:
    import dspy

    talk.ask(FIRST)
    other = desk.session(cache_answers=True)
    predictor = other.expert.planning.named_predictors()[0][1]
    predictor.demos = [dspy.Example(question="q")]
    assert other._earlier.key(_asked(other), []) != talk._earlier.key(_asked(talk), [])


def _asked(session: Any) -> Any:
    from finexpert.answers.earlier import Asked

    return Asked(FIRST, DAY, None, "", session._options(False))


def test_data_that_changed_never_hit(desk: Any, tmp_path: Path) -> None:
    from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

    def built(rows: int) -> Any:
        data = pd.DataFrame(
            {"date": pd.date_range("2020-01-01", periods=rows, freq="MS"), "region": "n", "amount": 1.0}
        )
        return DuckDBWarehouse(
            build_warehouse(tmp_path / "s.duckdb", [Table("sales", data, "sales", date_column="date")])
        )

    desk.says("planning", desk.plan())
    with built(3) as source:
        assert desk.session(source, cache_answers=True).ask(FIRST).value == 3
        assert desk.session(source, cache_answers=True).ask(FIRST).usage.calls == 0
    with built(4) as source:
        assert desk.session(source, cache_answers=True).ask(FIRST).value == 4
    assert len(desk.calls) == 2


def test_a_file_changed_under_an_open_warehouse_never_hits(desk: Any, tmp_path: Path) -> None:
    from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

    data = pd.DataFrame({"a": [1]})
    with DuckDBWarehouse(build_warehouse(tmp_path / "s.duckdb", [Table("t", data, "t")])) as source:
        assert of_source(source) is not None
        other = tmp_path / "other.duckdb"
        duckdb.connect(str(other)).close()
        other.replace(source.path)
        # It still reads the file that was opened, which is no more what lies there.
        assert of_source(source) is None
        source.path.unlink()
        assert of_source(source) is None


def test_what_a_killed_writer_left_beside_a_file_counts(tmp_path: Path) -> None:
    from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

    path = build_warehouse(tmp_path / "s.duckdb", [Table("t", pd.DataFrame({"a": [1]}), "t")])
    with DuckDBWarehouse(path) as source:
        Path(f"{path}.wal").write_bytes(b"rows that are read with the file")
        assert of_source(source) is None


def test_a_metric_that_is_defined_otherwise_never_hits(desk: Any, tmp_path: Path) -> None:
    from finexpert.warehouse.local.duckdb_warehouse import Table, build_warehouse
    from finexpert.warehouse.opening import open_data

    data = pd.DataFrame({"date": pd.date_range("2020-01-01", periods=3, freq="MS"), "region": "n", "amount": 2.0})
    path = build_warehouse(tmp_path / "s.duckdb", [Table("sales", data, "sales", date_column="date")])
    desk.says("planning", desk.plan("", "number", "SELECT MEASURE(fees) AS fees FROM sales", ("fees",), "fees"))

    def answered_by(expression: str) -> Any:
        metrics = f'[{{name: fees, expression: {{dialects: [{{dialect: ANSI_SQL, expression: "{expression}"}}]}}}}]'
        datasets = "[{name: sales, source: sales}]"
        (tmp_path / "s.model.yaml").write_text(
            f"semantic_model:\n  - name: desk\n    datasets: {datasets}\n    metrics: {metrics}\n"
        )
        with open_data(path) as source:
            return desk.session(source, cache_answers=True).ask("What were the fees in 2020?")

    first = answered_by("sum(sales.amount)")
    assert (first.status, first.value) == ("answered", 6.0)
    assert answered_by("sum(sales.amount)").usage.calls == 0
    again = answered_by("max(sales.amount)")
    assert (again.value, len(desk.calls)) == (2.0, 2)


def test_a_database_that_may_change_while_it_is_open_has_no_key(desk: Any) -> None:
    class Live:
        def fingerprint(self) -> str:
            return "as it was when it was opened"

    assert of_source(Live()) is None  # type: ignore[arg-type]
    assert of_source(Filing("a", [], [["", "2019"], ["sales", "5"]], [])) is not None


def test_a_broken_cache_is_told_and_the_question_answered(
    desk: Any, own_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = own_home / "cache" / "answers.sqlite"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"no database" * 100)
    desk.says("planning", desk.plan())
    with caplog.at_level(logging.WARNING):
        assert desk.session(cache_answers=True).ask(FIRST).value == 6
    assert "delete the file" in caplog.text


def test_the_file_holds_no_rows(desk: Any, talk: Any, own_home: Path) -> None:
    talk.ask(FIRST)
    content = (own_home / "cache" / "answers.sqlite").read_bytes()
    assert b"months with sales" in content
    assert not any(canary.encode() in content for canary in desk.canaries)


# What was said before a question.


def test_all_that_was_said_before_counts() -> None:
    earlier = ["What was GDP in 2018?", "And in  2017 ?", "What was GDP in 2019?"]
    assert context("What was GDP in 2019", earlier) == ["What was GDP in 2018", "And in 2017"]


def test_a_follow_up_is_no_hit_after_another_question(desk: Any, talk: Any) -> None:
    for session, first in ((talk, "How many months in 2019?"), (desk.session(cache_answers=True), FIRST)):
        session.ask(first)
        session.ask("And as a share?")
    assert len(desk.calls) == 4


def test_a_question_is_asked_anew_after_a_correction(desk: Any, talk: Any) -> None:
    talk.ask(FIRST)
    assert talk.ask(FIRST).usage.calls == 0
    talk.ask("A month with sales has sales above zero.")
    assert talk.ask(FIRST).usage.calls == 1


# The last answer, once more.


def test_the_last_answer_is_said_again_without_a_model(desk: Any) -> None:
    desk.says("planning", desk.plan())
    session = desk.session()
    first = session.ask(FIRST)
    said = session.ask("Sorry, what was that again?")
    assert (said.value, said.question, said.usage.calls, len(desk.calls)) == (6, FIRST, 0, 1)
    assert said.record is first.record
    assert "said again" in said.flags[0]
    assert len(session.workspace.turns) == 1


def test_after_undo_it_is_the_answer_before(desk: Any) -> None:
    desk.says("planning", desk.plan(), desk.plan("answer = 2 * len(sales)", select=None))
    session = desk.session()
    session.ask(FIRST)
    session.ask("Twice that?")
    session.undo()
    assert session.ask("What was that again?").value == 6


def test_a_conversation_taken_up_says_its_last_answer_again(desk: Any) -> None:
    desk.says("planning", desk.plan())
    session = desk.session()
    session.ask(FIRST)
    session.save("desk")
    other = desk.session()
    other.resume("desk")
    assert other.ask("What was that again?").text == "6"
    assert len(desk.calls) == 1


def test_with_no_answer_yet_it_is_a_question(desk: Any) -> None:
    desk.says("planning", desk.plan())
    assert desk.session().ask("What was that again?").usage.calls == 1


def test_computed_again_takes_the_place_of_the_turn(desk: Any, talk: Any) -> None:
    talk.ask(FIRST)
    desk.says("planning", desk.plan("answer = len(sales) + 1"))
    assert talk.ask("Compute it again.").value == 7
    assert [turn.question for turn in talk.workspace.turns] == [FIRST]


def test_a_turn_comes_back_when_it_cannot_be_computed_again(desk: Any, talk: Any) -> None:
    talk.ask(FIRST)

    def gone(prompt: str) -> str:
        raise KeyboardInterrupt

    desk.says("planning", gone)
    with pytest.raises(KeyboardInterrupt):
        talk.ask("Compute it again.")
    assert talk.workspace.turns[-1].value.value == 6
    assert "sales" in talk.workspace.frames
    assert talk.undo()
    assert not talk.workspace.frames


def test_the_setting_is_off_unless_asked_for() -> None:
    assert Settings().cache_answers is False


def test_a_body_that_was_never_written_is_told(tmp_path: Path) -> None:
    with AnswerCache(tmp_path / "a.sqlite") as cache:
        cache.keep("k", *answered())
        with sqlite3.connect(tmp_path / "a.sqlite") as connection:
            connection.execute("UPDATE answers SET body = ?", (json.dumps({"answer": {}}),))
        connection.close()
        with pytest.raises(StoreError, match="never wrote"):
            cache.find("k")
