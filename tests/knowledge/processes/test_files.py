"""Process files: written and read without loss, read as people write them, refused with file and line."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from finexpert.core.answers import AnswerFormat
from finexpert.errors import ProcessFileError
from finexpert.knowledge.process import Process, ProcessStep, TaughtCase, Variable
from finexpert.knowledge.processes.files import from_markdown, to_markdown
from finexpert.text.look_alikes import look_alike
from finexpert.text.terms import normalise
from finexpert.text.texts import unseen

# Everything that means something in the files, whatever it stands next to.
_SIGNS = [
    *list("`|-#*\\:'\"[]{}<>~ \n\t1.)é年"),
    "```",
    "~~~",
    "````sql",
    "```\n",
    "\n```\n",
    "\\`",
    "\n---\n",
    "\n# a",
    "\n## Steps\n",
    "\n1. ",
    "\n- ",
    "\n\\",
    "- example: x",
    "\n  - example: x",
    "\n    ",
    "Expected:",
    "\nAnswer format:\n",
    "a: b",
    "null",
    "\r\n",
]
_texts = st.lists(st.sampled_from(_SIGNS), max_size=12).map("".join) | st.text(max_size=40)


def _seen(text: str) -> str:
    return "".join(char for char in text.replace("\r\n", "\n") if unseen(char) is None)


def _name(text: str) -> str:
    line = " ".join(
        "".join(char for char in _seen(text) if unseen(char, allowed=" ") is None or char in "\n\t").split()
    )
    name = line if normalise(line) else f"{line} x"
    return name if look_alike(name) is None else "mixed"


blocks = _texts.map(_seen)
names = _texts.map(_name)
full = blocks.map(lambda text: text if text.strip() else "x")
chunks = st.none() | blocks
steps = st.builds(ProcessStep, text=full, sql=chunks, code=chunks) | st.builds(
    ProcessStep, text=full, sql=full, name=st.from_regex(r"[a-z][a-z0-9_]{0,62}", fullmatch=True)
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
formats = st.builds(
    AnswerFormat,
    kind=st.sampled_from(["number", "list", "table"]),
    unit=st.none() | st.text(max_size=5),
    decimals=st.none() | st.integers(0, 12),
    description=st.none() | _texts,
)
cases = st.builds(
    TaughtCase, question=full, as_of=st.dates(), answer_format=formats, expected=json_values, source=blocks
)
processes = st.builds(
    Process,
    heading=names,
    aliases=st.lists(names, max_size=3),
    variables=st.lists(st.builds(Variable, name=names, meaning=blocks, example=blocks), max_size=3),
    steps=st.lists(steps, min_size=1, max_size=11, unique_by=lambda step: step.name or id(step)),
    status=st.sampled_from(["draft", "active", "retired"]),
    taught_by=blocks,
    taught_at=st.none() | st.datetimes(min_value=dt.datetime(1990, 1, 1)),
    conversation=blocks,
    case=st.none() | cases,
    note=blocks,
    version=st.integers(0, 10**6),
    id=st.text("abc-_019", max_size=12),
)


@settings(max_examples=100, deadline=None)
@given(processes)
@example(Process(heading=_name("g\u0434p"), steps=[ProcessStep(text="x")]))
def test_a_file_loses_nothing(process: Process) -> None:
    written = to_markdown(process)
    assert from_markdown(written) == process
    assert from_markdown(written.replace("\n", "\r\n")) == process
    assert to_markdown(from_markdown(written)) == written


FULL = Process(
    heading="Recession Calculation",
    aliases=["Determine recession periods", "GDP: slumps"],
    variables=[
        Variable(name="start_date", meaning="first quarter looked at", example="2000-01-01"),
        Variable(name="country", meaning="whose output\nand whose prices"),
    ],
    steps=[
        ProcessStep(
            text="Get quarterly real GDP from <start_date>.", sql="SELECT date, gdpc1\nFROM gdp", name="quarters"
        ),
        ProcessStep(
            text="Count declines:\nback to 0 when GDP rises.", code="n = 0\n\nfor q in gdp:\n    # count\n    n += 1"
        ),
    ],
    status="active",
    taught_by="anna",
    taught_at=dt.datetime(2024, 9, 30, 8, 0, tzinfo=dt.UTC),
    conversation="c-17",
    case=TaughtCase(
        question="When did recessions start since 2000?",
        as_of=dt.date(2024, 9, 30),
        answer_format=AnswerFormat(kind="list", items="date"),
        expected=["2008-07-01", "2020-01-01"],
        source="f00d",
    ),
    version=3,
    id="5f0c",
)

WRITTEN = """\
---
id: 5f0c
status: active
version: 3
taught_by: anna
taught_at: 2024-09-30T08:00:00+00:00
conversation: c-17
aliases:
  - Determine recession periods
  - "GDP: slumps"
---

# Recession Calculation

## Variables

- start_date: first quarter looked at
  - example: 2000-01-01
- country: whose output
  and whose prices

## Steps

1. Get quarterly real GDP from <start_date>.

   ```sql quarters
   SELECT date, gdpc1
   FROM gdp
   ```

2. Count declines:
   back to 0 when GDP rises.

   ```python
   n = 0

   for q in gdp:
       # count
       n += 1
   ```

## Taught case

- question: When did recessions start since 2000?
- as_of: 2024-09-30
- source: f00d

Answer format:

```json
{"kind": "list", "items": "date"}
```

Expected:

```json
["2008-07-01", "2020-01-01"]
```
"""


def test_a_file_reads_like_a_page() -> None:
    assert to_markdown(FULL) == WRITTEN


# What people do to a file, and what it then says.
BY_HAND = {
    "nothing but heading and steps": ("# Slump\n## Steps\n1. Get it.\n", {"heading": "Slump"}),
    "other spacing": ("\n\n#   Slump  \n\n\n##  steps\n\n 1)   Get it.  \n\n\n", {"heading": "Slump"}),
    "no margin": (
        "# Slump\n## Steps\n1. Get it.\n```sql\nSELECT 1\n```\n2. Count.\n```py\n# not a title\n1. x\n```\n",
        {
            "steps": [
                {"text": "Get it.", "sql": "SELECT 1"},
                {"text": "Count.", "code": "# not a title\n1. x"},
            ]
        },
    ),
    "a wide margin": (
        "# Slump\n## Steps\n1.    Count:\n      from 0\n   ```python\n   if x:\n       y\n   ```\n",
        {"steps": [{"text": "Count:\nfrom 0", "code": "if x:\n    y"}]},
    ),
    "text goes on without a margin": (
        "# Slump\n## Steps\n1. Get it\nfrom gdp.\n",
        {"steps": [{"text": "Get it\nfrom gdp."}]},
    ),
    "numbers that do not count": (
        "# Slump\n## Steps\n1. a\n1. b\n",
        {"steps": [{"text": t} for t in "ab"]},
    ),
    "tildes": (
        "# Slump\n## Steps\n1. a\n   ~~~~sql\n   SELECT '```'\n   ~~~~\n",
        {"steps": [{"text": "a", "sql": "SELECT '```'"}]},
    ),
    "aliases on a line": (
        "---\naliases: dip, downturn\n---\n# Slump\n## Steps\n1. a\n",
        {"aliases": ["dip", "downturn"]},
    ),
    "aliases as JSON": ('---\naliases: ["a, b"]\n---\n# Slump\n## Steps\n1. a\n', {"aliases": ["a, b"]}),
    "aliases without quotes, and texts that are no texts in YAML": (
        "---\naliases: [no, 2024]\nnote: 12:30\n---\n# Slump\n## Steps\n1. a\n",
        {"aliases": ["no", "2024"], "note": "12:30"},
    ),
    "facts in other order": (
        "---\nnote: 'x'\n\nstatus: retired\n---\n# Slump\n## Steps\n1. a\n",
        {"note": "x", "status": "retired"},
    ),
    "a variable in code letters": (
        "# Slump\n## Variables\n* `start` : first month\n## Steps\n1. a\n",
        {"variables": [{"name": "start", "meaning": "first month", "example": ""}]},
    ),
    "an empty section": ("# Slump\n## Variables\n\n## Steps\n1. a\n", {"variables": []}),
    "a byte order mark and CRLF": ("\ufeff# Slump\r\n## Steps\r\n1. a\r\n", {"heading": "Slump"}),
}


@pytest.mark.parametrize(("text", "said"), BY_HAND.values(), ids=BY_HAND)
def test_hand_edits_are_read(text: str, said: dict[str, Any]) -> None:
    process = json.loads(from_markdown(text).model_dump_json(exclude_none=True))
    assert {key: process[key] for key in said} == said


STEPS = "## Steps\n1. Get it.\n"
WRONG = {
    "empty": ("", 1, "no title"),
    "no steps": ("\n# Slump\n", 2, "## Steps"),
    "steps without a step": ("# Slump\n## Steps\n\n", 1, "## Steps"),
    "a step without a number": ("# Slump\n## Steps\nGet it.\n", 3, "begins with its number"),
    "a step without text": ("# Slump\n## Steps\n1. \n   ```sql\n   SELECT 1\n   ```\n", 3, "text: is empty"),
    "two titles": (f"# Slump\n# Dip\n{STEPS}", 2, "second title"),
    "unknown section": (f"# Slump\n## Step\n1. a\n{STEPS}", 2, "'Step' is not one of Variables, Steps, Taught case"),
    "section twice": (f"# Slump\n{STEPS}{STEPS}", 4, "twice"),
    "unknown fact": (f"---\nstate: active\n---\n# Slump\n{STEPS}", 2, "'state' is not one of"),
    "facts without end": (f"---\nstatus: active\n# Slump\n{STEPS}", 1, "do not end"),
    "unknown status": (f"---\nstatus: live\n---\n# Slump\n{STEPS}", 4, "status: Input should be"),
    "a version that is no number": (f"---\nversion: two\n---\n# Slump\n{STEPS}", 4, "version"),
    "quotes that stay open": (f'---\nnote: "x\n---\n# Slump\n{STEPS}', 2, "quoted scalar"),
    "aliases that stay open": (f'---\naliases: ["a", b\n---\n# Slump\n{STEPS}', 3, "expected ',' or ']'"),
    "aliases of lists": (f"---\naliases:\n  - a\n  - [b]\n---\n# Slump\n{STEPS}", 4, "is no text"),
    "a fact that is a list": (f"---\nnote:\n  - a\n---\n# Slump\n{STEPS}", 3, "is no text"),
    "facts that are none": (f"---\n- a\n---\n# Slump\n{STEPS}", 1, "`name: value`"),
    "a fact that stands twice": (f"---\nnote: a\nnote: b\n---\n# Slump\n{STEPS}", 3, "stands twice"),
    "aliases of aliases": (f"---\naliases: &a [*a]\n---\n# Slump\n{STEPS}", 2, "stands in what it names"),
    "text outside": (f"# Slump\nhello\n{STEPS}", 2, "outside"),
    "an open chunk": ("# Slump\n## Steps\n1. a\n   ```sql\n   SELECT 1\n", 4, "not closed"),
    "an unknown language": ("# Slump\n## Steps\n1. a\n   ```bash\n   ls\n   ```\n", 4, "not ```bash"),
    "two SELECTs": (
        "# Slump\n## Steps\n1. a\n   ```sql\n   SELECT 1\n   ```\n   ```sql\n   SELECT 2\n   ```\n",
        7,
        "second ```sql",
    ),
    "a name that is none": (
        "# Slump\n## Steps\n1. a\n   ```sql Rungs\n   SELECT 1\n   ```\n",
        3,
        "name: String should match",
    ),
    "a script with a name": (
        "# Slump\n## Steps\n1. a\n   ```python rungs\n   x = 1\n   ```\n",
        4,
        "only a SELECT has a name",
    ),
    "two SELECTs of one name": (
        "# Slump\n## Steps\n1. a\n   ```sql a\n   SELECT 1\n   ```\n2. b\n   ```sql a\n   SELECT 2\n   ```\n",
        1,
        "two steps have the name a",
    ),
    "a variable without a dash": (f"# Slump\n## Variables\nstart: x\n{STEPS}", 3, "- name: meaning"),
    "a variable without a name": (f"# Slump\n## Variables\n- : x\n{STEPS}", 3, "name: is empty"),
    "a case without expected": (
        f"# Slump\n{STEPS}## Taught case\n- question: q\n- as_of: 2024-01-01\n",
        5,
        "two ```json",
    ),
    "a case with an unknown key": (f"# Slump\n{STEPS}## Taught case\n- asof: 2024-01-01\n", 5, "'asof'"),
    "an expected that is no JSON": (
        f"# Slump\n{STEPS}## Taught case\nAnswer format:\n```json\n{{}}\n```\nExpected:\n```json\n[1,\n 2\n```\n",
        12,
        "not JSON",
    ),
    "a heading that steers a terminal": (f"# Slump \x1b[31m\n{STEPS}", 1, "U+001B"),
    "a heading that runs backwards": (f"# Slump \u202eyad\n{STEPS}", 1, "RIGHT-TO-LEFT OVERRIDE"),
    "a hidden instruction": ("# Slump\n## Steps\n1. Get it.\U000e0041\n", 3, "U+E0041"),
}


@pytest.mark.parametrize(("text", "line", "words"), WRONG.values(), ids=WRONG)
def test_a_wrong_place_is_named(text: str, line: int, words: str) -> None:
    with pytest.raises(ProcessFileError) as error:
        from_markdown(text, "slump.md")
    assert str(error.value).startswith(f"slump.md, line {line}: ")
    assert words in str(error.value)


@settings(max_examples=100, deadline=None)
@given(_texts, st.integers(0, 40), st.integers(0, 40))
def test_any_text_is_read_or_refused(text: str, start: int, length: int) -> None:
    """Something put into a file, or cut out of it, gives a process or an error of ours."""
    at = min(start * 17, len(WRITTEN))
    spoilt = WRITTEN[:at] + text + WRITTEN[at + length :]
    try:
        process = from_markdown(spoilt)
    except ProcessFileError:
        return
    assert from_markdown(to_markdown(process)) == process
