"""A process as a markdown file: written for people who read, compare and review it, and read again without loss.

    ---
    status: active
    version: 2
    aliases:
      - Determine recession periods
    ---

    # Recession Calculation

    ## Variables

    - start_date: first quarter looked at
      - example: 2000-01-01

    ## Steps

    1. Get quarterly real GDP from <start_date>.

       ```sql quarters
       SELECT date, gdpc1 FROM gdp WHERE date >= DATE '<start_date>'
       ```

`quarters`, which may be left out, is the name by which the SELECT is read like a table. A file may leave out everything but the heading and the steps. Nothing here looks at what SQL or code says.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from finexpert.knowledge.process import Process, ProcessStep, TaughtCase, Variable
from finexpert.knowledge.processes import markdown
from finexpert.knowledge.processes.front_matter import front_matter, read_front_matter, read_scalar, scalar
from finexpert.knowledge.processes.markdown import Line, bad, escape
from finexpert.storage import foreign_files, foreign_json
from finexpert.text.texts import as_json

_FACTS = ("id", "status", "version", "scope", "taught_by", "taught_at", "conversation", "note", "aliases")
_SECTIONS = ("Variables", "Steps", "Taught case")
_STEP = re.compile(r" ?(\d+)[.)](?:\s+|$)")
_POINT = re.compile(r" ?[-*]\s+")
_PLAIN_KEY = re.compile(r"\w(?:[^:\"]*[^:\"\s`<>*])?")
_EXAMPLE = "- example:"
_LANGUAGES = {"sql": "sql", "python": "code", "py": "code", "code": "code"}


def to_markdown(process: Process) -> str:
    """The file of a process; the same process gives the same text."""
    facts: dict[str, str | list[str]] = {
        "id": process.id,
        "status": process.status,
        "version": str(process.version),
        **({"scope": process.scope} if process.scope else {}),
        "taught_by": process.taught_by,
        "taught_at": process.taught_at.isoformat() if process.taught_at else "",
        "conversation": process.conversation,
        "note": process.note,
        "aliases": process.aliases,
    }
    lines = [*front_matter(facts), "", f"# {process.heading}"]
    if process.variables:
        lines += ["", "## Variables", ""]
        for variable in process.variables:
            lines += _variable_lines(variable)
    lines += ["", "## Steps"]
    for number, step in enumerate(process.steps, 1):
        lines += ["", *_step_lines(number, step)]
    if process.case is not None:
        lines += ["", "## Taught case", "", *_case_lines(process.case)]
    return "\n".join(lines) + "\n"


def _variable_lines(variable: Variable) -> list[str]:
    key = variable.name if _PLAIN_KEY.fullmatch(variable.name) else json.dumps(variable.name, ensure_ascii=False)
    first, *more = escape(variable.meaning).split("\n")
    lines = [f"- {key}: {first}".rstrip(), *markdown.indented(more, 2)]
    return lines + ([f"  {_EXAMPLE} {scalar(variable.example)}"] if variable.example else [])


def _step_lines(number: int, step: ProcessStep) -> list[str]:
    marker = f"{number}. "
    first, *more = escape(step.text).split("\n")
    inside = list(more)
    sql = f"sql {step.name}" if step.name else "sql"
    for language, text in ((sql, step.sql), ("python", step.code)):
        if text is not None:
            inside += ["", *markdown.fenced(text, language)]
    return [marker + first, *markdown.indented(inside, len(marker))]


def _case_lines(case: TaughtCase) -> list[str]:
    answer_format = {"kind": case.answer_format.kind, **case.answer_format.model_dump(exclude_defaults=True)}
    lines = [f"- question: {scalar(case.question)}", f"- as_of: {case.as_of.isoformat()}"]
    lines += [f"- source: {scalar(case.source)}"] if case.source else []
    lines += ["", "Answer format:", "", *markdown.fenced(as_json(answer_format), "json")]
    return [*lines, "", "Expected:", "", *markdown.fenced(as_json(case.expected), "json")]


def from_markdown(text: str, where: str = "the text") -> Process:
    """The process of a file; ProcessFileError names `where` and the line."""
    lines = markdown.numbered(text)
    facts, lines = read_front_matter(lines, _FACTS, where)
    heading, sections = markdown.sections(lines, _SECTIONS, where)
    values: dict[str, Any] = {**facts, "heading": heading.text}
    if "Variables" in sections:
        values["variables"] = _variables(sections["Variables"], where)
    if "Steps" not in sections:
        raise bad(where, heading.number, "there is no section '## Steps', and a process has at least one step")
    values["steps"] = _steps(sections["Steps"], where)
    if "Taught case" in sections:
        values["case"] = _case(sections["Taught case"], where)
    return markdown.validated(Process, values, where, heading.number)


def id_in(path: Path) -> str:
    """The id that a file says in its first lines, or nothing."""
    with open(path, encoding="utf-8", errors="replace", opener=foreign_files.regular) as file:
        for line in (file.readline(500) for _ in range(5)):
            if line.startswith("id: "):
                return line[4:].strip()
    return ""


def _variables(lines: list[Line], where: str) -> list[Variable]:
    variables = []
    for first, rest in markdown.groups(lines, _POINT, where, "a variable stands as '- name: meaning'"):
        body, margin = markdown.body(first, rest, _POINT)
        name, meaning = _key(body[0], where)
        example = ""
        kept = [meaning]
        for line in body[1:]:
            if line.text.strip().lower().startswith(_EXAMPLE):
                example = read_scalar(line.text.strip()[len(_EXAMPLE) :], where, line.number)
            else:
                kept.append(markdown.without_margin(line.text, margin))
        values = {"name": name, "meaning": markdown.unescape("\n".join(kept)), "example": example}
        variables.append(markdown.validated(Variable, values, where, first.number))
    return variables


def _key(line: Line, where: str) -> tuple[str, str]:
    """A name and what follows its colon: `start: first month`, `"a: b": both`."""
    if line.text.startswith('"'):
        try:
            name, end = json.JSONDecoder().raw_decode(line.text)
        except json.JSONDecodeError as error:
            raise bad(where, line.number, f"the name in quotes is not closed: {error.msg}") from error
        key, colon, rest = str(name), line.text[end : end + 1], line.text[end + 1 :]
    else:
        key, colon, rest = line.text.partition(":")
    if colon != ":" and line.text.strip() != key.strip():
        raise bad(where, line.number, "after the name in quotes stands no colon")
    return key.strip().strip("`<>*") if not line.text.startswith('"') else key, rest.strip()


def _steps(lines: list[Line], where: str) -> list[ProcessStep]:
    steps = []
    for first, rest in markdown.groups(lines, _STEP, where, "a step begins with its number: '1. Get ...'"):
        inside, margin = markdown.body(first, rest, _STEP)
        text, fences = markdown.split_fences(inside, where, margin)
        values: dict[str, Any] = {"text": markdown.unescape(text)}
        for fence in fences:
            field = _LANGUAGES.get(fence.language.lower())
            if field is None:
                raise bad(where, fence.number, f"a chunk is ```sql or ```python, not ```{fence.language}")
            if field in values:
                raise bad(where, fence.number, f"the step has a second ```{fence.language}: make two steps of it")
            values[field] = fence.text
            if fence.called:
                if field != "sql":
                    raise bad(where, fence.number, f"only a SELECT has a name: ```{fence.language}")
                values["name"] = fence.called
        steps.append(markdown.validated(ProcessStep, values, where, first.number))
    return steps


def _case(lines: list[Line], where: str) -> TaughtCase:
    text, fences = markdown.split_fences(lines, where)
    values: dict[str, Any] = {}
    for line in lines:
        if any(fence.number <= line.number <= fence.last for fence in fences) or not _POINT.match(line.text):
            continue
        key, rest = _key(Line(line.number, _POINT.sub("", line.text, count=1)), where)
        if key not in ("question", "as_of", "source"):
            raise bad(where, line.number, f"the taught case has no {key!r}: it has question, as_of and source")
        values[key] = read_scalar(rest, where, line.number)
    labels = re.findall(r"^(Answer format|Expected):?\s*$", text, re.MULTILINE | re.IGNORECASE)
    if len(fences) != 2 or [label.lower() for label in labels] != ["answer format", "expected"]:
        raise bad(where, lines[0].number, "the taught case has two ```json chunks: 'Answer format:', then 'Expected:'")
    for field, fence in zip(("answer_format", "expected"), fences, strict=True):
        try:
            values[field] = foreign_json.parse(fence.text)
        except json.JSONDecodeError as error:
            raise bad(where, fence.number + error.lineno, f"is not JSON: {error.msg}") from error
    return markdown.validated(TaughtCase, values, where, lines[0].number)
