"""The combined program on a sample, before and after: layers that are better alone can be worse together.

    verdict = judge_whole(whole, before, after, budget)
    verdict.combined[0].decision.reason          'not worse on the holdout: 0.1 (n=10)'

A sample is the packaged FRED questions over the warehouse at hand (the sample economy if there is nothing else), and
conversations of ConvFinQA. The same answers also decide whether plans carry drafts: what is cheaper and loses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from finexpert.datasets import convfinqa_evaluation, fred_evaluation
from finexpert.datasets.convfinqa import Conversation
from finexpert.datasets.convfinqa_scoring import close
from finexpert.datasets.evaluation import side_by_side
from finexpert.datasets.fred_questions import Question, gold
from finexpert.errors import BudgetExceeded
from finexpert.language_models.budget import Budget
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.usage import Meter
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers import gate
from finexpert.optimizers.artifact import layers_of
from finexpert.optimizers.fingerprints import digest
from finexpert.optimizers.gate import Decision
from finexpert.optimizers.journal import Journal, Line, Spent, fingerprint
from finexpert.optimizers.manifest import BeforeAfter, ChosenOptions, Combined
from finexpert.optimizers.trial import states_of
from finexpert.optimizers.watching import Watch
from finexpert.sandbox import Sandbox
from finexpert.settings import Settings
from finexpert.sources.warehouse import Warehouse

RUNG = "+retries"


@dataclass
class Whole:
    """What the combined program is tried with."""

    source: Warehouse
    sandbox: Sandbox
    models: LanguageModels
    settings: Settings
    journal: Journal
    questions: Sequence[Question] = ()
    conversations: Sequence[Conversation] = ()
    threads: int = 1
    watch: Watch = field(default_factory=Watch)

    @property
    def samples(self) -> dict[str, list[str]]:
        """The ids of what is asked, by sample."""
        found = {
            f"FRED questions ({self.source.label or self.source.name})": [q.id for q in self.questions],
            "ConvFinQA conversations": [conversation.id for conversation in self.conversations],
        }
        return {name: ids for name, ids in found.items() if ids}

    def scores(self, expert: FinancialExpert, drafts: bool, sample: str, variant: str) -> list[Line]:
        """The program on one sample, from the journal where it has the answers."""
        program = digest([drafts, {name: fingerprint(states_of(layer)) for name, layer in layers_of(expert).items()}])
        ids = self.samples[sample]
        ask = self._asker(expert, drafts, sample)

        def one(id: str) -> None:
            with Meter() as meter:
                score = ask(id)
            spent = Spent.of(meter.calls)
            self.journal.add_scored(Line(kind="scored", program=program, split=sample, id=id, score=score, spent=spent))
            self.watch.sample(sample, variant, len(done()), len(ids))

        def done() -> list[Line]:
            found = [self.journal.scored(program, sample, id) for id in ids]
            return [line for line in found if line is not None]

        known = {line.id for line in done()}
        side_by_side(one, [(id,) for id in ids if id not in known], self.threads)
        return done()

    def _asker(self, expert: FinancialExpert, drafts: bool, sample: str) -> Callable[[str], float]:
        settings = self.settings.model_copy(update={"drafts": drafts})
        if sample.startswith("FRED"):
            bench = fred_evaluation.Bench(self.source, self.sandbox, self.models, settings, expert)
            questions = {question.id: question for question in self.questions}
            return lambda id: _fred(bench, questions[id])
        talks = convfinqa_evaluation.Bench(self.models, settings, expert=expert)
        by_id = {conversation.id: conversation for conversation in self.conversations}
        return lambda id: _convfinqa(talks, by_id[id])


def _fred(bench: fred_evaluation.Bench, question: Question) -> float:
    answer = bench.answer(RUNG, question)
    _raise_budget(answer.failure)
    return float(fred_evaluation.judge(RUNG, 1, question, answer, gold(question, bench.source)).correct)


def _convfinqa(bench: convfinqa_evaluation.Bench, conversation: Conversation) -> float:
    """The share of the conversation's turns that are right."""
    turns = bench.converse(conversation, convfinqa_evaluation.PLANNER).turns
    for turn in turns:
        _raise_budget(turn.failure)
    told = [turn for turn in turns if turn.gold is not None]
    right = [turn.gold is not None and close(turn.predicted, turn.gold) for turn in told]
    return math.fsum(right) / max(1, len(right))


def _raise_budget(failure: Any) -> None:
    # The program makes a failed answer of it; here it would pass for a wrong one.
    if failure is not None and failure.layer == "budget":
        raise BudgetExceeded(failure.message)


@dataclass
class WholeVerdict:
    """What the sample said: `ended` says why something is missing."""

    combined: list[Combined] = field(default_factory=list)
    options: ChosenOptions = field(default_factory=ChosenOptions)
    evidence: dict[str, Decision] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    ended: str = ""

    @property
    def passed(self) -> bool:
        return all(part.decision.passed for part in self.combined)


def judge_whole(
    whole: Whole, before: FinancialExpert, after: FinancialExpert, budget: Budget, *, keep_anyway: bool = False
) -> WholeVerdict:
    """The second gate, and the options: on each sample the program before, after, and after with drafts the other way."""
    verdict = WholeVerdict()
    already = whole.journal.spent
    with budget, Meter() as meter:
        try:
            for sample in whole.samples:
                _judge_sample(whole, before, after, sample, verdict, keep_anyway)
        except BudgetExceeded as error:
            verdict.ended = f"the budget ended: {error}"
    verdict.spent = already + Spent.of(meter.calls)
    return verdict


def _judge_sample(
    whole: Whole, before: FinancialExpert, after: FinancialExpert, sample: str, verdict: WholeVerdict, keep_anyway: bool
) -> None:
    drafts = whole.settings.drafts
    was = whole.scores(before, drafts, sample, "before")
    now = whole.scores(after, drafts, sample, "after")
    ended: BudgetExceeded | None = None
    if sample.startswith("FRED"):
        try:
            other = whole.scores(after, not drafts, sample, f"after, drafts {'off' if drafts else 'on'}")
            chosen, verdict.evidence["drafts"] = cheaper({drafts: now, not drafts: other})
            verdict.options = ChosenOptions(drafts=chosen)
            now = now if chosen == drafts else other
        except BudgetExceeded as error:
            ended = error
    first, second = ([line.score for line in lines] for lines in (was, now))
    decision = gate.not_worse(first, second, ids=whole.samples[sample])
    scores = BeforeAfter(before=gate.score(first), after=gate.score(second))
    decision = gate.overruled(decision) if keep_anyway else decision
    verdict.combined.append(Combined(sample=sample, scores=scores, decision=decision))
    if ended is not None:
        raise ended


def cheaper(ways: dict[bool, list[Line]]) -> tuple[bool, Decision]:
    """The way that takes fewer tokens, if by the gate it loses nothing against the other; else the other.

    >>> def lines(score, tokens): return [Line(kind="scored", program="", score=score, spent=Spent(tokens=tokens))] * 4
    >>> way, decision = cheaper({True: lines(1, 900), False: lines(1, 500)})
    >>> way, decision.reason
    (False, 'not worse on the holdout: 0 (n=4)')
    >>> cheaper({True: lines(1, 900), False: lines(0, 500)})[0]
    True
    """
    cheap, dear = sorted(ways, key=lambda way: sum(line.spent.tokens for line in ways[way]))
    low, high = ([line.score for line in ways[way]] for way in (cheap, dear))
    ids = [line.id for line in ways[cheap]]
    decision = gate.not_worse(high, low, ids=ids)
    return (cheap, decision) if decision.passed else (dear, gate.not_worse(low, high, ids=ids))
