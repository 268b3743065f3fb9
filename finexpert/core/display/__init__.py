"""How an answer is shown outside of the terminal: HTML for a notebook, Markdown for a chat, CSV and Excel files, a chart.

    answer.to_frame()                # the rows of the answer, or its value, as a DataFrame
    answer.to_excel("fees.xlsx")
    answer.figure.save("chart.png")

Nothing here asks a model or reads data, and whatever comes from a cell, a file or a model is escaped.
"""
