"""Sources: connect, look at, publish values, remove. An address is sent once, and never shown again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Annotated, Literal

from fastapi import Form, Request, UploadFile
from fastapi.responses import HTMLResponse, Response

from finexpert.app.guarding.uploads import SUFFIXES
from finexpert.app.page.page import Page, Route, go_to, piece
from finexpert.errors import FinexpertError, Refused

Text = Annotated[str, Form()]


class SourcePages(Page):
    """The list of sources, and a page a source."""

    @classmethod
    def routes(cls) -> Sequence[Route]:
        return (
            ("GET", "/sources", cls.all),
            ("POST", "/sources/file", cls.add_file),
            ("POST", "/sources/address", cls.add_address),
            ("GET", "/sources/{id}", cls.show),
            ("POST", "/sources/{id}/remove", cls.remove),
            ("POST", "/sources/{id}/as", cls.connect_as),
            ("GET", "/sources/{id}/values", cls.values),
            ("POST", "/sources/{id}/publish", cls.publish),
        )

    def all(self, request: Request) -> HTMLResponse:
        person = self.person_of(request)
        limit = self.desk.options.upload_mb
        return self.whole(
            request,
            "sources.html",
            "sources",
            sources=self.desk.sources(person),
            may_ask=person.can("ask"),
            may_manage=person.can("manage"),
            limit=f"{limit:g}",
            endings=",".join(SUFFIXES),
            local=self.desk.options.is_local,
        )

    def add_file(self, request: Request, file: UploadFile, name: Text = "", shared: Text = "") -> Response:
        """Connect a file that was dropped."""
        if not file.filename:
            raise Refused("choose a file, or drop one")
        filename = PurePath(file.filename.replace("\\", "/")).name
        person = self.person_of(request)
        added = self.desk.add_source(
            person, name.strip() or PurePath(filename).stem, file=file.file, filename=filename, shared=bool(shared)
        )
        return go_to(request, f"/sources/{added.id}")

    def add_address(
        self,
        request: Request,
        name: Text,
        address: Text,
        kind: Annotated[Literal["data", "library"], Form()] = "data",
        shared: Text = "",
    ) -> Response:
        """Connect a database, a folder or a library."""
        person = self.person_of(request)
        added = self.desk.add_source(person, name, address.strip(), kind=kind, shared=bool(shared))
        return go_to(request, f"/sources/{added.id}")

    def show(self, request: Request, id: str) -> HTMLResponse:
        """What a source holds, and what of it a model is told."""
        person = self.person_of(request)
        source = self.source_of(person, id)
        schema, problem = None, ""
        try:
            schema = self.desk.schema(person, id)
        except FinexpertError as error:
            if source is None:
                raise
            problem = self.desk.said(error)
        return self.whole(
            request,
            "source.html",
            "sources",
            source=schema.source if schema else source,
            schema=schema,
            problem=problem,
            asked_as=self.desk.connected_as(person, id),
            may_ask=person.can("ask"),
            may_manage=person.can("manage"),
        )

    def connect_as(self, request: Request, id: str, user: Text = "", password: Text = "", back: Text = "") -> Response:
        """Ask a database with a login of one's own from now on, or as everybody does again."""
        person = self.person_of(request)
        if not back and not user.strip():
            raise Refused("a login has a user: write it, or go back to the common one")
        self.desk.connect_as(person, id, "" if back else user.strip(), "" if back else password)
        return Response(status_code=204, headers={"HX-Refresh": "true"})

    def remove(self, request: Request, id: str) -> Response:
        self.desk.remove_source(self.person_of(request), id)
        return go_to(request, "/sources")

    def values(self, request: Request, id: str, column: str) -> HTMLResponse:
        """The most frequent values of a column, or the rows of a small table, for the eyes of the person."""
        person = self.person_of(request)
        found = self.desk.values(person, id, column)
        tables = self.desk.schema(person, id).tables
        of_rows = any(table.name == column for table in tables)
        published = any(table.name == column and table.told for table in tables) or any(
            f"{table.name}.{each.name}" == column and each.published is not None
            for table in tables
            for each in table.columns
        )
        told = {"id": id, "column": column, "values": found, "published": published, "of_rows": of_rows}
        return piece("values.html", **told, may_manage=person.can("manage"))

    def publish(self, request: Request, id: str, column: Text, on: Text = "") -> Response:
        self.desk.publish(self.person_of(request), id, column, bool(on))
        return Response(status_code=204, headers={"HX-Refresh": "true"})
