"""A conversation: an expert, a source, a workspace, what was taught, and what they run with.

    with Session(DuckDBWarehouse("fred.duckdb")) as session:
        print(session.ask("When did the latest recession start?").text)
        print(session.ask("And what was the unemployment rate then?").text)
        session.remember("Recession Calculation")

Frames stay in the workspace, so a follow-up question reuses them. What is remembered or defined stays in the store,
for other conversations too.
"""

from __future__ import annotations

from finexpert.session.asking import AskOptions
from finexpert.session.keeping import Keeping
from finexpert.storage.closing import Closing

__all__ = ["AskOptions", "Session"]


class Session(Keeping, Closing):
    """One conversation over a source, or over several. Use it as a context manager: leaving it stops the sandbox.

    The source is a warehouse, a filing, a library, or what `open_data` makes a warehouse of: a path, an address, a frame, a dict of
    frames. A list, or a dict of sources by names, is several: a question then goes to those that it needs.

    `taught` is the memory and the glossary; opened from the settings if not given, and left out with
    `Settings(memory=False)`. Raises ConfigurationError for a setting that does not fit, SandboxUnavailable
    when scripts cannot be confined, StoreError when what was taught cannot be read. Where no model is named or found,
    recorded completions answer.
    """
