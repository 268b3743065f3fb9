"""What a team was taught, where one name means two things: over one source and everywhere."""

from __future__ import annotations

from typing import Any

from finexpert.knowledge.glossary import Keyword


def draft(office: Any, meaning: str, scope: str) -> str:
    """The id of a draft of Ann's that a conversation over some source gave."""
    said: dict[str, Any] = {
        "term": "slow months",
        "meaning": meaning,
        "scope": scope,
        "source": "conversation",
        "status": "draft",
    }
    return str(office.desk.taught(office.ann.team).glossary.define(Keyword(**said), office.ann.name).id)


def test_of_two_terms_of_one_name_the_one_with_the_id_is_meant(office: Any) -> None:
    desk, ann = office.desk, office.ann
    everywhere = desk.define(ann, "slow month", "below 5")
    own = desk.taught(ann.team).glossary.define(Keyword(term="slow month", meaning="below 4", scope="sales"), "Ann")
    assert [each.item["meaning"] for each in desk.term_history(ann, own.id)] == ["below 4"]
    assert desk.retire_term(ann, own.id).id == own.id
    assert [each.id for each in desk.terms(ann)] == [everywhere.id]


def test_a_thumb_up_accepts_the_draft_of_the_answer_and_no_other_of_its_name(office: Any) -> None:
    used, other = draft(office, "below five", "sales"), draft(office, "below ten", "trades")
    office.model.says("planning", office.model.plan(follows=(1,)))
    answer = office.ask("How many slow months?")
    assert answer.meanings == {"slow months": "below five"}
    office.desk.feedback(office.ann, answer.id, True)
    assert [office.desk.term(office.ann, id).status for id in (used, other)] == ["active", "draft"]
