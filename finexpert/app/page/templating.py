"""The templates of the page, with the functions that they use; what is put in is text, see `finexpert.core.display.templates`.

render("home.html", ...)
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from finexpert.app.page.sql_layout import laid_out
from finexpert.core.display.cells import lines as visible_lines
from finexpert.core.display.templates import environment
from finexpert.core.notes import SHOWN, may_change
from finexpert.text.texts import visible

HERE = Path(__file__).resolve().parent
STATIC = HERE / "static"


def render(template: str, **given: Any) -> str:
    """A template as HTML; a name that it uses and is not given is an error."""
    return _environment().get_template(template).render(**given)


def static(name: str) -> str:
    """The address of a file of the page, with a part of its hash, so that a new version is fetched."""
    return f"/static/{name}?v={_hash(name)}"


@cache
def _hash(name: str) -> str:
    if name.startswith("js/"):
        # Modules import each other by plain names, so one stamp stands for all of them.
        content = b"".join(path.read_bytes() for path in sorted((STATIC / "js").glob("*.js")))
    else:
        content = (STATIC / name).read_bytes()
    return hashlib.sha256(content).hexdigest()[:12]


@cache
def _environment() -> Environment:
    made = environment(HERE / "templates")
    made.globals.update(
        static=static, python=python, laid_out=laid_out, since=_since, notes_shown=SHOWN, may_change=may_change
    )
    made.filters["said"] = said
    return made


def _since(moment: dt.datetime) -> str:
    """The seconds from a moment until now."""
    return f"{max(0.0, (dt.datetime.now(dt.UTC) - moment).total_seconds()):.1f}"


def said(text: str) -> Markup:
    """A message of the program as a sentence: it begins with a capital, and what stands between backticks is code.

    >>> said("nothing was evaluated yet: `finexpert eval`"), said("trades.day ends on 2024-06-16"), said("")
    (Markup('Nothing was evaluated yet: <code>finexpert eval</code>'), Markup('trades.day ends on 2024-06-16'), Markup(''))
    """
    text = visible_lines(text)
    first = text.split(maxsplit=1)[:1]
    if first and not any(mark in first[0] for mark in "._`'("):
        text = text[:1].upper() + text[1:]
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts)
    )


def python(code: str) -> Markup:
    """A script with its words coloured.

    >>> python("x = 1 < 2")
    Markup('x = <span class="m">1</span> &lt; <span class="m">2</span>')
    """
    return Markup("").join(_coloured(visible(code)))


def _coloured(code: str) -> Iterator[Markup]:
    from pygments.lexers.python import PythonLexer
    from pygments.token import Comment, Keyword, Number, Operator, String

    kinds = ((Comment, "c"), (String, "s"), (Number, "m"), (Keyword, "k"), (Operator.Word, "k"))
    for token, part in PythonLexer(ensurenl=False, stripnl=False).get_tokens(code):
        name = next((name for kind, name in kinds if token in kind), "")
        yield Markup('<span class="{}">{}</span>').format(name, part) if name else escape(part)
