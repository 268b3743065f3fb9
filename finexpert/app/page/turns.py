"""What a template needs for one question of a conversation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from finexpert.app.desk import Desk
from finexpert.app.page import answer_card, answer_table
from finexpert.app.page.answer_table import TablePage
from finexpert.app.people.people import Person
from finexpert.app.state.stored import Conversation, StoredAnswer
from finexpert.core.display import table_chart


@dataclass(frozen=True)
class AskedOf:
    """The sources of a conversation: their ids, what they are called, and what those are called that one answer rests on."""

    source: str
    name: str
    rests_on: str = ""

    @classmethod
    def by(cls, desk: Desk, person: Person, talk: Conversation) -> Self:
        return cls(talk.source, desk.names_of(person, talk.source))


class Turns:
    """Puts together what is shown of an answer, with its table and its chart."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def given(
        self, person: Person, turn: StoredAnswer, *, last: bool = False, asked_of: AskedOf | None = None
    ) -> dict[str, Any]:
        """The names of `turn.html`. A question back has its form only where it is the last of its conversation.

        `asked_of` is given where it is known: it is the same for a whole conversation.
        """
        table, chart = self._table(person, turn)
        asked_of = asked_of or AskedOf.by(self.desk, person, self.desk.about(person, turn.conversation))
        if turn.sources:
            asked_of = replace(asked_of, rests_on=self.desk.names_of(person, ",".join(turn.sources.values())))
        return {
            "turn": turn,
            "asked_of": asked_of,
            "last_turn": turn.id if last else "",
            "shown": answer_card.of(turn),
            "table": table,
            "chart": chart,
            "stages": [],
            "may_teach": person.can("teach"),
            "may_select": person.can("ask"),
        }

    def _table(self, person: Person, turn: StoredAnswer) -> tuple[TablePage | None, table_chart.Chart | None]:
        if turn.state != "finished" or turn.row_count is None:
            return None, None
        data = self.desk.table(person, turn.id)
        return answer_table.page_of(turn.id, data, caption=turn.question), table_chart.of(data)
