"""Reading several pages of filings at once: values with their quotes, formulas over them, statements, and the answer."""

from __future__ import annotations

from typing import Literal

import dspy
from pydantic import BaseModel, Field

from finexpert.signatures import rules

Kind = Literal["number", "text", "yes/no", "name", "list", "table"]


class QuotedNumber(BaseModel):
    """A number that a page prints."""

    name: str = Field(description="a short name, letters and _ and digits, such as revenue_2022")
    page: str = Field(description="P1, P2, ...")
    quote: str = Field(description="the row from its label to this number, or the words around it, exactly as printed")
    number: str = Field(description="the number alone as printed, such as 1,577 or 34.6% or (473)")


class ComputedValue(BaseModel):
    """A number that the program computes."""

    name: str = Field(description="a short name, letters and _ and digits")
    what: str = Field(description="what it is, such as operating margin 2022")
    formula: str = Field(description="over names of numbers and of computed values before it, such as (a - b) / b")
    unit: str = Field(description="%, USD millions, USD per share, times, days, ...; '' if it has none")
    decimals: int = Field(default=2, description="digits to be shown after the point")


class Said(BaseModel):
    """A claim that does not need arithmetic, with the words that it rests on."""

    name: str = Field(description="a short name, letters and _ and digits, such as driver_1")
    says: str
    page: str = Field(description="P1, P2, ...")
    quote: str = Field(description="words or cells exactly as printed on that page, one sentence or row at most")


class Sentence(BaseModel):
    """A sentence of the answer."""

    says: str = Field(description="the sentence, with {name} in place of each number and computed value")
    rests_on: list[str] = Field(description="names of the numbers, computed values and statements that bear it out")


class ReadPages(dspy.Signature):  # type: ignore[misc]
    """Answer an analyst's question from pages of filings, and from nothing else.

    Take every number that the answer needs into numbers, each with a quote that stands on its page word for word; never compute
    yourself: write a formula, and the program computes. Every claim of the answer is in numbers, computed or statements. In the
    answer write {name} in place of each of numbers and computed: the program puts it in, with its unit. Each sentence names what it
    rests on, and is dropped where that does not stand on its page. Look at the
    heading of a table for its unit, its scale and which column is which year, and take the years that the question asks for. A
    definition that the question gives goes before any other. An amount that a statement prints in brackets because it is
    paid (capital expenditure, dividends) is positive in the answer: give it without brackets. Where the question asks for a judgement,
    give it, with the numbers that it rests on; say so where a measure means nothing for such a company. Where the pages lack
    what the answer needs, answers is false.
    """

    pages: str = dspy.InputField(
        desc="pages of filings, each with its number, whose it is, and its tables as rows with | between cells"
    )
    measures: str = dspy.InputField(desc="measures that the question names, by formula", default=rules.NONE)
    operations: str = dspy.InputField(desc="what formulas may call besides + - * / ** and brackets")
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    conversation: str = dspy.InputField(desc="earlier turns and their answers", default=rules.NONE)
    answer_type: str = dspy.InputField(
        desc="the type that the answer must have, where one is given", default=rules.NONE
    )
    question: str = dspy.InputField()
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    numbers: list[QuotedNumber] = dspy.OutputField(desc="a value printed as 34.6% counts as 0.346 in formulas")
    computed: list[ComputedValue] = dspy.OutputField(
        desc="in order; a share, margin or growth rate is the plain quotient with the unit %: never multiply by 100"
    )
    statements: list[Said] = dspy.OutputField(desc="claims in words; [] if numbers and computed say all")
    kind: Kind = dspy.OutputField(desc="what is asked for; yes/no for a question that yes or no answers")
    result: str = dspy.OutputField(
        desc="of a number: the name of the number or computed value that is the answer; else empty"
    )
    listed: list[str] = dspy.OutputField(desc="of a list: its items, as the pages call them; else []")
    answer: list[Sentence] = dspy.OutputField(
        desc="one to four sentences; the first begins with the direct answer (number, yes or no, name), the others answer "
        "what else is asked; {name} for each number"
    )
    answers: bool = dspy.OutputField(desc="whether the pages hold all that the answer needs")
    missing: str = dspy.OutputField(desc="what they lack, in one sentence; empty if nothing")
    searches: list[str] = dspy.OutputField(
        desc="if something is missing: other phrases to search for, as filings print them; else []"
    )


class QuotedWords(BaseModel):
    """Words of a cell, with what they rest on."""

    name: str = Field(description="a short name, letters and _ and digits")
    says: str = Field(description="what stands in the cell, in one or two sentences")
    page: str = Field(description="P1, P2, ...")
    quote: str = Field(description="words or cells exactly as printed on that page, one sentence or row at most")


class ReadTable(dspy.Signature):  # type: ignore[misc]
    """Fill a table from pages of filings, and from nothing else.

    Take every number that the table needs into numbers, each with a quote that stands on its page word for word; never compute
    yourself: write a formula, and the program computes. In the rows write {name} of a number, of a computed value or of quoted words. Only
    years, days and names of companies are written as they are. Look at the heading of a table for its unit, its scale and which
    column is which year; the program brings numbers to the unit of their column. An amount that a statement prints in brackets because it
    is paid (capital expenditure, dividends) is positive: give it without brackets. Where the pages lack a cell, leave it empty and say
    what is missing; where they lack most of the table, answers is false.
    """

    pages: str = dspy.InputField(
        desc="pages of filings, each with its number, whose it is, and its tables as rows with | between cells"
    )
    measures: str = dspy.InputField(desc="measures that the question names, by formula", default=rules.NONE)
    operations: str = dspy.InputField(desc="what formulas may call besides + - * / ** and brackets")
    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    question: str = dspy.InputField()
    columns: str = dspy.InputField(desc="the columns of the table, in order, with kind and unit")
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    missing: str = dspy.OutputField(desc="what the pages lack, in one sentence; empty if nothing")
    numbers: list[QuotedNumber] = dspy.OutputField(desc="a value printed as 34.6% counts as 0.346 in formulas")
    computed: list[ComputedValue] = dspy.OutputField(desc="in order; [] if numbers say all")
    statements: list[QuotedWords] = dspy.OutputField(desc="of columns of text; [] if there are none")
    rows: list[list[str]] = dspy.OutputField(desc='rows of cells, such as [["2022", "{revenue_2022}"]]; "" for none')
    answers: bool = dspy.OutputField(desc="whether the pages hold the table")
    searches: list[str] = dspy.OutputField(
        desc="if something is missing: other phrases to search for, as filings print them; else []"
    )
