"""Ask a page of a filing question after question; each answer cites the cell or the sentence that it rests on.

Runs without a key on a sample page, from recorded completions. For your own filings as PDF or HTML see `finexpert library add`.
"""

import finexpert
from finexpert.datasets.convfinqa import conversations

page = conversations.load()[0]
settings = finexpert.Settings(lm="recorded", memory=False)
with finexpert.Session(page.filing, settings=settings) as session:
    for turn in page.turns:
        answer = session.ask(turn.question)
        print(turn.question, "->", answer.text, [citation.place for citation in answer.citations])
