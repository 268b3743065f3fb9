"""The filters of a measure of LookML, in Looker's filter expressions, as conditions in SQL.

    condition("status", "complete,shipped", "string")   ->   ${status} IN ('complete', 'shipped')
    condition("price", ">=100", "number")               ->   ${price} >= 100
    condition("is_returned", "No", "yesno")             ->   NOT COALESCE(${is_returned}, FALSE)

What has several readings raises NotTaken: patterns (%, _, ^), days and times, ranges, EMPTY, values that users give.
"""

from __future__ import annotations

import re

from finexpert.warehouse.semantic_model.importing.taken import NotTaken
from finexpert.warehouse.semantic_model.importing.views import Template

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_COMPARED = re.compile(rf"[<>]=?\s*{_NUMBER.pattern}")
_NULLS = {"null": " IS NULL", "-null": " IS NOT NULL", "not null": " IS NOT NULL"}


def condition(name: str, said: str, kind: str, *, is_case_sensitive: bool = True) -> Template:
    """One filter as a condition on a dimension of a kind.

    >>> condition("status", "-cancelled", "string").parts
    (('status',), " <> 'cancelled' OR ", ('status',), ' IS NULL')
    """
    path = tuple(name.split("."))
    shown = f'its filter {name}: "{said}"'
    if kind in ("string", "zipcode") and not is_case_sensitive:
        raise NotTaken(f"{shown} takes capitals for small letters (`case_sensitive: no`)")
    if kind in ("string", "zipcode", "number") and said.strip().lower() in _NULLS:
        return Template((path, _NULLS[said.strip().lower()]))
    if kind == "yesno" and said.strip().lower() in ("yes", "no"):
        is_yes = said.strip().lower() == "yes"
        return Template((path,)) if is_yes else Template(("NOT COALESCE(", path, ", FALSE)"))
    if kind == "number":
        return _number(path, said.strip(), shown)
    if kind in ("string", "zipcode"):
        return _text(path, said, shown)
    raise NotTaken(
        f"{shown} has more than one reading" if kind else f"{shown} is by a time, or by no dimension of its own view"
    )


def _number(path: tuple[str, ...], said: str, shown: str) -> Template:
    values = [each.strip() for each in said.split(",")]
    if all(map(_NUMBER.fullmatch, values)):
        return Template((path, f" IN ({', '.join(values)})"))
    if _COMPARED.fullmatch(said):
        return Template((path, f" {said}"))
    raise NotTaken(f"{shown} has more than one reading")


def _text(path: tuple[str, ...], said: str, shown: str) -> Template:
    values = [each.strip() for each in said.split(",")]
    others = [each.startswith("-") for each in values]
    plain = [each.removeprefix("-") for each in values]
    if (
        any(others) != all(others)
        or re.search(r"[%_^\"{}\\]", said)
        or any(not each or each.startswith("-") or each.lower() in ("empty", "null") for each in plain)
    ):
        raise NotTaken(f"{shown} has more than one reading")
    texts = ["'" + each.replace("'", "''") + "'" for each in plain]
    if any(others):
        operator = f" <> {texts[0]}" if len(texts) == 1 else f" NOT IN ({', '.join(texts)})"
        return Template((path, f"{operator} OR ", path, " IS NULL"))
    return Template((path, f" = {texts[0]}" if len(texts) == 1 else f" IN ({', '.join(texts)})"))
