"""The combined program on samples: what is asked of it, and what each question came to.

    whole.scores(Way(expert, name="after"), whole.samples[0])      [Line(id="rates-2020", score=1.0, spent=...), ...]

Three samples: the packaged FRED questions over the warehouse at hand (the sample economy if there is nothing else),
conversations of ConvFinQA, and house questions over a store that knows what they need. A sample asks some layers alone,
and only some options change what it asks: a program that differs elsewhere is not asked again. What the scores lead to
is decided in `whole_gate`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from finexpert.datasets.convfinqa import evaluation as convfinqa_evaluation
from finexpert.datasets.convfinqa.conversations import Conversation
from finexpert.datasets.desk.references import gold
from finexpert.datasets.evaluations.answer_matching import close
from finexpert.datasets.fred import evaluation as fred_evaluation
from finexpert.datasets.fred.questions import Question
from finexpert.errors import BudgetExceeded
from finexpert.knowledge.taught import Taught
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.usage import Meter
from finexpert.modules.financial_expert import FinancialExpert, Options
from finexpert.optimizers.compiling.journal import Journal, Line, Spent, States, fingerprint
from finexpert.optimizers.compiling.search import Engine, score
from finexpert.optimizers.compiling.trial import with_states
from finexpert.optimizers.compiling.watching import Watch
from finexpert.optimizers.program.artifact import layers_of, states_of
from finexpert.optimizers.program.fingerprints import digest
from finexpert.sandbox import Sandbox
from finexpert.settings import Settings
from finexpert.warehouse.warehouse import Warehouse

RUNG = "+retries"
Ask = Callable[[str], float]


@dataclass(frozen=True)
class Way:
    """A program, and the options with which it is asked."""

    expert: FinancialExpert
    drafts: bool
    judge: bool
    name: str = "after"

    @cached_property
    def fingerprints(self) -> dict[str, str]:
        """What each layer asks, as a hash."""
        return {layer: fingerprint(states_of(module)) for layer, module in layers_of(self.expert).items()}

    def states(self, layer: str) -> States:
        return states_of(layers_of(self.expert)[layer])

    def with_layers(self, states: dict[str, States], name: str) -> Way:
        """The same way with other states of some layers."""
        expert = FinancialExpert()
        for layer, module in layers_of(self.expert).items():
            setattr(expert, layer, with_states(module, states.get(layer, states_of(module))))
        return Way(expert, self.drafts, self.judge, name)


@dataclass(frozen=True)
class Sample:
    """What is asked: `layers` take part, `options` change what is asked, and `decides` is the one that is chosen here."""

    name: str
    ids: tuple[str, ...]
    layers: tuple[str, ...]
    options: tuple[str, ...]
    decides: str
    asker: Callable[[Way], Ask]

    def program(self, way: Way) -> str:
        """What of a way this sample sees, as a hash."""
        asked = {layer: way.fingerprints[layer] for layer in self.layers}
        return digest([self.name, {option: getattr(way, option) for option in self.options}, asked])


@dataclass
class Whole:
    """What the combined program is tried with; `house` questions need `taught`."""

    source: Warehouse
    sandbox: Sandbox
    models: LanguageModels
    settings: Settings
    journal: Journal
    questions: Sequence[Question] = ()
    conversations: Sequence[Conversation] = ()
    house: Sequence[Question] = ()
    taught: Taught | None = None
    threads: int = 1
    watch: Watch = field(default_factory=Watch)
    engine: Engine | None = None

    def samples(self, layers: Collection[str]) -> list[Sample]:
        """What is asked where these layers changed: samples in which none of them takes part would tell nothing."""
        over = f"({self.source.label or self.source.name})"
        writing = ("planning", "sql_extraction", "script_generation")
        understanding = ("keyword_rephrasing", "memory_lookup")
        fred, house = _ids(self.questions), _ids(self.house if self.taught else ())
        talks = _ids(self.conversations)
        found = [
            Sample(f"FRED questions {over}", fred, writing, ("drafts",), "drafts", self._fred),
            Sample("ConvFinQA conversations", talks, ("planning",), (), "", self._convfinqa),
            Sample(
                f"house questions {over}", house, (*understanding, *writing), ("drafts", "judge"), "judge", self._house
            ),
        ]
        return [sample for sample in found if sample.ids and set(sample.layers) & set(layers)]

    def scores(self, way: Way, sample: Sample) -> list[Line]:
        """The program on one sample, from the journal where it has the answers."""

        def keep(line: Line) -> None:
            self.journal.add_scored(line)
            self.watch.sample(sample.name, way.name, len(self.known(way, sample)), len(sample.ids))

        known = {line.id for line in self.known(way, sample)}
        missing = [id for id in sample.ids if id not in known]
        score(Asking(self, way, sample), missing, keep, self.threads, self.engine)
        return self.known(way, sample)

    def known(self, way: Way, sample: Sample) -> list[Line]:
        """What the journal has of it, in the order of the sample."""
        program = sample.program(way)
        found = [self.journal.scored(program, sample.name, id) for id in sample.ids]
        return [line for line in found if line is not None]

    def _bench(self, way: Way, taught: Taught | None = None) -> fred_evaluation.QuestionBench:
        settings = self.settings.model_copy(update={"drafts": way.drafts, "judge": way.judge})
        return fred_evaluation.QuestionBench(self.source, self.sandbox, self.models, settings, way.expert, taught)

    def _fred(self, way: Way) -> Ask:
        bench, questions = self._bench(way), {question.id: question for question in self.questions}
        return lambda id: _scored(bench, questions[id], bench.answer(RUNG, questions[id]))

    def _house(self, way: Way) -> Ask:
        bench, questions = self._bench(way, self.taught), {question.id: question for question in self.house}
        options = Options.of(bench.settings, clarify=True)
        return lambda id: _scored(bench, questions[id], bench.ask(questions[id], taught=self.taught, options=options))

    def _convfinqa(self, way: Way) -> Ask:
        bench = convfinqa_evaluation.ConversationBench(self.models, self.settings, expert=way.expert)
        by_id = {conversation.id: conversation for conversation in self.conversations}
        return lambda id: _conversation(bench, by_id[id])


class Asking:
    """One sample asked of one way."""

    def __init__(self, whole: Whole, way: Way, sample: Sample) -> None:
        self.whole, self.way, self.sample = whole, way, sample
        self._program, self._ask = sample.program(way), sample.asker(way)

    def line(self, id: str) -> Line:
        """What the way came to on one question."""
        with Meter() as meter:
            score = self._ask(id)
        line = Line(
            kind="scored", program=self._program, split=self.sample.name, name=self.way.name, id=id, score=score
        )
        return line.model_copy(update={"spent": Spent.of(meter.calls)})


def _ids(asked: Sequence[Question] | Sequence[Conversation]) -> tuple[str, ...]:
    return tuple(each.id for each in asked)


def _scored(bench: fred_evaluation.QuestionBench, question: Question, answer: Any) -> float:
    _raise_budget(answer.failure)
    return float(fred_evaluation.judge(RUNG, 1, question, answer, gold(question, bench.source)).correct)


def _conversation(bench: convfinqa_evaluation.ConversationBench, conversation: Conversation) -> float:
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
