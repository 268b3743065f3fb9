"""`finexpert mcp`: the program as an MCP server over stdin and stdout, for a client on the same machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from finexpert.cli import common, several_sources
from finexpert.cli.options import Given, takes

if TYPE_CHECKING:
    from finexpert.app.mcp.local import LocalBackend
    from finexpert.app.mcp.talks import Source
    from finexpert.settings import Settings


@takes("filing id as_of lm api_base drafts retries mode budget recordings store program")
def mcp(given: Given, data: several_sources.Data = None, library: several_sources.Libraries = None) -> None:
    """Serve questions to an MCP client, such as Claude Desktop, over stdin and stdout; docs/mcp.md says how to set one up.

    It takes data, libraries and a page at once: a question names its source, or several. Without any, it asks what the settings name
    or `finexpert data fred` built, or the sample economy.
    """
    # Of a single question, a reading that is not safe is shown with its confidence instead of being asked back.
    settings = given.settings("answer", ask_below=0)
    try:
        from finexpert.app.mcp.stdio import serve
    except ModuleNotFoundError as error:
        from finexpert.errors import ConfigurationError

        raise ConfigurationError("`finexpert mcp` needs the MCP SDK: pip install 'finexpert[serve]'") from error

    def opened() -> LocalBackend:
        from finexpert.app.mcp.local import LocalBackend

        expert, chosen = given.expert(settings)
        return LocalBackend(_sources(given, data or [], library or [], chosen), settings=chosen, expert=expert)

    serve(opened)


def _sources(given: Given, data: list[Path], library: list[Path], settings: Settings) -> dict[str, Source]:
    """The sources by the names that a client gives them."""
    from finexpert.answers.sources.sources import Sources

    sources: dict[str, Source] = {}
    if len(data) > 1 or len(library) > 1 or not (data or library or given.filing):
        opened = several_sources.open_sources(data, None, None, settings, library)
        sources |= opened.by_name if isinstance(opened, Sources) else {"data": opened}
    else:
        if data:
            sources["data"] = common.open_data(data[0], settings)
        if library:
            sources["library"] = common.open_source(None, None, None, settings, library[0])
    if given.filing is not None:
        sources["filing"] = common.open_source(None, given.filing, given.id, settings)
    return sources
