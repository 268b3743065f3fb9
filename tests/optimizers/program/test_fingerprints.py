"""Which changes of a signature make an old state unusable."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, Literal

import dspy
import pytest
from pydantic import BaseModel, Field, create_model

from finexpert.optimizers.program.fingerprints import differences, of_signature
from finexpert.signatures.planning import MakePlan


class Part(BaseModel):
    name: str = Field(description="what it is called")
    title: int = 0


def sign(**fields: object) -> type[dspy.Signature]:
    """A signature with one input, `question`, and these outputs."""
    outputs = {name: (kind, dspy.OutputField()) for name, kind in fields.items()}
    made: type[dspy.Signature] = dspy.Signature({"question": (str, dspy.InputField()), **outputs}, "Answer.")
    return made


OLD: dict[str, Any] = {"answer": int, "parts": list[Part]}
Reworded: Any = create_model("Part", name=(str, Field(description="other words")), title=(int, 0))
Grown: Any = create_model("Part", name=(str, ...), title=(int, 0), size=(int, 0))
Retitled: Any = create_model("Part", name=(str, ...), title=(str, ""))

CHANGES = [
    (OLD, []),
    ({**OLD, "unit": str}, ["added: unit"]),
    ({"answer": int}, ["removed: parts"]),
    ({**OLD, "answer": float}, ["retyped: answer (was int, is float)"]),
    ({**OLD, "answer": int | None}, ["retyped: answer (was int, is int | None)"]),
    ({"reply": int, "parts": list[Part]}, ["added: reply", "removed: answer"]),
    ({"parts": list[Part], "answer": int}, ["reordered: question, parts, answer (was question, answer, parts)"]),
    ({**OLD, "parts": list[Reworded]}, []),
    ({**OLD, "parts": list[Grown]}, ["retyped: parts (list[Part] has other parts)"]),
    ({**OLD, "parts": list[Retitled]}, ["retyped: parts (list[Part] has other parts)"]),
    ({**OLD, "parts": Literal["a", "b"]}, ["retyped: parts (was list[Part], is Literal['a', 'b'])"]),
]


@pytest.mark.parametrize(("fields", "found"), CHANGES, ids=[", ".join(found) or "same" for _, found in CHANGES])
def test_the_fields_that_differ_are_named(fields: dict[str, object], found: list[str]) -> None:
    old, new = of_signature(sign(**OLD)), of_signature(sign(**fields))
    assert differences(old, new) == found
    assert (old.fingerprint == new.fingerprint) is (not found)


def test_an_input_that_becomes_an_output() -> None:
    old, new = (of_signature(dspy.Signature(text)) for text in ("a, b -> c", "a -> b, c"))
    assert differences(old, new) == ["moved: b (was input, is output)"]


def test_other_words_are_another_wording_of_the_same_signature() -> None:
    old, new = of_signature(MakePlan), of_signature(MakePlan.with_instructions("Plan."))
    assert differences(old, new) == []
    assert (old.fingerprint == new.fingerprint, old.wording == new.wording) == (True, False)


def test_fingerprints_are_the_same_in_every_process() -> None:
    code = (
        "from finexpert.optimizers.program.fingerprints import of_signature as f\n"
        "from finexpert.signatures.planning import MakePlan as M\n"
        "print(f(M).fingerprint, f(M).wording)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    facts = of_signature(MakePlan)
    assert ran.stdout.split() == [facts.fingerprint, facts.wording]
