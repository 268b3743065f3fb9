"""`finexpert mcp`: the program as an MCP server over stdin and stdout, for a client on the same machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.app.mcp.local import LocalBackend
    from finexpert.app.mcp.talks import Source
    from finexpert.settings import Settings


def mcp(
    data: common.Data = None,
    library: common.LibraryFolder = None,
    filing: common.FilingFile = None,
    id: common.FilingId = None,
    as_of: common.AsOf = None,
    lm: common.Model = None,
    api_base: common.ApiBase = None,
    drafts: common.Drafts = None,
    retries: common.Retries = None,
    mode: common.Mode = None,
    budget: Annotated[
        str | None, typer.Option("--budget", help="What each answer may take, such as calls=40,usd=2.")
    ] = None,
    recordings: common.Recordings = None,
    store: common.Store = None,
    program: common.Program = None,
) -> None:
    """Serve questions to an MCP client, such as Claude Desktop, over stdin and stdout; docs/mcp.md says how to set one up.

    Unlike `ask`, it takes data, a library and a page at once: a question names its source. Without any, it asks what
    `finexpert data fred` built, or the sample economy.
    """
    settings = common.settings_from(
        as_of=as_of,
        lm=lm,
        api_base=api_base,
        drafts=drafts,
        retries=retries,
        mode=mode,
        **common.budget_settings(budget, "answer"),
        recordings=recordings,
        store=store,
        # Of a single question, a reading that is not safe is shown with its confidence instead of being asked back.
        ask_below=0,
    )
    try:
        from finexpert.app.mcp.stdio import serve
    except ModuleNotFoundError as error:
        from finexpert.errors import ConfigurationError

        raise ConfigurationError("`finexpert mcp` needs the MCP SDK: pip install 'finexpert[serve]'") from error

    def opened() -> LocalBackend:
        from finexpert.app.mcp.local import LocalBackend

        expert, chosen = common.program_of(program, settings)
        return LocalBackend(_sources(data, library, filing, id, chosen), settings=chosen, expert=expert)

    serve(opened)


def _sources(
    data: Path | None, library: Path | None, filing: Path | None, id: str | None, settings: Settings
) -> dict[str, Source]:
    """The sources by the names that a client gives them."""
    sources: dict[str, Source] = {}
    if data is not None or (library is None and filing is None):
        sources["data"] = common.open_source(data, None, None, settings)
    if library is not None:
        sources["library"] = common.open_source(None, None, None, settings, library)
    if filing is not None:
        sources["filing"] = common.open_source(None, filing, id, settings)
    return sources
