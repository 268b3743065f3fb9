"""Wording that several signatures share: what a SELECT and a script must keep to.

Kept in one place so that a draft inside a plan, a SELECT on its own and a repaired one follow the same rules.
"""

SCHEMA = "tables and columns with types, units and frequency; nothing else exists"
TODAY = "the day that counts as today; the data end there"
KNOWLEDGE = "definitions, meanings of words and processes that hold here; follow them to the letter"
CONVERSATION = "earlier turns and the frames already at hand"
FEEDBACK = "your last attempt and why it failed; repair it"

NONE = "(none)"

_ROWS = (
    "plain rows, filtered and ordered by date; days as DATE '2020-01-31', never current_date; "
    "leave arithmetic, resampling and joins across frequencies to the script"
)
SELECT = f"one DuckDB SELECT that returns exactly the columns in df_columns: {_ROWS}"
ONE_SELECT = f"one DuckDB SELECT that returns exactly these columns: {_ROWS}"
ANSWER_SELECT = (
    "one DuckDB SELECT that returns the answer and nothing else: one row of one column, for a list one row an item; "
    "not rounded; days as DATE '2020-01-31', never current_date"
)

SCRIPT = (
    "Python, no fences. The frames are loaded already, as pandas DataFrames under their names; date columns are "
    "datetime64; pd, np, plt and dt (the datetime module) are there too. No SQL, no files, no network, no print. "
    "End by setting `answer` to a value of the answer's type, not rounded and not formatted, and `period` to the "
    "(first date, last date) of the data that it rests on. Draw with plt only when the question asks for a chart"
)

# Both may be missing from a completion where the answer's type is given anyway.
ANSWER_KIND = "number, integer, date, year, boolean, text, list or table"
UNIT = "unit of the answer, such as percent or billion USD; empty if it has none"
