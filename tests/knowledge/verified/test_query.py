"""What a verified query's names may be."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from finexpert.knowledge.items import Item
from finexpert.knowledge.verified.query import Variable, VerifiedQuery


def whole(kind: type[Item | Variable], field: str, text: str) -> bool:
    """Whether a field takes a text."""
    try:
        kind.__pydantic_validator__.validate_assignment(kind.model_construct(), field, text)
    except ValidationError as error:
        return field not in {each["loc"][0] for each in error.errors()}
    return True


@pytest.mark.parametrize(
    ("kind", "field", "most"), [(Variable, "name", 31), (VerifiedQuery, "frame", 81), (VerifiedQuery, "id", 80)]
)
def test_how_long_a_name_may_be(kind: type[Item | Variable], field: str, most: int) -> None:
    assert whole(kind, field, "ä".join("a" * (most // 2 + 1))[:most])
    assert not whole(kind, field, "a" * (most + 1))
    assert not whole(kind, field, "a b")
    assert not whole(kind, field, "ab\n")
