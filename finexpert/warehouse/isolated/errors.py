"""What a failed SELECT is told, without any value of any row.

    SELECT CAST(cpi_index AS INT) FROM cpi  ->  a value of cpi_index could not be converted to INT32: use TRY_CAST, or another column

DuckDB's own words are kept only for failures while planning, when it has read no row yet, and even those are scrubbed. For a
failure while running, where its message may quote a cell, the sentence is ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from finexpert.text.scrubbing import scrub
from finexpert.warehouse.suggestions import rephrase

CONVERSION = re.compile(r"to (?P<type>[A-Z][A-Z0-9_]*)(?: when casting from source column (?P<column>\w+))?\s*(?:\n|$)")
RUN_FAILURES = (
    ("Out of Range Error", "a value is out of the range of its type: cast to DOUBLE before computing"),
    ("Out of Memory Error", "it needs more memory than it may use: filter or aggregate earlier"),
    (
        "Invalid Input Error",
        "a function does not accept a value that it was given: filter such rows out, or use TRY(...)",
    ),
    ("Binder Error", "its parts do not fit together: write it in plainer SQL"),
)
BROKEN = (
    "it broke the database's process, or needs more memory than it may use: filter or aggregate earlier, in plainer SQL"
)
_TOO_LONG = "it took longer than"
QUOTED = re.compile(r"""["'](?P<text>[^"']+)["']""")
NOISE = re.compile(r"\n\s*(?:LINE \d|Candidate (?:functions|macros|bindings))")
DID_YOU_MEAN = re.compile(r'Did you mean "(?P<name>\w+)"')


def plan_failure(
    error: BaseException, select: str, used: Sequence[str], columns: Mapping[str, Sequence[str]], card: str
) -> str:
    """The sentence for a SELECT that DuckDB could not plan: an unknown column, a wrong type, a missing GROUP BY."""
    sentence = rephrase(str(error), select, used, columns)
    if sentence is not None:
        return sentence
    message = " ".join(NOISE.split(str(error), maxsplit=1)[0].split())
    hint = DID_YOU_MEAN.search(message)
    message = message.removeprefix("Binder Error: ").removeprefix("Catalog Error: ")
    return scrub(message, [select, card, hint["name"] if hint else ""])


def took_too_long(seconds: float) -> str:
    """The sentence for a SELECT that passed its time limit."""
    return f"{_TOO_LONG} {seconds:g} s: narrow it by dates, or aggregate before joining"


def ended_early(said: str) -> bool:
    """Whether a SELECT failed because it had too little time or memory; of another process there are its words alone.

    >>> ended_early(took_too_long(3)), ended_early(BROKEN), ended_early("there is no column x")
    (True, True, False)
    """
    return said.startswith((_TOO_LONG, dict(RUN_FAILURES)["Out of Memory Error"], BROKEN))


def run_failure(error: BaseException, select: str, seconds: float) -> str:
    """The sentence for a SELECT that failed while it ran.

    >>> run_failure(OSError("INTERRUPT Error: Interrupted!"), "SELECT 1", 10.0)
    'it took longer than 10 s: narrow it by dates, or aggregate before joining'
    >>> error = ValueError("Conversion Error: Could not convert string 'x' to INT32 when casting from source column y")
    >>> run_failure(error, "SELECT CAST(y AS INT) FROM t", 10.0)
    'a value of y could not be converted to INT32: use TRY_CAST, or another column'
    """
    message = str(error)
    if "INTERRUPT" in message or "Interrupted" in message:
        return took_too_long(seconds)
    if "bad allocation" in message or "bad_alloc" in message or "maximum total string size" in message:
        return dict(RUN_FAILURES)["Out of Memory Error"]
    if message.startswith("Conversion Error"):
        return _conversion_failure(message, select)
    for prefix, sentence in RUN_FAILURES:
        if message.startswith(prefix):
            return sentence
    kind = message.partition(":")[0] if message.partition(":")[0].endswith(" Error") else type(error).__name__
    return f"it failed while running ({kind}): write it in plainer SQL"


def _conversion_failure(message: str, select: str) -> str:
    """A text that the SELECT itself spells out is named; the text of a cell is not."""
    quoted = QUOTED.search(message)
    match = CONVERSION.search(message)
    kind = f" to {match['type']}" if match else ""
    if quoted and f"'{quoted['text']}'" in select:
        return f"the text '{quoted['text']}' could not be converted{kind}: write a value of the right type"
    place = f" of {match['column']}" if match and match["column"] else ""
    return f"a value{place} could not be converted{kind}: use TRY_CAST, or another column"
