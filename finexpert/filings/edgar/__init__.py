"""EDGAR, the SEC's archive of filings: who is listed there, what a company filed, and how its server is asked."""
