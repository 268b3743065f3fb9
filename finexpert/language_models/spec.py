"""What names a language model and says how it is asked.

    >>> ModelSpec(model="openai/gpt-5.6", api_key="secret")
    ModelSpec(model='openai/gpt-5.6', api_base=None, api_key=SecretStr('**********'), temperature=0.0, ...)

`model` is a name as LiteLLM has it. Nothing is checked against the provider here.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class ModelSpec(BaseModel):
    """A language model and how it is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1)
    api_base: str | None = Field(default=None, description="address of a server, such as http://127.0.0.1:8000/v1")
    api_key: SecretStr | None = None
    temperature: float | None = 0.0
    max_tokens: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=600.0, gt=0, description="seconds for one try")
    retries: int = Field(default=2, ge=0, description="tries after the first, for errors that may pass")
    extra: dict[str, Any] = Field(default_factory=dict, description="further arguments for litellm.completion")
    found: str = Field(default="", description="how it was found, in words")
