"""What a plan is run with: the data, the sandbox, and who writes what the plan leaves open.

Whoever can write a SELECT, write a script or find a page is handed in as a plain function, so that a plan runs in a test without a model.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from finexpert.core.answers import AnswerFormat
from finexpert.core.plans import Extract, Script, Search
from finexpert.core.workspace import NamedFrame, Value
from finexpert.filings.page.filing import Filing
from finexpert.sandbox import Sandbox
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.warehouse import Warehouse


class SelectWriter(Protocol):
    """Writes SELECTs.

    Must return a mapping from the names of frames to SELECTs; may leave a frame out, which then counts as failed.
    Must raise StepError, nothing else, when the model's text is unusable. Must not look at data.
    """

    def __call__(self, requests: Sequence[Extract], feedback: str) -> Mapping[str, str]: ...


class ScriptWriter(Protocol):
    """Writes the code of one script step over the frames named, under the same rules as a `SelectWriter`."""

    def __call__(self, step: Script, frames: Sequence[NamedFrame], feedback: str) -> str: ...


class PageFinder(Protocol):
    """Finds the page of a library that answers a step, and reads the value there.

    Must return the value with its citations, and the step with the `page` and the `plan` that gave it. `company` is the
    step's company by name. Must raise SearchError where no page answers. Called from several threads at once.
    """

    def __call__(self, step: Search, company: str) -> tuple[Value, Search]: ...


class CodeReviewer(Protocol):
    """Looks at code right before it is run.

    Must raise ScriptError for a script, QueryError for a SELECT, where it finds a violation or cannot tell: the code is
    not run and goes back to its layer. May never stand for a boundary. Called from several threads at once.
    """

    def script(self, code: str) -> None: ...

    def select(self, select: str) -> None: ...


@dataclass(frozen=True)
class Surroundings:
    """What a plan is run with. What a plan does not use may be missing."""

    warehouse: Warehouse | None = None
    checks: Checks | None = None
    filing: Filing | None = None
    find_page: PageFinder | None = None
    companies: Warehouse | None = None
    sandbox: Sandbox | None = None
    write_selects: SelectWriter | None = None
    write_script: ScriptWriter | None = None
    code_review: CodeReviewer | None = None
    answer_format: AnswerFormat = field(default_factory=AnswerFormat)
    format_fixed: bool = True  # nobody fixed it where the model chose it: the shape of a frame may then change it
    as_of: dt.date | None = None
    retries: int = 0
    someone_there: bool = False  # a person who can be asked what a text means is asked before a model guesses again
