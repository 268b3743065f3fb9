"""A library of filings: adding files, keeping pages, the index over them."""
