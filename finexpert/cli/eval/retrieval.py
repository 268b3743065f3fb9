"""`finexpert eval retrieval`: is the page that answers a question found, by words, by meaning, and by both?

finexpert eval retrieval --questions questions.jsonl --library filings --limit 600 --json retrieval.json
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common
from finexpert.cli.evaluating.registering import evaluated
from finexpert.cli.evaluating.report import Asked, Cell, Evaluation, Logged, Report, number
from finexpert.cli.options import Given

if TYPE_CHECKING:
    from finexpert.datasets.filings.retrieval import RetrievalResult, RetrievalSummary
    from finexpert.filings.records import SearchRequest


@evaluated("threads engine fresh json_out", threads=1)
def retrieval(
    given: Given,
    questions: Annotated[Path, typer.Option(help="Question file, JSON lines, each with the page that answers it.")],
    library: Annotated[
        Path | None, typer.Option(help="Folder of the library; or FINEXPERT_LIBRARY; else one at home.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="So many of the questions, by a fixed seed.")] = None,
    rest: Annotated[bool, typer.Option("--rest", help="The questions that --limit leaves out: to tune on.")] = False,
) -> Iterator[Asked]:
    """Recall and reciprocal rank of pages, on bare questions and with company and year named; no model is asked."""
    settings = given.settings()
    from finexpert.datasets.filings import retrieval as evaluation
    from finexpert.embeddings.embedding import embedder
    from finexpert.filings.library.index.index import LibraryIndex
    from finexpert.filings.library.library import Library
    from finexpert.filings.library.store import LibraryStore
    from finexpert.optimizers.program.fingerprints import digest

    everything = evaluation.load_questions(questions)
    asked = evaluation.sample(everything, limit)
    if rest:
        ids = {question.id for question in asked}
        asked = [question for question in everything if question.id not in ids]
    if not asked:
        raise typer.BadParameter("no question is left: give a smaller --limit", param_hint="--rest")
    folder = library or settings.home / "library"
    with Library.open(folder) as opened:
        names, fingerprint, companies = opened.name, opened.fingerprint, opened.companies
    with closing(LibraryStore(folder)) as store:
        index = LibraryIndex(store, embedder(settings.embedder), folder)
        with common.progress("chunks", len(store.chunk_ids())) as advance:
            index.refresh(advance)
        params = {
            "library": names,
            "library_fingerprint": fingerprint,
            "embedder": index.embedder.name,
            "questions": len(asked),
            "rest": rest,
        }

        def search(request: SearchRequest, way: evaluation.Way) -> list[str]:
            return [page for page, *_ in index.search(request, way)]

        ask = partial(evaluation.evaluate, search, asked, companies, threads=given.threads)
        yield Evaluation(
            name="retrieval",
            settings=settings,
            kind=evaluation.RetrievalResult,
            mark=digest([params, *(question.model_dump_json() for question in asked)]),
            params=params,
            total=len(asked) * len(evaluation.FORMS) * len(evaluation.WAYS),
            ask=lambda journal, told: ask(journal, on_result=told),
            report=lambda results: _report(f"{names}; {len(asked)} questions", evaluation.summarise(results), results),
            unit="searches",
            answers="searches",
        )


def _report(head: str, summaries: Sequence[RetrievalSummary], results: Sequence[RetrievalResult]) -> Report:
    cuts = list(summaries[0].recall)
    notes = []
    for s in summaries:
        if s.form != "bare" and s.way == "fused":
            parts = [f"{name} {right}/{n}" for name, (right, n) in s.by_template.items()]
            notes.append(f"right page first, by way of naming: {', '.join(parts)}")
    return Report(
        head=head,
        columns=("form", "by", *(f"@{cut}" for cut in cuts), "95 %", "MRR", "p50 ms", "p95 ms"),
        rows=[_row(s, cuts) for s in summaries],
        left=2,
        notes=notes,
        dim=["by: words is BM25 alone, meaning the vectors alone; @5: recall, the page is among the first 5"],
        runs=[_logged(s, results) for s in summaries],
        content={
            "rows": [s.model_dump(mode="json") for s in summaries],
            "results": [result.model_dump(mode="json") for result in results],
        },
    )


def _row(s: RetrievalSummary, cuts: Sequence[int]) -> list[Cell]:
    cut = 5 if s.form == "bare" else 1
    _, low, high = s.recall[cut]
    return [
        Cell(s.form, s.form),
        Cell(s.way, s.way),
        *(Cell(s.recall[cut].mean, f"{100 * s.recall[cut].mean:.1f}") for cut in cuts),
        Cell((low, high), f"@{cut} {100 * low:.1f}-{100 * high:.1f}"),
        number(s.mrr.mean, ".3f"),
        number(s.p50_ms, ".0f"),
        number(s.p95_ms, ".0f"),
    ]


def _logged(s: RetrievalSummary, results: Sequence[RetrievalResult]) -> Logged:
    table = [r.model_dump(mode="json") for r in results if (r.form, r.way) == (s.form, s.way)]
    recalls = {f"recall_at_{cut}": value.mean for cut, value in s.recall.items()}
    metrics = {**recalls, "mrr": s.mrr.mean, "p50_ms": s.p50_ms, "p95_ms": s.p95_ms}
    return Logged(f"{s.form}, {s.way}", {"form": s.form, "way": s.way}, metrics, {"questions.json": table})
