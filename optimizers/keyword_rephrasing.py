"""Compiling keyword rephrasing: terms found, words kept, asked exactly when nobody has explained a term."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import dspy

from finexpert.datasets.layers import keyword_examples
from finexpert.datasets.layers.evaluation import glossaries
from finexpert.datasets.layers.keyword_evaluation import Rephrased, judge_keywords
from finexpert.datasets.layers.keyword_examples import Scenario
from finexpert.datasets.layers.records import KeywordRecord
from finexpert.embeddings.embedding import embedder
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.taught import Taught
from finexpert.optimizers.compiling.metrics import DONE, Judged
from finexpert.optimizers.compiling.tasks import Task
from finexpert.optimizers.memory_lookup import PARTLY, numbers_of
from finexpert.signatures import rules
from finexpert.signatures.keyword_rephrasing import UnclearTerm


class KeywordRephrasingTask(Task):
    """One rephrasing for an example, with the glossary of its scenario; no call where no word is unfamiliar."""

    layer = "keyword_rephrasing"

    @cached_property
    def _stores(self) -> Mapping[str, Taught]:
        folder = self.bench.folder / "keywords"
        folder.mkdir(exist_ok=True)
        return glossaries(folder, embedder(self.bench.settings.embedder))

    @cached_property
    def _scenarios(self) -> Mapping[str, Scenario]:
        return keyword_examples.load_scenarios()

    def prepare(self) -> None:
        self._stores, self._scenarios  # noqa: B018  (made when first looked at)

    def ask(self, layer: dspy.Module, record: KeywordRecord) -> Rephrased:
        taught = self._stores[record.scenario]
        found = layer(
            question=record.question,
            schema_card=self._scenarios[record.scenario].schema_card,
            glossary=taught.glossary,
            memory=taught.memory,
            conversation=record.conversation or rules.NONE,
            judge=self.bench.settings.judge,
        )
        terms = [keyword.term for keyword in found.meanings]
        return Rephrased(found.question, terms, [unclear.term for unclear in found.unknown])

    def judge(self, record: KeywordRecord, result: Rephrased) -> Judged:
        verdict = judge_keywords(record, result)
        if verdict.right:
            return DONE
        problems = {
            f"{', '.join(verdict.missed)} is meant and was not found": verdict.missed,
            f"{', '.join(verdict.wrong)} is not meant": verdict.wrong,
            f"the rephrased question lost {', '.join(verdict.lost)}": verdict.lost,
            _asking(record, result): not verdict.asked_right,
            "nothing in the question has to be explained: leave it as it is": verdict.untouched is False,
        }
        wrong = [words for words, found in problems.items() if found]
        return Judged(PARTLY * (1 - len(wrong) / len(problems)), "; ".join(wrong))

    def right(self, record: KeywordRecord, place: str, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        question = record.question
        terms = [UnclearTerm(term=term, known_as=None) for term in record.ask]
        known = {keyword.term: keyword for keyword in self._scenarios[record.scenario].keywords}
        for term in record.expected_terms:
            keyword, numbers = known.get(term), numbers_of(term, inputs["known_terms"])
            said = _said(keyword, question) if keyword else None
            if keyword is None or said is None or not numbers:
                return None
            terms.append(UnclearTerm(term=said, known_as=numbers[0]))
            question = question.replace(said, f"{said} ({keyword.meaning.rstrip('.')})", 1)
        return {"terms": terms, "rephrased": question}


def _asking(record: KeywordRecord, result: Rephrased) -> str:
    expected = f"ask what {', '.join(record.ask)} means" if record.ask else "ask nothing back"
    return f"{expected}; asked was {', '.join(result.asked) or 'nothing'}"


def _said(keyword: Keyword, question: str) -> str | None:
    """The words of the question that name a term; None where it is meant in other words."""
    for name in sorted((keyword.term, *keyword.aliases), key=len, reverse=True):
        if found := re.search(rf"\b{re.escape(name)}s?\b", question, re.IGNORECASE):
            return found.group()
    return None


TASK = KeywordRephrasingTask
