"""The paper's FRED evaluation: the same questions on every rung of the ladder, and a single-call baseline beside it.

`sql` sends rows back to the model (public data only), `sql+script` has the model write a script instead, `+retries`
adds repairs, `+memory` what was taught. Rungs without memory are given the definition of a recession in words.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import dspy

from finexpert.core.answers import Answer, Failure
from finexpert.core.encoding import encode
from finexpert.core.plans import Extract
from finexpert.core.reviews import Review
from finexpert.datasets.evaluations.answer_matching import matches
from finexpert.datasets.evaluations.evaluation import Result
from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.fred.questions import RECESSION_DEFINITION, Question, gold
from finexpert.errors import UnknownPrompt
from finexpert.knowledge.taught import Taught
from finexpert.language_models.budget import Budget
from finexpert.language_models.roles import LanguageModels
from finexpert.modes import MODES
from finexpert.modules.baselines.select import SingleCall
from finexpert.modules.calling import using
from finexpert.modules.financial_expert import FinancialExpert, Options
from finexpert.modules.flow.sql_only import SqlOnly
from finexpert.sandbox import Sandbox
from finexpert.settings import Settings
from finexpert.text.terms import normalise
from finexpert.warehouse.warehouse import Warehouse

BASELINE = "single-call"
MEMORY = "+memory"
RUNGS = ("sql", "sql+script", "+retries", MEMORY)
_BUDGETS = {name for name in Settings.model_fields if name.startswith("budget_") and not name.startswith("budget_run_")}


@dataclass
class QuestionBench:
    """What an evaluation runs with."""

    source: Warehouse
    sandbox: Sandbox
    models: LanguageModels
    settings: Settings
    expert: FinancialExpert = field(default_factory=FinancialExpert)
    taught: Taught | None = None

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        return self.source.label or self.source.name

    def given(self) -> list[str]:
        """What else every prompt holds, for the fingerprint of an evaluation."""
        return []

    def answer(self, rung: str, question: Question, repeat: int = 1) -> Answer:
        """Ask one question on one rung. A prompt that is not among the recorded ones counts as a failure."""
        models = self.models.repeat(repeat)
        if rung in ("sql", BASELINE):
            module = SqlOnly(self.expert.sql_extraction) if rung == "sql" else SingleCall()
            return self.asked(module, question, models, knowledge=RECESSION_DEFINITION)
        options = Options.of(self.settings, retries=0 if rung == "sql+script" else self.settings.retries)
        options = options.within(MODES[rung]) if rung in MODES else options
        if rung == MEMORY:
            return self.ask(
                question, models, taught=self.taught, options=replace(options, clarify=self.settings.clarify)
            )
        return self.ask(question, models, knowledge=RECESSION_DEFINITION, options=options)

    def ask(self, question: Question, models: LanguageModels | None = None, **given: Any) -> Answer:
        """Ask the combined program, with what else `forward` takes."""
        return self.asked(self.expert, question, models or self.models, sandbox=self.sandbox, **given)

    def asked(self, module: dspy.Module, question: Question, models: LanguageModels, **given: Any) -> Answer:
        given |= {"source": self.source, "answer_format": question.answer_format}
        day = question.as_of or self.settings.as_of or dt.date.today()
        return told(module, question.question, models, as_of=day, **given)


def told(module: dspy.Module, question: str, models: LanguageModels, **given: Any) -> Answer:
    """What a module answers; a prompt that is not among the recorded ones makes a failed answer, and no error."""
    with using(models):
        try:
            answer: Answer = module(question=question, **given).answer
        except UnknownPrompt as error:
            failure = Failure(layer="language_models", kind="unknown prompt", message=str(error).splitlines()[0])
            answer = Answer(question=question, status="failed", failure=failure)
    return answer


def evaluate(
    bench: QuestionBench,
    questions: Sequence[Question],
    rungs: Sequence[str],
    journal: Journal[Result],
    *,
    repeats: int = 1,
    threads: int = 4,
    on_result: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Ask every question on every rung, except what the journal holds already.

    A question that fails is a result; an unreachable model or a missing sandbox stops the evaluation with its error.
    """
    golds = {q.id: gold(q, bench.source) for q in questions}

    def one(rung: str, repeat: int, question: Question) -> Result:
        with Budget.of(bench.settings, "answer"):
            answer = bench.answer(rung, question, repeat)
        return judge(rung, repeat, question, answer, golds[question.id])

    asked = product(range(1, repeats + 1), rungs, questions)
    jobs = {(rung, repeat, question.id): (rung, repeat, question) for repeat, rung, question in asked}
    return journal.fill(one, jobs, lambda r: (r.rung, r.repeat, r.id), threads=threads, on_result=on_result)


def judge(rung: str, repeat: int, question: Question, answer: Answer, expected: object) -> Result:
    """The result of one answer: right only if it was answered and matches, and used nothing that it must not.

    A question whose gold is {"ask": [TERM, ...]} is right if it was asked back, and about one of these terms.
    """
    used = [*answer.meanings, *answer.processes]
    if isinstance(expected, dict):
        right = asks_for(answer, expected.get("ask", []))
    else:
        right = answer.status == "answered" and matches(answer.value, expected, question.answer_format)
        right = right and not touched(question, used)
    steps = answer.record.plan.steps if answer.record else []
    return Result.of(
        rung,
        question,
        answer,
        repeat=repeat,
        category=question.category,
        needs=list(question.needs),
        correct=right,
        gold=encode(expected),
        answer=encode(answer.value),
        used=used,
        asked=answer.clarification.term if answer.clarification else None,
        selects={s.frame: s.select for s in steps if isinstance(s, Extract) and s.select},
        review=Review.model_validate(answer.record.review) if answer.record and answer.record.review else None,
    )


def asks_for(answer: Answer, terms: Iterable[str]) -> bool:
    """Whether the answer is a question back about one of the terms, or about a part of one that stands in it."""
    if answer.clarification is None:
        return False
    asked = f" {normalise(answer.clarification.term)} "
    wanted = [f" {normalise(term)} " for term in terms]
    return any(term in asked or asked in term for term in wanted)


def touched(question: Question, used: Iterable[str]) -> list[str]:
    """What was used of that which the question must not use."""
    barred = {normalise(name) for name in question.must_not_use}
    return [name for name in used if normalise(name) in barred]


def limits_of(settings: Settings) -> Sequence[object]:
    """What bounds an answer and is set: left as it is, an evaluation of before can go on."""
    changed = settings.model_dump(include={"revisions"}) | settings.model_dump(exclude_none=True, include=_BUDGETS)
    return sorted((name, value) for name, value in changed.items() if value != Settings.model_fields[name].default)


def fingerprint(bench: QuestionBench, questions: Sequence[Question], rungs: Sequence[str], repeats: int) -> str:
    """What must be the same for an interrupted evaluation to go on."""
    content = [
        bench.source.snapshot(),
        bench.models.describe(),
        bench.settings.drafts,
        bench.settings.retries,
        bench.settings.privacy,
        bench.settings.clarify,
        bench.settings.mode,
        bench.taught.fingerprint() if bench.taught else None,
        bench.given(),
        [question.model_dump(mode="json") for question in questions],
        list(rungs),
        repeats,
        *limits_of(bench.settings),
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:16]
