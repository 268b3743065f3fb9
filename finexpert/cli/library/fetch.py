"""`finexpert library fetch`: filings from EDGAR, or from a list of files on disk, into the library.

finexpert library fetch AAPL MSFT --forms 10-K,10-Q --years 2021-2024
finexpert library fetch --from-index filings/manifest.ndjson
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.library.adding import Done, Folder, WordsOnly, add_all
from finexpert.cli.taught import stores

if TYPE_CHECKING:
    from finexpert.filings.edgar.fetching import FilingServer, Outcome
    from finexpert.filings.edgar.submissions import Chosen
    from finexpert.filings.library.listed import ToAdd
    from finexpert.settings import Settings

_LARGEST = 256


def fetch(
    symbols: Annotated[
        list[str] | None, typer.Argument(metavar="[SYMBOL]...", help="Symbols such as AAPL, or CIKs such as 320193.")
    ] = None,
    forms: Annotated[
        str, typer.Option(help="Such as 10-K,10-Q or 20-F; an amendment such as 10-K/A only where it is named.")
    ] = "10-K",
    years: Annotated[
        str | None,
        typer.Option(
            help="Such as 2021-2024 or 2019,2023: years in which periods end; the newest filing if not given."
        ),
    ] = None,
    from_index: Annotated[
        Path | None,
        typer.Option(
            help="Fetch nothing, add the files of a manifest or of a CSV: path,symbol,company,form,fiscal_year."
        ),
    ] = None,
    library: Folder = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the files; filings in the home if not given.")] = None,
    largest: Annotated[
        int, typer.Option(min=1, max=_LARGEST, help="A file of more MB than this is left out, and said.")
    ] = _LARGEST,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Fetch lists of today again, and files that were changed on disk.")
    ] = False,
    words_only: WordsOnly = False,
    as_json: common.Json = False,
) -> None:
    """Fetch filings from EDGAR and add them to the library; exit code 1 if one is missing or could not be read.

    The SEC asks who fetches: set FINEXPERT_EDGAR_USER_AGENT to your name and address of mail. What was fetched stands in
    a manifest beside the files: an interrupted run goes on, and a second one fetches only what is missing.
    """
    if from_index and symbols:
        raise typer.BadParameter("--from-index fetches nothing: give it or symbols")
    if not symbols and not from_index:
        raise typer.BadParameter("give symbols such as AAPL, or a list of files with --from-index")
    from finexpert.filings.library.listed import of_entry, read_list

    if from_index:
        done = _add(read_list(from_index), library, words_only)
        _show(None, [], done, as_json)
        return
    settings = common.settings_from()
    folder = out or settings.home / "filings"
    chosen, outcomes = _fetch(symbols or [], forms, years, folder, largest << 20, refresh, settings)
    files = [of_entry(outcome.entry, folder) for outcome in outcomes if outcome.entry]
    if not as_json:
        _say_fetched(chosen, outcomes, folder)
    _show(chosen, outcomes, _add(files, library, words_only) if files else None, as_json)


def _fetch(
    symbols: list[str], forms: str, years: str | None, folder: Path, most: int, refresh: bool, settings: Settings
) -> tuple[Chosen, list[Outcome]]:
    from finexpert.filings.edgar.fetching import FilingServer
    from finexpert.filings.edgar.submissions import parse_forms, parse_years

    asked, of_years = parse_forms(forms), parse_years(years) if years else []
    lists = settings.home / "edgar"
    with FilingServer(lists, settings.edgar_user_agent, refresh=refresh, most_bytes=most) as server:
        with common.progress("lists of filings", len(symbols)) as done:
            chosen = server.find(symbols, asked, of_years, lambda _: done(1))
        return chosen, _fetch_all(server, chosen, folder) if chosen.filings else []


def _fetch_all(server: FilingServer, chosen: Chosen, folder: Path) -> list[Outcome]:
    from finexpert.filings.edgar.fetching import fetch as fetch_one
    from finexpert.filings.edgar.manifest import opened

    outcomes = []
    with opened(folder) as manifest, common.progress("filings fetched", len(chosen.filings)) as done:
        for filing in chosen.filings:
            outcomes.append(fetch_one(server, manifest, filing, folder))
            done(1)
    return outcomes


def _add(files: Sequence[ToAdd], library: Path | None, words_only: bool) -> Done:
    from finexpert.filings.library.library import Library
    from finexpert.filings.library.listed import add_listed

    with Library.open(library, make=True) as opened:
        return add_all(files, lambda each: add_listed(opened, each), None if words_only else opened)


def _say_fetched(chosen: Chosen, outcomes: Sequence[Outcome], folder: Path) -> None:
    for text in chosen.missing:
        stores.say(f"missing: {text}")
    for text in chosen.notes:
        stores.say(f"note: {text}")
    for outcome in outcomes:
        if outcome.message:
            stores.say(f"{outcome.outcome}: {outcome.message}")
    counts: Counter[str] = Counter(outcome.outcome for outcome in outcomes)
    words = {"fetched": "fetched", "there": "there already", "changed": "changed on disk", "failed": "failed"}
    told = ", ".join(f"{counts[each]} {text}" for each, text in words.items() if counts[each])
    stores.say(f"{told or 'nothing fetched'}; {folder}")


def _show(chosen: Chosen | None, outcomes: Sequence[Outcome], done: Done | None, as_json: bool) -> None:
    """Print what was added, all of it with --json; exit code 1 where something is missing."""
    if as_json:
        stores.as_json(_facts(chosen, outcomes, done))
    elif done is not None:
        # Of each filing that was there already nobody wants a line.
        done.say(quiet=frozenset({"same"}) if chosen else frozenset())
    bad = any(outcome.entry is None for outcome in outcomes) or bool(chosen and chosen.missing)
    if bad or (done is not None and done.failed):
        raise typer.Exit(1)


def _facts(chosen: Chosen | None, outcomes: Sequence[Outcome], done: Done | None) -> dict[str, Any]:
    fetched = [
        {"file": each.name, "outcome": each.outcome, "message": each.message}
        | (each.entry.model_dump(exclude={"path"}) if each.entry else {})
        for each in outcomes
    ]
    return {
        "missing": list(chosen.missing) if chosen else [],
        "notes": list(chosen.notes) if chosen else [],
        "fetched": fetched,
        "added": done.facts() if done else [],
    }
