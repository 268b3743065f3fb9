"""YAML that somebody else wrote: bounded in size, depth and what its aliases stand for, and wrong with a line.

    parse("a: &a [1, 2]\\nb: *a")                {'a': [1, 2], 'b': [1, 2]}
    parse("country: NO")                        {'country': 'NO'}
    parse("a: &a [*a]")                         raises YamlError: line 1: the alias *a stands in what it names
    read(Path("trades.model.yaml")).content     the same of a file

Nine lines of aliases of aliases stand for a billion nodes, and a name that stands twice is read over by YAML's own reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import yaml

from finexpert.storage import foreign_files

MOST_BYTES = 8 << 20
MOST_NODES = 250_000  # aliases and merges count with all that they stand for
MOST_DEPTH = 100
_LONGEST_VALUE = 200  # of a number or a day; a number in base 60 costs the square of its length
_MERGE = "<<"
_TAG = "tag:yaml.org,2002:"
_KINDS = {"map": "mapping", "seq": "list", "str": "text", "int": "whole number", "float": "number", "bool": "yes or no",
          "null": "empty value", "timestamp": "day or time"}  # fmt: skip
_PLAIN = {
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "float": (r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
              "-+.0123456789"),
    "int": (r"[-+]?(?:0|[1-9][0-9_]*)", "-+0123456789"),
}  # fmt: skip
_Fast: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlError(ValueError):
    """What keeps a text from being read; it begins with the line where one is known."""


@dataclass(frozen=True)
class Document:
    """What a text holds, and the nodes that tell on which line; `node` is None in an empty text."""

    content: Any
    node: yaml.Node | None


class _Loader(_Fast):  # type: ignore[misc]
    """PyYAML's safe loader, which says the line of a value that is none of its kind.

    It reads NO, 12:30 and 007 as the texts that they are, as YAML 1.2 does; PyYAML makes False, 750 and 7 of them.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {
        first: [(tag, pattern) for tag, pattern in kinds if tag.removeprefix(_TAG) not in _PLAIN]
        for first, kinds in _Fast.yaml_implicit_resolvers.items()
    }

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if isinstance(node, yaml.ScalarNode) and node.tag != f"{_TAG}str" and len(node.value) > _LONGEST_VALUE:
            raise YamlError(
                f"{_line(node.start_mark)}a value of {len(node.value):,} characters is no number and no day"
            )
        try:
            return super().construct_object(node, deep)
        except (ValueError, ArithmeticError, LookupError, AttributeError, TypeError) as error:
            if isinstance(error, YamlError):
                raise
            value = repr(node.value) if isinstance(node, yaml.ScalarNode) else "it"
            raise YamlError(f"{_line(node.start_mark)}{value} is no {_KINDS[node.tag.removeprefix(_TAG)]}") from None


for _kind, (_pattern, _first) in _PLAIN.items():
    _Loader.add_implicit_resolver(f"{_TAG}{_kind}", re.compile(f"(?:{_pattern})$"), list(_first))
# As values, `<<` and `=` are texts; as a key `<<` merges, which is done before anything is made.
for _kind in ("merge", "value"):
    _Loader.add_constructor(f"{_TAG}{_kind}", yaml.SafeLoader.construct_yaml_str)


def read(path: Path) -> Document:
    """The YAML of a file; YamlError where it cannot be read."""
    try:
        with open(path, "rb", opener=foreign_files.regular) as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise YamlError(error.strerror or str(error)) from None
    if len(content) > MOST_BYTES:
        raise YamlError(f"it is longer than {MOST_BYTES >> 20} MB: split it")
    try:
        return document(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise YamlError(f"it is not text in UTF-8 (byte {error.start})") from None


def parse(text: str) -> Any:
    """What a YAML text holds; YamlError says on which line it is none, or more than is read.

    >>> parse("rates: {fee: 0.5, fee: 0.7}")
    Traceback (most recent call last):
    finexpert.storage.foreign_yaml.YamlError: line 1: 'fee' stands twice
    """
    return document(text).content


def document(text: str) -> Document:
    """What a YAML text holds, with its nodes; raises as `parse` does."""
    try:
        _check(text)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            return Document(None if node is None else loader.construct_document(node), node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        said = (
            ", ".join(filter(None, (getattr(error, "context", None), getattr(error, "problem", None))))
            or str(error).splitlines()[0]
        )
        raise YamlError(f"{_line(mark)}{said}") from None


class _Size(NamedTuple):
    """How many nodes something stands for, and how deep they are nested."""

    nodes: int = 1
    depth: int = 1


@dataclass
class _Open:
    """A list or mapping that has begun: its anchor, what it holds so far, the names that stood in it."""

    anchor: str | None
    is_mapping: bool
    size: _Size = field(default_factory=_Size)
    parts: int = 0
    names: set[str] = field(default_factory=set)

    def take(self, part: _Size) -> None:
        self.size = _Size(self.size.nodes + part.nodes, max(self.size.depth, part.depth + 1))


def _check(text: str) -> None:
    """YamlError for a text that stands for too much; nothing is built yet."""
    known: dict[str, _Size] = {}
    inside: list[_Open] = []
    total = 0
    for event in yaml.parse(text, Loader=_Fast):
        if isinstance(event, yaml.CollectionEndEvent):
            ended = inside.pop()
            _ended(ended.anchor, ended.size, known, inside)
        elif isinstance(event, yaml.NodeEvent):
            line = _line(event.start_mark)
            _check_tag(event, line)
            if inside:
                _check_name(event, inside[-1], line)
            size = _Size()
            if isinstance(event, yaml.AliasEvent):
                if any(each.anchor == event.anchor for each in inside):
                    raise YamlError(f"{line}the alias *{event.anchor} stands in what it names")
                size = known.get(str(event.anchor), size)  # one that names nothing is told when the nodes are built
            if len(inside) + size.depth > MOST_DEPTH:
                raise YamlError(f"{line}it is nested deeper than {MOST_DEPTH}, aliases written out")
            total += size.nodes
            if total > MOST_NODES:
                raise YamlError(f"{line}it stands for more than {MOST_NODES:,} values, aliases written out: split it")
            if isinstance(event, yaml.CollectionStartEvent):
                inside.append(_Open(event.anchor, isinstance(event, yaml.MappingStartEvent)))
            else:
                _ended(event.anchor if isinstance(event, yaml.ScalarEvent) else None, size, known, inside)


def _check_tag(event: yaml.NodeEvent, line: str) -> None:
    """YamlError for a kind of value that JSON does not have: sets, bytes, objects of a language."""
    tag = getattr(event, "tag", None)
    if tag not in (None, "!") and tag.removeprefix(_TAG) not in _KINDS:
        raise YamlError(f"{line}the tag {tag!r} is not read")


def _check_name(event: yaml.NodeEvent, within: _Open, line: str) -> None:
    """YamlError for a name that stood in its mapping before."""
    is_name = within.is_mapping and within.parts % 2 == 0
    within.parts += 1
    if is_name and isinstance(event, yaml.ScalarEvent) and event.value != _MERGE:
        if event.value in within.names:
            raise YamlError(f"{line}{event.value!r} stands twice")
        within.names.add(event.value)


def _ended(anchor: str | None, size: _Size, known: dict[str, _Size], inside: list[_Open]) -> None:
    if anchor is not None:
        known[anchor] = size
    if inside:
        inside[-1].take(size)


def _line(mark: Any) -> str:
    return "" if mark is None else f"line {mark.line + 1}: "
