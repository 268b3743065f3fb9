"""The semantic model of a source at a desk: tried before it is kept, with its history, and only by who may."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from finexpert.errors import Forbidden, NotFound, Refused, StaleEntry


@pytest.fixture
def office(make_office: Any) -> Any:
    return make_office()


def described(text: str, words: str) -> str:
    """The model with a description of a column."""
    assert "- name: region\n" in text
    return text.replace("- name: region\n", f"- name: region\n      description: {words}\n", 1)


def test_an_edited_model_is_what_a_prompt_holds(office: Any) -> None:
    desk, source = office.desk, office.source
    draft = desk.model(office.ann, source)
    assert (draft.version, draft.at) == (0, None)
    kept = desk.edit_model(office.ann, source, described(draft.text, "where it was sold"), 0)
    assert (kept.version, kept.by, kept.action) == (1, "Ann", "edit")
    assert "where it was sold" in desk.schema(office.eve, source).card
    assert desk.model(office.eve, source) == kept


def test_what_does_not_fit_is_not_kept(office: Any) -> None:
    desk, source = office.desk, office.source
    text = desk.model(office.ann, source).text
    for broken in (
        text.replace("region", "no_such_column"),
        "semantic_model: [",
        "- not\n- a model",
        text + "\n!!python/object:os.system x",
    ):
        with pytest.raises(Refused, match="does not fit"):
            desk.edit_model(office.ann, source, broken, 0)
    assert desk.model(office.ann, source).version == 0
    assert desk.model_history(office.ann, source) == []


def test_an_old_version_is_taken_back(office: Any) -> None:
    desk, source = office.desk, office.source
    first = desk.edit_model(office.ann, source, desk.model(office.ann, source).text, 0)
    second = desk.edit_model(office.ann, source, described(first.text, "another"), 1)
    back = desk.revert_model(office.ann, source, 1)
    assert (back.version, back.text) == (3, first.text)
    assert [each.version for each in desk.model_history(office.ann, source)] == [3, 2, 1]
    assert desk.model_history(office.ann, source)[1] == second
    with pytest.raises(NotFound):
        desk.revert_model(office.ann, source, 9)


def test_publishing_is_a_version_too(office: Any) -> None:
    desk, source = office.desk, office.source
    desk.edit_model(office.ann, source, desk.model(office.ann, source).text, 0)
    desk.publish(office.ann, source, "sales.region", True)
    last = desk.model(office.ann, source)
    assert (last.version, last.action) == (2, "publish sales.region")
    assert "north" in last.text


def test_who_was_slower_and_who_may_not_are_refused(office: Any) -> None:
    desk, source = office.desk, office.source
    text = desk.model(office.ann, source).text
    desk.edit_model(office.ann, source, text, 0)
    with pytest.raises(StaleEntry):
        desk.edit_model(office.ann, source, text, 0)
    for person in (office.ben, office.eve):
        with pytest.raises(Forbidden):
            desk.edit_model(person, source, text, 1)
    with pytest.raises(NotFound):
        desk.model(office.ann, "no-such-source")


def test_of_two_who_edit_at_once_one_is_told(office: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    desk, source, tried = office.desk, office.source, office.desk._try
    text = desk.model(office.ann, source).text

    def slowly(*given: Any) -> None:
        time.sleep(0.3)
        tried(*given)

    monkeypatch.setattr(desk, "_try", slowly)
    with ThreadPoolExecutor(2) as pool:
        edits = [pool.submit(desk.edit_model, office.ann, source, described(text, words), 0) for words in ("a", "b")]
        errors = [edit.exception(30) for edit in edits]
    assert sorted(type(error).__name__ for error in errors) == ["NoneType", "StaleEntry"]
    assert len(desk.model_history(office.ann, source)) == 1


def test_who_may_not_publish_leaves_nothing_in_the_history(office: Any) -> None:
    desk, source = office.desk, office.source
    text = desk.model(office.ann, source).text
    (desk.folder / "models").mkdir(parents=True, exist_ok=True)
    (desk.folder / "models" / f"{source}.model.yaml").write_text(text)
    with pytest.raises(Forbidden):
        desk.publish(office.eve, source, "sales.region")
    assert desk.model_history(office.ann, source) == []
    assert not [entry for entry in desk.audit(office.ann) if entry.action == "change model"]
