"""What of an answer is shown, in the order in which a person reads it; HTML and Markdown put it into their own form.

parts = Parts.of(answer)
parts.text          # "3 recessions", None where a table is shown
parts.code          # [Code("SQL → recessions", "sql", "SELECT ..."), Code("Script", "python", "answer = ...")]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from finexpert.core.display.shown import Shown, ShownCitation, ShownUsage
from finexpert.core.plans import Extract, Script
from finexpert.core.statuses import gives_value


@dataclass(frozen=True)
class Code:
    """A SELECT or a script that the answer rests on."""

    title: str
    language: str
    text: str


@dataclass(frozen=True)
class Parts:
    """The parts of one answer, as plain text that nobody has escaped yet; `rows` is how many the whole table has."""

    question: str
    answered: bool
    before: list[str]
    text: str | None
    table: pd.DataFrame | None
    rows: int
    citations: list[str]
    after: list[str]
    code: list[Code]
    cost: str
    record: str | None

    @classmethod
    def of(cls, answer: Shown) -> Parts:
        table = answer.value if isinstance(answer.value, pd.DataFrame) else None
        return cls(
            question=answer.question,
            answered=gives_value(answer.status),
            before=_before(answer),
            text=None if table is not None else answer.cited_text,
            table=table,
            rows=0 if table is None else len(table),
            citations=_citations(answer),
            after=_after(answer),
            code=_code(answer),
            cost=cost(answer.usage),
            record=answer.record.id if answer.record else None,
        )


def cost(usage: ShownUsage) -> str:
    """What an answer took, in a line.

    >>> from finexpert.core.answers import Usage
    >>> cost(Usage(calls=1, prompt_tokens=2570, completion_tokens=241, by_layer={"planning": 1}, seconds=2.5))
    '1 model call (planning 1), 2,570 + 241 tokens, cost unknown, 2.5 s'
    """
    layers = ", ".join(f"{name} {calls}" for name, calls in usage.by_layer.items())
    layers += f"; {usage.cached} from the cache, with its seconds of then" if usage.cached else ""
    calls = "1 model call" if usage.calls == 1 else f"{usage.calls} model calls"
    tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
    prefix = "" if usage.prefix_share is None else f" ({usage.prefix_share:.0%} as in the prompt before)"
    price = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    return f"{calls}{f' ({layers})' if layers else ''}, {tokens}{prefix}, {price}, {usage.seconds:.1f} s"


def cited_line(cited: ShownCitation) -> str:
    """Where a number came from, in a line.

    >>> from finexpert.core.answers import Citation
    >>> cited_line(Citation(source="Entergy, FY 2016, p. 23", place="revenue / 2015", value=94))
    'Entergy, FY 2016, p. 23: revenue / 2015: 94'
    """
    line = f"{cited.source}: {cited.place}"
    line = line if cited.value is None else f"{line}: {cited.value}"
    return f"{line} ({cited.tag})" if cited.tag else line


def cited_lines(citations: Sequence[ShownCitation]) -> list[str]:
    """All citations in their order, where a page of a library is among them: the answer names them by their numbers."""
    return [cited_line(cited) for cited in citations] if any(cited.page for cited in citations) else []


def _before(answer: Shown) -> list[str]:
    """How the question was understood."""
    lines = [f"{term}: {meaning}" for term, meaning in answer.meanings.items()]
    if answer.processes:
        lines.append(f"Follows: {', '.join(answer.processes)}")
    return [*lines, answer.explanation] if answer.explanation else lines


def _citations(answer: Shown) -> list[str]:
    """The cells and sentences of filings, and what stands beside them; of a warehouse alone the SELECTs say it."""
    of_filings = answer.record is not None and answer.record.source.dialect in ("filing", "library")
    return [cited_line(cited) for cited in answer.citations] if of_filings else cited_lines(answer.citations)


def _after(answer: Shown) -> list[str]:
    """How far the answer can be relied on, and what is known of a word that was asked back."""
    lines = [f"Confidence: {answer.confidence} of 100"] if answer.confidence is not None else []
    if isinstance(answer.value, pd.DataFrame) and answer.format.unit:
        lines.append(f"Unit: {answer.format.unit}")
    if answer.period:
        lines.append(f"Period: {answer.period}")
    lines += [f"Note: {flag}" for flag in answer.flags]
    if answer.clarification is not None and answer.clarification.candidates:
        lines.append(f"Known: {', '.join(answer.clarification.candidates)}")
    return lines


def _code(answer: Shown) -> list[Code]:
    if answer.record is None:
        return []
    ran = {frame.name: frame.select for frame in answer.record.frames}
    code = []
    for step in answer.record.plan.steps:
        if isinstance(step, Extract) and (select := ran.get(step.frame, step.select)):
            code.append(Code(f"SQL → {step.frame}", "sql", select))
        elif isinstance(step, Script) and step.code:
            code.append(Code("Script", "python", step.code))
    return code
