"""YAML of somebody else at each of its doors: what stands for too much is refused at once, with file and line; ordinary files are read."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from finexpert.batch.reports import reading
from finexpert.errors import FinexpertError
from finexpert.knowledge.verified.files import rows_of
from finexpert.storage import foreign_yaml
from finexpert.warehouse.semantic_model import document
from finexpert.warehouse.semantic_model.importing.documents import find


def chained(first: str, line: str, letters: str = "abcdefghij") -> str:
    """A line for each letter, which names the one before nine times."""
    named = [(after, ", ".join([f"*{before}"] * 9)) for before, after in pairwise(letters)]
    return first + "".join(line.format(name=name, before=before) for name, before in named)


HOSTILE = {
    "laughs in lists": (chained("a: &a [x, x]\n", "{name}: &{name} [{before}]\n"), "line 7: it stands for more than"),
    "laughs in mappings": (chained("a: &a {k: 1}\n", "{name}: &{name} {{p: [{before}]}}\n"), "it stands for more than"),
    "laughs by merges": (chained("a: &a {k: 1}\n", "{name}: &{name} {{<<: [{before}], {name}: 1}}\n"), "it stands for more than"),
    "laughs in one line": ("[" + chained("&a [x, x]", ", &{name} [{before}]") + "]", "line 1: it stands for more than"),
    "laughs of texts": (chained("a: &a x\n", "{name}: &{name} [{before}]\n"), "it stands for more than"),
    "laughs in names": (chained("a: &a [x, x]\n", "? &{name} [{before}]\n: 1\n"), "it stands for more than"),
    "an alias in itself": ("a: &a [*a]", "line 1: the alias *a stands in what it names"),
    "an alias in itself, deeper": ("a: 1\nb: &b {c: [{d: *b}]}", "line 2: the alias *b stands in what it names"),
    "an alias of nothing": ("a: 1\nb: *c", "line 2: found undefined alias"),
    "a chain of aliases": ("a0: &a0 [x]\n" + "".join(f"a{i + 1}: &a{i + 1} [*a{i}]\n" for i in range(200)), "nested deeper than"),
    "a chain of merges": ("a0: &a0 {k: 1}\n" + "".join(f"a{i + 1}: &a{i + 1} {{<<: *a{i}}}\n" for i in range(200)), "nested deeper than"),
    "deep lists": ("[" * 100_000, "line 1: it is nested deeper than"),
    "deep mappings": ("{a: " * 100_000, "line 1: it is nested deeper than"),
    "deep dashes": ("- " * 100_000, "line 1: it is nested deeper than"),
    "deep lines": ("\n".join(" " * i + "a:" for i in range(2_000)), "it is nested deeper than"),
    "many values": ("[" + "a," * 300_000 + "]", "it stands for more than"),
    "long": ("#" * (foreign_yaml.MOST_BYTES + 1), "it is longer than 8 MB"),
    "a long number": ("a: 1\nb: " + "9" * 10_000, "line 2: a value of 10,000 characters"),
    "an object": ("!!python/object/apply:os.system [ls]", "line 1: the tag"),
    "bytes": ("a: !!binary //8=", "line 1: the tag"),
    "a set": ("a: !!set {x, y}", "line 1: the tag"),
    "no day": ("a: 1\nb: 2024-13-45", "line 2: '2024-13-45' is no day or time"),
    "no day by its tag": ("b: !!timestamp x", "line 1: 'x' is no day or time"),
    "no number": ("a: !!int x", "line 1: 'x' is no whole number"),
    "no truth": ("a: !!bool x", "line 1: 'x' is no yes or no"),
    "a name twice": ("a: 1\nb: 2\na: 3", "line 3: 'a' stands twice"),
    "a name that is a list": ("? [a]\n: 1", "line 1: while constructing a mapping, found unhashable key"),
    "two documents": ("a: 1\n---\nb: 2", "but found another document"),
    "a control character": ("a: \x00", "control characters are not allowed"),
    "a tab": ("a: 1\n\tb: 2", "line 2: while scanning"),
}  # fmt: skip
DOORS: dict[str, Callable[[Path], object]] = {
    "semantic model": document.load,
    "dbt and Cube": find,
    "verified queries": lambda path: list(rows_of(path)),
    "report": reading.read,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", HOSTILE)
def test_what_stands_for_too_much_is_refused_with_its_line(name: str, door: str, tmp_path: Path) -> None:
    text, said = HOSTILE[name]
    file = tmp_path / "given.yaml"
    file.write_text(text)
    began = time.monotonic()
    with pytest.raises(FinexpertError) as refused:
        DOORS[door](file)
    assert (said in str(refused.value), str(file) in str(refused.value)) == (True, True), refused.value
    assert len(str(refused.value)) < 500
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("place", ["folder", "missing", "no text"])
def test_what_is_no_file_is_refused(door: str, place: str, tmp_path: Path) -> None:
    file = tmp_path / "given.yaml"
    if place == "folder" and door != "dbt and Cube":
        file.mkdir()
    if place == "no text":
        file.write_bytes(b"a: \xff\xfe")
    with pytest.raises(FinexpertError, match=r"given\.yaml"):
        DOORS[door](file)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("", None),
        ("\ufeffa: 1", {"a": 1}),
        ("d: &d {a: 1, b: 2}\ne: {<<: *d, b: 3}", {"d": {"a": 1, "b": 2}, "e": {"a": 1, "b": 3}}),
        ("a: &a {x: 1}\nb: {<<: [*a, {y: 2}]}", {"a": {"x": 1}, "b": {"x": 1, "y": 2}}),
        ("[NO, yes, on, 12:30, 007, 1_000, -5, .5, 1.5e3]", ["NO", "yes", "on", "12:30", "007", 1000, -5, 0.5, 1500.0]),
        ("note: <<\nsign: =", {"note": "<<", "sign": "="}),
        ("[true, False, null, ~, 0, '1', !!str 2]", [True, False, None, None, 0, "1", "2"]),
        ("".join(f"k{i}: v\n" for i in range(1_000)), {f"k{i}": "v" for i in range(1_000)}),
    ],
)
def test_ordinary_yaml_is_read(text: str, content: object) -> None:
    assert foreign_yaml.parse(text) == content
