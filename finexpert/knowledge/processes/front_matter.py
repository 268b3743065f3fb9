"""The facts at the head of a process file, as short YAML.

    ---
    status: active
    note: "two\\nlines"
    aliases:
      - Determine recession periods
    ---

A value is written as it is where that is clear, else as JSON. Every value is a text, also `3` and `no`; one key, the last known, is a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import yaml

from finexpert.errors import ProcessFileError
from finexpert.knowledge.processes.markdown import Line, bad
from finexpert.storage import foreign_json, foreign_yaml
from finexpert.text.texts import unseen

_PLAIN = re.compile(r"(?![-?*&!|>%@:=`'\"\[\]{},#~])\S(?:[^\n\t\"#:]|:(?=\S))*(?<!\s)")


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
    # As many lines before it as in the file, so that an error names the file's own line.
    text = "\n" * lines[start].number + "\n".join(line.text for line in lines[start + 1 : end])
    try:
        node = foreign_yaml.document(text).node
    except foreign_yaml.YamlError as error:
        raise ProcessFileError(f"{where}, {error}") from error
    if not isinstance(node, yaml.MappingNode | None):
        raise bad(where, lines[start].number, "what stands between --- is no list of `name: value`")
    facts: dict[str, str | list[str]] = {}
    for key, value in node.value if node else ():
        name = _text(key, where)
        if name not in known:
            raise bad(where, key.start_mark.line + 1, f"{name!r} is not one of {', '.join(known)}")
        facts[name] = _texts(value, where) if name == known[-1] else _text(value, where)
    return {key: value for key, value in facts.items() if value}, lines[end + 1 :]


def _text(node: yaml.Node, where: str) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise bad(where, node.start_mark.line + 1, "is no text")
    return str(node.value)


def _texts(node: yaml.Node, where: str) -> list[str]:
    """`["a", "b"]`, items behind dashes, or `a, b`."""
    if isinstance(node, yaml.SequenceNode):
        return [_text(each, where) for each in node.value]
    return [item.strip() for item in _text(node, where).split(",") if item.strip()]
