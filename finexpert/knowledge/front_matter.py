"""The facts at the head of a process file, as short YAML that is read without a reader of YAML in general.

    ---
    status: active
    note: "two\\nlines"
    aliases:
      - Determine recession periods
    ---

A value stands as it is where that is clear, else as JSON. Every value is a text; one key, the last known, is a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from finexpert.knowledge.markdown import Line, bad
from finexpert.storage import foreign_json
from finexpert.text.texts import unseen

_PLAIN = re.compile(r"(?![-?*&!|>%@`'\"\[\]{},#~])\S(?:[^\n\t\"#:]|:(?=\S))*(?<!\s)")


def scalar(value: str) -> str:
    """A value on one line: as it is where that is clear, else as JSON. Both are YAML.

    >>> scalar("2000-01-01"), scalar("two\\nlines"), scalar("- dash")
    ('2000-01-01', '"two\\\\nlines"', '"- dash"')
    """
    return value if _PLAIN.fullmatch(value) and unseen(value) is None else json.dumps(value, ensure_ascii=False)


def read_scalar(text: str, where: str, number: int) -> str:
    text = text.strip()
    if not text.startswith('"'):
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text
    try:
        return str(foreign_json.parse(text))
    except json.JSONDecodeError as error:
        raise bad(where, number, f"the text in quotes is not closed or goes on after them: {error.msg}") from error


def front_matter(facts: Mapping[str, str | Sequence[str]]) -> list[str]:
    """Lines between `---`; what is empty is left out.

    >>> front_matter({"status": "draft", "note": "", "aliases": ["Slump"]})
    ['---', 'status: draft', 'aliases:', '  - Slump', '---']
    """
    lines = ["---"]
    for key, value in facts.items():
        if isinstance(value, str):
            lines += [f"{key}: {scalar(value)}"] if value else []
        elif value:
            lines += [f"{key}:", *(f"  - {scalar(one)}" for one in value)]
    return [*lines, "---"]


def read_front_matter(
    lines: list[Line], known: Sequence[str], where: str
) -> tuple[dict[str, str | list[str]], list[Line]]:
    """What stands between the first two `---`, and the lines after; the last of `known` is a list."""
    start = next((index for index, line in enumerate(lines) if line.text.strip()), len(lines))
    if start == len(lines) or lines[start].text.rstrip() != "---":
        return {}, lines
    end = next((i for i in range(start + 1, len(lines)) if lines[i].text.rstrip() == "---"), None)
    if end is None:
        raise bad(where, lines[start].number, "the facts that begin with --- do not end with ---")
    facts: dict[str, str | list[str]] = {}
    for line in lines[start + 1 : end]:
        if not line.text.strip():
            continue
        key, colon, rest = line.text.partition(":")
        items = facts.get(known[-1])
        if re.match(r"\s*-\s", line.text) and isinstance(items, list):
            items.append(read_scalar(line.text.strip()[1:], where, line.number))
        elif not colon or key.strip() not in known:
            raise bad(where, line.number, f"{key.strip()!r} is not one of {', '.join(known)}")
        elif key.strip() == known[-1]:
            facts[key.strip()] = _inline_list(rest, where, line.number)
        else:
            facts[key.strip()] = read_scalar(rest, where, line.number)
    return {key: value for key, value in facts.items() if value}, lines[end + 1 :]


def _inline_list(text: str, where: str, number: int) -> list[str]:
    """`["a", "b"]`, `[a, b]` or `a, b`."""
    text = text.strip()
    if text.startswith("[") and '"' in text:
        try:
            return [str(item) for item in foreign_json.parse(text)]
        except json.JSONDecodeError as error:
            raise bad(where, number, f"the list is not JSON: {error.msg}") from error
    return [item.strip() for item in text.strip("[]").split(",") if item.strip()]
