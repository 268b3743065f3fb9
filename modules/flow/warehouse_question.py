"""A question asked of a warehouse: plan, SELECTs, script, each repaired by its own layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import dspy

from finexpert.answers import recording
from finexpert.answers.cache.key import context
from finexpert.core import reviews
from finexpert.core.answers import Answer, AnswerFormat
from finexpert.core.plans import Extract, Plan, Script
from finexpert.core.workspace import NamedFrame, Workspace
from finexpert.errors import FinexpertError, NotInSources, Unanswerable
from finexpert.knowledge import injections
from finexpert.knowledge.taught import Taught
from finexpert.modules.adversarial_review import AdversarialReview, CodeReviewing
from finexpert.modules.flow.answering import Answering, Unclear
from finexpert.modules.flow.conversation import conversation
from finexpert.modules.flow.understanding import NO_OFFER, Understood, choosing, filling, understand, with_unclear
from finexpert.modules.flow.verifying import examples
from finexpert.modules.known_here import CalledUnclear
from finexpert.modules.sql_extraction import by_name
from finexpert.plans import execution
from finexpert.plans.retries import FAILED
from finexpert.sandbox import Sandbox
from finexpert.signatures import rules
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.frame_values import decimals_asked
from finexpert.warehouse.warehouse import DIALECTS, Warehouse

_READ = " is read from the rows of "


@dataclass(kw_only=True)
class WarehouseQuestion(Answering):
    """One question over a warehouse; scripts run in `sandbox`. A `code_reviewer` looks at all code before it is run."""

    source: Warehouse
    sandbox: Sandbox
    code_reviewer: AdversarialReview | None = None
    by_select: bool = False  # whether the last plan is one SELECT that computes the answer
    missed: str = field(default="", init=False)  # what was not found among the tables shown
    format_fixed: bool = field(init=False)
    checks: Checks = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        # What a person chose for a text of a SELECT is put there at home; a script's text has no column of a table to be put right in.
        tables = {table.name for table in self.source.tables}
        for place, value in self.chosen.items():
            (table, _, column), text = place.partition("=")[0].rpartition("."), place.partition("=")[2]
            if table not in tables:
                said = f"By {text!r} the user means the value {value!r} of {column}."
                self.given = self.knowledge = f"{self.knowledge}\n{said}".strip()
        self.format_fixed = self.answer_format is not None
        # Where nobody asked for a day, rows are hidden by dates that an owner declared, and by no guess.
        hidden = not self.as_of_given
        named = {name: one for name, (one, _) in self.taught.memory.named_selects().items()} if self.taught else {}
        told = [each.told for each in self.taught.glossary.keywords(("active",))] if self.taught else []
        house = "\n".join([self.knowledge, *told])
        self.checks = Checks(
            self.source, self.as_of, hidden, chosen=self.chosen, question=self.question, house=house, named=named
        )

    @property
    def card(self) -> str:
        """What is told of the tables; of many, those that this question and the one before may need."""
        before = [turn.question for turn in self.workspace.turns[-1:]]
        about = " ".join([*before, self.understood.question, self.missed]).strip()
        return self.source.schema_card(self.options.privacy, about)

    @property
    def chooses(self) -> bool:
        """Whether the planner says itself what it follows: a strong one, which writes drafts, and no layer was compiled to say it."""
        layers, options = self.layers, self.options
        compiled = layers.keyword_rephrasing.compiled or layers.memory_lookup.compiled or layers.planning.by_select
        return options.drafts and options.judge and not compiled

    @property
    def fills(self) -> bool:
        """Whether the planner only fills in: a small one, that was compiled to answer with one SELECT, where something is read by name."""
        named = bool(self.checks.named) and self.options.drafts
        return named and self.layers.planning.by_select

    def look_up(self, taught: Taught) -> Understood:
        if self.fills:
            understood = filling(self.question, taught, self.source, self.card)
        elif self.chooses:
            understood = choosing(self.question, taught, self.card, conversation(self.workspace))
        else:
            understood = understand(
                self.layers,
                self.question,
                taught,
                self.card,
                conversation(self.workspace),
                lambda unknown: bool(self.asks(unknown)),
                self.options.judge,
            )
        if not self.options.verified:
            return understood
        known = self.checks.named if self.fills else {}
        return replace(understood, examples=examples(self.question, self.source, taught, self.as_of, known))

    def source_injections(self) -> Sequence[injections.Finding]:
        return injections.in_card(self.card)

    def conversation(self) -> str:
        """The conversation before this question, for a prompt."""
        # As it was before the question: a program of its own must not see the frames of the first.
        frames = execution.usable_frames(self.before, self.checks)
        return conversation(Workspace(frames, self.before.turns))

    def outcome(self) -> execution.Outcome:
        doubts = ""
        for last in (False, True):
            with self.timed("planning"):
                self.last_plan = self.plan(doubts)
            try:
                with self.timed("execution"):
                    return execution.run(self.last_plan, self.workspace, self.surroundings())
            except execution.NeedsAnotherPlan as needed:
                if last:
                    raise execution.StepFailed(execution.PLANNING, needed.error, 2) from needed
                doubts = needed.feedback
                self.checks.another_plan()
        raise AssertionError("unreachable")

    def plan(self, doubts: str = "", retries: int | None = None) -> Plan:
        """Ask the planning layer until it gives a plan whose steps fit together; `doubts` speak against an earlier one."""

        def ask(feedback: str) -> dspy.Prediction:
            return self.layers.planning(
                question=self.understood.question,
                dialect=DIALECTS[self.source.dialect],
                schema_card=self.understood.offered.card or self.card,
                today=self.as_of.isoformat(),
                answer_format=self.answer_format if self.format_fixed else None,
                drafts=self.options.drafts,
                knowledge=self.understood.following().knowledge(self.given),
                known_here=self.understood.known_here.told(),
                demonstrated=self.fills and bool(self.understood.examples),
                readable=self.understood.offered.readable if self.options.constrained else (),
                conversation=self.conversation(),
                feedback=feedback or doubts or rules.NONE,
            )

        def write(feedback: str) -> dspy.Prediction:
            try:
                made = ask(feedback)
                opened = self.understood.known_here.opened(made.follows)
                if opened is self.understood.known_here:
                    return made
                self.understood = replace(self.understood, known_here=opened)
                return ask(feedback)
            except NotInSources as error:
                # What a term means may be all that is missing, or a table that was not shown, which what is missing may find.
                if unclear := self.asks(with_unclear(self.understood, error.unclear).unknown):
                    raise Unclear(unclear) from error
                if self.missed or self.understood.offered.card:
                    raise
                shown, self.missed = self.card, str(error)
                if self.card != shown:
                    return ask(feedback)
                raise

        def attempt(made: dspy.Prediction) -> Plan:
            plan: Plan = made.plan
            plan.order()
            self.answer_format, self.by_select = made.answer_format, made.by_select
            self.rest_on(self.rests_with(plan, made.follows, made.unclear))
            if unclear := self.asks(self.understood.unknown):
                raise Unclear(unclear)
            if not self.format_fixed and (decimals := decimals_asked(self.question)) is not None:
                self.answer_format = self.answer_format.model_copy(update={"decimals": decimals})
            return plan

        def show(made: dspy.Prediction) -> str:
            return str(made.plan.model_dump_json(include={"steps"}))

        most = self.options.retries if retries is None else retries
        while True:
            try:
                return execution.with_retries(execution.PLANNING, None, write, attempt, most, show)[0]
            except execution.StepFailed as failed:
                if not isinstance(failed.error, CalledUnclear):
                    raise
                # Who insists that a known term is unclear is told its meaning as what holds, and asked once more.
                self.understood, most = self.understood.told(failed.error.known), 0

    def rests_with(self, plan: Plan, follows: Sequence[int], unclear: Sequence[str]) -> Understood:
        """What a plan rests on; what its SELECTs read out of the house's own rows is told with the answer, and not asked."""
        selects = [step.select for step in plan.steps if isinstance(step, Extract) and step.select]
        told = self.checks.house_rows.told(selects, unclear)
        rests = self.understood.following(follows, unclear)
        flags = [flag for flag in rests.flags if _READ not in flag]
        flags += [f"what {term!r} means{_READ}{table}" for term, table in told.items()]
        flags += [said for said in self.checks.house_rows.unread(selects, self.question) if said not in flags]
        untold = [term for term in unclear if term not in told]
        return with_unclear(replace(rests, flags=flags), untold, self.checks.house_rows.hint(selects) if untold else "")

    def scratch(self) -> Workspace:
        """A workspace for another program: as this one was before the question."""
        return Workspace(dict(self.before.frames), list(self.before.turns))

    def surroundings(self) -> execution.Surroundings:
        return execution.Surroundings(
            warehouse=self.source,
            checks=self.checks,
            sandbox=self.sandbox,
            write_selects=self.write_selects,
            write_script=self.write_script,
            code_review=CodeReviewing(self.code_reviewer) if self.code_reviewer else None,
            answer_format=self.answer_format or AnswerFormat(),
            format_fixed=self.format_fixed,
            as_of=self.as_of,
            retries=self.options.retries,
            someone_there=self.options.someone_there,
        )

    def write_selects(self, requests: Sequence[Extract], feedback: str) -> Mapping[str, str]:
        if self.by_select:
            # It computes the answer, which is more than the frames that the layer of SELECTs is asked for. Text that cannot be used
            # counts there, too: retries do not nest. A small model that sees its SELECT writes it again.
            steps = self.plan(feedback.rpartition(FAILED)[2], retries=0).steps
            return {step.frame: step.select for step in steps if isinstance(step, Extract) and step.select}
        written = self.layers.sql_extraction(
            question=self.understood.question,
            dialect=DIALECTS[self.source.dialect],
            schema_card=self.card,
            frames=requests,
            today=self.as_of.isoformat(),
            knowledge=self.knowledge,
            feedback=feedback or rules.NONE,
        )
        return by_name(written.selects, requests)

    def write_script(self, step: Script, frames: Sequence[NamedFrame], feedback: str) -> str:
        code: str = self.layers.script_generation(
            question=self.understood.question,
            frames=frames,
            task=step.task,
            answer_format=self.answer_format or AnswerFormat(),
            today=self.as_of.isoformat(),
            knowledge=self.knowledge,
            feedback=feedback or rules.NONE,
        ).script.code
        return code

    def answered(self, outcome: execution.Outcome) -> Answer:
        self._rest_on_what_was_read()
        answer = Answer(
            question=self.question,
            status="answered",
            value=outcome.value.value,
            format=outcome.answer_format or self.answer_format or AnswerFormat(),
            period=outcome.value.period,
            explanation=outcome.plan.interpretation,
            citations=list(outcome.value.citations),
            figures=outcome.figures,
            flags=list(outcome.value.flags) + ([self.source.label] if self.source.label else []),
        )
        if self.review is not None:
            answer.flags, answer.confidence = self.review.judged(answer.flags, reviews.OF_A_WAREHOUSE)
        answer.confidence = reviews.unless_unchecked(answer.flags, answer.confidence)
        self._record(answer, outcome.plan)
        return answer

    def _rest_on_what_was_read(self) -> None:
        """A process whose SELECT was read by its name is followed, whether the plan said so or not; what was only offered is nothing to rest on."""
        if self.taught is None or not self.checks.named:
            return
        known = self.taught.memory.named_selects()
        read = [process for name, (_, process) in known.items() if name in self.checks.read_by_name]
        followed = {each.id: each for each in (*self.understood.processes, *read)}
        rests = replace(self.understood, processes=list(followed.values()), offered=NO_OFFER)
        if rests != self.understood:
            self.rest_on(rests)

    def failed(self, layer: str, error: FinexpertError) -> Answer:
        answer = super().failed(layer, error)
        if self.last_plan is not None:
            self._record(answer, self.last_plan)
        return answer

    def unanswerable(self, error: Unanswerable) -> Answer:
        answer = super().unanswerable(error)
        if self.last_plan is not None and answer.record is None:
            self._record(answer, self.last_plan)
        return answer

    def _record(self, answer: Answer, plan: Plan) -> None:
        answer.record = record = recording.of_answer(
            answer, plan, self.workspace, self.source, self.as_of, self.knowledge, self.as_of_given
        )
        record.sent_back = [asdict(attempt) for attempt in self.checks.sent_back]
        record.follows = len(context(self.question, [turn.question for turn in self.before.turns]))
