"""What is the same for every backend: pages, terms and processes as a client sees them, within their bounds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from finexpert.app.mcp.backend import PageFound, PageRead, ProcessShown, Proposed, QuestionBack, Terms, TermShown
from finexpert.app.searching import search_now
from finexpert.app.state.stored import StoredAnswer
from finexpert.core.answers import Answer, Clarification
from finexpert.core.notes import without_values
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.filings.records import LibraryPage, PageHit, SearchRequest
from finexpert.knowledge import injections
from finexpert.text.terms import normalise
from finexpert.text.texts import visible

Shown = TypeVar("Shown", Answer, StoredAnswer)

if TYPE_CHECKING:
    from finexpert.knowledge.glossary import Keyword
    from finexpert.knowledge.process import Process
    from finexpert.knowledge.taught import Taught
    from finexpert.knowledge.verified.query import VerifiedQuery
    from finexpert.warehouse.schema import Metric

SCHEME = "finexpert"
MOST_ROWS = 50
_MOST_WORDS = 600
_MOST_NEAR = 5
_MOST_FILINGS = 300


def record_address(id: str) -> str:
    """
    >>> record_address("20240930T101500-ab12cd")
    'finexpert://records/20240930T101500-ab12cd'
    """
    return f"{SCHEME}://records/{quote(id, safe='')}"


def chart_address(id: str, number: int) -> str:
    return f"{SCHEME}://charts/{quote(id, safe='')}/{number}"


def page_found(hit: PageHit) -> PageFound:
    words = hit.chunks[0].text if hit.chunks else " ".join(hit.page.pre_text)
    return PageFound(
        page=hit.page.id,
        label=visible(hit.page.label),
        filing=hit.page.filing,
        why=hit.why,
        words=_cut(words.replace("\n", " / ")),
    )


def question_back(unclear: Clarification | None) -> QuestionBack | None:
    """A question back as a model may see it: without the values of a column."""
    if unclear is None:
        return None
    shown = _without_candidates(unclear) if unclear.kind == "value" else unclear
    return QuestionBack(kind=shown.kind, term=shown.term, question=shown.question, candidates=shown.candidates)


def for_models(answer: Shown) -> Shown:
    """An answer as a client's model may see it: with its own values, and without others of a column that an error or a note names."""
    update: dict[str, Any] = {"flags": [without_values(flag) for flag in answer.flags]}
    texts: list[tuple[str, str]] = []
    if (failure := answer.failure) is not None and failure.for_models:
        texts.append((failure.message, failure.for_models))
        update["failure"] = failure.model_copy(update={"message": failure.for_models})
    if (unclear := answer.clarification) is not None and unclear.kind == "value":
        update["clarification"] = _without_candidates(unclear)
        texts.append((unclear.question, update["clarification"].question))
    if isinstance(answer, StoredAnswer):
        for text, said in texts:
            update["text"] = update.get("text", answer.text).replace(text, said)
    return answer.model_copy(update=update)


def record_text(record: dict[str, Any]) -> str:
    """A record as JSON for a client's model; one of which something had to be left out has no seal."""
    seen = _record_seen(record)
    return json.dumps(seen if seen == record else seen | {"seal": ""}, indent=1)


def _record_seen(part: Any) -> Any:
    if isinstance(part, list):
        return [_record_seen(each) for each in part]
    if not isinstance(part, dict):
        return part
    seen = {name: _record_seen(each) for name, each in part.items()}
    if isinstance(flags := seen.get("flags"), list):
        seen["flags"] = [without_values(str(flag)) for flag in flags]
    if isinstance(failure := seen.get("failure"), dict) and failure.get("for_models"):
        seen["failure"] = failure | {"message": failure["for_models"]}
    return seen


def _without_candidates(unclear: Clarification) -> Clarification:
    question = f"Which value of {unclear.place} is meant by {unclear.term.strip('%')!r}?"
    return unclear.model_copy(update={"question": question, "candidates": []})


def pages_found(
    library: Library, phrases: Sequence[str], company: str, year: int | None, limit: int
) -> list[PageFound]:
    """The pages of a library that fit best."""
    request = SearchRequest(
        phrases=tuple(phrases),
        tickers=library.symbols(company) if company else frozenset(),
        years=frozenset([year]) if year else frozenset(),
        limit=limit,
    )
    return [page_found(hit) for hit in search_now(library, request)]


def schema_text(source: Any, question: str) -> str:
    """What a source holds: the schema card of tables, the filings of a library, the page."""
    if isinstance(source, Library):
        return filings_text(source)
    if isinstance(source, Filing):
        return visible_lines("1 page", [source.id])
    card: str = source.schema_card(question=question)
    return card


def page_read(page: LibraryPage | Filing) -> PageRead:
    """A page with what of it reads like an instruction to a program."""
    filing = page.as_filing() if isinstance(page, LibraryPage) else page
    text = filing.page_text()
    label = visible(page.label if isinstance(page, LibraryPage) else page.id)
    return PageRead(page=page.id, label=label, text=text, flags=injections.flags(injections.findings([(label, text)])))


def filings_text(library: Library) -> str:
    """The filings of a library, a line each."""
    filings = library.filings()
    lines = [
        ", ".join(
            str(part)
            for part in (f.id, f.company or f.ticker, _period(f.fiscal_year, f.quarter), f.kind, f"{f.pages} pages")
            if part
        )
        for f in filings[:_MOST_FILINGS]
    ]
    if len(filings) > _MOST_FILINGS:
        lines.append(f"... and {len(filings) - _MOST_FILINGS:,} more: search_filings finds their pages")
    return visible_lines("1 filing" if len(filings) == 1 else f"{len(filings):,} filings", lines)


def visible_lines(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([heading, *map(visible, lines)])


def terms(text: str, taught: Taught | None, metrics: Sequence[Metric]) -> Terms:
    """What a text names in glossary and metrics, and what is near to it in meaning."""
    wanted = normalise(text)
    found = [_metric(metric) for metric in metrics if wanted in map(normalise, (metric.name, *metric.synonyms))]
    if taught is None or taught.glossary.empty:
        return Terms(found=found)
    exact = taught.glossary.get(text)
    named = {entry.id: entry for entry in ([exact] if exact else []) + taught.glossary.named_in(text)}
    near = [entry for entry, _ in taught.glossary.search([text], _MOST_NEAR) if entry.id not in named]
    return Terms(found=[*map(_term, named.values()), *found], near=list(map(_term, near)))


def proposed(query: VerifiedQuery) -> Proposed:
    """A draft, with what a person does to have it used."""
    variables = {each.name: each.value for each in query.variables}
    said = f"a person looks at it and makes it active: `finexpert verified activate {query.id[:8]}`, or on the page under Verified queries"
    return Proposed(id=query.id, question=query.question, variables=variables, next=said)


def process(each: Process) -> ProcessShown:
    return ProcessShown(
        heading=each.heading,
        aliases=list(each.aliases),
        status=each.status,
        variables=[f"{variable.name}: {variable.meaning}".rstrip(": ") for variable in each.variables],
        steps=[step.text for step in each.steps],
        taught_by=each.taught_by,
    )


def part(text: str, start: int, most: int) -> tuple[str, int | None]:
    """A stretch of a text, and where the next one starts.

    >>> part("abcdef", 2, 3), part("abcdef", 5, 3)
    (('cde', 5), ('f', None))
    """
    end = start + most
    return text[start:end], end if end < len(text) else None


def _term(entry: Keyword) -> TermShown:
    aliases = list(entry.aliases)
    return TermShown(term=entry.term, kind="term", meaning=entry.meaning, aliases=aliases, taught_by=entry.taught_by)


def _metric(metric: Metric) -> TermShown:
    meaning = f"{metric.description}: {metric.expression}" if metric.description else metric.expression
    return TermShown(term=metric.name, kind="metric", meaning=meaning, aliases=list(metric.synonyms))


def _period(year: int | None, quarter: int | None) -> str:
    if year is None:
        return ""
    return f"Q{quarter} {year}" if quarter else f"FY {year}"


def _cut(text: str) -> str:
    text = visible(text)
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]}..."
