"""Filings as people have them: whose they are, their pages as printed, ranking, measures, and proof of what a model says."""
