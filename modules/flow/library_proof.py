"""What a model has read on pages, as far as the pages bear it out: every number and every quote is looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from finexpert.filings.page.numbers import read_written
from finexpert.plans.pages import evidence
from finexpert.plans.pages.printed import Printed, words_of
from finexpert.plans.pages.proved import Computation, ProvedValue, ProvedWords, Reading
from finexpert.plans.pages.wording import PLACEHOLDER


def proved(made: Any, pages_of: Callable[[str], Sequence[Printed]]) -> tuple[Reading, list[str]]:
    """What of a reading stands on its pages, and what does not, in words."""
    values: list[ProvedValue] = []
    doubts: list[str] = []
    for value in made.numbers:
        proof = next(
            (p for page in pages_of(value.page) if (p := evidence.prove(page, value.quote, value.number))), None
        )
        written = read_written(value.number)
        if proof is None or written is None:
            doubts.append(f"left out: {value.number!r} in {value.quote[:120]!r} does not stand on {value.page}")
            continue
        meant = written.minus or written.brackets
        values.append(
            ProvedValue(
                name=value.name,
                page=proof.page.id,
                step=proof.step,
                printed=value.number,
                quote=value.quote,
                without_sign=proof.negative and not meant,
            )
        )
    statements: list[ProvedWords] = []
    for said in made.statements:
        parts = (evidence.holds(page, said.quote) for page in pages_of(said.page))
        part = next(filter(None, parts), None)
        if part is None:
            doubts.append(f"left out: {said.says!r}, for its words {said.quote[:120]!r} do not stand on {said.page}")
        else:
            statements.append(ProvedWords(says=said.says, page=part.id, quote=said.quote))
    computed = [Computation.model_validate(each.model_dump()) for each in made.computed]
    dropped = [said.says for said in made.statements if said.says not in {each.says for each in statements}]
    reading = Reading(
        values=values,
        computed=computed,
        statements=statements,
        kind=made.kind,
        result=made.result.strip().strip("{}"),
        items=made.listed,
        answer=_rebuilt(made, statements) if _still_said(made.answer, dropped, statements) else made.answer,
    )
    return reading, doubts


def _still_said(answer: str, dropped: Sequence[str], kept: Sequence[ProvedWords]) -> bool:
    """Whether a sentence has words that only a dropped statement brought."""
    borne = words_of(" ".join(f"{each.says} {each.quote}" for each in kept))
    return bool((set(words_of(" ".join(dropped))) - set(borne)) & set(words_of(answer)))


def _rebuilt(made: Any, statements: Sequence[ProvedWords]) -> str:
    """The answer's sentence out of what was proved: a statement that was dropped may stand in the model's own."""
    said = dict.fromkeys(each.says.strip().rstrip(".") for each in statements)
    what = {each.name: each.what or each.name for each in made.computed}
    spoken = " ".join(said)
    numbers = [name for name in dict.fromkeys(PLACEHOLDER.findall(made.answer)) if f"{{{name}}}" not in spoken]
    first = made.answer.split(maxsplit=1)[:1] if made.kind == "yes/no" else []
    parts = [*(word.strip(".,:;") for word in first), *said]
    parts += [f"{what.get(name, name).replace('_', ' ')}: {{{name}}}" for name in numbers]
    return " ".join(f"{part}." for part in parts if part)
