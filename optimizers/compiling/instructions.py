"""Recipes in which a model words instructions: `dspy.GEPA` reflects on what went wrong, `dspy.MIPROv2` proposes.

Both score programs by themselves. What they score on val is written down as it comes, by the fingerprint of the
program; so every program that they scored to the end is a candidate, also when the budget ended before they did.
After an interruption they begin again with the same seed, and what they ask is answered from the completions that the
compile keeps (see `replaying`): only what was never answered is asked of a model.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from finexpert.errors import BudgetExceeded, ConfigurationError
from finexpert.language_models import usage
from finexpert.optimizers.compiling.metrics import RIGHT, dspy_metric, plain_metric
from finexpert.optimizers.compiling.quietly import quietly
from finexpert.optimizers.compiling.search import Search
from finexpert.optimizers.compiling.trial import Trial, Trying

REFLECTION = "reflection"
_MINIBATCH = 3


class Gepa:
    """`dspy.GEPA`: a model reads what went wrong, and words the instructions of all predictors anew."""

    name = "gepa"

    def run(self, search: Search) -> None:
        trying = _trying(search)
        examples, val = ([search.task.example(r) for r in records] for records in (search.train, search.val))
        optimizer = dspy.GEPA(
            metric=dspy_metric(trying.judge),
            # So many programs can be scored in full; one that loses on its first three examples costs only those.
            max_metric_calls=(search.most + 1) * (len(val) + 2 * _MINIBATCH),
            reflection_minibatch_size=_MINIBATCH,
            reflection_lm=search.models.reflection,
            component_selector="all",
            num_threads=search.threads,
            seed=search.seed,
            gepa_kwargs={"stop_callbacks": [lambda state: trying.error is not None]},
        )
        search.watch.candidate(self.name)
        _run(search, trying, lambda: optimizer.compile(Trial(search.layer(), trying), trainset=examples, valset=val))
        _candidates(search, trying, self.name)


class Mipro:
    """`dspy.MIPROv2`: instructions and demonstrations are proposed, and searched together."""

    name = "miprov2"

    def run(self, search: Search) -> None:
        need_optuna()
        trying = _trying(search)
        examples, val = ([search.task.example(r) for r in records] for records in (search.train, search.val))
        optimizer = dspy.MIPROv2(
            metric=plain_metric(trying.judge),
            metric_threshold=RIGHT,
            prompt_model=search.models.reflection,
            task_model=search.models.student,
            auto=None,
            num_candidates=search.most,
            num_threads=search.threads,
            max_bootstrapped_demos=2,
            max_labeled_demos=0,
            max_errors=len(examples) * 100,
            # It takes 0 for no seed.
            seed=search.seed + 1,
        )

        def compile_() -> Any:
            return optimizer.compile(
                Trial(search.layer(), trying),
                trainset=examples,
                valset=val,
                num_trials=2 * search.most,
                minibatch=False,
                program_aware_proposer=False,
            )

        search.watch.candidate(self.name)
        # It seeds the global generators.
        state = random.getstate()
        try:
            _run(search, trying, compile_)
        finally:
            random.setstate(state)
        _candidates(search, trying, self.name)


def need_optuna() -> None:
    """ConfigurationError where the package is missing that MIPROv2 searches with."""
    if find_spec("optuna") is None:
        raise ConfigurationError("--optimizer miprov2 needs optuna: pip install 'finexpert[compile]'")


def _trying(search: Search) -> Trying:
    trying = Trying(search.task, search.models.student, patient=True)
    trying.journal = search.journal
    trying.splits = {record.id: "val" for record in search.val}
    return trying


def _run(search: Search, trying: Trying, compile_: Callable[[], Any]) -> None:
    """Run an optimizer; errors that it swallowed are raised, unless the budget ended, which ends it."""
    try:
        with quietly(), usage.layer(REFLECTION):
            compile_()
    except BudgetExceeded:
        return
    except AdapterParseError:
        # What was scored until then counts.
        search.note = "the reflection model gave no usable instruction: name a stronger one with --reflection-lm"
    if trying.error is not None and not isinstance(trying.error, BudgetExceeded):
        raise trying.error


def _candidates(search: Search, trying: Trying, name: str) -> None:
    number = 0
    for program, states in trying.seen.items():
        found = [search.journal.scored(program, "val", record.id) for record in search.val]
        if None in found or program in search.known:
            continue
        number += 1
        search.add(f"{name} {number}", states)
