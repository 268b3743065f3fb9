"""`finexpert library`: filings that questions are asked of, and what is found in them.

finexpert library add filings/ more/aapl-20241228.htm
finexpert library fetch AAPL MSFT --years 2021-2024       # see `fetch.py`
finexpert library list
finexpert library search "net sales by region" --company Apple --year 2025
finexpert library show AAPL/2025Q1/10-Q
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from finexpert.cli import common
from finexpert.cli.library.adding import Folder, WordsOnly, add_all, index
from finexpert.cli.library.companies import companies
from finexpert.cli.library.fetch import fetch
from finexpert.cli.taught import stores

if TYPE_CHECKING:
    from finexpert.filings.library.library import Library
    from finexpert.filings.records import FilingInfo, PageHit

library_app = typer.Typer(help="Keep filings, and search them.", no_args_is_help=True)
library_app.command()(companies)
library_app.command()(fetch)

Names = Annotated[list[str] | None, typer.Option("--company", help="Name or symbol; may be given several times.")]
Years = Annotated[list[int] | None, typer.Option("--year", help="Fiscal year; may be given several times.")]
Quarters = Annotated[list[int] | None, typer.Option("--quarter", min=1, max=4, help="May be given several times.")]
_SHOWN_WORDS = 160


@library_app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(help="Files (HTML, PDF, text, records of pages), or folders of them.")],
    library: Folder = None,
    company: Annotated[str, typer.Option(help="What the file does not say, or says wrongly.")] = "",
    ticker: Annotated[str, typer.Option(help="The company's symbol.")] = "",
    year: Annotated[int | None, typer.Option(min=1900, max=2999, help="Fiscal year.")] = None,
    quarter: Annotated[int | None, typer.Option(min=1, max=4, help="Fiscal quarter.")] = None,
    kind: Annotated[str, typer.Option(help="Such as 10-K, 10-Q or transcript.")] = "",
    chunk_size: Annotated[int | None, typer.Option(help="Characters of a chunk, for a new library: 1000.")] = None,
    overlap: Annotated[int | None, typer.Option(help="Characters that the next chunk repeats: 200.")] = None,
    words_only: WordsOnly = False,
    engine: Annotated[
        Literal["threads", "ray"],
        typer.Option(help="ray: embed on the cluster at RAY_ADDRESS, or one of this machine."),
    ] = "threads",
    as_json: common.Json = False,
) -> None:
    """Add filings; exit code 1 if one could not be read. What is in the library already is left as it is."""
    from finexpert.errors import LibraryError
    from finexpert.filings.library.adding import add_file
    from finexpert.filings.library.chunking import STANDARD, Chunking
    from finexpert.filings.library.library import Library
    from finexpert.filings.readers.cover import Given
    from finexpert.filings.readers.files import RECORDS, WHOLE, found_files

    files = found_files(paths)
    if not files:
        kinds = ", ".join(sorted(RECORDS | WHOLE))
        raise LibraryError(f"there is no file of a filing in {', '.join(map(str, paths))}: these are read: {kinds}")
    given = Given(company, ticker.upper(), year, quarter, kind)
    chunking = None
    if chunk_size is not None or overlap is not None:
        size = STANDARD.size if chunk_size is None else chunk_size
        chunking = Chunking(size, STANDARD.overlap * size // STANDARD.size if overlap is None else overlap)
    with ExitStack() as stack:
        embedder = None
        if engine == "ray" and not words_only:
            from finexpert.embeddings.on_ray import on_ray
            from finexpert.settings import Settings

            embedder = stack.enter_context(on_ray(Settings().embedder or "auto"))
        opened = stack.enter_context(Library.open(library, make=True, chunking=chunking, embedder=embedder))
        done = add_all(files, lambda path: add_file(opened, path, given), None if words_only else opened)
    if as_json:
        stores.as_json(done.facts())
    else:
        done.say()
    if done.failed:
        raise typer.Exit(1)


@library_app.command("list")
def list_(library: Folder = None, as_json: common.Json = False) -> None:
    """List the filings: company, period, form, pages."""
    with _opened(library) as opened:
        filings = opened.filings()
    if as_json:
        stores.as_json([_facts(filing) for filing in filings])
    elif not filings:
        stores.say("The library is empty. Next: finexpert library add PATH")
    else:
        rows = [
            (f.id, f.company or f.ticker, _period(f), f.kind, str(f.pages), stores.day(f.added), f.path)
            for f in filings
        ]
        stores.table(("id", "company", "period", "kind", "pages", "added", "file"), rows)


@library_app.command()
def show(
    id: Annotated[str, typer.Argument(help="Id of a filing, or of a page.")],
    library: Folder = None,
    as_json: common.Json = False,
) -> None:
    """Show a filing with its pages, or a page with its text and table."""
    from finexpert.errors import LibraryError

    with _opened(library) as opened:
        try:
            filing = opened.filing(id)
        except LibraryError:
            if "page" not in id:
                raise
            page = opened.page(id)
            if as_json:
                stores.as_json(asdict(page))
            else:
                stores.say(f"{page.label}{f' ({page.section})' if page.section else ''}\n")
                stores.say(page.as_filing().page_text())
                if page.tags:
                    stores.say("\nTAGGED NUMBERS (inline XBRL):")
                for tag in page.tags:
                    place = f"r{tag.row} c{tag.column}" if tag.row >= 0 else "text"
                    stores.say(f"{place}: {tag.printed}: {tag.words}")
            return
        pages = opened.pages_of(filing.id)
    if as_json:
        stores.as_json(_facts(filing) | {"parts": [page.id for page in pages]})
        return
    stores.say(f"{filing.id}: {filing.company or filing.ticker}, {_period(filing)} {filing.kind}; {filing.path}\n")
    rows = [(p.id, p.section, f"{len(p.table)} rows" if p.table else "", _first_words(p.pre_text)) for p in pages]
    stores.table(("page", "section", "table", "begins"), rows)


@library_app.command()
def remove(id: Annotated[str, typer.Argument(help="Id of a filing.")], library: Folder = None) -> None:
    """Remove a filing and its pages; its file stays where it is."""
    with _opened(library) as opened:
        pages = opened.remove(id)
        index(opened)
    stores.say(f"removed: {id}, {pages} page{'' if pages == 1 else 's'}")


@library_app.command()
def search(
    words: Annotated[list[str], typer.Argument(help="What is looked for; each argument is a phrase.")],
    library: Folder = None,
    company: Names = None,
    year: Years = None,
    quarter: Quarters = None,
    kind: Annotated[list[str] | None, typer.Option(help="table or text; both if not given.")] = None,
    limit: stores.Limit = 8,
    as_json: common.Json = False,
) -> None:
    """Show the pages that fit words best, and by what."""
    from finexpert.filings.records import SearchRequest

    if wrong := set(kind or ()) - {"table", "text"}:
        raise typer.BadParameter(f"--kind is table or text, not {', '.join(sorted(wrong))}")
    with _opened(library) as opened:
        tickers = frozenset(symbol for name in company or () for symbol in opened.symbols(name))
        request = SearchRequest(
            phrases=tuple(words),
            tickers=tickers,
            years=frozenset(year or ()),
            quarters=frozenset(quarter or ()),
            kinds=frozenset(kind or ()),  # type: ignore[arg-type]  # checked above
            limit=limit,
        )
        hits = opened.search(request)
    if as_json:
        stores.as_json([_hit(hit) for hit in hits])
    elif not hits:
        stores.say("Nothing was found. `finexpert library list` shows what there is")
    else:
        rows = [(f"{hit.score:.2f}", hit.page.id, hit.page.label, hit.why, _best(hit)) for hit in hits]
        stores.table(("score", "page", "", "why", "words"), rows)


def _opened(library: Path | None) -> Library:
    from finexpert.filings.library.library import Library

    return Library.open(library)


def _facts(filing: FilingInfo) -> dict[str, Any]:
    return asdict(filing) | {"added": filing.added.isoformat()}


def _hit(hit: PageHit) -> dict[str, Any]:
    chunks = [{"kind": chunk.kind, "text": chunk.text} for chunk in hit.chunks]
    return {
        "page": hit.page.id,
        "label": hit.page.label,
        "score": round(hit.score, 4),
        "why": hit.why,
        "chunks": chunks,
    }


def _period(filing: FilingInfo) -> str:
    if filing.fiscal_year is None:
        return ""
    return f"Q{filing.quarter} {filing.fiscal_year}" if filing.quarter else f"FY {filing.fiscal_year}"


def _first_words(texts: tuple[str, ...]) -> str:
    text = " ".join(texts)
    return text if len(text) <= _SHOWN_WORDS else f"{text[:_SHOWN_WORDS]}..."


def _best(hit: PageHit) -> str:
    return _first_words((hit.chunks[0].text.replace("\n", " / "),)) if hit.chunks else ""
