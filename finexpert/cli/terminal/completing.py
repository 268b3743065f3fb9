"""What a shell offers when Tab is pressed for a value: modes, records, conversations, compiled programs, what was taught.

finexpert --install-completion, then `finexpert replay <Tab>`

A place that cannot be read offers nothing: a shell has no use for an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

_MOST = 200


def offered(found: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """What begins with the letters that stand there.

    >>> offered(lambda: ["direct", "checked"])("ch")
    ['checked']
    """

    def complete(incomplete: str) -> list[str]:
        with suppress(Exception):
            return [each for each in found() if each.startswith(incomplete)][:_MOST]
        return []

    return complete


def _modes() -> list[str]:
    from finexpert.modes import MODES

    return list(MODES)


def _home() -> Path:
    from finexpert.settings import Settings

    return Settings().home


def _newest(folder: Path) -> list[str]:
    """The names of a folder's JSON files, those written last first."""
    return [path.stem for path in sorted(folder.glob("*.json"), key=lambda path: -path.stat().st_mtime)]


def _programs() -> list[str]:
    return sorted(path.parent.name for path in Path("runs", "compiled").glob("*/manifest.json"))


def _headings() -> list[str]:
    from finexpert.knowledge.taught import Taught
    from finexpert.settings import Settings

    with Taught.from_settings(Settings()) as taught:
        return [process.heading for process in taught.memory.processes()]


def _terms() -> list[str]:
    from finexpert.knowledge.taught import Taught
    from finexpert.settings import Settings

    with Taught.from_settings(Settings()) as taught:
        return [keyword.term for keyword in taught.glossary.keywords()]


modes = offered(_modes)
records = offered(lambda: _newest(_home() / "records"))
conversations = offered(lambda: _newest(_home() / "sessions"))
programs = offered(_programs)
headings = offered(_headings)
terms = offered(_terms)
