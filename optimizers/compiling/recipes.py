"""How candidates for a layer are made: five recipes behind one interface.

    RECIPES["bootstrap"].run(search)        # each candidate is made, scored on val and written down; see `search`

A recipe ends when it has tried what it wanted to try, or with BudgetExceeded: what was scored by then counts. Recipes
that only choose demonstrations are here; those that have DSPy write instructions are in `instructions`.

Demonstrations are short ones first: a small local model reads thirty tokens a second, and what is the same for all
questions stands first in a prompt, where it is read once.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import dspy

from finexpert.errors import ConfigurationError
from finexpert.optimizers.compiling import instructions
from finexpert.optimizers.compiling.metrics import RIGHT, plain_metric
from finexpert.optimizers.compiling.quietly import quietly
from finexpert.optimizers.compiling.search import Search
from finexpert.optimizers.compiling.trial import Trial, Trying

# How many demonstrations the candidates have, in turn: few are cheap, and often enough to show the form.
SIZES = (2, 1, 4, 3)

Demos = Mapping[str, Sequence[dspy.Example]]


class Recipe(Protocol):
    """A way of finding a better layer.

    Must hand every candidate to `search.make` or `search.add`, in an order that depends on the search's seed alone.
    Must not look at the holdout. May raise BudgetExceeded at any time; other errors end the compile.
    """

    name: str

    def run(self, search: Search) -> None: ...


class Labeled:
    """Demonstrations from the example set: `dspy.LabeledFewShot`, each predictor with those that fit it."""

    name = "labeled"

    def run(self, search: Search) -> None:
        pool = pool_of(search)
        if not pool:
            raise _no_demonstration(search)
        for number in range(search.most):
            search.make(f"labeled {number + 1}", _maker(search, pool, number))


def _maker(search: Search, pool: Demos, number: int) -> Callable[[], dspy.Module]:
    number, way = _turn(search, number)
    return lambda: with_demos(_layer(search, way), chosen(_of_way(search, pool, way), number, search.seed))


def _turn(search: Search, number: int) -> tuple[int, int]:
    """Candidates take the ways of asking in turn: which one of its way, and which way."""
    return divmod(number, len(search.task.ways) or 1)


def _layer(search: Search, way: int) -> dspy.Module:
    """The layer as it stood before, without the demonstrations of its other ways of asking."""
    layer = search.layer()
    return with_demos(layer, dict.fromkeys(_of_other_ways(search, way), ()))


def _of_other_ways(search: Search, way: int) -> frozenset[str]:
    ways = search.task.ways
    return frozenset().union(*ways) - ways[way] if ways else frozenset()


def _of_way(search: Search, pool: Demos, way: int) -> Demos:
    others = _of_other_ways(search, way)
    return {place: demos for place, demos in pool.items() if place not in others}


class Bootstrap:
    """Demonstrations from what the model, or a teacher, got right: `dspy.BootstrapFewShot`."""

    name = "bootstrap"

    def run(self, search: Search) -> None:
        tries = [(size, way) for size in sorted(SIZES) for way in range(len(search.task.ways) or 1)]
        for number, (size, way) in enumerate(tries[: search.most], start=1):
            search.make(f"bootstrap {number}", _bootstrapper(search, search.train, size, way))


class BootstrapRandomSearch:
    """As `dspy.BootstrapFewShotWithRandomSearch`: many sets of demonstrations, labelled and bootstrapped."""

    name = "bootstrap-random-search"

    def run(self, search: Search) -> None:
        pool = pool_of(search)
        if pool:
            search.make("labeled 1", _maker(search, pool, 0))
        for number in range(search.most):
            rng = random.Random(f"{search.seed} {number}")
            train = list(search.train)
            if number:
                rng.shuffle(train)
            size = rng.randint(1, max(SIZES)) if number else max(SIZES)
            search.make(f"bootstrap {number + 1}", _bootstrapper(search, train, size, _turn(search, number)[1]))


def pool_of(search: Search) -> Demos:
    """The demonstrations that the training examples give, by predictor."""
    pool: dict[str, list[dspy.Example]] = defaultdict(list)
    layer = search.layer()
    for record in search.train:
        for place, demo in search.task.demonstrations(layer, record).items():
            pool[place].append(demo)
    return dict(pool)


def chosen(pool: Demos, number: int, seed: int) -> dict[str, list[dspy.Example]]:
    """The demonstrations of the nth candidate: the first has the shortest, the others some at random."""
    size = SIZES[number % len(SIZES)]
    sets = {}
    for place, demos in pool.items():
        if number == 0:
            sets[place] = sorted(demos, key=_length)[:size]
        else:
            sets[place] = random.Random(f"{seed} {number} {place}").sample(list(demos), min(size, len(demos)))
    return sets


def _length(demo: dspy.Example) -> int:
    return sum(len(str(value)) for value in demo.values())


def with_demos(layer: dspy.Module, demos: Demos) -> dspy.Module:
    """The layer with these demonstrations in place of those that it had."""
    for name, predictor in layer.named_sub_modules(dspy.Predict):
        place = name.removeprefix("self.")
        if place in demos:
            predictor.demos = list(demos[place])
    return layer


def _bootstrapper(search: Search, train: Sequence[object], size: int, way: int) -> Callable[[], dspy.Module]:
    def build() -> dspy.Module:
        task = search.task
        trying = Trying(task, search.models.teacher)
        pool = _of_way(search, pool_of(search), way)
        # The teacher is shown the form; what it then gets right is shown to the student.
        teacher = with_demos(_layer(search, way), chosen(pool, 0, search.seed)) if pool else _layer(search, way)
        # Where no model is asked there is nothing to show.
        asking = [record for record in train if task.demonstrations(_layer(search, way), record)] or train
        optimizer = dspy.BootstrapFewShot(
            metric=plain_metric(trying.judge),
            metric_threshold=RIGHT,
            max_bootstrapped_demos=size,
            max_labeled_demos=0,
            # Unusable text is no error here, so the first error is one that must end it.
            max_errors=1,
        )
        with quietly():
            student = Trial(_layer(search, way), trying)
            examples = [task.example(record) for record in asking]
            found = optimizer.compile(student, teacher=Trial(teacher, trying), trainset=examples)
        demos = {
            name.removeprefix("self."): [task.shortened(dict(demo.items())) for demo in predictor.demos]
            for name, predictor in found.layer.named_sub_modules(dspy.Predict)
        }
        return with_demos(_layer(search, way), demos)

    return build


def _no_demonstration(search: Search) -> ConfigurationError:
    return ConfigurationError(
        f"no training example of {search.task.layer} makes a demonstration: give more with --train, or use "
        f"--optimizer gepa, which words instructions"
    )


RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Labeled(),
        Bootstrap(),
        BootstrapRandomSearch(),
        instructions.Mipro(),
        instructions.Gepa(),
    )
}


def recipe_of(name: str) -> Recipe:
    """A recipe by its name; ConfigurationError where it is unknown or lacks a package."""
    if name not in RECIPES:
        raise ConfigurationError(f"--optimizer {name!r} is none of {', '.join(RECIPES)}")
    if isinstance(RECIPES[name], instructions.Mipro):
        instructions.need_optuna()
    return RECIPES[name]
