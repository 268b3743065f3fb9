"""What a person does with answers and conversations: remembers, runs again, downloads, finds, looks at the data."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

from finexpert.answers import rerunning
from finexpert.app.state import tables
from finexpert.errors import ConfigurationError, Forbidden, NotFound, Refused


def test_remember_and_use(office: Any) -> None:
    model, desk, conversation = office.model, office.desk, office.conversation()
    office.ask("How many months?", conversation)
    model.says("memorization", model.process())
    model.says("generalise", model.fields(variants=["x"]))
    remembered = desk.remember(office.ann, conversation)
    assert remembered.stored, remembered
    assert remembered.process.status == "active"
    kept = desk.processes(office.eve)
    assert [each.heading for each in kept] == ["Month count"]
    changed = desk.edit_process(office.ann, kept[0].id, {"aliases": ["months counted"], "version": kept[0].version})
    assert changed.version == kept[0].version + 1
    assert [each.action for each in desk.history(office.ann, kept[0].id)] == ["edit", "add"]
    assert desk.retire(office.ann, kept[0].id).status == "retired"
    assert desk.processes(office.ann) == []
    assert desk.activate(office.ann, kept[0].id).status == "active"
    again = desk.remember(office.ann, conversation, "Month count")
    assert again.clash is not None
    settled = desk.decide(office.ann, conversation, "replace")
    assert settled.stored
    with pytest.raises(NotFound, match="nothing waits"):
        desk.decide(office.ann, conversation, "replace")


def test_teams_are_taught_apart(office: Any) -> None:
    office.desk.define(office.ann, "stress month", "a month in which sales fall")
    assert office.desk.terms(office.tom) == []
    office.desk.define(office.tom, "stress month", "something else")
    assert office.desk.terms(office.eve)[0].meaning == "a month in which sales fall"


def test_an_answer_again(office: Any) -> None:
    desk = office.desk
    answer = office.ask("How many months?")
    assert desk.replay(office.ann, answer.id).same
    assert "answer = len(sales)" in desk.export(office.ann, answer.id)
    assert desk.record(office.ann, answer.id)["seal"]
    north = office.model.good.replace("ORDER", "WHERE region = 'north' ORDER")
    edited = desk.run_select(office.ann, answer.id, north)
    assert (edited.value, edited.rerun_of, edited.number) == (3, answer.id, 2)
    assert "the SELECT was edited by hand" in edited.flags
    assert desk.replay(office.ann, edited.id).same
    nothing = desk.run_select(office.ann, answer.id, north.replace("north", "nowhere"))
    assert (nothing.status, nothing.value) == ("failed", None)
    refused = desk.run_select(office.ann, answer.id, "DROP TABLE sales")
    assert refused.status == "failed"


def test_a_table_as_frame_csv_and_excel(office: Any) -> None:
    office.model.says("planning", office.model.plan("", kind="table"))
    answer = office.ask("Which months?")
    assert (answer.row_count, answer.columns, answer.value) == (6, ["date", "region", "amount"], None)
    assert answer.rows[0][0] == "2020-01-01"
    frame = office.desk.table(office.ann, answer.id)
    assert pd.api.types.is_datetime64_any_dtype(frame["date"])
    assert office.desk.csv(office.ann, answer.id).decode("utf-8-sig").splitlines()[0] == "date,region,amount"
    assert len(pd.read_excel(io.BytesIO(office.desk.xlsx(office.ann, answer.id)), engine="openpyxl")) == 6
    with pytest.raises(NotFound, match="no chart 1"):
        office.desk.figure(office.ann, answer.id)


def test_find_rename_delete(office: Any) -> None:
    desk, conversation = office.desk, office.conversation()
    office.ask("How many 100% months?", conversation)
    assert [each.id for each in desk.conversations(office.ann, "100%")] == [conversation]
    assert desk.conversations(office.ann, "100_") == []
    assert desk.rename(office.ann, conversation, "  Months  ").name == "Months"
    with pytest.raises(Refused):
        desk.rename(office.ann, conversation, "\x1b[31m")
    desk.feedback(office.ann, desk.conversation(office.ann, conversation)[0].id, False, "wrong")
    assert desk.conversation(office.ann, conversation)[0].liked is False
    assert desk.feedbacks(office.ann)[0].reason == "wrong"
    desk.delete(office.ann, conversation)
    assert desk.conversations(office.ann) == []
    with pytest.raises(NotFound):
        desk.conversation(office.ann, conversation)


def test_schema_values_and_publishing(office: Any) -> None:
    desk = office.desk
    assert [table.name for table in desk.schema(office.eve, office.source).tables] == ["sales"]
    assert len(desk.values(office.eve, office.source, "sales.note")) == 6
    office.ask("How many?")
    assert not any(office.model.canaries[0] in prompt for prompt in office.model.prompts)
    with pytest.raises(Forbidden, match="ask somebody with the role 'owner'"):
        desk.publish(office.ben, office.source, "sales.note", True)
    desk.publish(office.ann, office.source, "sales.note", True)
    columns = {each.name: each for each in desk.schema(office.ann, office.source).tables[0].columns}
    assert columns["note"].published
    desk.publish(office.ann, office.source, "sales.note", False)
    columns = {each.name: each for each in desk.schema(office.ann, office.source).tables[0].columns}
    assert not columns["note"].published
    # A table with a date has other rows tomorrow.
    assert not desk.schema(office.ann, office.source).tables[0].small
    with pytest.raises(ConfigurationError, match="sales has the dates date"):
        desk.publish(office.ann, office.source, "sales", True)


def test_a_select_that_ends_after_its_conversation_was_deleted_leaves_nothing(
    office: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, answer, run = office.desk, office.ask("How many months?"), rerunning.rerun

    def deleted_meanwhile(*given: Any) -> Any:
        made = run(*given)
        desk.delete(office.ann, answer.conversation)
        return made

    monkeypatch.setattr(rerunning, "rerun", deleted_meanwhile)
    with pytest.raises(NotFound):
        desk.run_select(office.ann, answer.id, office.model.good)
    assert desk.state.rows(sa.select(tables.answers.c.id)) == []
