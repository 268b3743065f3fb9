"""Wording that several signatures share: what a SELECT and a script must keep to.

Kept in one place so that a draft inside a plan, a SELECT on its own and a repaired one follow the same rules.
"""

SCHEMA = "tables and columns with types, units and frequency; nothing else exists"
DIALECT = "the SQL that the database speaks"
TODAY = "the day that counts as today; the data end there"
KNOWLEDGE = "definitions, meanings of words and processes that hold here; follow them to the letter"
FILLED = "definitions that hold here, and questions that were answered right, with their SELECTs"
KNOWN_HERE = (
    "definitions and processes of this house that the question may mean, numbered; many have nothing to do with it"
)
FOLLOWS = "the numbers of what is known here that the question means and that is followed to the letter; [] if none is"
CONVERSATION = "earlier turns and the frames already at hand"
FEEDBACK = "your last attempt and why it failed; repair it"

NONE = "(none)"

_SELECT = (
    "in the database's own SQL: joins, filters, groups, windows and the last aggregation are done in it, for a table may hold "
    "hundreds of millions of rows. Write days out, as DATE '2020-01-31', never current_date. Texts that the schema does not list are unknown: "
    "compare with the few spellings and codes that are likeliest, as in upper(status) IN ('FILLED', 'FILL', 'EXECUTED', 'DONE'); one of them has to match. Do not round"
)
SELECT = f"one SELECT that returns exactly the columns in df_columns, {_SELECT}"
ONE_SELECT = f"one SELECT that returns exactly these columns, {_SELECT}"
ANSWER_SELECT = (
    "one SELECT that returns the answer and nothing else: one row of one column, for a list one row an item; in the database's own SQL; "
    "not rounded; days as DATE '2020-01-31', never current_date"
)

SCRIPT = (
    "Python, no fences. The frames are loaded already, as pandas DataFrames under their names; date columns are "
    "datetime64; pd, np, plt and dt (the datetime module) are there too; for statistical tests and models import scipy or sklearn. "
    "No SQL, no files, no network, no print. "
    "End by setting `answer` to a value of the answer's type, not rounded and not formatted, and `period` to the "
    "(first date, last date) of the data that it rests on. Draw with plt only when the question asks for a chart"
)

# Both may be missing from a completion where the answer's type is given anyway.
ANSWER_KIND = "number, integer, date, year, boolean, text, list or table"
UNIT = "unit of the answer, such as percent or billion USD; empty if it has none"
UNCLEAR = (
    "terms of the question, as it writes them, with commas between, that an able analyst from outside could not compute without being told this "
    "house's own definition: an own measure, period, rule, group or nickname that neither the schema nor knowledge nor conversation nor "
    "the question itself explains. Empty for ordinary words and for standard terms of finance, economics and statistics. Plan all the same, on the likeliest meaning"
)
MISSING = "what the question needs and these tables do not hold, in one sentence; empty where they can answer it"
