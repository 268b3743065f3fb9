"""The providers that are found by their environment variables, and the model that each is asked for by default.

    >>> key_variables("anthropic/claude-sonnet-5-5")
    ('ANTHROPIC_API_KEY',)
    >>> full_name("Qwen/Qwen3-8B", "http://127.0.0.1:8000/v1")
    'openai/Qwen/Qwen3-8B'

A table and nothing else: `discovery` reads it. Any other provider that LiteLLM knows works when its model is named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Provider:
    """All variables of `variables` must be set; `{NAME}` in `model` stands for the value of a variable."""

    name: str
    model: str
    variables: tuple[str, ...]
    needs: str | None = None  # a package that LiteLLM wants for it


# In the order in which they are looked for. Credentials of a cloud come last: they are often set for other ends.
PROVIDERS = (
    Provider("OpenAI", "openai/gpt-5.6", ("OPENAI_API_KEY",)),
    Provider("Anthropic", "anthropic/claude-sonnet-5-5", ("ANTHROPIC_API_KEY",)),
    Provider("Google Gemini", "gemini/gemini-3.8-flash", ("GEMINI_API_KEY",)),
    Provider("Google Gemini", "gemini/gemini-3.8-flash", ("GOOGLE_API_KEY",)),
    Provider("Azure OpenAI", "azure/{AZURE_DEPLOYMENT}", ("AZURE_API_KEY", "AZURE_API_BASE", "AZURE_DEPLOYMENT")),
    Provider("Mistral", "mistral/mistral-large-latest", ("MISTRAL_API_KEY",)),
    Provider("DeepSeek", "deepseek/deepseek-v4-pro", ("DEEPSEEK_API_KEY",)),
    Provider("xAI", "xai/grok-4.7", ("XAI_API_KEY",)),
    Provider("Groq", "groq/openai/gpt-oss-120b", ("GROQ_API_KEY",)),
    Provider("Cerebras", "cerebras/gpt-oss-120b", ("CEREBRAS_API_KEY",)),
    Provider("Together AI", "together_ai/openai/gpt-oss-120b", ("TOGETHERAI_API_KEY",)),
    Provider("OpenRouter", "openrouter/openai/gpt-oss-120b", ("OPENROUTER_API_KEY",)),
    Provider(
        "AWS Bedrock", "bedrock/us.anthropic.claude-sonnet-5-5", ("AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION"), "boto3"
    ),
    Provider(
        "AWS Bedrock",
        "bedrock/us.anthropic.claude-sonnet-5-5",
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"),
        "boto3",
    ),
)

# First parts of a model's name that LiteLLM reads as a provider; with an address, any other is part of the name.
# fmt: off
PREFIXES = frozenset(
    (
        "openai", "text-completion-openai", "custom_openai", "azure", "azure_ai", "anthropic", "gemini", "vertex_ai",
        "bedrock", "bedrock_converse", "sagemaker", "sagemaker_chat", "mistral", "codestral", "deepseek", "xai",
        "groq", "cerebras", "together_ai", "fireworks_ai", "openrouter", "ollama", "ollama_chat", "hosted_vllm",
        "vllm", "lm_studio", "llamafile", "litellm_proxy", "huggingface", "cohere", "cohere_chat", "perplexity",
        "replicate", "databricks", "watsonx", "snowflake", "nvidia_nim", "sambanova", "dashscope", "moonshot", "zai",
        "volcengine", "github", "github_copilot",
    )
)
# fmt: on

_REASONING = re.compile(r"^(?:o\d(?:-.*)?|gpt-5(?!.*-chat)(?:[.-].*)?)$")


def prefix(model: str) -> str:
    """The provider in a model's name; a bare name is one of OpenAI's."""
    first, slash, _ = model.partition("/")
    return first if slash and first in PREFIXES else "openai"


def full_name(model: str, api_base: str | None) -> str:
    """The name as LiteLLM wants it: a server with an address of its own speaks OpenAI's protocol if no other is named."""
    named = model.partition("/")[0] in PREFIXES and "/" in model
    return model if named or api_base is None else f"openai/{model}"


def key_variables(model: str) -> tuple[str, ...]:
    """The environment variables that hold the key for a model; none where a provider has other ways in."""
    known = prefix(model)
    return tuple(p.variables[0] for p in PROVIDERS if len(p.variables) == 1 and p.model.partition("/")[0] == known)


def is_reasoning_model(model: str) -> bool:
    """Whether OpenAI's rules for models that reason apply.

    >>> is_reasoning_model("openai/gpt-5.6"), is_reasoning_model("openai/gpt-5-chat-latest"), is_reasoning_model("azure/o3")
    (True, False, True)
    """
    return _REASONING.match(model.rsplit("/", 1)[-1].lower()) is not None
