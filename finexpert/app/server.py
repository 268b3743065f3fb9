"""The server: every door over one desk, as one FastAPI app.

    app = create_app(Desk(Settings()))
    uvicorn.run(app)

Doors that are not installed are left out; `/api`, `/v1`, `/login`, `/metrics`, `/healthz` and `/readyz` are always there.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from finexpert.app import logins, openai_api, shared
from finexpert.app.desk import Desk
from finexpert.app.guard import Guard, error_json, status_of
from finexpert.app.rest import answers, conversations, knowledge, owner, sources
from finexpert.errors import Busy, FinexpertError, StoreError, TooMany

log = logging.getLogger(__name__)

# Each has `mount(app, desk)`, and needs a package of its own.
_DOORS = (("finexpert.app.mcp", "mcp"), ("finexpert.app.page.mounting", "pygments"))

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def create_app(desk: Desk, *, close: bool = True) -> FastAPI:
    """The app of a desk. The desk is closed when the app ends, unless `close` says that somebody else does it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        if close:
            await run_in_threadpool(desk.close)

    app = FastAPI(
        title="finexpert",
        description="Answers financial questions the way a domain expert would, and shows where every number came from.",
        version="1",
        openapi_url="/api/openapi.json",
        # Their pages load scripts from another site.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.desk = desk
    _errors(app, desk)
    _watched(app, desk)
    for module in (sources, conversations, answers, knowledge, owner):
        app.include_router(module.router)
    shares = shared.Shares(desk)
    shared.mount(app, shares)
    openai_api.mount(app, desk, shares)
    logins.mount(app, desk)
    _further_doors(app, desk)
    # Last, so that it stands before everything that the doors have added.
    app.add_middleware(Guard, desk=desk)
    return app


def _further_doors(app: FastAPI, desk: Desk) -> None:
    for name, needs in _DOORS:
        if find_spec(name) is None:
            continue
        if find_spec(needs) is None:
            log.warning("%s is not served: `pip install 'finexpert[serve]'` brings %s", name, needs)
            continue
        import_module(name).mount(app, desk)


def _watched(app: FastAPI, desk: Desk) -> None:
    """What programs that look after a server ask it."""

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> PlainTextResponse:
        # In the loop itself: where all threads wait for a slow database, the server still lives.
        return PlainTextResponse("ok\n")

    @app.get("/readyz", include_in_schema=False)
    def readyz() -> Response:
        problems = desk.ready()
        # Who asks is not known: what is wrong is said in the log.
        for problem in problems:
            log.info("not ready: %s", problem)
        return PlainTextResponse("not ready\n" if problems else "ok\n", 503 if problems else 200)

    @app.get("/metrics", include_in_schema=False)
    def metrics(request: Request) -> Response:
        request.state.person.need("manage")
        return Response(desk.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _errors(app: FastAPI, desk: Desk) -> None:
    @app.exception_handler(FinexpertError)
    def _of_ours(request: Request, error: FinexpertError) -> JSONResponse:
        headers = {"retry-after": str(max(1, round(error.seconds)))} if isinstance(error, Busy | TooMany) else {}
        return JSONResponse(error_json(error, desk.said(error)), status_of(error), headers)

    @app.exception_handler(RequestValidationError)
    def _of_form(request: Request, error: RequestValidationError) -> JSONResponse:
        # What was sent is not repeated: it may be a password.
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])[:200]
        return JSONResponse({"error": {"type": "Refused", "message": f"{place}: {first['msg']}"}}, 422)

    @app.exception_handler(HTTPException)
    def _of_http(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": {"type": "HTTP", "message": str(error.detail)}}, error.status_code, error.headers)

    @app.exception_handler(Exception)
    def _of_program(request: Request, error: Exception) -> JSONResponse:
        log.error("an error of the program", exc_info=error)
        if isinstance(error, OSError) and error.errno in _FULL:
            full = StoreError("the disk of the server is full: try again when its owner has made room")
            return JSONResponse(error_json(full, str(full)), status_of(full))
        return JSONResponse(error_json(error, "an error of the program: the server's log says more"), 500)
