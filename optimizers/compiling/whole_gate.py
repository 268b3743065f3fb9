"""The second gate: the combined program before and after, and what of it can be left out or is cheaper.

    verdict = judge_whole(whole, before, after, {"planning": 0.2, "sql_extraction": 0.05}, budget)
    verdict.left_out["sql_extraction"].reason    'the combined program is worse with it: FRED questions (...): worse ...'
    verdict.options                              ChosenOptions(drafts=False, judge=True)

Layers that are better alone can be worse together. If the program lost, it is tried without one layer after the other,
the one that gained least first; the first combination that is not worse is kept, and nothing if there is none. Then come
the choices, one after the other, each where it can change something: drafts, judge, demonstrations. A choice is
the cheaper way, in tokens, if by the gate it loses nothing, neither against the other way nor against the program before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from finexpert.errors import BudgetExceeded
from finexpert.language_models.budget import Budget
from finexpert.language_models.usage import Meter
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling import gate
from finexpert.optimizers.compiling.journal import Line, Spent, States
from finexpert.optimizers.compiling.whole_program import Sample, Way, Whole
from finexpert.optimizers.program.decision import Decision
from finexpert.optimizers.program.manifest import BeforeAfter, ChosenOptions, Combined

# Scores of a layer's own examples, by split: as compiled, and with other states.
Own = Mapping[str, tuple[list[float], list[float]]]
OwnScores = Callable[[str, States], Own]


@dataclass
class WholeVerdict:
    """What the samples said; `expert` is the program to go on with, and `ended` says why something is missing."""

    expert: FinancialExpert | None = None
    combined: list[Combined] = field(default_factory=list)
    options: ChosenOptions = field(default_factory=ChosenOptions)
    evidence: dict[str, Decision] = field(default_factory=dict)
    left_out: dict[str, Decision] = field(default_factory=dict)
    instructions_only: dict[str, Own] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    ended: str = ""

    @property
    def passed(self) -> bool:
        return all(part.decision.passed for part in self.combined)


def judge_whole(
    whole: Whole,
    before: FinancialExpert,
    after: FinancialExpert,
    gains: Mapping[str, float],
    budget: Budget,
    *,
    own: OwnScores | None = None,
    keep_anyway: bool = False,
) -> WholeVerdict:
    """Judge the program, leave out what spoils it, choose the options. `gains` are those of the kept layers, on the holdout.

    `own` scores a layer with other states on its own examples; without it demonstrations are left as they are.
    """
    judging = _Judging(whole, before, after, gains, own, keep_anyway)
    already = whole.journal.spent
    with budget, Meter() as meter:
        try:
            judging.run()
        except BudgetExceeded as error:
            judging.verdict.ended = f"the budget ended: {error}"
    verdict = judging.finished()
    verdict.spent = already + Spent.of(meter.calls)
    return verdict


class _Judging:
    def __init__(
        self,
        whole: Whole,
        before: FinancialExpert,
        after: FinancialExpert,
        gains: Mapping[str, float],
        own: OwnScores | None,
        keep_anyway: bool,
    ) -> None:
        settings = whole.settings
        self.whole, self.gains, self.own, self.keep_anyway = whole, gains, own, keep_anyway
        self.before = Way(before, settings.drafts, settings.judge, "before")
        self.way = Way(after, settings.drafts, settings.judge)
        self.samples = whole.samples(gains)
        self.verdict = WholeVerdict()
        self.worse: tuple[Sample, Decision] | None = None

    def run(self) -> None:
        self.worse = self.lost(self.way)
        self.choose("drafts")
        if self.worse is not None and not self.keep_anyway:
            self.leave_out()
            if self.worse is not None:
                return
            self.choose("drafts")
        self.choose("judge")
        self.choose_demonstrations()

    def lost(self, way: Way) -> tuple[Sample, Decision] | None:
        """The first sample on which the way is worse than the program before."""
        for sample in self.samples:
            decision = self.compared(self.before, way, sample)
            if not decision.passed:
                return sample, decision
        return None

    def compared(self, first: Way, second: Way, sample: Sample) -> Decision:
        was, now = (self.whole.scores(way, sample) for way in (first, second))
        return gate.not_worse(_scores(was), _scores(now), ids=sample.ids)

    def choose(self, option: str) -> None:
        """Try one option the other way, on the sample that was made for it."""
        found = [sample for sample in self.samples if sample.decides == option]
        if not found:
            return
        now = getattr(self.way, option)
        name = f"{option} {'off' if now else 'on'}"
        changed: dict[str, Any] = {option: not now, "name": f"after, {name}"}
        other = replace(self.way, **changed)
        ways = {False: self.whole.scores(self.way, found[0]), True: self.whole.scores(other, found[0])}
        changes, decision = cheaper(ways)
        if changes:
            worse = self.lost(other)
            if worse is not None and self.worse is None:
                decision = _against(gate.not_worse(_scores(ways[True]), _scores(ways[False])), name, worse)
                changes = False
            else:
                self.way, self.worse = other, worse
        self.verdict.evidence[option] = decision
        self.verdict.options = self.verdict.options.model_copy(update={option: now != changes})

    def leave_out(self) -> None:
        """Try the program without one of its layers, the one with the smallest gain first."""
        if self.worse is None:
            return
        place, decision = self.worse
        why = f"{place.name}: {decision.reason}"
        names = sorted(self.gains, key=lambda name: self.gains[name])
        self.verdict.left_out = dict.fromkeys(names, _left_out(decision, f"the combined program is worse, on {why}"))
        if len(names) == 1:
            return
        for name in names:
            without = self.way.with_layers({name: self.before.states(name)}, f"without {name}")
            if self.lost(without) is None:
                self.way, self.worse = without, None
                reason = f"the combined program is worse with it, and without it is not: {why}"
                self.verdict.left_out = {name: _left_out(decision, reason)}
                return
        reason = f"the combined program is worse, also without any one layer: {why}"
        self.verdict.left_out = dict.fromkeys(names, _left_out(decision, reason))

    def choose_demonstrations(self) -> None:
        """Try the kept layers with their instructions alone: all at once, then one after the other."""
        if not self.samples or self.own is None:
            return
        stripped: dict[str, States] = {}
        own: dict[str, Own] = {}
        for name in sorted(self.kept):
            states = without_demonstrations(self.way.states(name))
            # Where nothing but demonstrations was compiled, the first gate has weighed them.
            if states in (self.way.states(name), without_demonstrations(self.before.states(name))):
                continue
            own[name] = self.own(name, states)
            lost = [gate.not_worse(*pair) for pair in own[name].values() if not gate.not_worse(*pair).passed]
            if lost:
                self.verdict.evidence[f"demonstrations of {name}"] = _kept(lost[0], f"{name} alone without them")
            else:
                stripped[name] = states
        groups = [list(stripped)] if len(stripped) > 1 else []
        for names in [*groups, *([name] for name in stripped)]:
            if not set(names) & set(self.verdict.instructions_only):
                self.strip({name: stripped[name] for name in names}, own)

    def strip(self, states: dict[str, States], own: Mapping[str, Own]) -> None:
        names = list(states)
        other = self.way.with_layers(states, f"without demonstrations of {' and '.join(names)}")
        tried = [sample for sample in self.samples if set(sample.layers) & set(names)]
        decisions = [self.compared(self.way, other, sample) for sample in tried]
        worst = min(decisions, key=lambda decision: (decision.passed, decision.p_worse))
        now, then = (sum(self.tokens(way, sample) for sample in tried) for way in (self.way, other))
        told = {f"demonstrations of {name}": worst for name in names}
        if worst.passed and then < now and (self.worse is not None or self.lost(other) is None):
            self.way = other
            self.verdict.instructions_only |= {name: own[name] for name in names}
            self.verdict.evidence |= told
            return
        words = f"without them {now:,} tokens become {then:,}" if worst.passed else "the program without them"
        self.verdict.evidence |= {about: _kept(worst, words) for about in told}

    def tokens(self, way: Way, sample: Sample) -> int:
        return sum(line.spent.tokens for line in self.whole.scores(way, sample))

    @property
    def kept(self) -> list[str]:
        return [name for name in self.gains if name not in self.verdict.left_out]

    def finished(self) -> WholeVerdict:
        """The verdict with the scores of what is kept, as far as the journal has them."""
        verdict = self.verdict
        verdict.expert = self.way.expert
        if self.kept and set(self.kept) == set(verdict.instructions_only):
            verdict.options = verdict.options.model_copy(update={"demonstrations": 0})
        for sample in self.samples:
            was, now = (self.whole.known(way, sample) for way in (self.before, self.way))
            if len(was) == len(now) == len(sample.ids):
                first, second = _scores(was), _scores(now)
                decision = gate.not_worse(first, second, ids=sample.ids)
                scores = BeforeAfter(before=gate.score(first), after=gate.score(second))
                decision = gate.overruled(decision) if self.keep_anyway else decision
                verdict.combined.append(Combined(sample=sample.name, scores=scores, decision=decision))
        return verdict


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
    low, high = (_scores(ways[way]) for way in (cheap, dear))
    ids = [line.id for line in ways[cheap]]
    decision = gate.not_worse(high, low, ids=ids)
    return (cheap, decision) if decision.passed else (dear, gate.not_worse(low, high, ids=ids))


def without_demonstrations(states: States) -> States:
    """The states of a layer with its instructions alone.

    >>> without_demonstrations({"write": {"signature": {}, "demos": [{"question": "?"}]}})
    {'write': {'signature': {}, 'demos': []}}
    """
    return {
        place: {key: [] if key == "demos" else value for key, value in state.items()} for place, state in states.items()
    }


def _scores(lines: list[Line]) -> list[float]:
    return [line.score for line in lines]


def _left_out(decision: Decision, reason: str) -> Decision:
    return decision.model_copy(update={"keep": False, "reason": reason})


def _kept(decision: Decision, words: str) -> Decision:
    """The decision to leave a thing as it is, for what the other way came to."""
    return decision.model_copy(update={"keep": True, "passed": True, "reason": f"kept: {words}, {decision.reason}"})


def _against(decision: Decision, name: str, worse: tuple[Sample, Decision]) -> Decision:
    sample, lost = worse
    reason = f"{name} is cheaper, but against the program before, {sample.name}: {lost.reason}"
    return decision.model_copy(update={"keep": True, "passed": True, "reason": reason})
