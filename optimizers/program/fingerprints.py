"""Fingerprints of what a compiled state belongs to: the signature of each predictor, and the examples.

    >>> from finexpert.signatures.sql_extraction import WriteSelects
    >>> facts = of_signature(WriteSelects)
    >>> facts.name, [field.name for field in facts.fields][-2:], facts.fields[-1].type
    ('WriteSelects', ['feedback', 'selects'], 'list[DataFrameFromSQL]')

A state fits a signature while names, order, roles and types of its fields are the same. Wording is kept apart: it is
what compiling changes, so another wording in the code is told and not refused.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from typing import Any, Literal

import dspy
from pydantic import BaseModel, ConfigDict, PydanticSchemaGenerationError, PydanticUserError, TypeAdapter

_WORDS = frozenset({"description", "title", "examples", "default"})


class FieldFacts(BaseModel):
    """One field of a signature; `shape` is the hash of its type with all that the type consists of."""

    model_config = ConfigDict(extra="forbid")

    name: str
    role: Literal["input", "output"]
    type: str
    shape: str


class SignatureFacts(BaseModel):
    """A signature as it stands in the code; `wording` is the hash of its instructions and descriptions."""

    model_config = ConfigDict(extra="forbid")

    name: str
    fields: list[FieldFacts]
    wording: str

    @property
    def fingerprint(self) -> str:
        """The hash of names, order, roles and types."""
        return digest([field.model_dump() for field in self.fields])


def of_signature(signature: type[dspy.Signature]) -> SignatureFacts:
    """What of a signature must stay the same for a state to fit."""
    fields = [
        FieldFacts(
            name=name,
            role="input" if name in signature.input_fields else "output",
            type=type_words(field.annotation),
            shape=shape(field.annotation),
        )
        for name, field in signature.fields.items()
    ]
    wording = [signature.instructions, [field.json_schema_extra["desc"] for field in signature.fields.values()]]
    return SignatureFacts(name=signature.__name__, fields=fields, wording=digest(wording))


def differences(old: SignatureFacts, new: SignatureFacts) -> list[str]:
    """In which fields two signatures differ, in words; none if a state of the one fits the other.

    >>> def facts(text): return of_signature(dspy.Signature(text))
    >>> differences(facts("a, b: int -> c"), facts("b: str, d -> c"))
    ['added: d', 'removed: a', 'retyped: b (was int, is str)']
    >>> differences(facts("a, b -> c"), facts("b, a -> c"))
    ['reordered: b, a, c (was a, b, c)']
    """
    was, is_ = ({field.name: field for field in facts.fields} for facts in (old, new))
    found = [f"added: {name}" for name in is_ if name not in was]
    found += [f"removed: {name}" for name in was if name not in is_]
    for name in [name for name in is_ if name in was]:
        if was[name].role != is_[name].role:
            found.append(f"moved: {name} (was {was[name].role}, is {is_[name].role})")
        elif was[name].shape != is_[name].shape:
            same = was[name].type == is_[name].type
            words = f"{is_[name].type} has other parts" if same else f"was {was[name].type}, is {is_[name].type}"
            found.append(f"retyped: {name} ({words})")
    if not found and list(was) != list(is_):
        found.append(f"reordered: {', '.join(is_)} (was {', '.join(was)})")
    return found


def type_words(annotation: Any) -> str:
    """A type as it is written, without the modules' names.

    >>> type_words(list[dspy.Example] | None)
    'list[Example] | None'
    """
    text = annotation.__name__ if isinstance(annotation, type) and not hasattr(annotation, "__args__") else annotation
    return re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])", "", str(text))


@functools.cache
def shape(annotation: Any) -> str:
    """The hash of a type's JSON schema without its wording; of the type's words where it has no schema."""
    try:
        return digest(_structure(TypeAdapter(annotation).json_schema()))
    except (PydanticSchemaGenerationError, PydanticUserError):
        return digest(type_words(annotation))


def _structure(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_structure(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        # Under these two, keys are names of fields and models, which may be called like a word of the schema.
        key: {name: _structure(part) for name, part in value.items()}
        if key in ("properties", "$defs")
        else _structure(value)
        for key, value in schema.items()
        if key not in _WORDS
    }


def digest(content: Any) -> str:
    """A short hash of JSON content."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
