"""The attacks and the ordinary analyses, read from the text files beside this one.

    ## network

    ### connect over TCP [no control] ~ PermissionError
    import socket
    answer = str(socket.create_connection(('127.0.0.1', {port}), 2))

A group, the name of a case, its marks, what its outcome must say, and its code. Nothing is run here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["scripts", "analyses", "statements"]
_SECTION = re.compile(r"^(?P<marks>##|###) (?P<title>.*)\n(?P<body>(?:(?!##).*\n?)*)", re.MULTILINE)
_TITLE = re.compile(r"^(?P<name>[^~\[]*?)\s*(?P<marks>(?:\[[\w -]+\]\s*)*)(?:~\s*(?P<expected>.*))?$")
_PLACE = re.compile(r"\{([a-z]+)\}")


@dataclass(frozen=True)
class Case:
    """One attack or analysis: `expected` is searched in its outcome, `code` has places such as {out} to fill in."""

    group: str
    name: str
    marks: frozenset[str]
    expected: str
    code: str

    def filled(self, places: Mapping[str, object]) -> str:
        """The code with what it aims at; braces that are no known place stay as they are.

        >>> Case("", "", frozenset(), "", "open('{out}'); x = {'a': {}}").filled({"out": "/tmp/x"})
        "open('/tmp/x'); x = {'a': {}}"
        """
        return _PLACE.sub(lambda found: str(places.get(found[1], found[0])), self.code)


def parse(text: str) -> list[Case]:
    """The cases of a file's text.

    >>> [case] = parse("## network\\n\\n### reach out [x86_64] ~ PermissionError\\nanswer = 1\\n")
    >>> case.group, case.name, case.marks, case.expected, case.code
    ('network', 'reach out', frozenset({'x86_64'}), 'PermissionError', 'answer = 1')
    """
    cases, group = [], ""
    for section in _SECTION.finditer(text):
        if section["marks"] == "##":
            group = section["title"].strip()
            continue
        title = _TITLE.match(section["title"].strip())
        if title is None:
            raise ValueError(f"not a title of a case: {section['title']!r}")
        marks = frozenset(re.findall(r"\[([\w -]+)\]", title["marks"]))
        cases.append(Case(group, title["name"], marks, (title["expected"] or "").strip(), section["body"].strip()))
    return cases


def cases(kind: Kind) -> list[Case]:
    """Every case of one kind, in the order of the file.

    >>> {case.group for case in cases("scripts")} >= {"network", "memory", "time"}
    True
    """
    return parse(Path(__file__).with_name(f"{kind}.txt").read_text(encoding="utf-8"))
