"""Ask frames of pandas, and get the answer as a frame.

A scripted model stands in for yours, so that this runs without a key: leave `models` out to have your own asked.
"""

import pandas as pd

import finexpert
from finexpert.testing import LanguageModels, ScriptedModel, fields

trades = pd.DataFrame({"desk": ["rates", "credit", "rates", "fx"], "fee": [120.0, 80.0, 40.0, 15.5]})
select = "SELECT desk, sum(fee) AS fees FROM trades GROUP BY desk ORDER BY fees DESC"
selects = [{"df_name": "by_desk", "df_columns": ["desk", "fees"], "select_query": select}]
said = fields(interpretation="Fees by desk, most first.", selects=selects, code="", answer_kind="table", unit="")

settings = finexpert.Settings(memory=False)
with finexpert.Session({"trades": trades}, models=LanguageModels(ScriptedModel([said])), settings=settings) as session:
    answer = session.ask("What were the fees by desk?")
    print(answer.to_frame())
