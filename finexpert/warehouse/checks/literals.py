"""Texts that a SELECT compares a column with, looked up in that column.

    status = 'Filled'     the column holds FILLED         put right, and said to the person
    status = 'Executed'   the column holds nothing alike  the layer is told that it is not there; the person is shown what is
    status IN ('DONE', 'FILLED')                          good: of a list of guesses one has to match

The model is told which text is not there and nothing else. Values go to the person, who may see them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from finexpert.errors import UnknownValue
from finexpert.warehouse.checks.reading.alike import is_nearly, nearest_values, same_text
from finexpert.warehouse.checks.reading.changed import as_wrapped
from finexpert.warehouse.checks.reading.codes import check_codes
from finexpert.warehouse.checks.reading.comparisons import (
    Comparison,
    comparisons,
    guesses,
    is_caution,
    meant,
    other_way,
)
from finexpert.warehouse.checks.reading.named_alone import ALL_OF_THEM, as_compared, check_named
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, text_of
from finexpert.warehouse.checks.reading.totals_met import check_totals, is_guard, is_of_none
from finexpert.warehouse.quoting import literal as quoted_text

# Patterns are tried on every value of tables up to this size.
_SMALL = 2_000_000
_SHORTEST_SPELLING, _SHORTEST_SLIP = 2, 5
_SHOWN = 5
ANY = "(a value)"
Changes = dict[tuple[int, int], tuple[str, str]]


@dataclass(frozen=True)
class Looked:
    """The SELECT with its texts put right, and what a person should know of them."""

    select: str
    notes: list[str]
    compared: list[Comparison]


def look_up(one: Read, probe: Probe, chosen: Mapping[str, str] | None = None, question: str = "") -> Looked:
    """The SELECT with texts put right; raises UnknownValue for a text that its column does not hold.

    `chosen` are texts that a person has said the meaning of, by "table.column=text".
    """
    found, asked = list(comparisons(one)), {said.partition("=")[0] for said in chosen or ()}
    changes: Changes = {}
    notes = check_codes(found, one, probe, asked)
    check_named(found, one, probe, question, asked)
    check_totals(found, one, probe)
    narrowed = {str(comparison.origin) for comparison in found if not comparison.negated}
    for group in guesses(found):
        notes += _Group(one, probe, chosen or {}, changes, narrowed).looked_up(group)
    select = one.sql
    for (start, end), (old, new) in sorted(changes.items(), reverse=True):
        select = select[:start] + quoted_text(new) + select[end + 1 :]
        notes.append(f"read {old!r} as {new!r}")
    return Looked(select, list(dict.fromkeys(notes)), found)


@dataclass
class _Group:
    """One list of guesses."""

    one: Read = field(repr=False)
    probe: Probe
    chosen: Mapping[str, str]
    changes: Changes
    narrowed: Collection[str] = ()

    def looked_up(self, group: Sequence[Comparison]) -> list[str]:
        """Notes on what matched; raises UnknownValue where nothing did."""
        met: dict[str, list[str]] = {}
        missing: list[tuple[Comparison, exp.Literal]] = []
        for comparison in group:
            found, absent = self._met(comparison)
            met.setdefault(str(comparison.origin), []).extend(found)
            missing += [(comparison, literal) for literal in absent]
        anything = any(met.values())
        righted = [True for comparison, literal in missing if self._righted(comparison, literal, met, anything)]
        if not anything and not righted:
            # There may have been no time to look, or no row to look at: the check of the result says so better.
            if not self._is_nowhere(group) or all(map(is_of_none, group)):
                return []
            for why, needless in (
                ("branches name every value", self._is_idle),
                ("part of the OR does", self._has_other_way),
                ("branches decide", lambda each: is_caution(each, self.one.select)),
            ):
                if all(map(needless, group)):
                    return [f"{text_of(self.one, each.node)} meets no row: the other {why}" for each in group]
            # Beside a text that the column has to hold, what leaves out nothing is a caution: with or without it the rows are the same.
            if all(map(self._leaves_out_nothing, group)):
                return [f"{text_of(self.one, comparison.node)} leaves out nothing" for comparison in group]
            raise _unknown(self.one, group, self.probe)
        if anything:
            self._check_spelling(group, missing, met)
        notes = [_other_spellings(comparison, text, self.probe) for comparison in group for text in comparison.texts]
        guessed = len(group) > 1 or len(group[0].against) > 1 or group[0].pattern
        dated = {str(comparison.origin) for comparison in group if comparison.origin.column.dates}
        notes += [_matched(place, values) for place, values in met.items() if values and guessed and place not in dated]
        return [note for note in notes if note]

    def _met(self, comparison: Comparison) -> tuple[list[str], list[exp.Literal]]:
        """The values that a comparison is known to meet, and the texts that are not among the values known."""
        values, _ = self.probe.first_values(comparison.origin)
        if comparison.pattern:
            return self._chosen_pattern(comparison) or self._met_by_pattern(comparison), []
        seen = {as_wrapped(comparison.wraps, value): value for value in sorted(values)}
        met, absent = [], []
        for literal in comparison.against:
            chosen = self._chosen(comparison, literal.name)
            if chosen is not None:
                self.changes[_place(literal)] = (literal.name, chosen)
                met.append(chosen)
            elif literal.name in seen:
                met.append(seen[literal.name])
            else:
                absent.append(literal)
        return met, absent

    def _chosen(self, comparison: Comparison, text: str) -> str | None:
        """What a person said that a text means. Asked again, a model may write it in capitals, or as a pattern."""
        for said, value in self.chosen.items():
            place, _, before = said.partition("=")
            if place == str(comparison.origin) and same_text(before.strip("%"), text.strip("%")):
                return None if value == ALL_OF_THEM else as_compared(comparison, value, self.probe)
        return None

    def _chosen_pattern(self, comparison: Comparison) -> list[str]:
        """The values that were chosen for the patterns of LIKE; they take their places, as patterns that are one value."""
        if not isinstance(comparison.node, exp.Like | exp.ILike):
            return []
        met = []
        for literal in comparison.against:
            if (chosen := self._chosen(comparison, literal.name)) is not None:
                self.changes[_place(literal)] = (literal.name, chosen)
                met.append(chosen)
        return met

    def _met_by_pattern(self, comparison: Comparison) -> list[str]:
        rows = comparison.origin.table.rows
        if rows is not None and rows <= _SMALL:
            return self.probe.values(comparison.origin, comparison.holds().args["where"].this, _SHOWN + 1)
        return [ANY] if self.probe.any_row(comparison.holds()) else []

    def _righted(self, comparison: Comparison, literal: exp.Literal, met: dict[str, list[str]], anything: bool) -> bool:
        """Whether a text that differs from a value by case or spacing alone was put right.

        Beside guesses that matched, a text that did not is a guess too: it is put right only where all values are known.
        """
        values, complete = self.probe.first_values(comparison.origin)
        if anything and not complete:
            return False
        taken = met.get(str(comparison.origin), [])
        alike = _alike(comparison, literal.name, values, taken)
        if not alike and not complete:
            # An index finds the text itself; what differs in case is looked for in all rows.
            if self.probe.any_row(comparison.equals(literal)) is True:
                return True
            alike = _alike(comparison, literal.name, _alike_in_column(comparison, literal.name, self.probe), taken)
        if len(alike) != 1:
            return False
        # Among the first values there was no time to find it.
        if alike[0] == literal.name:
            return True
        self.changes[_place(literal)] = (literal.name, alike[0])
        return True

    def _check_spelling(
        self, group: Sequence[Comparison], missing: Sequence[tuple[Comparison, exp.Literal]], met: dict[str, list[str]]
    ) -> None:
        """Raises UnknownValue for a text that is nearly a value which no other text of its list met: more a slip than a guess."""
        for comparison, literal in missing:
            values, complete = self.probe.first_values(comparison.origin)
            if not complete or _place(literal) in self.changes or len(literal.name) < _SHORTEST_SLIP:
                continue
            taken = {*met.get(str(comparison.origin), []), *(new for _, new in self.changes.values())}
            seen = {as_wrapped(comparison.wraps, value) for value in values if value not in taken}
            if any(
                is_nearly(literal.name, value) for value in seen - {as_wrapped(comparison.wraps, one) for one in taken}
            ):
                raise _unknown(self.one, [replace(comparison, against=(literal,))], self.probe)

    def _is_idle(self, comparison: Comparison) -> bool:
        """Whether a comparison is one branch of a CASE whose others name every value of the column: without it, the rows are the same."""
        case = comparison.node.find_ancestor(exp.Case)
        values, complete = self.probe.first_values(comparison.origin)
        if case is None or not complete or not values or comparison.negated:
            return False
        branches = {id(branch.this.unnest()) for branch in case.args["ifs"]}
        others = [
            one
            for one in comparisons(self.one)
            if id(one.node) in branches and str(one.origin) == str(comparison.origin)
        ]
        named = {text for one in others if not one.pattern for text in one.texts}
        seen = {as_wrapped(comparison.wraps, value) for value in values}
        return id(comparison.node) in branches and len(others) == len(branches) and seen <= named

    def _leaves_out_nothing(self, comparison: Comparison) -> bool:
        beside = comparison.negated and str(comparison.origin) in self.narrowed
        return beside or is_guard(comparison, *self.probe.first_values(comparison.origin))

    def _has_other_way(self, comparison: Comparison) -> bool:
        """Whether rows are let through by the other part of an OR, which asks for the same column by a table of codes."""
        looked_up = None if comparison.negated else other_way(comparison)
        return looked_up is not None and self.probe.any_row(looked_up) is True

    def _is_nowhere(self, group: Sequence[Comparison]) -> bool:
        for comparison in group:
            values, complete = self.probe.first_values(comparison.origin)
            if complete and not values:
                return False
            if not complete and self.probe.any_row(comparison.holds()) is not False:
                return False
        return True


def _matched(place: str, values: Sequence[str]) -> str:
    shown = [value for value in dict.fromkeys(values) if value is not ANY]
    more = ", ..." if len(shown) > _SHOWN else ""
    return f"of {place}, these values matched: {', '.join(map(repr, shown[:_SHOWN]))}{more}" if shown else ""


def _alike(comparison: Comparison, text: str, values: Iterable[str], taken: Sequence[str]) -> list[str]:
    """Values, as the comparison sees them, that say the same as a text, but for those that other texts met."""
    seen = {as_wrapped(comparison.wraps, value) for value in sorted(values) if value not in taken}
    return sorted(said for said in seen if same_text(said, text))


def _alike_in_column(comparison: Comparison, text: str, probe: Probe) -> list[str]:
    """Values of a large column that may say the same as a text."""
    values = probe.distinct(comparison.origin)
    if values is not None:
        return values
    column = exp.Lower(this=exp.Trim(this=exp.column(comparison.origin.column.name, quoted=True)))
    return probe.values(comparison.origin, column.eq(exp.Literal.string(text.strip().lower())))


def _other_spellings(comparison: Comparison, text: str, probe: Probe) -> str:
    """What a person is told of values that say the same as one that was found, and were not compared with."""
    values, _ = probe.first_values(comparison.origin)
    seen = {as_wrapped(comparison.wraps, value) for value in values}
    if len(text) < _SHORTEST_SPELLING or comparison.pattern or text not in seen:
        return ""
    others = sorted(value for value in seen if value not in comparison.texts and same_text(value, text))
    if not others:
        return ""
    shown = ", ".join(map(repr, others[:_SHOWN]))
    return f"{comparison.origin} also holds {shown}, which is not the same text as {text!r}"


def _unknown(one: Read, group: Sequence[Comparison], probe: Probe) -> UnknownValue:
    first = group[0]
    texts = [text for comparison in group for text in comparison.texts]
    what = " or ".join(map(repr, texts[:8])) + (" or another of them" if len(texts) > 8 else "")
    places = " or ".join(dict.fromkeys(str(comparison.origin) for comparison in group))
    said = " OR ".join(text_of(one, comparison.node) for comparison in group[:3])
    kind = "no value is like" if all(comparison.pattern for comparison in group) else "there is no value"
    asked = re.sub(r"[%_]", " ", texts[0]).strip() if first.pattern else texts[0]
    return UnknownValue(
        f"{said}: {kind} {what} in {places}. Its values are not shown: compare with other spellings and codes that are likely, as in "
        f"lower({first.origin.column.name}) IN (...), or use another column",
        place=str(first.origin),
        text=texts[0],
        meant=meant(first.origin),
        values=tuple(nearest_values(first.origin, asked, probe)),
    )


def _place(literal: exp.Literal) -> tuple[int, int]:
    """Where a text stands in the SELECT, its quotation marks included."""
    return literal.meta["start"], literal.meta["end"]
