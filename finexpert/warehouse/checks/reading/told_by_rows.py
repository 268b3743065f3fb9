"""Terms of a question whose meaning a SELECT reads out of the house's own rows, as from settings the month in which the fiscal year begins.

    told_by_rows(one, ["FY2025"], probe)   ->   {"FY2025": "settings"}

A model sees no such row and calls the term unclear; its SELECT reads it all the same, by a key that is guessed. It holds where a row
has that key and the result is another one without the rows: what a SELECT falls back to where its guess finds nothing is no meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from finexpert.warehouse.checks.reading.named_alone import is_named
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, columns_of, read
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.semantic_model.publishing import MOST_ROWS, house_rules
from finexpert.warehouse.warehouse import Warehouse

_STEM = 4  # letters that a key and a term must share at a word's beginning
_SHORT = {"fy": "fiscal year", "fq": "fiscal quarter", "ccy": "currency", "eod": "end of day"}
_WORD_AND_MEANING = 2
_SHOWN = 3
_TESTS = (exp.EQ, exp.In, exp.Like, exp.ILike, exp.RegexpLike)


@dataclass(frozen=True)
class HouseRows:
    """What tables with rules and words of the house say; where there is no time to look they say nothing."""

    source: Warehouse
    probe: Probe

    def told(self, selects: Sequence[str], terms: Sequence[str]) -> dict[str, str]:
        """For terms whose meaning one of the SELECTs reads out of rows of the house the table that holds it."""
        told: dict[str, str] = {}
        for select in selects if terms else ():
            with self.probe.checking("which rows tell what a term means"):
                told |= told_by_rows(self._read(select), terms, self.probe)
        return told

    def hint(self, selects: Sequence[str]) -> str:
        """How a model is let see such a table, first of those that the SELECTs read; empty where there is none."""
        used = [table for one in selects for table in self._read(one).used]
        for table in house_rules([*used, *self.source.tables]):
            return f" Its meaning may stand in {table.name}, whose rows no model sees until they are published: `finexpert model publish {table.name}`"
        return ""

    def unread(self, selects: Sequence[str], question: str) -> list[str]:
        """What a person is told of words of the question that such a table explains, where neither a model nor a SELECT read it."""
        used = {table.name for one in selects for table in self._read(one).used}
        told = []
        for table in house_rules([table for table in self.source.tables if table.name not in used]):
            with self.probe.checking("which tables explain words of the question"):
                if words := _explained(table, question, self.probe):
                    told.append(
                        f"{table.name} says what {' and '.join(map(repr, words))} means here, and no model read it: look there, or let models "
                        f"read it (`finexpert model publish {table.name}`)"
                    )
        return told

    def _read(self, select: str) -> Read:
        return read(select, self.source.dialect, self.source.tables)


def told_by_rows(one: Read, terms: Sequence[str], probe: Probe) -> dict[str, str]:
    """For each term that it holds for the table whose rows tell it; nothing where there was no time to look."""
    rules = {table.name: table for table in house_rules(one.used)}
    told: dict[str, str] = {}
    for table, test in _keys(one, rules):
        asked = [term for term in terms if term not in told and _names(test, term)]
        if (
            asked
            and probe.any_row(exp.select("1").from_(from_named(table.name)).where(_bare(test)))
            and _decides(table, one, probe)
        ):
            told |= dict.fromkeys(asked, table.name)
    return told


def _explained(table: TableSchema, question: str, probe: Probe) -> list[str]:
    """The words of the question that stand in the first columns of a table that has a further one to say what they mean."""
    texts = [column.name for column in table.columns if column.is_text]
    if len(texts) < _WORD_AND_MEANING:
        return []
    columns = [exp.column(name, quoted=True) for name in texts]
    rows = probe.rows(exp.select(*columns).from_(from_named(table.name)).limit(MOST_ROWS))
    words = [word.strip() for row in rows for cell in row[: len(texts) - 1] for word in str(cell or "").split("/")]
    return [word for word in dict.fromkeys(words) if is_named(word, question)][:_SHOWN]


def _keys(one: Read, rules: dict[str, TableSchema]) -> list[tuple[TableSchema, exp.Expr]]:
    """Tests of a column of such a table with texts, each once."""
    found = {}
    for column, scope in columns_of(one):
        origin, test = one.origin(column, scope), column.find_ancestor(*_TESTS)
        alone = test is not None and {each.sql() for each in test.find_all(exp.Column)} == {column.sql()}
        if origin and test is not None and alone and origin.table.name in rules and not test.find(exp.Query):
            found[origin.table.name, test.sql()] = origin.table, test
    return list(found.values())


def _bare(test: exp.Expr) -> exp.Expr:
    bare = test.copy()
    for column in bare.find_all(exp.Column):
        column.set("table", None)
    return bare


def _names(test: exp.Expr, term: str) -> bool:
    """Whether a key that is looked for shares a word's beginning with the term.

    >>> from sqlglot import parse_one
    >>> _names(parse_one("skey ILIKE '%fisc%'"), "FY2025"), _names(parse_one("skey = 'week.start'"), "FY2025")
    (True, False)
    """
    words = re.findall("[a-z]+", term.lower())
    words += [word for short in words for word in _SHORT.get(short, "").split()]
    texts = " ".join(str(each.this).lower() for each in test.find_all(exp.Literal) if each.is_string)
    keys = re.findall("[a-z]+", texts)
    return any(key == word or key[:_STEM] == word[:_STEM] != "year" for key in keys for word in words if len(key) > 1)


def _decides(table: TableSchema, one: Read, probe: Probe) -> bool:
    """Whether the result has a row that it has not where the table is empty."""
    if not isinstance(one.written, exp.Query):
        return False
    without = one.written.copy()
    for source in list(without.find_all(exp.Table)):
        if one.table_of(source) is table:
            empty = exp.select("*").from_(from_named(table.name)).where(exp.false()).subquery(source.alias_or_name)
            source.replace(empty)
    whole, rest = (
        exp.select("*").from_(each.subquery(name)) for name, each in (("a", one.written.copy()), ("b", without))
    )
    return bool(probe.any_row(exp.except_(whole, rest)))
