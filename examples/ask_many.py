"""Ask a table of questions side by side; every row gets its answer, its cost and the id of its record.

Runs without a key over the made-up sample economy, from recorded completions. One question is not recorded: its row says why.
"""

import datetime as dt

import pandas as pd

import finexpert
from finexpert.datasets.fred.database import open_data

questions = pd.DataFrame(
    {
        "desk": ["macro", "macro"],
        "question": [
            "How many recessions have there been in the last 30 years?",
            "How many recessions will there be?",
        ],
    }
)
settings = finexpert.Settings(lm="recorded", as_of=dt.date(2024, 9, 30))
answers = finexpert.ask_all(open_data(), questions, settings=settings)
print(answers[["question", "status", "text", "reason", "record"]].to_string(index=False))
