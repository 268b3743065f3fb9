"""A conversation: an expert, a source, a workspace, and what they run with.

    with Session(Warehouse.open("fred.duckdb")) as session:
        print(session.ask("When did the latest recession start?").text)
        print(session.ask("And what was the unemployment rate then?").text)

Frames stay in the workspace, so a follow-up question reuses them.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from finexpert.answers import Answer, AnswerFormat
from finexpert.language_models.budget import Budget
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.calling import using
from finexpert.modules.financial_expert import FinancialExpert, Options
from finexpert.sandbox import Limits, Sandbox
from finexpert.settings import Settings
from finexpert.sources.filing import Filing
from finexpert.sources.warehouse import Warehouse
from finexpert.workspace import Workspace


class Session:
    """One conversation over one source. Use it as a context manager: leaving it stops the sandbox.

    Raises ModelNotConfigured when no model is named or found, SandboxUnavailable when scripts cannot be confined.
    """

    def __init__(
        self,
        source: Warehouse | Filing,
        *,
        expert: FinancialExpert | None = None,
        settings: Settings | None = None,
        models: LanguageModels | None = None,
        sandbox: Sandbox | None = None,
        workspace: Workspace | None = None,
        knowledge: str = "",
    ) -> None:
        self.source = source
        self.settings = settings or Settings()
        self.expert = expert or FinancialExpert()
        self.models = models or LanguageModels.from_settings(self.settings)
        self._owns_sandbox = sandbox is None
        # A page needs no scripts, so it can be asked about where scripts cannot be confined.
        if sandbox is None and not isinstance(source, Filing):
            sandbox = Sandbox(Limits(wall_seconds=self.settings.script_seconds), workers=self.settings.workers)
        self.sandbox = sandbox
        self.workspace = workspace or Workspace()
        self.knowledge = knowledge

    def ask(
        self, question: str, *, answer_format: AnswerFormat | None = None, knowledge: str = "", clarify: bool = False
    ) -> Answer:
        """Answer one question of the conversation; `answer_format` is decided from the question if not given.

        With `clarify`, an unclear question gives an answer with status "needs_clarification": ask it again with the
        reply as `knowledge`, or without `clarify` to take the reading proposed.
        """
        if not question.strip():
            raise ValueError("the question is empty")
        with using(self.models), self._budget():
            answer: Answer = self.expert(
                question=question,
                source=self.source,
                sandbox=self.sandbox,
                workspace=self.workspace,
                answer_format=answer_format,
                as_of=self.settings.as_of,
                knowledge="\n".join(filter(None, [self.knowledge, knowledge])),
                options=self._options(clarify),
            ).answer
        return answer

    def _options(self, clarify: bool) -> Options:
        s = self.settings
        return Options(s.drafts, s.retries, s.privacy, s.ask_below if clarify else 0)

    def _budget(self) -> Budget:
        s = self.settings
        return Budget(calls=s.budget_calls, usd=s.budget_usd, seconds=s.budget_seconds)

    def close(self) -> None:
        if self.sandbox is not None and self._owns_sandbox:
            self.sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
