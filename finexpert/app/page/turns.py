"""What a template needs for one question of a conversation."""

from __future__ import annotations

from typing import Any

from finexpert.app.desk import Desk
from finexpert.app.page import answer_card, answer_table
from finexpert.app.page.answer_table import TablePage
from finexpert.app.people.people import Person
from finexpert.app.state.stored import StoredAnswer
from finexpert.core.display import table_chart


class Turns:
    """Puts together what is shown of an answer, with its table and its chart."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def given(
        self, person: Person, turn: StoredAnswer, *, last: bool = False, source: str | None = None
    ) -> dict[str, Any]:
        """The names of `turn.html`. A question back has its form only where it is the last of its conversation.

        `source` is what its source is called, where that is known: it is the same for a whole conversation.
        """
        table, chart = self._table(person, turn)
        return {
            "turn": turn,
            "source_name": source if source is not None else source_name(self.desk, person, turn.conversation),
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
        table = answer_table.page_of(turn.id, data, caption=turn.question)
        # What the script drew is what was asked for: nothing is drawn beside it.
        return table, None if turn.figures else table_chart.of(data)


def source_name(desk: Desk, person: Person, conversation: str) -> str:
    """What the sources of a conversation are called, or that one is not there any more."""
    return desk.names_of(person, desk.about(person, conversation).source)
