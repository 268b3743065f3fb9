"""The house set, measured: what is answered without teaching, what with it, and what is asked where it is missing.

- `untaught`: neither memory nor glossary, so the program can only guess;
- `taught`: all 24 lessons are known; near misses must come out right too, and must not touch them;
- `missing`: all are known but the one that the question needs first, so the program must ask for it.

How a question is judged is `finexpert.datasets.fred.evaluation.judge`. Teaching is not done here: the store comes filled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from finexpert.datasets.desk.house import kind_of
from finexpert.datasets.desk.references import gold
from finexpert.datasets.evaluations.evaluation import Result, Share, share
from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.fred.evaluation import QuestionBench, judge, touched
from finexpert.datasets.fred.questions import Question
from finexpert.knowledge.taught import Taught
from finexpert.modules.financial_expert import Options

UNTAUGHT, TAUGHT, MISSING = "untaught", "taught", "missing"
MODES = (UNTAUGHT, TAUGHT, MISSING)


def evaluate(
    bench: QuestionBench,
    questions: Sequence[Question],
    modes: Sequence[str],
    journal: Journal[Result],
    *,
    threads: int = 4,
    on_result: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Ask every question in every mode that it is for, except what the journal holds already; `bench.taught` is full."""
    golds = {question.id: gold(question, bench.source) for question in questions}
    with TemporaryDirectory(prefix="finexpert-house-") as folder:

        def one(mode: str, question: Question) -> Result:
            taught = _taught(bench, mode, question, Path(folder))
            options = Options.of(bench.settings, clarify=taught is not None)
            answer = bench.ask(question, taught=taught, options=options)
            if mode == MISSING and taught is not None:
                taught.close()
            expected = {"ask": [question.needs[0]]} if mode == MISSING else golds[question.id]
            result = judge(mode, 1, question, answer, expected)
            return result.model_copy(update={"category": kind_of(question)})

        asked = {(mode, question.id): (mode, question) for mode, question in jobs(questions, modes)}
        return journal.fill(one, asked, lambda r: (r.rung, r.id), threads=threads, on_result=on_result)


def jobs(questions: Sequence[Question], modes: Sequence[str]) -> list[tuple[str, Question]]:
    """Which question is asked in which mode: a near miss misses nothing."""
    return [(mode, q) for mode in modes for q in questions if q.needs or mode != MISSING]


def _taught(bench: QuestionBench, mode: str, question: Question, folder: Path) -> Taught | None:
    if mode == UNTAUGHT or bench.taught is None:
        return None
    if mode == TAUGHT:
        return bench.taught
    return bench.taught.copy_without(folder / f"{question.id}.sqlite", question.needs[:1])


def untouched(results: Sequence[Result], questions: Sequence[Question]) -> Share:
    """Of the near misses asked with everything taught, those that used nothing which they must not use."""
    by_id = {question.id: question for question in questions}
    asked = [r for r in results if r.rung == TAUGHT and not by_id[r.id].needs]
    return share(sum(not touched(by_id[r.id], r.used) and r.asked is None for r in asked), len(asked))
