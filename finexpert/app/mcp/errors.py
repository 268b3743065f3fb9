"""What of an error a client is told: its message without paths, keys and what belongs to the server alone.

    >>> told(NotFound("there is no page 'x' in /srv/filings/library.sqlite"))
    "there is no page 'x' in library.sqlite"

An error that nobody foresaw is told by the SDK as "Error executing tool ask", and its text goes to the log of the server.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError

from finexpert.errors import FinexpertError, LibraryError, NotFound, RecordError
from finexpert.language_models.secrets import redacted
from finexpert.text.texts import visible

_LOG = logging.getLogger(__name__)
_LONGEST = 1_000
# A path with a folder in it; addresses of the web are left as they are, but for their user and password.
_PATH = re.compile(r"(?<![\w:/.])(?:~|[A-Za-z]:)?(?:[\\/][^\s\\/'\":;,()]+){2,}")
_USER = re.compile(r"(?<=://)[^\s/@]+@")


def told(error: Exception) -> str:
    r"""The message of an error of ours, for a client and its model.

    >>> told(NotFound("no such file: 'C:\\data\\a.csv', postgresql://me:pw@db/x"))
    "no such file: 'a.csv', postgresql://***@db/x"
    """
    text = _PATH.sub(lambda found: re.split(r"[\\/]", found[0])[-1], str(error))
    text = visible(redacted(_USER.sub("***@", text), ()).replace("\n", " "))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


@contextmanager
def for_tools() -> Iterator[None]:
    """Within it, an error of ours becomes the result of the tool, for the model to read."""
    try:
        yield
    except FinexpertError as error:
        _LOG.info("%s: %s", type(error).__name__, error)
        raise ToolError(told(error)) from None


@contextmanager
def for_resources() -> Iterator[None]:
    """Within it, an error of ours becomes one of the protocol."""
    try:
        yield
    except FinexpertError as error:
        _LOG.info("%s: %s", type(error).__name__, error)
        gone = isinstance(error, NotFound | LibraryError | RecordError)
        raise (ResourceNotFoundError if gone else ResourceError)(told(error)) from None
