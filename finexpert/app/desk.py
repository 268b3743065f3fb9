"""The desk: one object behind every door of a server.

    with Desk(Settings()) as desk:
        person = local_person()
        conversation = desk.create(person, desk.sources(person)[0].id)
        async for thing in desk.ask(person, conversation.id, "When did the latest recession start?"):
            ...                                  # Event, Event, ..., StoredAnswer

Sources      sources, add_source, remove_source, connect_as, schema, values, publish     actions/sources.py
Meaning      model, edit_model, model_history, revert_model                               actions/meaning.py
Conversations  conversations, create, about, rename, delete, conversation, answer, feedback   actions/conversations.py
Asking       ask, watch, reply, cancel                                                     actions/asking.py
Teaching     processes, process, edit, retire, history, terms, define, keep_offer, verified   actions/teaching.py
Remembering  remember, decide, try_again                                                   actions/remembering.py
Again        record, table, csv, xlsx, figure, replay, export, run_select, verify                actions/again.py
Correcting   complaints, correct, correct_term, drop                                     actions/correcting.py
Pages        page, cited, search_pages                                                     actions/pages.py
Keeping      tokens, make_token, revoke_token, audit, ready, drain, close                  actions/keeping.py

Every action is a person's, and is refused where the person has no right to it. What belongs to another person is not found. It
blocks, but for those that yield; many threads may use one desk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from finexpert.app.actions.keeping import Keeping
from finexpert.app.actions.places import GivenSource
from finexpert.app.options import ServeOptions
from finexpert.app.people.people import Person, local_person
from finexpert.settings import Settings
from finexpert.storage.closing import Closing

__all__ = ["Desk", "GivenSource", "Person", "local_person"]


class Desk(Keeping, Closing):
    """All actions. Close it, or use it as a context manager.

    `given` are sources that everyone may ask; without any it is what `finexpert data fred` built, or the sample economy.
    `models`, `expert`, `sandbox` and `state` may be given by whoever has them open already.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        options: ServeOptions | None = None,
        *,
        given: Sequence[GivenSource] = (),
        **opened: Any,
    ) -> None:
        super().__init__(settings or Settings(), options or ServeOptions(), given=given, **opened)
