"""The semantic model of a warehouse of company facts, written beside it: what tables and columns mean, keys, dates and metrics.

MEASURE(net_margin) over annual   =   sum of net_income / sum of revenue, of the years in which both are known
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from finexpert.datasets.edgar.measures import BEFORE, Line, Ratio, compared, lines, ratios
from finexpert.warehouse.semantic_model.document import (
    AIContext,
    Dataset,
    Expression,
    FieldModel,
    Metric,
    Relationship,
    SemanticModel,
    Written,
    extension,
)

PERIODS = ("FY", "Q1", "Q2", "Q3", "Q4", "6M", "9M")
_QUARTERS = ("Q1", "Q2", "Q3", "Q4")
_UNITS = {"money": "in the company's currency", "per share": "currency a share", "shares": "shares"}

_TICKER = {"ticker": "symbol of the company"}
_PERIOD = {
    "period_start": "first day of the period; NULL for a balance at period_end",
    "period_end": "last day of the period, or the day of the balance",
    "fiscal_year": "the company's own fiscal year that the period lies in; NULL where it fits none",
}
_NAMED = {
    "fiscal_period": "FY a year, Q1 to Q4 a quarter, 6M and 9M since the start of the year; NULL for any other length; "
    "of a balance the quarter that it ends, FY at the end of the year"
}
_FILED = {
    "filed": "day on which the filing became known",
    "form": "10-K, 10-Q, 20-F, ...; /A an amendment",
    "accession": "number of the filing, see filing.page",
}
_KNOWN = {"known_since": "day on which this value was filed first", "filed": "day of the filing that gives it last"}
_DERIVED = {
    "derived": "TRUE where no filing gives the quarter: a figure since the start of the year less the one before"
}
_ADDITIVE = "TRUE for flows of money, whose quarters add up to the year"
_VALUE = {"value": "in the unit beside it, as a whole number of units: never in thousands or millions"}

# Table: what it is, its columns, its key.
_TABLES: Mapping[str, tuple[str, Mapping[str, str], tuple[str, ...]]] = {
    "annual": (
        "Statements by fiscal year: one row a company and fiscal year, each value as filed last; NULL: not filed as a known concept",
        _TICKER | {"currency": "currency of all amounts of the row", "fiscal_year": "the company's own fiscal year",
                   "period_end": "last day of the fiscal year", "filed": "day on which the row's last value was filed"},
        ("ticker", "fiscal_year"),
    ),
    "quarterly": (
        "Statements by fiscal quarter: flows of the quarter alone, balances at its end; NULL where a quarter is not known. For a year ask annual; a sum of four quarters needs count(column) = 4",
        _TICKER | {"currency": "currency of all amounts of the row", "fiscal_year": "the company's own fiscal year",
                   "fiscal_quarter": "1 to 4", "period_end": "last day of the quarter",
                   "derived": "TRUE where some value is a difference of figures since the start of the year",
                   "filed": "day on which the row's last value was filed"},
        ("ticker", "fiscal_year", "fiscal_quarter"),
    ),
    "figure": (
        "The values of annual and quarterly one by one, with the filing that each comes from",
        _TICKER | {"line": "name of a column of annual, such as revenue", "unit": "USD, USD/shares or shares",
                   "concept": "the concept that the company filed"} | _PERIOD | _VALUE | _DERIVED | _FILED | _KNOWN
        | {"fiscal_period": "FY or Q1 to Q4"},
        ("ticker", "line", "fiscal_year", "fiscal_period"),
    ),
    "fact_known": (
        "Every tagged figure, as filed last: for what annual has no column. Choose concept, unit and fiscal_period",
        _TICKER | {"unit": "USD, USD/shares, shares, pure, ...", "restated": "TRUE where filings gave several values",
                   "sequence": "order of the company's filings", "additive": _ADDITIVE,
                   "first_basis": "basis of the first filing with this value, see fact.basis",
                   "last_basis": "basis of the last filing with this value"} | _PERIOD | _NAMED | _VALUE | _FILED | _KNOWN,
        ("ticker", "concept", "unit", "period_start", "period_end"),
    ),
    "fact_quarter": (
        "Every tagged flow by fiscal quarter, filed or derived",
        _TICKER | {"unit": "USD, USD/shares, shares, pure, ...", "sequence": "order of the company's filings"} | _PERIOD | _VALUE | _DERIVED | _FILED | _KNOWN
        | {"fiscal_period": "Q1 to Q4"},
        ("ticker", "concept", "unit", "fiscal_year", "fiscal_period"),
    ),
    "fact": (
        "All facts as filed, one row a filing: the same figure stands in several rows. Ask it only for what was restated, else fact_known",
        _TICKER | {"restates": "TRUE where it changes a value that was filed before",
                   "basis": "how many filings so far changed an earlier value of the concept",
                   "sequence": "order of the company's filings", "additive": _ADDITIVE} | _PERIOD | _NAMED | _VALUE | _FILED,
        (),
    ),
    "company": (
        "Companies",
        _TICKER | {"name": "name of the company", "cik": "number at the SEC", "currency": "currency that it reports in",
                   "fiscal_year_end": "month and day on which its last fiscal year ended, MM-DD"},
        ("ticker",),
    ),
    "concept": ("Concepts with the words of their taxonomy", {"concept": "such as us-gaap:Assets"}, ("concept",)),
    "line_concept": ("Which concepts stand for a line, in the order in which they are tried", {}, ("line", "place")),
    "filing": (
        "Filings",
        _TICKER | _FILED | {"page": "address of the filing's page",
                            "filing_fiscal_year": "fiscal year of the report, not of each figure in it",
                            "filing_fiscal_period": "fiscal period of the report, not of each figure in it"},
        ("accession", "ticker"),
    ),
    "fiscal_calendar": ("Days of fiscal years and of their parts", _TICKER | _PERIOD | _NAMED, ()),
}  # fmt: skip
_OF_COMPANIES = ("annual", "quarterly")
_MOST_NAMED = 60
_TIMELESS = ("company", "concept", "line_concept")
_PUBLISHED: Mapping[str, Mapping[str, Sequence[str]]] = {
    "figure": {"fiscal_period": ("FY", *_QUARTERS)},
    "fact_known": {"fiscal_period": PERIODS},
    "fact_quarter": {"fiscal_period": _QUARTERS},
}
# Each table by the tables that its columns refer to.
_KEYS = {
    "company": ("annual", "quarterly", "figure", "fact_known", "fact_quarter", "fact", "filing", "fiscal_calendar"),
    "concept": ("figure", "fact_known", "fact_quarter", "fact"),
}
_COLUMN = {"company": "ticker", "concept": "concept"}


def semantic_model(companies: Mapping[str, str]) -> SemanticModel:
    """The model of the facts of companies, by symbol with their names: these are public, and who plans has to know of whom there are facts."""
    told = ", ".join(f"{_plain(name)} ({ticker})" for ticker, name in list(companies.items())[:_MOST_NAMED])
    more = f" and {len(companies) - _MOST_NAMED} more" if len(companies) > _MOST_NAMED else ""
    return SemanticModel(
        name="company_facts",
        description="Tagged figures of companies' filings with the SEC",
        datasets=[
            _dataset(name, f"; of {told}{more}" if name in _OF_COMPANIES else "", _published(name, companies))
            for name in _TABLES
        ],
        relationships=[
            Relationship.model_validate(
                {"name": f"{table}_{other}", "from": table, "to": other}
                | {"from_columns": [_COLUMN[other]], "to_columns": [_COLUMN[other]]}
            )
            for other, tables in _KEYS.items()
            for table in tables
        ],
        metrics=[_metric(name, ratio) for name, ratio in ratios().items()],
    )


def _plain(name: str) -> str:
    """A name in letters and a few signs: it stands in a file from elsewhere, and comes into prompts."""
    return " ".join(re.findall(r"[\w.,&'/-]+", name))[:60]


def _published(table: str, companies: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
    """The values of a table's columns that models may see: symbols and names are public, and a search in filings has to name a company."""
    names = sorted(name for name in companies.values() if name == _plain(name))
    public = {"ticker": sorted(companies), "name": names}
    named = {"company": public, **{name: {"ticker": public["ticker"]} for name in _OF_COMPANIES}}
    return {**_PUBLISHED.get(table, {}), **named.get(table, {})}


def _dataset(name: str, more: str, published: Mapping[str, Sequence[str]]) -> Dataset:
    description, columns, key = _TABLES[name]
    fields = [_field(column, words, published) for column, words in columns.items()]
    if name in _OF_COMPANIES:
        fields += [_line(column, line) for column, line in lines().items()]
    if name == "annual":
        fields += [_field(f"{line}{BEFORE}", f"{line} of the fiscal year before", published) for line in compared()]
    return Dataset(
        name=name,
        source=name,
        description=description + more,
        primary_key=list(key),
        fields=fields,
        custom_extensions=[extension({"date_column": None if name in _TIMELESS else "filed"})],
    )


def _field(column: str, words: str, published: Mapping[str, Sequence[str]]) -> FieldModel:
    values = published.get(column)
    return FieldModel(
        name=column, description=words, custom_extensions=[extension({"values": list(values)})] if values else []
    )


def _line(name: str, line: Line) -> FieldModel:
    words = line.description if line.unit == "money" else f"{line.description}; {_UNITS[line.unit]}"
    return FieldModel(name=name, description=words, ai_context=AIContext(synonyms=list(line.also)))


def _metric(name: str, ratio: Ratio) -> Metric:
    words = f"({ratio.of}) / ({ratio.by})" if ratio.by else ratio.of
    return Metric(
        name=name,
        description=f"{words}, of fiscal years in which all of it is known; group by company and year",
        ai_context=AIContext(synonyms=list(ratio.also)),
        expression=Expression(dialects=[Written(expression=expression(ratio))]),
    )


def expression(ratio: Ratio) -> str:
    """The SQL of a ratio over `annual`: rows in which a part of it is missing count neither above nor below the line.

    >>> print(expression(ratios()["net_margin"]))
    sum(CASE WHEN annual.revenue IS NOT NULL THEN annual.net_income END) / nullif(sum(CASE WHEN annual.net_income IS NOT NULL THEN annual.revenue END), 0)
    """
    of = _qualified(ratio.of)
    if ratio.by is None:
        return f"sum({of})"
    by = _qualified(ratio.by)
    return f"sum(CASE WHEN {by} IS NOT NULL THEN {of} END) / nullif(sum(CASE WHEN {of} IS NOT NULL THEN {by} END), 0)"


def _qualified(formula: str) -> str:
    names = {*lines(), *(f"{name}{BEFORE}" for name in lines())}
    return re.sub(r"[a-z_]+", lambda word: f"annual.{word[0]}" if word[0] in names else word[0], formula)
