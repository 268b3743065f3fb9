"""What evaluations over a library of filings share: what they run with, and which results an interrupted one may go on with."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from finexpert.datasets.fred.evaluation import limits_of
from finexpert.filings.library.library import Library
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.settings import Settings

PROGRAM, BASELINE = "program", "single-call"
_TODAY = dt.date(2024, 1, 1)


@dataclass
class LibraryBench:
    """What an evaluation runs with."""

    library: Library
    models: LanguageModels
    settings: Settings
    expert: FinancialExpert = field(default_factory=FinancialExpert)

    def today(self, asked: dt.date | None = None) -> dt.date:
        """The day that counts as today for a question that may name one."""
        return asked or self.settings.as_of or _TODAY

    def given(self) -> Sequence[object]:
        """What else every prompt holds."""
        return ()

    def fingerprint(self, questions: Sequence[BaseModel], modes: Sequence[str]) -> str:
        """What must be the same for an interrupted evaluation to go on: another program's answers are no part of it."""
        content: list[Any] = [
            self.library.fingerprint,
            self.models.describe(),
            self.expert.dump_state(),
            self.today(),
            self.settings.retries,
            self.settings.library_tokens,
            list(self.given()),
            list(modes),
            [question.model_dump(mode="json") for question in questions],
            *limits_of(self.settings),
        ]
        return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()[:16]
