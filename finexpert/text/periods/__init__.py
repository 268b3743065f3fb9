"""Time in a question: years, quarters and days."""
