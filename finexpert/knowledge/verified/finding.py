"""The variables of a verified query: declared by a person, or found: what its question names and its SELECT holds, once and only once.

    "What was the fee income of North in 2023"   SELECT sum(fee) FROM trades WHERE region = 'North' AND year(day) = 2023
    year=2023, and region=North where the owner published the values of trades.region

A year may stand at both ends of one range. Anything else that could go with a value keeps it what it is: a part of the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from finexpert.errors import NotKept
from finexpert.knowledge.verified.matching import place_of
from finexpert.knowledge.verified.query import Variable, VariableKind
from finexpert.knowledge.verified.variables import stands_once, text_origins, with_values
from finexpert.knowledge.verified.words import ISO_DAY, YEAR, composed, tokens, wording
from finexpert.warehouse.schema import TableSchema

_MOST = 8
_QUARTER = re.compile(r"Q?[1-4]")
_FORMS: dict[VariableKind, str] = {"year": YEAR.pattern, "date": ISO_DAY.pattern, "number": r"\d+(?:\.\d+)?"}


def declared(question: str, select: str, dialect: str, given: Mapping[str, str]) -> list[Variable]:
    """Variables as a person declares them, by name; NotKept for a value that is not the question's."""
    said = tokens(question, wording(select, dialect).literal)
    variables = []
    for name, value in given.items():
        if not re.fullmatch(r"[A-Za-z]\w{0,30}", name) or not 0 < len(value) <= 120:
            raise NotKept(f"{name}={value!r} is no variable: write --variable year=2023, a name and its value")
        made = of_value(name, composed(value))
        place_of(question, said, made)
        variables.append(made)
    if len({variable.value for variable in variables}) != len(variables):
        raise NotKept("two variables have the same value: which part of the question is which cannot be told")
    return variables


def of_value(name: str, value: str) -> Variable:
    """A variable of the kind that its value has.

    >>> [of_value("a", each).kind for each in ("2023", "3", "Q3", "2023-05-03", "1,000", "twelve", "north")]
    ['year', 'quarter', 'quarter', 'date', 'number', 'number', 'text']
    """
    words = tokens(value)
    said = words[0].said if len(words) == 1 else ""
    if _QUARTER.fullmatch(value):
        return Variable(name=name, kind="quarter", value=f"Q{value[-1]}")
    for kind, form in _FORMS.items():
        if re.fullmatch(form, said):
            return Variable(name=name, kind=kind, value=said)
    return Variable(name=name, kind="text", value=value)


def found(question: str, select: str, dialect: str, tables: Sequence[TableSchema]) -> list[Variable]:
    """The variables of a question with its SELECT; none where together they are in doubt.

    >>> found("Top 5 fees in 2023", "SELECT fee FROM trades WHERE year(day) = 2023 ORDER BY fee LIMIT 5", "duckdb", [])
    [Variable(name='number', kind='number', value='5'), Variable(name='year', kind='year', value='2023')]
    """
    said = tokens(question, wording(select, dialect).literal)
    made: dict[str, Variable] = {}
    for variable in _candidates([token.said for token in said], select, dialect, tables):
        try:
            place_of(question, said, variable)
        except NotKept:
            continue
        if stands_once(variable, select, question, dialect, tables):
            name = variable.name if variable.name not in made else f"{variable.name}{len(made) + 1}"
            made[name] = variable.model_copy(update={"name": name})
    variables = list(made.values())
    try:
        with_values(select, question, dialect, tables, variables, {each.name: each.value for each in variables})
    except NotKept:
        return []
    return variables if len(variables) <= _MOST else []


def _candidates(words: Sequence[str], select: str, dialect: str, tables: Sequence[TableSchema]) -> Iterator[Variable]:
    """Years, quarters, days and numbers of the question, and published values that the SELECT compares."""
    for word in words:
        made = of_value("x", word)
        if word.isdigit() and made.kind != "year":
            # A 3 is no quarter unless somebody says so; "which one" names no number.
            made = Variable(name="x", kind="number" if int(word) > 1 else "text", value=word)
        if made.kind != "text":
            yield made.model_copy(update={"name": made.kind})
    for text, origin in text_origins(select, dialect, tables).values():
        if text in (origin.column.categories or ()):
            yield Variable(name=_name(origin.column.name), kind="text", value=text)


def _name(column: str) -> str:
    """A column's name as a variable's."""
    return column[:28] if column[:28].isidentifier() and column[0].isalpha() else "name"
