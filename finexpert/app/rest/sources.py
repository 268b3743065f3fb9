"""/api/sources: what can be asked, and its schema."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, UploadFile
from pydantic import BaseModel, Field, SecretStr

from finexpert.app.rest import TheDesk, Who
from finexpert.app.state.stored import Found, ModelText, PageView, SourceInfo, SourceKind, SourceSchema

router = APIRouter(prefix="/api/sources", tags=["sources"])


class NewSource(BaseModel):
    name: str
    address: SecretStr = Field(description="of a database, a folder or a file; it is never shown again")
    kind: SourceKind = "data"
    shared: bool = False


class Credentials(BaseModel):
    user: str
    password: SecretStr = SecretStr("")


class EditedModel(BaseModel):
    """The text of a semantic model, and the version that it was made from."""

    text: str
    version: int


@router.get("")
def sources(desk: TheDesk, who: Who) -> list[SourceInfo]:
    return desk.sources(who)


@router.post("", status_code=201)
def add_source(desk: TheDesk, who: Who, new: NewSource) -> SourceInfo:
    return desk.add_source(who, new.name, new.address.get_secret_value(), kind=new.kind, shared=new.shared)


@router.post("/file", status_code=201)
def add_file(
    desk: TheDesk,
    who: Who,
    file: Annotated[UploadFile, File()],
    name: Annotated[str, Form()] = "",
    shared: Annotated[bool, Form()] = False,
) -> SourceInfo:
    filename = file.filename or ""
    return desk.add_source(who, name or filename or "file", file=file.file, filename=filename, shared=shared)


@router.delete("/{source}", status_code=204)
def remove_source(desk: TheDesk, who: Who, source: str) -> None:
    desk.remove_source(who, source)


@router.get("/{source}/schema")
def schema(desk: TheDesk, who: Who, source: str) -> SourceSchema:
    return desk.schema(who, source)


@router.get("/{source}/model")
def model(desk: TheDesk, who: Who, source: str) -> ModelText:
    return desk.model(who, source)


@router.put("/{source}/model")
def edit_model(desk: TheDesk, who: Who, source: str, edited: EditedModel) -> ModelText:
    return desk.edit_model(who, source, edited.text, edited.version)


@router.get("/{source}/model/history")
def model_history(desk: TheDesk, who: Who, source: str) -> list[ModelText]:
    return desk.model_history(who, source)


@router.put("/{source}/credentials", status_code=204)
def connect_as(desk: TheDesk, who: Who, source: str, own: Credentials) -> None:
    desk.connect_as(who, source, own.user, own.password.get_secret_value())


@router.get("/{source}/columns/{column}/values")
def values(desk: TheDesk, who: Who, source: str, column: str) -> list[str]:
    return desk.values(who, source, column)


@router.put("/{source}/columns/{column}/published")
def publish(desk: TheDesk, who: Who, source: str, column: str) -> list[str]:
    return desk.publish(who, source, column, True)


@router.delete("/{source}/columns/{column}/published", status_code=204)
def hide(desk: TheDesk, who: Who, source: str, column: str) -> None:
    desk.publish(who, source, column, False)


@router.get("/{source}/search", tags=["library"])
def search(
    desk: TheDesk,
    who: Who,
    source: str,
    text: str,
    ticker: str = "",
    year: int | None = None,
    quarter: int | None = None,
    limit: int = 8,
) -> list[Found]:
    return desk.search_pages(who, source, text, ticker=ticker, year=year, quarter=quarter, limit=limit)


@router.get("/{source}/page", tags=["library"])
def page(desk: TheDesk, who: Who, source: str, id: str = "", filing: str = "", number: int | None = None) -> PageView:
    return desk.page(who, source, filing, number if number is not None else id)
