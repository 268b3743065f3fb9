"""The views over the facts, as SQL: what was known, quarters, lines of statements, a row a year and a row a quarter.

    fact_known      the value that was filed last, of each figure
    fact_quarter    quarters, as they were filed or as the difference of two figures since the start of the year
    figure          lines of the statements by fiscal year and quarter, each with its filing
    annual          a row a company and fiscal year, a column a line
    quarterly       a row a company and fiscal quarter, a column a line

No view is computed when the file is built. With `--as-of` the table of facts ends at that day, and so does all that is made of it: the
value filed last is then the one filed last before that day.
"""

from __future__ import annotations

from finexpert.datasets.edgar.measures import BEFORE, compared, lines, parts
from finexpert.warehouse.local.building import StoredView

_OF_A_VALUE = """
    SELECT ticker, concept, unit, period_start, period_end, value, min(filed) AS known_since, max(filed) AS filed,
        arg_max(form, sequence) AS form, arg_max(accession, sequence) AS accession, max(sequence) AS sequence,
        min(basis) AS first_basis, max(basis) AS last_basis, any_value(fiscal_year) AS fiscal_year,
        any_value(fiscal_period) AS fiscal_period, any_value(additive) AS additive
    FROM fact GROUP BY ticker, concept, unit, period_start, period_end, value"""

_KNOWN = f"""
SELECT ticker, concept, unit, period_start, period_end, fiscal_year, fiscal_period, value,
    values_filed > 1 AS restated, known_since, filed, form, accession, sequence, first_basis, last_basis, additive
FROM (
    SELECT *, row_number() OVER figures AS place, count(*) OVER (PARTITION BY ticker, concept, unit, period_start, period_end) AS values_filed
    FROM ({_OF_A_VALUE}
    ) AS each_value
    WINDOW figures AS (PARTITION BY ticker, concept, unit, period_start, period_end ORDER BY sequence DESC)
) AS placed
WHERE place = 1"""

# A year less its first nine months is the fourth quarter only if both start on one day, and are stated on one basis.
_DERIVED = """
    SELECT whole.ticker, whole.concept, whole.unit, part.period_end + 1 AS period_start, whole.period_end, whole.fiscal_year,
        CASE whole.fiscal_period WHEN '6M' THEN 'Q2' WHEN '9M' THEN 'Q3' ELSE 'Q4' END AS fiscal_period,
        whole.value - part.value AS value, TRUE AS derived, greatest(whole.known_since, part.known_since) AS known_since,
        greatest(whole.filed, part.filed) AS filed, whole.form, whole.accession, greatest(whole.sequence, part.sequence) AS sequence
    FROM fact_known AS whole
    JOIN fact_known AS part ON part.ticker = whole.ticker AND part.concept = whole.concept AND part.unit = whole.unit
        AND part.period_start = whole.period_start AND part.fiscal_year = whole.fiscal_year
        AND part.fiscal_period = CASE whole.fiscal_period WHEN '6M' THEN 'Q1' WHEN '9M' THEN '6M' WHEN 'FY' THEN '9M' END
        AND part.first_basis <= whole.last_basis AND whole.first_basis <= part.last_basis
    WHERE whole.additive AND part.additive"""

_QUARTER = f"""
SELECT ticker, concept, unit, period_start, period_end, fiscal_year, fiscal_period, value, derived, known_since, filed, form, accession, sequence
FROM (
    SELECT *, row_number() OVER (PARTITION BY ticker, concept, unit, fiscal_year, fiscal_period ORDER BY derived, sequence DESC) AS place
    FROM (
        SELECT ticker, concept, unit, period_start, period_end, fiscal_year, fiscal_period, value, FALSE AS derived, known_since, filed,
            form, accession, sequence
        FROM fact_known WHERE period_start IS NOT NULL AND fiscal_period IN ('Q1', 'Q2', 'Q3', 'Q4')
        UNION ALL {_DERIVED}
    ) AS both_kinds
) AS placed
WHERE place = 1"""

_COLUMNS = "ticker, concept, unit, period_start, period_end, fiscal_year, fiscal_period, value"
_FILED = "known_since, filed, form, accession, sequence"
# A part is the whole where nothing else of the line was filed.
_PARTS = ", ".join(map(str, parts()))
_FIGURE = f"""
SELECT ticker, line, fiscal_year, fiscal_period, period_start, period_end, value, unit, concept, derived, known_since, filed, form, accession
FROM (
    SELECT told.*, line_concept.line, row_number() OVER (
        PARTITION BY told.ticker, line_concept.line, told.fiscal_year, told.fiscal_period
        ORDER BY line_concept.place, told.sequence DESC, told.period_end DESC) AS best
    FROM (
        SELECT {_COLUMNS}, FALSE AS derived, {_FILED} FROM fact_known WHERE fiscal_period = 'FY'
        UNION ALL
        SELECT {_COLUMNS}, derived, {_FILED} FROM fact_quarter
        UNION ALL
        SELECT ticker, concept, unit, period_start, period_end, fiscal_year,
            CASE fiscal_period WHEN 'FY' THEN 'Q4' ELSE fiscal_period END AS fiscal_period, value, FALSE AS derived, {_FILED}
        FROM fact_known WHERE period_start IS NULL AND fiscal_period IS NOT NULL
    ) AS told
    JOIN line_concept ON line_concept.concept = told.concept
    JOIN company ON company.ticker = told.ticker
    WHERE told.unit = CASE line_concept.unit
        WHEN 'money' THEN company.currency WHEN 'per share' THEN company.currency || '/shares' ELSE 'shares' END
        AND NOT EXISTS (
            SELECT 1 FROM (VALUES {_PARTS}) AS part(concept, beside)
            JOIN fact_known AS other ON other.concept = part.beside
            WHERE part.concept = told.concept AND other.ticker = told.ticker AND other.period_end = told.period_end
                AND other.period_start IS NULL AND other.value <> 0)
) AS ranked
WHERE best = 1"""


def _columns() -> str:
    return ", ".join(f"max(CASE WHEN line = '{name}' THEN value END) AS {name}" for name in lines())


def _annual() -> str:
    before = ", ".join(f"before.{name} AS {name}{BEFORE}" for name in compared())
    return f"""
WITH each_year AS (
    SELECT ticker, fiscal_year, max(period_end) AS period_end, {_columns()}, max(filed) AS filed
    FROM figure WHERE fiscal_period = 'FY' GROUP BY ticker, fiscal_year
)
SELECT this.ticker, company.currency, this.* EXCLUDE (ticker, filed), {before},
    greatest(this.filed, coalesce(before.filed, this.filed)) AS filed
FROM each_year AS this JOIN company ON company.ticker = this.ticker
LEFT JOIN each_year AS before ON before.ticker = this.ticker AND before.fiscal_year = this.fiscal_year - 1"""


def _quarterly() -> str:
    return f"""
SELECT each_quarter.ticker, company.currency, each_quarter.* EXCLUDE (ticker)
FROM (
    SELECT ticker, fiscal_year, CAST(right(fiscal_period, 1) AS INTEGER) AS fiscal_quarter, max(period_end) AS period_end,
        bool_or(derived) AS derived, {_columns()}, max(filed) AS filed
    FROM figure WHERE fiscal_period <> 'FY' GROUP BY ticker, fiscal_year, fiscal_period
) AS each_quarter JOIN company ON company.ticker = each_quarter.ticker"""


def views() -> list[StoredView]:
    """The views in the order in which they are made of each other."""
    return [
        StoredView("fact_known", _KNOWN, "Facts as they were filed last: one row a figure", "filed"),
        StoredView(
            "fact_quarter", _QUARTER, "Any concept by fiscal quarter, filed or derived from year to date", "filed"
        ),
        StoredView("figure", _FIGURE, "Lines of the statements by fiscal year (FY) and quarter, with filing", "filed"),
        StoredView("annual", _annual(), "Lines of the statements, one row a company and fiscal year", "filed"),
        StoredView("quarterly", _quarterly(), "Lines of the statements, one row a company and fiscal quarter", "filed"),
    ]
