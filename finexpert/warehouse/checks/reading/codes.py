"""What the house's own tables of codes say of the codes that a list of guesses met.

    upper(status) IN ('POSTED', 'POST', 'P')    meets P alone, which code_table calls 'settled', and 'draft, not posted' is another

A model sees no code and guesses at short ones; one of them may be a code for something else. Who can tell is the table, and it is read
at home: a person is asked where it calls another code what was looked for, and told where it calls none so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from finexpert.core.reviews import UNSURE
from finexpert.errors import UnknownValue
from finexpert.warehouse.checks.reading.changed import as_wrapped
from finexpert.warehouse.checks.reading.comparisons import Comparison
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, text_of
from finexpert.warehouse.dates import words
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.semantic_model.publishing import SAYS_HOW, WITH_DOMAIN, code_columns, published_as

_MOST_ROWS = 5_000
_MOST_CODES = 200
_LONGEST_CODE = 2  # longer ones abbreviate a word or are its initials, and who writes one means it
_STEM = 4
_SHOWN = 20
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class Meanings:
    """What a table of codes calls each, by what they are codes of; "" where it is of one thing alone."""

    table: TableSchema
    by_domain: Mapping[str, Mapping[str, str]] = field(repr=False)

    def of(self, origin: Origin, values: Collection[str]) -> list[Mapping[str, str]]:
        """The lists of codes that hold every value of a column; those that its comment names, where it names one."""
        held = {value.strip().casefold() for value in values if value.strip()}
        whole = {name: codes for name, codes in self.by_domain.items() if held and held <= set(codes)}
        said = set(re.findall(r"\w+", origin.column.comment.casefold()))
        named = [codes for name, codes in whole.items() if name and name.casefold() in said]
        return named or list(whole.values())


def check_codes(compared: Sequence[Comparison], one: Read, probe: Probe, asked: Collection[str] = ()) -> list[str]:
    """Notes on codes whose meaning is none of the words that were looked for; UnknownValue where another code has it.

    Of columns that are `asked` a person has said the meaning already.
    """
    notes = []
    for comparison in compared:
        sought = [text for text in comparison.texts if _WORD.search(text)]
        if comparison.pattern or not sought or len(comparison.texts) == 1 or str(comparison.origin) in asked:
            continue
        values, _ = probe.first_values(comparison.origin)
        met = [
            each for each in sorted(values) if each.strip() and as_wrapped(comparison.wraps, each) in comparison.texts
        ]
        if not met or len(values) > _MOST_CODES or max(len(value.strip()) for value in met) > _LONGEST_CODE:
            continue
        for meanings in _tables_of_codes(one, comparison.origin, probe):
            lists = meanings.of(comparison.origin, values)
            if lists and all(_misread(met, codes, sought) for codes in lists):
                spelled = {value.strip().casefold(): value for value in values}
                notes.append(_told(comparison, one, met, meanings.table, lists[0], sought, spelled))
    return notes


def _told(
    comparison: Comparison,
    one: Read,
    met: Sequence[str],
    table: TableSchema,
    codes: Mapping[str, str],
    sought: Sequence[str],
    spelled: Mapping[str, str],
) -> str:
    bad = _misread(met, codes, sought)
    called = ", ".join(f"{value!r} is {codes[value.strip().casefold()]!r}" for value in bad)
    place, others = str(comparison.origin), [code for code, said in codes.items() if _agrees(said, sought)]
    if not others:
        return f"{UNSURE}by {table.name} {called} in {place}, which is none of the words that were looked for"
    held = {spelled[code]: said for code, said in codes.items() if code in spelled}
    more = "; ..." if len(held) > _SHOWN else ""
    listed = "; ".join(f"{code} {said}" for code, said in list(held.items())[:_SHOWN]) + more
    # A model is told what it compared with: a cell may be spelled otherwise.
    compared = " and ".join(dict.fromkeys(repr(as_wrapped(comparison.wraps, value)) for value in bad))
    unknown = UnknownValue(
        f"{text_of(one, comparison.node)}: {table.name} calls {compared} in {place} by none of these words",
        place=place,
        text=sought[0],
        values=tuple(held),
    )
    published = published_as(table)
    unknown.question = (
        f"By {table.name} {called} in {place}, where {sought[0]!r} was looked for. Which is meant ({listed})? Or say in the question "
        f"which of them count, or let models read what codes mean: `finexpert model publish {published}`"
    )
    raise unknown


def _misread(met: Sequence[str], codes: Mapping[str, str], sought: Sequence[str]) -> list[str]:
    return [
        value
        for value in met
        if not _agrees(said := codes[value.strip().casefold()], sought) and not _initials(said, value)
    ]


def _initials(meaning: str, code: str) -> bool:
    """Whether a code is made of the first letters of its meaning's words.

    >>> _initials("loss expense, external", "le"), _initials("settled", "S"), _initials("receipt from supplier", "RT")
    (True, False, False)
    """
    letters = "".join(word[0] for word in re.findall(r"[^\W\d_]+", meaning.casefold()))
    return len(code.strip()) > 1 and letters.startswith(code.strip().casefold())


def _agrees(meaning: str, sought: Sequence[str]) -> bool:
    """Whether a meaning has a word that begins as one that is looked for.

    >>> _agrees("customer return", ["RTN", "RETURNS"]), _agrees("receipt from supplier", ["RET", "RETURN"]), _agrees("settled", ["POSTED"])
    (True, False, False)
    """
    said = _WORD.findall(meaning.casefold())
    asked = [word for text in sought for word in _WORD.findall(text.casefold())]
    return any(a[:_STEM] == b[:_STEM] or a.startswith(b) or b.startswith(a) for a in said for b in asked)


def _tables_of_codes(one: Read, origin: Origin, probe: Probe) -> Iterator[Meanings]:
    """The tables that may say what the codes of a column mean and that the SELECT does not read; one for one thing alone only if it is that."""
    used = {table.name for table in one.used}
    for table in one.tables:
        columns = [exp.column(name, quoted=True) for name in code_columns(table)]
        if table.name in used or not columns or (len(columns) < WITH_DOMAIN and not _is_of(table, origin)):
            continue
        rows = probe.rows(exp.select(*columns).distinct().from_(from_named(table.name)).limit(_MOST_ROWS))
        by_domain: dict[str, dict[str, str]] = defaultdict(dict)
        for *of, value, said in rows:
            by_domain[str(of[0]) if of else ""][str(value).strip().casefold()] = str(said)
        yield Meanings(table, by_domain)


def _is_of(table: TableSchema, origin: Origin) -> bool:
    """Whether a table of one list of codes is that of a column: by a key, or by a word of both names."""
    if any(key.table == table.name and origin.column.name in key.columns for key in origin.table.foreign_keys):
        return True
    said = {word[:_STEM] for word in {*words(origin.column.name)} - SAYS_HOW} or {origin.column.name[:_STEM]}
    return bool(said & {word[:_STEM] for word in words(table.name)})
