"""What a team called wrong, as a queue on the server: a teacher makes a verified query or a term of it, or drops it."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from tests.app.test_verifying import HTMX, QUESTION, SELECT, asked, rests

from finexpert.answers.feedback import queue
from finexpert.app.people.people import local_person
from finexpert.app.state.feedback import of_server
from finexpert.errors import Forbidden, NotFound, QueryError, Refused

SOUTH = SELECT.replace("north", "south")


def complain(office: Any, person: Any = None, reason: str = "the south was meant") -> Any:
    person = person or office.eve
    answer = asked(office, person)
    office.desk.feedback(person, answer.id, False, reason)
    return answer


def test_a_teacher_corrects_what_a_reader_called_wrong(office: Any) -> None:
    answer = complain(office)
    (entry,) = office.desk.complaints(office.ben)
    assert (entry.id, entry.question, entry.reason, entry.select) == (
        answer.id,
        QUESTION,
        "the south was meant",
        SELECT,
    )
    kept = office.desk.correct(office.ben, entry.id, f"{SOUTH};")
    assert (kept.sql, kept.taught_by, office.desk.complaints(office.ben)) == (SOUTH, "Ben", [])
    again = asked(office, office.eve)
    assert (again.value, rests(again)) == (3, True)
    (told,) = of_server(office.desk.settings)
    assert told.settled == f"verified query {kept.id[:8]}"
    assert queue(office.desk.settings.home, [told]) == [told]


def test_a_term_is_explained_or_the_entry_dropped(office: Any) -> None:
    first, second = complain(office), complain(office, reason="")
    assert office.desk.correct_term(office.ann, first.id, "the north", "the south of the map").taught_by == "Ann"
    assert [each.id for each in office.desk.complaints(office.ann)] == [second.id]
    office.desk.drop(office.ann, second.id)
    assert office.desk.complaints(office.ann) == []
    assert office.desk.answer(office.eve, second.id).liked is False


def test_only_who_may_teach_the_same_team_sees_it(office: Any) -> None:
    answer = complain(office)
    with pytest.raises(Forbidden):
        office.desk.complaints(office.eve)
    assert office.desk.complaints(office.tom) == []
    for person, error in ((office.tom, NotFound), (office.eve, Forbidden)):
        with pytest.raises(error):
            office.desk.correct(person, answer.id, SOUTH)
        with pytest.raises(error):
            office.desk.drop(person, answer.id)
    assert len(office.desk.complaints(office.ben)) == 1


def test_an_edited_select_is_its_persons_own_until_they_say_so(office: Any) -> None:
    answer = asked(office)
    edited = office.desk.run_select(office.ann, answer.id, SOUTH)
    assert [each.id for each in office.desk.complaints(office.ann)] == [edited.id]
    assert office.desk.complaints(office.ben) == []
    assert office.desk.correct(office.ann, edited.id, SOUTH).sql == SOUTH


def test_a_source_that_the_teacher_cannot_reach_stays_shut(office: Any) -> None:
    """A reader's own file: a teacher reads what was asked, and runs nothing on it."""
    mine = office.desk.add_source(
        office.ann, "Mine", file=io.BytesIO(b"day,a\n2020-01-01,2\n2020-01-02,4\n"), filename="mine.csv"
    )
    office.model.says("planning", office.model.plan("", "integer", "SELECT count(*) AS n FROM mine", ("n",), "rows"))
    answer = office.ask("How many rows are there?", office.desk.create(office.ann, mine.id).id)
    assert (answer.status, answer.value) == ("answered", 2)
    office.desk.feedback(office.ann, answer.id, False, "too few")
    with pytest.raises(NotFound):
        office.desk.correct(office.ben, answer.id, "SELECT sum(a) AS n FROM mine")
    assert len(office.desk.complaints(office.ben)) == 1


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("", Refused),
        ("x" * 20_001, Refused),
        ("SELECT * FROM secrets", QueryError),
        ("DELETE FROM sales", QueryError),
        ("SELECT count(*) AS n FROM sales WHERE region = 'nowhere'", QueryError),
    ],
)
def test_a_select_that_fails_leaves_the_entry_open(office: Any, sql: str, error: type[Exception]) -> None:
    answer = complain(office)
    with pytest.raises(error):
        office.desk.correct(office.ben, answer.id, sql)
    assert len(office.desk.complaints(office.ben)) == 1
    assert office.desk.verified(office.ben) == []


def test_a_conversation_is_deleted_with_what_became_of_it(office: Any) -> None:
    answer = complain(office)
    office.desk.drop(office.ben, answer.id)
    office.desk.delete(office.eve, answer.conversation)
    assert of_server(office.desk.settings) == []


def test_page(client: Any, office: Any) -> None:
    me = local_person()
    assert "Nothing is open" in client.get("/knowledge/feedback").text
    answer = complain(office, me, "<script>alert(1)</script>")
    shown = client.get("/knowledge/feedback").text
    assert "&lt;script&gt;alert(1)" in shown
    assert "<script>alert" not in shown
    assert "Whoever may teach your team sees it" in client.get(f"/a/{answer.id}/feedback?up=down").text
    place = f"/knowledge/feedback/{answer.id}"
    refused = client.post(f"{place}/correct", data={"sql": "DROP TABLE sales"}, headers=HTMX)
    assert 400 <= refused.status_code < 500
    done = client.post(f"{place}/correct", data={"sql": SOUTH, "example": "yes"}, headers=HTMX)
    assert (done.status_code, done.headers["HX-Redirect"]) == (204, "/knowledge/verified")
    (line,) = (office.desk.settings.home / "examples.jsonl").read_text().splitlines()
    assert (json.loads(line)["id"], json.loads(line)["frames"][0]["select"]) == (answer.id, SOUTH)
    assert "Nothing is open" in client.get("/knowledge/feedback").text
    assert client.post(f"{place}/drop", headers=HTMX).status_code == 404
