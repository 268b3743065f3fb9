"""Files of filings as pages of a library: HTML, PDF, plain text, transcripts, and records of pages.

    reading.files.read_file(Path("aapl-20241228.htm"), Given())  ->  a filing: what it says of itself, and its pages

Each reader gives blocks, which are paragraphs and tables, page by page; `blocks` makes the library's pages of them, and
`cover` finds company, form and period. HTML and PDF need the extra `library` (`pip install 'finexpert[library]'`).
"""

AGAIN = "`finexpert library add PATH` again; what was added stays"
