"""How a layer asks its predictor: which model, which adapter, how it is counted, and which errors can come out.

Every call of a language model in the program goes through `ask`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError
from pydantic import ValidationError

from finexpert.core import progress
from finexpert.errors import OutputError
from finexpert.language_models import usage
from finexpert.language_models.errors import translated
from finexpert.language_models.roles import LanguageModels
from finexpert.storage import foreign_json
from finexpert.text.texts import whole

_END = re.compile(r"[ \t]*(\[\[ ## completed ## \]\])\s*\Z")


# The escape of one half of a character, without the other half beside it.
_HALF_ESCAPE = re.compile(
    r"(?<!\\)((?:\\\\)*)(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)


class Adapter(dspy.ChatAdapter):  # type: ignore[misc]
    """DSPy's, for models too that close their output on its last line instead of on a line of its own."""

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        # Half a character, as a reader of JSON makes of such an escape, can be written to no file.
        plain = _HALF_ESCAPE.sub(r"\1\\ufffd", whole(completion))
        fields: dict[str, Any] = super().parse(signature, _END.sub(r"\n\1", plain))
        return fields


class Constrained(Adapter):
    """For a server that writes JSON of a schema and nothing else: output fields are texts of one object."""

    def user_message_output_requirements(self, signature: type[dspy.Signature]) -> str:
        return f"Respond with a JSON object with the fields {', '.join(signature.output_fields)}."

    def format_assistant_message_content(
        self, signature: type[dspy.Signature], outputs: dict[str, Any], missing_field_message: str | None = None
    ) -> str:
        said = {name: outputs.get(name, missing_field_message) for name in signature.output_fields}
        return json.dumps({name: text for name, text in said.items() if text is not None}, ensure_ascii=False)

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        try:
            said = foreign_json.parse(whole(completion))
        except json.JSONDecodeError:
            return super().parse(signature, completion)
        fields = said if isinstance(said, dict) else {}
        if not all(
            isinstance(fields.get(name), str) for name, field in signature.output_fields.items() if field.is_required()
        ):
            raise AdapterParseError(adapter_name="Constrained", signature=signature, lm_response=completion)
        return {name: str(fields.get(name, field.default)) for name, field in signature.output_fields.items()}


# The fallback to JSON that DSPy has by default is a second, uncounted and unrepaired call: our retries replace it.
ADAPTER = Adapter(use_json_adapter_fallback=False)
CONSTRAINED = Constrained(use_json_adapter_fallback=False)

_models: ContextVar[LanguageModels | None] = ContextVar("finexpert_models", default=None)


@contextmanager
def using(models: LanguageModels) -> Iterator[None]:
    """Within it, each layer asks the model that `models` has for it; outside, `dspy.settings.lm` is asked."""
    token = _models.set(models)
    try:
        yield
    finally:
        _models.reset(token)


def models_in_use() -> LanguageModels | None:
    """The models that the layers ask here; None where `dspy.settings.lm` is asked."""
    return _models.get()


def ask(predictor: dspy.Module, layer: str, **inputs: Any) -> dspy.Prediction:
    """Ask the model of a layer.

    Raises Cancelled when the question was cancelled, OutputError when the text lacks a field or a field has the wrong type, ModelError and ConfigurationError
    when the model cannot be used.
    """
    return _asked(predictor, layer, ADAPTER, inputs)


def ask_within(schema: Mapping[str, Any], predictor: dspy.Module, layer: str, **inputs: Any) -> dspy.Prediction:
    """Ask as `ask` does, of a server that is told to write a JSON object of this schema and nothing else."""
    wanted = {"type": "json_schema", "json_schema": {"name": layer, "schema": dict(schema)}}
    return _asked(predictor, layer, CONSTRAINED, {**inputs, "config": {"response_format": wanted}})


def _asked(predictor: dspy.Module, layer: str, adapter: dspy.Adapter, inputs: Mapping[str, Any]) -> dspy.Prediction:
    progress.check()
    models = models_in_use()
    context: dict[str, Any] = {"adapter": adapter} | ({"lm": models.for_layer(layer)} if models else {})
    with dspy.context(**context), usage.layer(layer), translated():
        try:
            prediction = predictor(**inputs)
        except (AdapterParseError, ValidationError, ValueError) as error:
            raise OutputError(_why(error)) from error
    signature = inputs.get("signature", predictor.signature)
    missing = [name for name in signature.output_fields if prediction.get(name) is None]
    if missing:
        raise OutputError(f"the output fields {missing} are missing")
    return prediction


def compiled(predictor: dspy.Predict, signature: type[dspy.Signature]) -> bool:
    """Whether a predictor shows demonstrations, or has other instructions than its signature in the code."""
    return bool(predictor.demos) or predictor.signature.instructions != signature.instructions


def _why(error: Exception) -> str:
    """The part of a parse error that a model can act on, without the echo of prompt and completion."""
    if isinstance(error, AdapterParseError):
        found = ", ".join(error.parsed_result or {}) or "none"
        cause = error.__cause__ or error.__context__
        detail = f": {str(cause).splitlines()[0][:200]}" if cause else ""
        return f"the output is not in the form asked for; fields read: {found}{detail}"
    return f"the output is not in the form asked for: {str(error)[:300]}"
