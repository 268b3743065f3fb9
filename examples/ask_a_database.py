"""Ask a database, see the SELECT, and compute the same answer again without a model.

Runs without a key: the sample economy is made up, and its completions are recorded. For your own database give its address in
place of `open_data()`, as in `finexpert.Session("trades.duckdb")`, and leave `lm` out to have your model found.
"""

import datetime as dt

import finexpert
from finexpert.answers.replaying import replay
from finexpert.datasets.fred.database import open_data

settings = finexpert.Settings(lm="recorded", as_of=dt.date(2024, 9, 30))
with finexpert.Session(open_data(), settings=settings) as session:
    answer = session.ask("How many recessions have there been in the last 30 years?")
    print(answer.text)
    print(answer.explanation)
    print(answer.record.frames[0].select)
    again = replay(answer.record, session.source, session.sandbox)
    print("the same again:", again.same)
