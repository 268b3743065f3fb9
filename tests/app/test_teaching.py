"""What a team was taught, where one name means two things: over one source and everywhere."""

from __future__ import annotations

from typing import Any

from finexpert.knowledge.glossary import Keyword


def test_of_two_terms_of_one_name_the_one_with_the_id_is_meant(office: Any) -> None:
    desk, ann = office.desk, office.ann
    everywhere = desk.define(ann, "slow month", "below 5")
    own = desk.taught(ann.team).glossary.define(Keyword(term="slow month", meaning="below 4", scope="sales"), "Ann")
    assert [each.item["meaning"] for each in desk.term_history(ann, own.id)] == ["below 4"]
    assert desk.retire_term(ann, own.id).id == own.id
    assert [each.id for each in desk.terms(ann)] == [everywhere.id]
