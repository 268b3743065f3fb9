"""Whether a verified query still says what it said: tables, metrics, meanings of words, and the day.

    reasons_against(query, ...)  ->  ["the table trades has no column fee_usd any more"]

Each reason is a sentence; with any of them the query is not used, and planning is asked.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.knowledge.glossary import Glossary
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.process import Process
from finexpert.knowledge.verified.query import VerifiedQuery
from finexpert.knowledge.verified.variables import YEARS
from finexpert.text.periods.in_question import PeriodMention, resolve_periods
from finexpert.text.terms import normalise
from finexpert.warehouse.checks.reading.select import Read, columns_of
from finexpert.warehouse.schema import Metric, TableSchema, find_table

_RELATIVE = re.compile(
    r"\b(?:today|now|nowadays|current(?:ly)?|latest|newest|recent(?:ly)?|last|past|previous(?:ly)?|prior|next|this|these|coming|upcoming"
    r"|so far|to date|[ymq]td|yesterday|tomorrow|ago|until now|still|yet|rolling|trailing|as of)\b",
    re.IGNORECASE,
)
_PARTS = (
    *(exp.Month, exp.Quarter, exp.Week, exp.Day, exp.DayOfYear, exp.WeekOfYear, exp.Extract, exp.DateFromParts),
    *(exp.TimeToStr, exp.ToChar),
)
_ONE_DAY = dt.timedelta(days=1)
Meanings = dict[str, str]


def needs(one: Read) -> dict[str, dict[str, str]]:
    """The tables that a SELECT reads, and of each the columns that it may read, with their types."""
    names = {str(origin) for column, scope in columns_of(one) if (origin := one.origin(column, scope))}
    said = {each.name.lower() for each in one.written.find_all(exp.Identifier)} if one.written is not None else set()
    return {
        table.name: {
            column.name: column.type
            for column in table.columns
            if f"{table.name}.{column.name}" in names or column.name.lower() in said
        }
        for table in one.used
    }


def schema_changes(query: VerifiedQuery, tables: Sequence[TableSchema], metrics: Sequence[Metric]) -> Iterator[str]:
    """What the SELECT needs and the data no longer have."""
    for name, columns in query.tables.items():
        table = find_table(tables, name)
        if table is None:
            yield f"there is no table {name} any more"
            continue
        for wanted, type_ in columns.items():
            column = table.column(wanted)
            if column is None:
                yield f"the table {name} has no column {wanted} any more"
            elif column.type != type_:
                yield f"{name}.{wanted} is {column.type} now, and was {type_}"
    now = {metric.name: metric.expression for metric in metrics}
    for name, expression in query.metrics.items():
        if now.get(name) != expression:
            yield f"the metric {name} of the semantic model was changed or taken out"


def meanings_in(question: str, glossary: Glossary, memory: Memory) -> Meanings:
    """The terms and processes that a question names, with a hash of what they say."""
    named = [*glossary.named_in(question), *glossary.conventions(question)]
    terms = {f"term {normalise(each.term)}": _hash(each.meaning) for each in named}
    return terms | meanings_read(memory.named_in(question))


def told_in(knowledge: str, glossary: Glossary, memory: Memory) -> tuple[Meanings, str]:
    """The terms and processes that were told with a question, with their hashes, and what else was told."""
    found: Meanings = {}
    for keyword in glossary.keywords(("active",)):
        if (said := keyword.told) in knowledge:
            found[f"term {normalise(keyword.term)}"] = _hash(keyword.meaning)
            knowledge = knowledge.replace(said, "")
    for process in memory.processes(("active",)):
        if (recipe := process.recipe()) in knowledge:
            found[f"process {normalise(process.heading)}"] = _hash(recipe)
            knowledge = knowledge.replace(recipe, "")
    return found, knowledge.strip()


def meanings_read(processes: Iterable[Process]) -> Meanings:
    """Processes whose SELECTs a SELECT reads by name, with a hash of what they say."""
    return {f"process {normalise(each.heading)}": _hash(each.recipe()) for each in processes}


def meaning_changes(query: VerifiedQuery, question: str, glossary: Glossary, memory: Memory) -> Iterator[str]:
    """Words of the question that mean something else than when it was verified, or that were explained since."""
    for name, hashed in query.meanings.items():
        kind, _, called = name.partition(" ")
        term, process = (glossary.get(called), None) if kind == "term" else (None, memory.get(called))
        item = term or process
        said = term.meaning if term else process.recipe() if process else ""
        if item is None or item.status != "active" or _hash(said) != hashed:
            yield f"what was taught as {called!r} was changed since"
    for name in meanings_in(question, glossary, memory).keys() - query.meanings.keys():
        yield f"{name.partition(' ')[2]!r} was explained since"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def day_against(question: str, select: str, dialect: str, verified_on: dt.date, as_of: dt.date) -> str | None:
    """Why a SELECT that was verified on one day may mean something else on another; None where it does not.

    On another day, the question must not count from today, and every day and year in the SELECT must be one that the question names.

    >>> days = dt.date(2024, 9, 30), dt.date(2025, 1, 31)
    >>> day_against("Fees in 2023", "SELECT sum(fee) FROM trades WHERE year(day) = 2023", "duckdb", *days)
    >>> day_against("Fees last year", "SELECT sum(fee) FROM trades WHERE year(day) = 2023", "duckdb", *days)
    "its question says 'last year', which counts from the day: it was verified as of 2024-09-30"
    """
    if verified_on == as_of:
        return None
    then = f"it was verified as of {verified_on}"
    mentions = resolve_periods(question, as_of).mentions
    if said := relative_in(question, as_of):
        return f"its question says {said!r}, which counts from the day: {then}"
    try:
        tree = sqlglot.parse_one(select, read=dialect)
    except (SqlglotError, RecursionError):
        return f"its SELECT cannot be read: {then}"
    days = {day for mention in mentions for day in _edges(mention)}
    years = {int(year) for year in YEARS.findall(question)}
    for literal in tree.find_all(exp.Literal):
        if not _named(literal, days, years):
            return f"its SELECT holds {literal.sql()[:60]}, which the question does not name: {then}"
    ended = all(mention.last is not None and mention.last < verified_on for mention in mentions)
    parts = any(tree.find(part) for part in _PARTS) or any(
        "part" in each.name.lower() for each in tree.find_all(exp.Anonymous)
    )
    if not ended and parts:
        return f"its SELECT takes parts of a time that was not over: {then}"
    return None


def relative_in(question: str, as_of: dt.date) -> str:
    """The words of a question that count from today; empty where there are none.

    >>> relative_in("Fees in 2023 so far", dt.date(2024, 1, 31)), relative_in("Fees in 2023", dt.date(2024, 1, 31))
    ('so far', '')
    """
    mentions = resolve_periods(question, as_of).mentions
    found = _RELATIVE.search(question)
    return next((mention.text for mention in mentions if mention.relative), found[0] if found else "").strip()


def _edges(mention: PeriodMention) -> Iterator[dt.date]:
    """The first and the last day of a mention, and the days beside them."""
    if mention.first is not None:
        yield from (mention.first, mention.first - _ONE_DAY)
    if mention.last is not None:
        yield from (mention.last, mention.last + _ONE_DAY)


def _named(literal: exp.Literal, days: set[dt.date], years: set[int]) -> bool:
    """Whether what a literal says of time, if anything, is said by the question."""
    text = literal.name
    if re.fullmatch(r"(?:19|20)\d{4}(?:\d\d)?", text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:] or '01'}"
    elif re.fullmatch(r"(?:19|20)\d\d-\d\d", text):
        text = f"{text}-01"
    if re.match(r"\d{4}-\d\d-\d\d", text):
        try:
            return dt.date.fromisoformat(text[:10]) in days
        except ValueError:
            return False
    return all(int(year) in years for year in YEARS.findall(text))


def reasons_against(
    query: VerifiedQuery,
    question: str,
    select: str,
    tables: Sequence[TableSchema],
    metrics: Sequence[Metric],
    taught: tuple[Glossary, Memory],
    as_of: dt.date,
) -> list[str]:
    """Why a verified query is not to be used for a question, with its SELECT for it; nothing where it is."""
    day = day_against(question, select, query.source.dialect, query.as_of, as_of)
    return [
        *schema_changes(query, tables, metrics),
        *meaning_changes(query, question, *taught),
        *([day] if day else []),
    ]


def used_metrics(select: str, metrics: Sequence[Metric]) -> Mapping[str, str]:
    """The metrics that a SELECT calls by name, with their expressions.

    >>> used_metrics("SELECT MEASURE(fee) FROM trades", [Metric("fee", "sum(trades.fee_usd)")])
    {'fee': 'sum(trades.fee_usd)'}
    """
    called = {name.lower() for name in re.findall(r"\bmeasure\s*\(\s*[\"`]?(\w+)", select, re.IGNORECASE)}
    return {metric.name: metric.expression for metric in metrics if metric.name.lower() in called}
