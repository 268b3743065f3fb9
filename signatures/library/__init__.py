"""A library of filings: what to search for, and what the pages found say."""
