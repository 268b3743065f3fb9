"""Compiling one layer: how it stands, what a recipe finds, and whether the gate keeps it.

    outcome = compile_layer(search, RECIPES["labeled"], holdout, budget)
    outcome.decision.reason      'better on val by 0.333 (n=6) and not worse on the holdout: 0.125 (n=8)'

The layer is measured first, on val and on the holdout. What judging a candidate on the holdout will take is set aside,
then the recipe may spend the rest. Whatever was scored to the end by then counts; the best goes through the gate.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from finexpert.errors import BudgetExceeded
from finexpert.language_models.budget import Budget
from finexpert.language_models.usage import Meter
from finexpert.optimizers.compiling import gate
from finexpert.optimizers.compiling.journal import Spent, States, fingerprint
from finexpert.optimizers.compiling.outcome import Outcome
from finexpert.optimizers.compiling.recipes import Recipe
from finexpert.optimizers.compiling.search import AS_IT_STANDS, Search
from finexpert.optimizers.compiling.spending import kept_back
from finexpert.optimizers.compiling.tasks import Record
from finexpert.optimizers.program.artifact import states_of
from finexpert.optimizers.program.manifest import BeforeAfter


def compile_layer(
    search: Search,
    recipe: Recipe,
    holdout: Sequence[Record],
    budget: Budget,
    *,
    keep_anyway: bool = False,
) -> Outcome:
    """Measure, search and judge within the budget, which must not have been entered yet."""
    base = states_of(search.base)
    counts = {"train": len(search.train), "val": len(search.val), "holdout": len(holdout)}
    outcome = Outcome(search.task.layer, recipe.name, base, search.tried, counts=counts)
    already, begun = search.journal.spent, time.perf_counter()
    with budget, Meter() as meter:
        try:
            _compile(search, recipe, holdout, budget, outcome, keep_anyway)
        except BudgetExceeded as error:
            outcome.ended = f"the budget ended before the gate could judge: {_spent_words(error)}"
    outcome.spent = already + Spent.of(meter.calls)
    outcome.seconds = time.perf_counter() - begun
    search.watch.decided(outcome)
    return outcome


def _compile(
    search: Search, recipe: Recipe, holdout: Sequence[Record], budget: Budget, outcome: Outcome, keep_anyway: bool
) -> None:
    search.watch.candidate(AS_IT_STANDS)
    before_val = search.add(AS_IT_STANDS, outcome.base).scores
    begun = time.perf_counter()
    before = search.scores(outcome.base, holdout, "holdout")
    needed = _spent_on(search, outcome.base, holdout)
    try:
        with _within(budget, needed, time.perf_counter() - begun):
            recipe.run(search)
    except BudgetExceeded as error:
        outcome.ended = f"the search ended with its share of the budget: {_spent_words(error)}"
    outcome.ended = outcome.ended or search.note
    outcome.best = best = search.best()
    after = before if best.name == AS_IT_STANDS else search.scores(best.states, holdout, "holdout")
    outcome.decision = gate.decide(
        before,
        after,
        before_val,
        best.scores,
        ids=[record.id for record in holdout],
        keep_anyway=keep_anyway and best.name != AS_IT_STANDS,
    )
    outcome.scores = {
        "val": BeforeAfter(before=gate.score(before_val), after=gate.score(best.scores)),
        "holdout": BeforeAfter(before=gate.score(before), after=gate.score(after)),
    }


def _within(budget: Budget, needed: Spent, seconds: float) -> Budget:
    # Prompts with demonstrations are longer than those without.
    larger = Spent(calls=needed.calls, tokens=2 * needed.tokens, usd=2 * needed.usd)
    return kept_back(budget, larger, 2 * seconds)


def _spent_on(search: Search, states: States, records: Sequence[Record]) -> Spent:
    program = fingerprint(states)
    lines = [search.journal.scored(program, "holdout", record.id) for record in records]
    return sum((line.spent for line in lines if line is not None), Spent())


def _spent_words(error: BudgetExceeded) -> str:
    # The rest of the message names the settings of one answer's budget.
    return f"{str(error).split(';')[0].removeprefix('the budget is used up: ')}; give more with --budget"
