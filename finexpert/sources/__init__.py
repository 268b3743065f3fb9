"""What questions are asked of: a warehouse, a filing, a library of filings."""
