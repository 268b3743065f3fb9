"""What several commands share: options, settings made from them, and opening what a question needs."""

from __future__ import annotations

import datetime as dt
import reprlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli.terminal import completing
from finexpert.cli.terminal.screen import plain, screen
from finexpert.warehouse.database_address import public_address

_SECONDS_BETWEEN_LINES = 10

if TYPE_CHECKING:
    from rich.console import Console

    from finexpert.filings.library.library import Library
    from finexpert.filings.page.filing import Filing
    from finexpert.language_models.limits import Whose
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.settings import Settings
    from finexpert.warehouse.warehouse import Warehouse

Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="A DuckDB or SQLite file; a CSV, Parquet, Excel or JSON file, a folder or 'pattern*' of them; or a postgresql+psycopg:// or "
        "mysql+pymysql:// address; FINEXPERT_DATA, or what `finexpert data fred` built, if not given.",
    ),
]
Model = Annotated[
    str | None, typer.Option("--lm", help="Model as LiteLLM names it, or 'recorded'.", envvar="FINEXPERT_LM")
]
ApiBase = Annotated[
    str | None, typer.Option(help="Address of an OpenAI-compatible server.", envvar="FINEXPERT_API_BASE")
]
Recordings = Annotated[list[Path] | None, typer.Option("--recordings", help="Further files of recorded completions.")]
Drafts = Annotated[bool | None, typer.Option("--drafts/--no-drafts", help="May the plan carry the SELECTs and script?")]
Mode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        help="How much is done: direct, checked, cheap-first, reviewed, panel or single-call.",
        autocompletion=completing.modes,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        help="What may be spent, such as calls=40,usd=2,tokens=500000,minutes=30: by ask for the answer, by chat for the "
        "conversation, by eval for the run.",
    ),
]
Retries = Annotated[int | None, typer.Option(min=0, max=10, help="Repairs of a step by its own layer.")]
AsOf = Annotated[dt.datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The day that counts as today.")]
FilingFile = Annotated[
    Path | None, typer.Option("--filing", help="A JSON file with a page, or several, in the form of ConvFinQA.")
]
FilingId = Annotated[str | None, typer.Option("--id", help="Which page of the file.")]
LibraryFolder = Annotated[
    Path | None,
    typer.Option("--library", help="Folder of a library of filings, see `finexpert library`; or FINEXPERT_LIBRARY."),
]
Store = Annotated[
    str | None, typer.Option("--store", help="File or postgresql:// address of memory and glossary; a file at home.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Keep what a message explains in passing, without asking.")]
Verified = Annotated[
    bool | None,
    typer.Option("--verified/--no-verified", help="Answer a question by its verified query, where there is one."),
]
Program = Annotated[
    str | None,
    typer.Option(
        "--program",
        help="Compiled program: a name under runs/compiled, a folder, models:/NAME/VERSION or runs:/ID/PATH; "
        "if not given, the program as it stands in the code.",
        envvar="FINEXPERT_PROGRAM",
        autocompletion=completing.programs,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 200


def console(*, stderr: bool = False) -> Console:
    return screen(stderr=stderr)


def echo(text: str, *, nl: bool = True) -> None:
    """Print a text that may hold what a file or a model says; to a terminal without what a terminal obeys."""
    typer.echo(plain(text) if sys.stdout.isatty() else text, nl=nl)


def leave(*statuses: str) -> None:
    """End with exit code 3 where an answer is not there, and with 4 where some are there only in part."""
    ended = set(statuses) - {"answered", "noted"}
    if ended:
        raise typer.Exit(4 if ended == {"partial"} else 3)


def settings_from(**given: Any) -> Settings:
    """Settings with the options that were given; ConfigurationError names a wrong one."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from finexpert.errors import ConfigurationError
    from finexpert.language_models.quiet import quiet
    from finexpert.settings import Settings

    quiet()
    if isinstance(given.get("as_of"), dt.datetime):
        given["as_of"] = given["as_of"].date()
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = "_".join(map(str, first["loc"]))
        # The settings of a layer may hold a key.
        told = "not as it can be" if name.startswith("layers_") else _SHOWN.repr(first["input"])
        raise ConfigurationError(
            f"the setting {name} is {told}: {first['msg']}. "
            f"It comes from an option, FINEXPERT_{name.upper()} or finexpert.toml."
        ) from error
    except SettingsError as error:
        raise ConfigurationError(f"{error}: {error.__cause__}. A setting FINEXPERT_* of this kind is JSON.") from error
    except (ValueError, RecursionError) as error:
        # ValueError: no TOML, no text in UTF-8, an integer of too many digits.
        why = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise ConfigurationError(f"{Path('finexpert.toml').resolve()} is not TOML: {why}") from None


def budget_settings(budget: str | None, whose: Whose) -> dict[str, Any]:
    """What --budget sets; ConfigurationError names what is wrong with it."""
    from finexpert.language_models.limits import SpendingLimits

    return SpendingLimits.parse(budget).as_settings(whose)


def store_words(uri: str) -> str:
    """The address of MLflow's store as a line that may be read over one's shoulder.

    >>> store_words("https://anna:s3cret@mlflow.example")
    'MLflow: https://anna@mlflow.example'
    """
    return f"MLflow: {public_address(uri)}"


def reader_soon(data: Sequence[Path], *other: Path | None) -> None:
    """Start what a file is read behind, while the program is still being loaded; not where another source was given."""
    from finexpert.isolation.guests.zygote import problem, zygote
    from finexpert.warehouse.isolated import SELECTS, SQLITE

    if not any(other) and problem() is None:
        sqlite = data and str(data[0]).startswith("sqlite:")
        zygote(SQLITE if sqlite else SELECTS)


def open_source(
    data: Path | None, filing: Path | None, id: str | None, settings: Settings, library: Path | None = None
) -> Warehouse | Filing | Library:
    """The page named with --filing, the library named with --library, else the warehouse; else what the settings name."""
    if sum(given is not None for given in (data, filing, library)) > 1:
        raise typer.BadParameter("a question is asked of --data, of --filing or of --library: give one of them")
    if id is not None and filing is None:
        raise typer.BadParameter(f"{id!r} names a page of --filing FILE, and there is none", param_hint="--id")
    if data is None and filing is None and library is None:
        data, library = _in_settings(settings)
    if library is not None:
        from finexpert.filings.library.library import Library

        return Library.open(library)
    if filing is not None:
        from finexpert.filings.page.filing import Filing

        return Filing.read(filing, id)
    return open_data(data, settings)


def open_data(data: Path | None, settings: Settings) -> Warehouse:
    """The warehouse of the data that a command was given, else of the settings, else of FRED."""
    from finexpert.datasets.fred import database as fred

    return fred.open_data(data_of(data, settings), settings=settings)


def _in_settings(settings: Settings) -> tuple[Path | None, Path | None]:
    """The data or the library that the settings name."""
    if settings.data is not None and settings.library is not None:
        from finexpert.errors import ConfigurationError

        raise ConfigurationError(
            f"the settings name the data {public_address(settings.data)} and the library {settings.library}: say with --data or "
            "--library which of them is asked"
        )
    return data_of(None, settings), settings.library


def data_of(data: Path | None, settings: Settings) -> Path | None:
    """The data that a command was given, else those of the settings."""
    return Path(settings.data) if data is None and settings.data is not None else data


def program_of(place: str | None, settings: Settings) -> tuple[FinancialExpert, Settings]:
    """The program to ask, and the settings with the options that compiling chose, where a user has not set them."""
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.settings import with_options

    if place is None:
        from finexpert.optimizers.program import shipped

        if name := shipped.for_model(settings.lm or ""):
            typer.echo(f"a program compiled for {settings.lm} comes with finexpert: --program {name}", err=True)
        return FinancialExpert(), settings
    from finexpert.optimizers.program.loading import load

    expert = load(place, settings=settings)
    return expert, with_options(settings, expert.options)


def program_words(expert: FinancialExpert) -> str:
    """Which program it is, in a word: an evaluation that was interrupted goes on with the same one.

    >>> from finexpert.modules.financial_expert import FinancialExpert
    >>> program_words(FinancialExpert())
    'as in the code'
    """
    if not hasattr(expert, "manifest"):
        return "as in the code"
    from finexpert.optimizers.program.fingerprints import digest

    files = {name: entry.sha256 for name, entry in expert.manifest.layers.items()}
    return f"{expert.manifest.name} ({digest(files)[:8]})"


@contextmanager
def progress(unit: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr, or a line now and then where that is no terminal; call what it gives with the number of units done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    if not console(stderr=True).is_terminal:
        yield _Lines(unit, total)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True)) as bar:
        task = bar.add_task(unit, total=total)
        yield lambda done: bar.advance(task, done)


class _Lines:
    """Progress for a log: a line at the end, and before it one every ten seconds at most."""

    def __init__(self, unit: str, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._unit, self._total, self._clock = unit, total, clock
        self._done, self._told = 0, clock()
        self._begun = self._told

    def __call__(self, done: int) -> None:
        """Counts what is done, and tells how far it is where it is time."""
        self._done += done
        now = self._clock()
        if now - self._told < _SECONDS_BETWEEN_LINES and self._done < self._total:
            return
        self._told = now
        since = dt.timedelta(seconds=int(now - self._begun))
        console(stderr=True).print(f"{self._unit}: {self._done:,} of {self._total:,}, {since}", soft_wrap=True)


def model_words(description: dict[str, Any]) -> str:
    """What `LanguageModels.describe` says, as one line.

    >>> model_words({"model": "openai/gpt", "api_base": None, "found": "by --lm", "replaying": False})
    'openai/gpt (found by --lm)'
    """
    words = "recorded completions" if description.get("replaying") else str(description["model"])
    if description.get("api_base"):
        words += f" at {description['api_base']}"
    found = description.get("found")
    if not found:
        return words
    return f"{words} ({found})" if found.startswith("no ") else f"{words} (found {found})"
