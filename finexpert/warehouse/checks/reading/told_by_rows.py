"""Terms of a question whose meaning a SELECT reads out of the house's own rows, as from settings the month in which the fiscal year begins.

    told_by_rows(one, ["FY2025"], probe)   ->   {"FY2025": "settings"}

A model sees no such row and calls the term unclear; its SELECT reads it all the same, by a key that is guessed. It holds where a row
has that key and the result is another one without the rows: what a SELECT falls back to where its guess finds nothing is no meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, columns_of
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.semantic_model.publishing import house_rules

_STEM = 4  # letters that a key and a term must share at a word's beginning
_SHORT = {"fy": "fiscal year", "fq": "fiscal quarter", "ccy": "currency", "eod": "end of day"}
_TESTS = (exp.EQ, exp.In, exp.Like, exp.ILike, exp.RegexpLike)


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


def may_be_told(used: Sequence[TableSchema]) -> str:
    """A sentence on the first of the tables that seems to hold rules of the house; empty where none does."""
    for table in house_rules(used):
        texts = ", ".join(column.name for column in table.columns if column.type == "VARCHAR")
        return (
            f" Its meaning may stand in {table.name}, whose rows no model sees until the column that tells it ({texts}) is published: "
            f"`finexpert model publish {table.name}.COLUMN`"
        )
    return ""


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
