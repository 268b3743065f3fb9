"""What a stage of a question is called where a person waits for it, at every door.

>>> from finexpert.core.progress import Event
>>> words(Event("planning", "started")), words(Event("reading", "started", note="pages are searched"))
('Planning', 'Searching filings')
>>> words(Event("extracting", "started", note="1 SELECT")), words(Event("extracting", "started", note="3 SELECTs"))
('Running the SELECT', 'Running 3 SELECTs')
"""

from __future__ import annotations

from finexpert.core.progress import Event, Stage

_WORDS: dict[Stage, str] = {
    "understanding": "Understanding the question",
    "recalling": "Recalling what was taught",
    "planning": "Planning",
    "extracting": "Running the SELECT",
    "scripting": "Running the script",
    "reading": "Reading filings",
    "checking": "Checking",
    "answering": "Putting the answer together",
}
_NOTED = {
    "pages are searched": "Searching filings",
    "the parts meet": "Bringing the parts together",
    "1 SELECT": "Running the SELECT",
    "a model looks at the SELECT": "Having the SELECT looked at",
    "a model looks at the script": "Having the script looked at",
}


def words(event: Event) -> str:
    """What the program does now; an event that ended is called as the one that started it."""
    if event.note in _NOTED:
        return _NOTED[event.note]
    if event.stage == "extracting" and event.note.endswith(" SELECTs"):
        return f"Running {event.note}"
    return f"{_WORDS[event.stage]} ({event.note})" if event.note else _WORDS[event.stage]


def duration(seconds: float) -> str:
    """
    >>> duration(2.54), duration(125.4), duration(0.001)
    ('2.5 s', '2 min 5 s', '0.0 s')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
