"""Why a question has no answer, as the person is told and as a program that a model asks.

failure_of("sql_extraction", error)
    message      no value of trades.status is 'Executed'. trades.status holds 'EXEC', 'NEW'
    for_models   no value of trades.status is 'Executed'
"""

from __future__ import annotations

from finexpert.core.answers import Failure
from finexpert.errors import FinexpertError, NoRows, NotInSources, StepError, UnknownValue

# A model narrows what it wrote; a person may give it more.
_MORE = {
    "it took longer than": "FINEXPERT_SQL_SECONDS",
    "more memory than it may use": "FINEXPERT_SQL_MEMORY_MB",
    "the script ran longer than": "FINEXPERT_SCRIPT_SECONDS",
}


def failure_of(layer: str, error: FinexpertError) -> Failure:
    """What went wrong in a layer."""
    message, for_models = _for_a_person(error), _for_a_model(error)
    kind = getattr(error, "kind", "budget")
    return Failure(layer=layer, kind=kind, message=message, for_models=for_models if for_models != message else "")


def not_found(layer: str, error: NotInSources) -> Failure:
    """What the data do not hold, and the SELECT that was tried before a model said so."""
    tried = error.__cause__ if isinstance(error.__cause__, StepError) else None
    made = failure_of(layer, error)
    message = for_models = f"these data do not hold it: {error}"
    if tried is not None:
        message, for_models = f"{message} (tried: {_for_a_person(tried)})", f"{message} (tried: {_for_a_model(tried)})"
    return made.model_copy(update={"message": message, "for_models": for_models if for_models != message else ""})


def _for_a_person(error: FinexpertError) -> str:
    """Who sees the values that a column holds and sets limits, which the model does not."""
    if isinstance(error, UnknownValue) and error.values:
        return f"{_for_a_model(error)}. {error.place} holds {', '.join(map(repr, error.values))}"
    if isinstance(error, NoRows) and error.span:
        return f"{error}; {error.span}"
    said = str(error)
    more = next((name for words, name in _MORE.items() if words in said), "")
    return f"{said}; {more} gives it more" if more else said


def _for_a_model(error: FinexpertError) -> str:
    return str(error).partition(". Its values are not shown")[0]
