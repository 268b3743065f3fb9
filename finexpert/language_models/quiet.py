"""Keeps the libraries' own talk out of a user's terminal.

    >>> quiet()
    >>> os.environ["LITELLM_LOCAL_MODEL_COST_MAP"]
    'True'

DSPy and LiteLLM fetch a list of model prices when they start and complain when they cannot. The lists that they
bring along are used instead. What goes wrong in a call is not touched: it is raised.
"""

from __future__ import annotations

import logging
import os
import warnings

# The parts of dspy and not dspy itself, whose level is set anew when it is imported.
_DSPY = ("adapters", "clients", "evaluate", "predict", "primitives", "teleprompt", "utils")
_LOGGERS = (*(f"dspy.{part}" for part in _DSPY), "LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai")


def quiet() -> None:
    """Call once, before dspy or litellm is imported; calling it again changes nothing."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOG", "ERROR")
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    # LiteLLM's responses are pydantic models of another version's shape: harmless, and nothing a user can act on.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
    warnings.filterwarnings("ignore", message=".* is using the `ReadOnly` qualifier", category=UserWarning)
