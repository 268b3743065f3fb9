"""Notebooks: `%load_ext finexpert` brings `%%ask`, which asks what a cell says and shows the stages meanwhile.

    %load_ext finexpert
    %finexpert --data trades.duckdb

    %%ask --to fees
    What was the total fee income in 2023, by region?

    fees.to_frame()

`%finexpert` connects, and may be left out: then the sample economy is asked, or what `finexpert data fred` built. The session is the
variable `session`, so `session.ask(...)`, `await session.aask(...)` and `session.remember(...)` go on in the same conversation.
"""

from __future__ import annotations

import datetime as dt
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import HTML, display

from finexpert.core.display.stages import words
from finexpert.core.progress import STAGES, Event, Watch, watching
from finexpert.errors import FinexpertError

if TYPE_CHECKING:
    from finexpert.core.answers import Answer, Clarification
    from finexpert.session import Session

_EVERY = 0.5


def load(shell: Any) -> None:
    """Register the magics with a shell of IPython, and close the session when it ends."""
    magics = Notebook(shell)
    shell.register_magics(magics)
    shell.events.register("post_execute", magics.forget_closed)


def _options(function: Any) -> Any:
    """The options that both magics have."""
    for name, about in reversed(
        (
            (
                "--data",
                "a variable with a frame, or a file, a folder or an address, as `finexpert ask --data` takes it",
            ),
            ("--library", "folder of a library of filings"),
            ("--filing", "file with a page of a filing"),
            ("--lm", "model as LiteLLM names it, or 'recorded'"),
            ("--as-of", "the day that counts as today, YYYY-MM-DD"),
        )
    ):
        function = argument(name, help=about)(function)
    return function


@magics_class
class Notebook(Magics):  # type: ignore[misc]  # IPython's class has no types
    """`%finexpert` and `%%ask`."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._mine: Session | None = None
        self._given: Any = None
        self._unclear: Clarification | None = None

    @line_magic
    @magic_arguments()
    @_options
    def finexpert(self, line: str) -> None:
        """Connect: what is asked from now on, in a new conversation."""
        with _errors():
            session = self._connect(parse_argstring(self.finexpert, line))
        label = getattr(session.source, "label", None)
        print(f"connected to {label or session.source_name}: ask it with %%ask, or with session.ask(...)")

    @cell_magic
    @magic_arguments()
    @_options
    @argument("--to", help="name of a variable for the answer")
    @argument("--means", help="what is meant by the word that was asked back")
    @argument("--new", action="store_true", help="a new conversation over what was connected last")
    @argument("--assume", action="store_true", help="answer on an assumption, instead of asking back")
    def ask(self, line: str, cell: str) -> Answer | None:
        """Ask what the cell says."""
        given = parse_argstring(self.ask, line)
        with _errors():
            answer = self._asked(given, cell)
        if given.to:
            self.shell.user_ns[given.to] = answer
        if answer.clarification is not None:
            print("Say what is meant: run the cell again with %%ask --means '...', or with --assume")
        return answer

    def forget_closed(self) -> None:
        """A session of ours that the notebook has overwritten is closed."""
        if self._mine is not None and self.shell.user_ns.get("session") is not self._mine:
            self._mine.close()
            self._mine = None

    def _asked(self, given: Any, question: str) -> Answer:
        if not question.strip():
            raise UsageError("write the question below %%ask")
        wants_other = any((given.data, given.library, given.filing, given.lm, given.as_of))
        if wants_other or (given.new and self._given is None):
            session = self._connect(given)
        else:
            session = self._connect(self._given) if given.new else self._session(given)
        knowledge, unclear = "", self._unclear
        if given.means and unclear is None:
            raise UsageError("nothing was asked back: leave --means out")
        if given.means and unclear is not None and unclear.kind != "reading":
            session.explain(unclear, _unquoted(given.means))
        elif given.means and unclear is not None:
            knowledge = f"By {unclear.term!r} the user means: {_unquoted(given.means)}"
        with progress():
            answer = session.ask(
                question.strip(), clarify=not (given.assume or knowledge), someone_there=True, knowledge=knowledge
            )
        self._unclear = answer.clarification
        if answer.record is not None:
            answer.record.save(session.settings.home / "records")
        return answer

    def _session(self, given: Any) -> Session:
        """The session of the notebook, ours or one that it has made itself."""
        from finexpert.session import Session

        session = self.shell.user_ns.get("session")
        return session if isinstance(session, Session) else self._connect(given)

    def _connect(self, given: Any) -> Session:
        from finexpert.session import Session
        from finexpert.settings import Settings

        chosen: dict[str, Any] = {"lm": given.lm} if given.lm else {}
        if given.as_of:
            chosen["as_of"] = _day(given.as_of)
        settings = Settings(**chosen)
        session = Session(self._source(given, settings), settings=settings)
        if self._mine is not None:
            self._mine.close()
        self._mine, self._given, self._unclear = session, given, None
        self.shell.user_ns["session"] = session
        return session

    def _source(self, given: Any, settings: Any) -> Any:
        from finexpert.datasets.fred.database import open_data
        from finexpert.warehouse.opening import is_warehouse

        named = [each for each in (given.data, given.library, given.filing) if each]
        if len(named) > 1:
            raise UsageError("give one of --data, --library and --filing")
        if given.library:
            from finexpert.filings.library.library import Library

            return Library.open(_unquoted(given.library))
        if given.filing:
            from finexpert.filings.page.filing import Filing

            return Filing.read(_unquoted(given.filing))
        if given.data and given.data in self.shell.user_ns:
            value = self.shell.user_ns[given.data]
            # The table is called as the variable is.
            return {given.data: value} if hasattr(value, "columns") and not is_warehouse(value) else value
        return open_data(Path(_unquoted(given.data)) if given.data else None, settings=settings)


@contextmanager
def progress() -> Iterator[None]:
    """Within it, the stages of what is asked are shown, with their seconds; at the end what each took.

    with progress():
        answer = session.ask("When did the latest recession start?")
    """
    shown = _Stages(_in_browser())
    ticking = threading.Thread(target=shown.tick, daemon=True)
    ticking.start()
    try:
        with watching(Watch(shown.hear)):
            yield
    finally:
        shown.ended.set()
        ticking.join()
        shown.finish()


class _Stages:
    """A line that is written again and again: in a browser an output of its own, in a terminal the last line."""

    def __init__(self, browser: bool) -> None:
        self.ended = threading.Event()
        self._began = time.perf_counter()
        self._running: list[tuple[str, str]] = []
        self._took: dict[str, tuple[float, int]] = {}
        self._lock = threading.Lock()
        self._handle = display(HTML(""), display_id=True) if browser else None

    def hear(self, event: Event) -> None:
        with self._lock:
            if event.state == "started":
                self._running.append((event.stage, words(event)))
            else:
                began = next((each for each in reversed(self._running) if each[0] == event.stage), None)
                if began is not None:
                    self._running.remove(began)
                seconds, calls = self._took.get(event.stage, (0.0, 0))
                self._took[event.stage] = (seconds + event.seconds, calls + event.calls)
        self._show()

    def tick(self) -> None:
        while not self.ended.wait(_EVERY):
            self._show()

    def finish(self) -> None:
        """What each stage took, in a browser; in a terminal nothing stays."""
        took = [(stage, *self._took[stage]) for stage in STAGES if stage in self._took]
        said = ", ".join(f"{stage} {seconds:.1f} s{_calls(calls)}" for stage, seconds, calls in took)
        self._write(said if self._handle is not None else "")

    def _show(self) -> None:
        with self._lock:
            stage = self._running[-1][1] if self._running else "Starting"
        if not self.ended.is_set():
            self._write(f"{stage} … {time.perf_counter() - self._began:.0f} s")

    def _write(self, words: str) -> None:
        if self._handle is not None:
            self._handle.update(HTML(f'<span style="opacity:0.75;font-size:0.85em">{escape(words)}</span>'))
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{words}")
            sys.stderr.flush()


def _calls(calls: int) -> str:
    if not calls:
        return ""
    return f" ({calls} call{'' if calls == 1 else 's'})"


def _in_browser() -> bool:
    """Whether a kernel shows the outputs, and not the terminal."""
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


@contextmanager
def _errors() -> Iterator[None]:
    """Within it, an error of ours is one line of the cell, and no traceback."""
    try:
        yield
    except FinexpertError as error:
        raise UsageError(f"{type(error).__name__}: {error}") from error


def _unquoted(text: str) -> str:
    return text.strip("'\"")


def _day(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(_unquoted(text))
    except ValueError:
        raise UsageError(f"--as-of is {text!r}, and a day is written YYYY-MM-DD") from None
