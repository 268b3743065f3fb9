"""A question with a word that only this desk knows is asked back; what it means is said once, and kept for everybody.

A scripted model stands in for yours, so that this runs without a key: leave `models` out to have your own asked. What is kept
lies in FINEXPERT_HOME, and is forgotten at the end of this example.
"""

import pandas as pd

import finexpert
from finexpert.testing import LanguageModels, ScriptedModel, fields

QUESTION = "How many heavy weeks were there?"
SELECTS = [{"df_name": "n", "df_columns": [], "select_query": "SELECT count(*) AS n FROM weeks WHERE tonnes > 90"}]
planned = {"interpretation": "Weeks above 90 tonnes.", "code": "", "answer_kind": "integer", "unit": "weeks"}
model = ScriptedModel(
    [
        fields(**planned, unclear="heavy weeks", selects=SELECTS),
        fields(**planned, follows=[1], unclear="", selects=SELECTS),
    ]
)
weeks = pd.DataFrame({"week": [1, 2, 3, 4], "tonnes": [95.0, 80.5, 91.0, 60.0]})
with finexpert.Session({"weeks": weeks}, models=LanguageModels(model)) as session:
    asked = session.ask(QUESTION, clarify=True)
    print(asked.clarification.question)
    session.explain(asked.clarification, "a week of more than 90 tonnes")
    answer = session.ask(QUESTION, clarify=True)
    print(answer.text, answer.meanings)
    session.forget("heavy weeks")
