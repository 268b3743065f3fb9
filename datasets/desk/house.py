"""The house set: definitions and processes of a made-up desk, how each is taught, and questions that need them.

    {"id": "...", "question": "How many stress months were there from 1990 to 2019?", "as_of": "2024-09-30",
     "category": "simple", "needs": ["stress month"], "answer_format": {"kind": "integer"}}

No textbook has these definitions and no question explains them: who has not been taught them cannot answer. There
are four kinds of questions, told apart by their file and their fields:

- `alone`: one definition and nothing else (`needs` has one name, category "simple");
- `part`: one definition and further ordinary analysis (`needs` has one name, category "complex");
- `together`: two definitions (`needs` has two names);
- `near_miss`: sounds as if it needed one, and does not (`needs` is empty, `must_not_use` names it).

Gold is computed by a reference function on the data at hand. How an answer is judged is the matter of `answer_matching`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from finexpert.datasets.desk.references import gold
from finexpert.datasets.fred.questions import Question, load_questions

__all__ = [
    "HALVES",
    "KINDS",
    "Half",
    "Kind",
    "gold",
    "house_questions",
    "house_transcripts",
    "kind_of",
    "recession_transcript",
]

Kind = Literal["alone", "part", "together", "near_miss"]
Half = Literal["keywords", "processes"]
KINDS: tuple[Kind, ...] = ("alone", "part", "together", "near_miss")
HALVES: tuple[Half, ...] = ("keywords", "processes")

_HERE = Path(__file__).parents[1]


def house_questions(kind: Kind | None = None, half: Half | None = None) -> list[Question]:
    """The questions of a kind and of a half, or of all kinds and both halves: on keywords and on processes."""
    questions = [
        question
        for name in ((half,) if half else HALVES)
        for stem in (f"house_{name}", f"house_near_misses_{name}")
        for question in load_questions(_HERE / "questions" / f"{stem}.jsonl")
    ]
    return [question for question in questions if kind is None or kind_of(question) == kind]


def kind_of(question: Question) -> Kind:
    """Which of the four kinds a question of the house set is."""
    if not question.needs:
        return "near_miss"
    if len(question.needs) > 1:
        return "together"
    return "alone" if question.category == "simple" else "part"


def house_transcripts() -> list[Path]:
    """The transcripts that teach the house's definitions, one each: first the keywords, then the processes."""
    return sorted((_HERE / "lessons" / "house").glob("*.jsonl"))


def recession_transcript() -> Path:
    """The transcript that teaches how recessions are calculated, which the FRED questions need."""
    return _HERE / "lessons" / "recession.jsonl"
