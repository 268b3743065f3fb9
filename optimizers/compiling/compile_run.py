"""A whole compile: the layers one after the other, then the combined program, then the artifact.

    run = CompileRun(bench, models, recipe, plan, folder=home / "compile")
    for layer in plan.layers:
        run.layer(layer)                 # Outcome; the program goes on with what was kept
    run.save(Path("runs/compiled/small"))

Interrupted and started again with the same plan, it goes on behind the last example that was finished; what a recipe
had asked for by then is answered from the compile's own folder (see `replaying`).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from finexpert.datasets.layers import examples as layer_examples
from finexpert.language_models.limits import SpendingLimits
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling import gate
from finexpert.optimizers.compiling.journal import Journal, States, fingerprint
from finexpert.optimizers.compiling.layer import compile_layer
from finexpert.optimizers.compiling.outcome import Outcome
from finexpert.optimizers.compiling.recipes import recipe_of
from finexpert.optimizers.compiling.replaying import Completions
from finexpert.optimizers.compiling.search import Engine, Models, Search
from finexpert.optimizers.compiling.spending import Purse
from finexpert.optimizers.compiling.tasks import CompileBench, Record, task_of
from finexpert.optimizers.compiling.trial import with_states
from finexpert.optimizers.compiling.watching import Watch
from finexpert.optimizers.compiling.whole_gate import Own, WholeVerdict, judge_whole
from finexpert.optimizers.compiling.whole_program import Whole
from finexpert.optimizers.program import artifact
from finexpert.optimizers.program.artifact import layers_of, states_of
from finexpert.optimizers.program.fingerprints import digest, of_signature
from finexpert.optimizers.program.manifest import Provenance


@dataclass(frozen=True)
class CompilePlan:
    """What is compiled, and how much of it. Two compiles with the same plan and the same models are the same."""

    layers: tuple[str, ...]
    recipe: str = "labeled"
    train: int | None = None
    val: int | None = None
    holdout: int | None = None
    candidates: int = 6
    seed: int = 0
    limits: SpendingLimits = field(default_factory=SpendingLimits)
    keep_anyway: bool = False
    end_to_end: bool = True


@dataclass
class Roles:
    """Who is asked, by what they do."""

    student: LanguageModels
    teacher: LanguageModels
    reflection: LanguageModels

    def describe(self) -> dict[str, Any]:
        return {name: models.describe() for name, models in vars(self).items()}

    def words(self, role: str) -> str:
        """The model of a role and its address."""
        told = vars(self)[role].describe()
        return "recorded completions" if told.get("replaying") else str(told["model"])


@dataclass
class CompileRun:
    """A compile under way. `expert` is the program so far, `before` the one that it began with."""

    bench: CompileBench
    roles: Roles
    plan: CompilePlan
    home: Path
    threads: int = 1
    watch: Watch = field(default_factory=Watch)
    engine: Engine | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    verdict: WholeVerdict | None = None

    def __post_init__(self) -> None:
        for layer in self.plan.layers:
            layer_examples.kind_of(layer)
        recipe_of(self.plan.recipe)
        self.expert = self.bench.expert
        self.before = _copy(self.expert)
        self.purse = Purse(self.plan.limits)
        self.folder = self.home / self.fingerprint()
        self._searched: dict[str, tuple[Search, list[Record]]] = {}

    def fingerprint(self) -> str:
        """What must be the same for an interrupted compile to go on."""
        settings = self.bench.settings
        return digest(
            {
                "plan": asdict(self.plan) | {"limits": self.plan.limits.words()},
                "models": self.roles.describe(),
                "program": {name: fingerprint(states_of(layer)) for name, layer in layers_of(self.before).items()},
                "code": [
                    of_signature(predictor.signature).model_dump()
                    for layer in layers_of(FinancialExpert()).values()
                    for predictor in artifact.predictors_of(layer).values()
                ],
                "examples": {layer: self.examples(layer) for layer in self.plan.layers},
                "settings": [settings.drafts, settings.judge, settings.retries, settings.privacy, settings.embedder],
            }
        )

    def examples(self, layer: str) -> str:
        """The fingerprint of a layer's example set."""
        return self.bench.examples.fingerprint(layer)

    @property
    def found(self) -> bool:
        """Whether an interrupted compile of the same plan left something."""
        return self.folder.is_dir() and any(self.folder.iterdir())

    def forget(self) -> None:
        """Begin from the beginning."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def layer(self, name: str) -> Outcome:
        """Compile one layer and go on with what was kept."""
        plan, base = self.plan, layers_of(self.expert)[name]
        task = task_of(name, self.bench)
        train = task.load("train", plan.train, plan.seed)
        val = task.load("val", plan.val, plan.seed)
        holdout = task.load("holdout", plan.holdout, plan.seed)
        journal = Journal(self.folder / f"{name}.jsonl")
        models = self._models(Completions(self.folder / f"{name}-completions.jsonl"))
        search = Search(
            task, base, models, journal, train, val, plan.seed, self.threads, plan.candidates, self.engine, self.watch
        )
        self._searched[name] = search, holdout
        self.watch.layer(name, plan.recipe, len(train), len(val), len(holdout))
        outcome = compile_layer(
            search, recipe_of(plan.recipe), holdout, self._budget(journal), keep_anyway=plan.keep_anyway
        )
        self.purse.spent = self.purse.spent + outcome.spent
        self.outcomes[name] = outcome
        setattr(self.expert, name, with_states(base, outcome.states))
        return outcome

    def _models(self, completions: Completions) -> Models:
        student, teacher = (completions.wrap_all(models) for models in (self.roles.student, self.roles.teacher))
        return Models(student, teacher, completions.wrap(self.roles.reflection.default))

    def _budget(self, journal: Journal) -> Any:
        to_come = len(self.plan.layers) - len(self.outcomes) + self.plan.end_to_end
        return self.purse.share(max(1, to_come), journal.spent)

    @property
    def kept(self) -> list[str]:
        """The layers that both gates kept."""
        left_out = self.verdict.left_out if self.verdict else {}
        return [name for name, outcome in self.outcomes.items() if outcome.kept and name not in left_out]

    def whole(self, whole: Mapping[str, Any]) -> WholeVerdict:
        """The gate of the combined program; `whole` is what `Whole` needs beside what is known here."""
        journal = Journal(self.folder / "whole_program.jsonl")
        given = Whole(
            sandbox=self.bench.sandbox,
            models=self.roles.student,
            settings=self.bench.settings,
            journal=journal,
            threads=self.threads,
            watch=self.watch,
            engine=self.engine,
            **whole,
        )
        gains = {
            name: outcome.decision.difference
            for name, outcome in self.outcomes.items()
            if outcome.kept and outcome.decision is not None
        }
        self.verdict = verdict = judge_whole(
            given,
            self.before,
            self.expert,
            gains,
            self._budget(journal),
            own=lambda name, states: self._own(name, states, journal),
            keep_anyway=self.plan.keep_anyway,
        )
        self.purse.spent = self.purse.spent + verdict.spent
        for name in gains:
            chosen = verdict.expert if name in self.kept and verdict.expert is not None else self.before
            setattr(self.expert, name, layers_of(chosen)[name])
        return verdict

    def _own(self, name: str, states: States, journal: Journal) -> Own:
        """A layer's scores on its own val and holdout, as it was compiled and with these states."""
        search, holdout = self._searched[name]
        # What this takes is of the second gate, and stands in its journal.
        other = replace(search, journal=journal, tried=[])
        compiled = self.outcomes[name].states
        return {
            split: (search.scores(compiled, records, split), other.scores(states, records, split))
            for split, records in (("val", search.val), ("holdout", holdout))
        }

    def save(self, folder: Path) -> Path:
        """Write the artifact with what is known of it."""
        plan, manifest = self.plan, getattr(self.before, "manifest", None)
        arguments = {"seed": plan.seed, "budget": plan.limits.words(), "candidates": plan.candidates}
        layers = {
            name: self.outcomes[name].provenance(
                arguments=arguments | self.bench.examples.words(name),
                examples=self.examples(name),
                model=self.roles.words("student"),
                teacher=self.roles.words("teacher") if plan.recipe.startswith("bootstrap") else None,
            )
            for name in self.kept
        }
        if manifest is not None:
            # What was compiled before and is still so keeps its history.
            for name, entry in manifest.layers.items():
                if name not in self.kept and entry.optimizer:
                    kept = entry.model_dump(exclude={"file", "class_", "sha256", "predictors"})
                    layers[name] = Provenance.model_validate(kept)
        verdict = self.verdict or WholeVerdict()
        for name, own in verdict.instructions_only.items():
            layers[name] = _instructions_only(layers[name], own)
        for name, decision in verdict.left_out.items():
            layers[name] = layers.get(name, Provenance()).model_copy(update={"left_out": decision})
        if not verdict.evidence and manifest is not None:
            verdict = replace(verdict, options=manifest.options, evidence=manifest.evidence)
        return artifact.save(
            self.expert,
            folder,
            layers=layers,
            options=verdict.options,
            evidence=verdict.evidence,
            combined=verdict.combined,
            exists="version",
        )


def _instructions_only(entry: Provenance, own: Own) -> Provenance:
    """The provenance of a layer that lost its demonstrations after it was judged: its scores are those without."""
    scores = {split: was.model_copy(update={"after": gate.score(own[split][1])}) for split, was in entry.scores.items()}
    arguments = {**entry.arguments, "demonstrations": 0}
    return entry.model_copy(update={"scores": scores, "arguments": arguments})


def _copy(expert: FinancialExpert) -> FinancialExpert:
    copy = FinancialExpert()
    for name, layer in layers_of(expert).items():
        setattr(copy, name, with_states(layer, states_of(layer)))
    if hasattr(expert, "manifest"):
        copy.manifest = expert.manifest
    return copy
