"""Templates to HTML. Everything that is put in is text: it is escaped, and characters that nobody sees are written out.

    environment(folder).get_template("home.html").render(...)

Cells, names, questions and pages of filings are not trusted. Only what the program makes itself is `Markup`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from finexpert.text.texts import visible


def environment(folder: Path) -> Environment:
    """The templates of a folder; a name that one uses and is not given is an error."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_as_text,
    )


def _as_text(value: Any) -> Any:
    """What is put into a page, with unseen characters written out.

    >>> _as_text("a\\u202eb"), _as_text("two\\nlines")
    ('a\\\\u202eb', 'two\\nlines')
    """
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
