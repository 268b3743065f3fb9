"""`finexpert mcp`: the program as an MCP server over stdin and stdout, for a client on the same machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from finexpert.cli import common
from finexpert.cli.options import Given, takes

if TYPE_CHECKING:
    from finexpert.app.mcp.local import LocalBackend
    from finexpert.app.mcp.talks import Source
    from finexpert.settings import Settings


@takes("data library filing id as_of lm api_base drafts retries mode budget recordings store program")
def mcp(given: Given) -> None:
    """Serve questions to an MCP client, such as Claude Desktop, over stdin and stdout; docs/mcp.md says how to set one up.

    Unlike `ask`, it takes data, a library and a page at once: a question names its source. Without any, it asks what
    `finexpert data fred` built, or the sample economy.
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
        return LocalBackend(_sources(given, chosen), settings=chosen, expert=expert)

    serve(opened)


def _sources(given: Given, settings: Settings) -> dict[str, Source]:
    """The sources by the names that a client gives them."""
    sources: dict[str, Source] = {}
    if given.data is not None or (given.library is None and given.filing is None):
        sources["data"] = common.open_source(given.data, None, None, settings)
    if given.library is not None:
        sources["library"] = common.open_source(None, None, None, settings, given.library)
    if given.filing is not None:
        sources["filing"] = common.open_source(None, given.filing, given.id, settings)
    return sources
