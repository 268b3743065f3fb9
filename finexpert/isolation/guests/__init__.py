"""Processes that are shut in and read what a stranger wrote: databases, data files, filings."""
