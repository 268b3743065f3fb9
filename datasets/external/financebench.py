"""FinanceBench: questions over whole filings that analysts wrote, with answers and evidence pages.

    {"financebench_id": "financebench_id_00001", "company": "Oakgate", "doc_name": "OAKGATE_2022_10K", "question_type": "metrics-generated",
     "question": "What is the FY2022 capital expenditure ...?", "answer": "$1577.00", "evidence": [{"doc_name": "...", "evidence_page_num": 59}]}

A folder holds `questions.jsonl` and the filings in `pdf/`, named as `doc_name` says. Pages of the evidence count from 0. Nothing of it is
packaged: it is to be had from its authors (https://github.com/patronus-ai/financebench).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from finexpert.core.answers import Answer
from finexpert.datasets.evaluations.question_lines import records_of, text_of
from finexpert.filings.page.folding import fold
from finexpert.filings.page.numbers import SCALES, printed_numbers
from finexpert.plans.pages.printed import Printed

QUESTIONS, FILINGS = "questions.jsonl", "pdf"
_ONE_NUMBER = re.compile(r"[$\s]*-?\(?[\d,]*\.?\d+\)?\s*%?\.?")
_SCALE = re.compile(r"\b(thousand|million|billion)s?\b|\b(mn|bn)\b", re.IGNORECASE)


class Evidence(BaseModel):
    """A page that the answer rests on, counted from 0."""

    doc_name: str
    evidence_page_num: int


class Question(BaseModel):
    """One question with its gold answer."""

    id: str = Field(alias="financebench_id")
    company: str
    doc_name: str
    question_type: str
    question: str
    answer: str
    evidence: list[Evidence]

    @property
    def form(self) -> str:
        """The form of its filing, by the file's name.

        >>> Question(financebench_id="1", company="A", doc_name="A_2023_8K_dated-2023-05-30", question_type="", question="", answer="",
        ...     evidence=[]).form
        '8-K'
        """
        name = self.doc_name.upper()
        return next(
            (
                form
                for mark, form in (("10K", "10-K"), ("10Q", "10-Q"), ("8K", "8-K"), ("EARNINGS", "earnings"))
                if mark in name
            ),
            "?",
        )


def read_questions(folder: Path) -> list[Question]:
    """The questions of a folder; QuestionFileError names the line that is not in the form above."""
    path = folder / QUESTIONS
    instead = (
        f"fetch FinanceBench (https://github.com/patronus-ai/financebench), and put its questions there and its filings into "
        f"{folder / FILINGS}"
    )
    return [question for _, question in records_of(text_of(path, instead), str(path), Question, "question")]


def recall_at(question: Question, pages: Sequence[Printed], cut: int) -> float:
    """The share of the evidence pages among the first pages of a ranking."""
    wanted = {(each.doc_name, each.evidence_page_num) for each in question.evidence}
    found = {(Path(page.filing.path).stem, page.number - 1) for page in pages[:cut]}
    return len(wanted & found) / len(wanted)


def by_rule(question: Question, answer: Answer) -> tuple[bool, str] | None:
    """Right or wrong with the reason, where the gold is one number and the answer is one; else None: a judge has to tell.

    Numbers agree within the rounding of the gold, at the scales that question and answer name.
    """
    if answer.status != "answered":
        return False, "no answer"
    if not _ONE_NUMBER.fullmatch(question.answer.strip()) or isinstance(answer.value, bool | str | list):
        return None
    if not isinstance(answer.value, int | float):
        return None
    gold = next(iter(printed_numbers(fold(question.answer))))
    wanted = -gold.digits if gold.minus or gold.brackets else gold.digits
    own, asked = _scale_in(answer.format.unit or ""), _scale_in(question.question)
    readings = {answer.value, answer.value * own / asked}
    right = any(close(value, wanted, question.answer) for value in readings)
    return right, f"{answer.value:,.6g} {answer.format.unit or ''} against {question.answer} by rule"


def close(value: float, gold: float, printed: str) -> bool:
    """Whether a number agrees with a gold one within one of its last digit; zeros at its end are no digits.

    >>> close(8.738, 8.7, "$8.70"), close(8.738, 8.71, "$8.71"), close(1577.0, 1577.0, "$1577.00")
    (True, False, True)
    """
    decimals = len(printed.strip("$ ").rstrip("% .").partition(".")[2].rstrip("0"))
    last_digit: float = 10.0**-decimals
    return abs(value - gold) <= last_digit + 1e-9


def _scale_in(text: str) -> float:
    found = _SCALE.search(text)
    words = {"mn": "million", "bn": "billion"}
    return SCALES[words.get(found[0].lower(), found[0].lower().rstrip("s"))] if found else 1.0
