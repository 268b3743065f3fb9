"""What was taught: processes and terms, with their history; and a conversation that becomes a process."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, Response

from finexpert.app.page.page import Page, Route, go_to, piece
from finexpert.errors import FinexpertError, ProcessFileError, Refused
from finexpert.knowledge.process import Process
from finexpert.knowledge.processes.files import from_markdown, to_markdown

Text = Annotated[str, Form()]
_WRITTEN = ("heading", "aliases", "variables", "steps")


class Knowledge(Page):
    """Memory and glossary."""

    @classmethod
    def routes(cls) -> Sequence[Route]:
        return (
            ("GET", "/knowledge", cls.processes),
            ("GET", "/knowledge/processes/{id}", cls.process),
            ("POST", "/knowledge/processes/{id}/edit", cls.edit),
            ("POST", "/knowledge/processes/{id}/retire", cls.retire),
            ("POST", "/knowledge/processes/{id}/activate", cls.activate),
            ("POST", "/knowledge/processes/{id}/try", cls.try_again),
            ("POST", "/knowledge/processes/{id}/revert", cls.revert),
            ("GET", "/knowledge/terms", cls.terms),
            ("POST", "/knowledge/terms", cls.define),
            ("GET", "/knowledge/terms/{id}", cls.term),
            ("POST", "/knowledge/terms/{id}/retire", cls.retire_term),
            ("GET", "/knowledge/verified", cls.verified),
            ("POST", "/knowledge/verified/{id}/activate", cls.activate_verified),
            ("POST", "/knowledge/verified/{id}/retire", cls.retire_verified),
            ("GET", "/c/{id}/remember", cls.heading),
            ("POST", "/c/{id}/remember", cls.remember),
            ("POST", "/c/{id}/decide", cls.decide),
        )

    def processes(self, request: Request, search: str = "") -> HTMLResponse:
        found = self.desk.processes(self.person_of(request), search)
        return self.whole(request, "processes.html", "knowledge", processes=found, wanted=search)

    def process(self, request: Request, id: str) -> HTMLResponse:
        """A process with its versions, what each changed, and its text to edit."""
        person = self.person_of(request)
        process = self.desk.process(person, id)
        versions = changes(self.desk.history(person, process.id))
        return self.whole(
            request,
            "process.html",
            "knowledge",
            process=process,
            written=written(process),
            versions=versions,
            sources=[each for each in self.desk.sources(person) if each.kind == "data"],
            may_teach=person.can("teach"),
        )

    def edit(self, request: Request, id: str, text: Text, version: Annotated[int, Form()]) -> Response:
        """Keep an edited process; refused where somebody else changed it since."""
        try:
            read = from_markdown(text.replace("\r\n", "\n"))
        except ProcessFileError as error:
            raise Refused(f"this is not the text of a process: {error}") from error
        changed = read.model_dump(mode="json", include=set(_WRITTEN)) | {"version": version}
        self.desk.edit_process(self.person_of(request), id, changed)
        return go_to(request, f"/knowledge/processes/{id}")

    def retire(self, request: Request, id: str) -> Response:
        self.desk.retire(self.person_of(request), id)
        return go_to(request, "/knowledge")

    def activate(self, request: Request, id: str) -> Response:
        self.desk.activate(self.person_of(request), id)
        return go_to(request, f"/knowledge/processes/{id}")

    def try_again(self, request: Request, id: str, source: Text) -> HTMLResponse:
        """Try a process on the case that it was taught on, in a clean conversation that nobody keeps."""
        person = self.person_of(request)
        talk = self.desk.create(person, source, "Trying a process")
        try:
            return piece("remembered.html", talk=talk, remembered=self.desk.try_again(person, talk.id, id))
        finally:
            self.desk.delete(person, talk.id)

    def revert(self, request: Request, id: str, version: Annotated[int, Form()]) -> Response:
        self.desk.revert(self.person_of(request), id, version)
        return go_to(request, f"/knowledge/processes/{id}")

    def terms(self, request: Request, search: str = "") -> HTMLResponse:
        person = self.person_of(request)
        found = self.desk.terms(person, search)
        may = person.can("teach")
        return self.whole(request, "terms.html", "knowledge", terms=found, wanted=search, may_teach=may)

    def define(self, request: Request, term: Text, meaning: Text, aliases: Text = "") -> Response:
        also = tuple(part.strip() for part in aliases.split(",") if part.strip())
        kept = self.desk.define(self.person_of(request), term, meaning, also)
        return go_to(request, f"/knowledge/terms/{kept.id}")

    def term(self, request: Request, id: str) -> HTMLResponse:
        person = self.person_of(request)
        term = self.desk.term(person, id)
        versions = self.desk.term_history(person, term.id)
        return self.whole(
            request, "term.html", "knowledge", term=term, versions=versions, may_teach=person.can("teach")
        )

    def retire_term(self, request: Request, id: str) -> Response:
        self.desk.retire_term(self.person_of(request), id)
        return go_to(request, "/knowledge/terms")

    def verified(self, request: Request) -> HTMLResponse:
        person = self.person_of(request)
        queries = self.desk.verified(person)
        return self.whole(request, "verified_queries.html", "knowledge", queries=queries, may_teach=person.can("teach"))

    def activate_verified(self, request: Request, id: str) -> Response:
        self.desk.activate_verified(self.person_of(request), id)
        return go_to(request, "/knowledge/verified")

    def retire_verified(self, request: Request, id: str) -> Response:
        self.desk.retire_verified(self.person_of(request), id)
        return go_to(request, "/knowledge/verified")

    def heading(self, request: Request, id: str) -> HTMLResponse:
        """Asks under which heading a conversation is to be remembered."""
        return piece("remember.html", talk=self.desk.about(self.person_of(request), id))

    def remember(self, request: Request, id: str, heading: Text = "") -> HTMLResponse:
        """Write down what the conversation did, try it in a clean one, and show both; the form again where that fails."""
        person = self.person_of(request)
        talk = self.desk.about(person, id)
        try:
            remembered = self.desk.remember(person, id, heading.strip())
        except FinexpertError as error:
            return piece("remember.html", talk=talk, problem=self.desk.said(error))
        return piece("remembered.html", talk=talk, remembered=remembered)

    def decide(
        self,
        request: Request,
        id: str,
        decision: Annotated[Literal["replace", "ignore", "keep both"], Form()],
        heading: Text = "",
    ) -> HTMLResponse:
        """Settle a clash. What was written down still waits where that fails, so the form stays as it is."""
        person = self.person_of(request)
        talk = self.desk.about(person, id)
        remembered = self.desk.decide(person, id, decision, heading.strip())
        return piece("remembered.html", talk=talk, remembered=remembered)


def written(process: Process) -> str:
    """A process as the text that a person edits: without what the program keeps beside it."""
    plain = Process(**{name: getattr(process, name) for name in _WRITTEN})
    return to_markdown(plain)


def changes(versions: Sequence[Any]) -> list[tuple[Any, list[str]]]:
    """Each version, the newest first, with the lines that it changed against the one before it."""
    texts = [written(Process.model_validate(version.item)) for version in versions]
    return [
        (version, changed_lines(old, new)) for version, new, old in zip(versions, texts, [*texts[1:], ""], strict=True)
    ]


def changed_lines(old: str, new: str) -> list[str]:
    """The lines that differ, with those around them.

    >>> changed_lines("a\\nb", "a\\nc")
    [' a', '-b', '+c']
    """
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]
