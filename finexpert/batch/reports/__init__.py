"""A saved list of questions with parameters, asked again and again: one HTML file and one workbook a run."""
