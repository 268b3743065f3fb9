"""`finexpert eval retrieval`: is the page that answers a question found, by words, by meaning, and by both?

finexpert eval retrieval --questions questions.jsonl --library filings --limit 600 --json retrieval.json
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common
from finexpert.cli.evaluating.showing import table_of, tell
from finexpert.cli.options import Given, takes

if TYPE_CHECKING:
    from finexpert.datasets.filings.retrieval import RetrievalResult, RetrievalSummary
    from finexpert.settings import Settings


@takes("json_out")
def retrieval(
    given: Given,
    questions: Annotated[Path, typer.Option(help="Question file, JSON lines, each with the page that answers it.")],
    library: Annotated[
        Path | None, typer.Option(help="Folder of the library; or FINEXPERT_LIBRARY; else one at home.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="So many of the questions, by a fixed seed.")] = None,
    rest: Annotated[bool, typer.Option("--rest", help="The questions that --limit leaves out: to tune on.")] = False,
) -> None:
    """Recall and reciprocal rank of pages, on bare questions and with company and year named; no model is asked."""
    settings = given.settings()
    from finexpert.datasets.evaluations.evaluation import write_json
    from finexpert.datasets.filings import retrieval as evaluation
    from finexpert.embeddings.embedding import embedder
    from finexpert.filings.library.index.index import LibraryIndex
    from finexpert.filings.library.library import Library
    from finexpert.filings.library.store import LibraryStore

    everything = evaluation.load_questions(questions)
    chosen = evaluation.sample(everything, limit)
    if rest:
        ids = {question.id for question in chosen}
        chosen = [question for question in everything if question.id not in ids]
    if not chosen:
        raise typer.BadParameter("no question is left: give a smaller --limit", param_hint="--rest")
    folder = library or settings.home / "library"
    with Library.open(folder) as opened:
        names, fingerprint, companies = opened.name, opened.fingerprint, opened.companies
    store = LibraryStore(folder)
    index = LibraryIndex(store, embedder(settings.embedder), folder, settings.library_fusion)
    with common.progress("chunks", len(store.chunk_ids())) as advance:
        index.refresh(advance)
    with common.progress("searches", len(chosen) * len(evaluation.FORMS) * len(evaluation.WAYS)) as advance:
        results = evaluation.evaluate(
            lambda request, way: [page for page, *_ in index.search(request, way)],
            chosen,
            companies,
            on_result=lambda result: advance(1),
        )
    store.close()
    params = {
        "library": names,
        "library_fingerprint": fingerprint,
        "embedder": index.embedder.name,
        "fusion": index.fusion,
        "questions": len(chosen),
        "rest": rest,
    }
    summaries = evaluation.summarise(results)
    uri = _log(summaries, results, params, settings)
    if given.json_out:
        content = {
            "config": params,
            "rows": [summary.model_dump(mode="json") for summary in summaries],
            "results": [result.model_dump(mode="json") for result in results],
        }
        write_json(given.json_out, content)
    _print(summaries, uri)


def _log(
    summaries: Sequence[RetrievalSummary],
    results: Sequence[RetrievalResult],
    params: dict[str, object],
    settings: Settings,
) -> str:
    from finexpert import tracking

    uri = tracking.start(settings, "finexpert eval retrieval")
    with tracking.run("eval retrieval", parent=True, params=params):
        for summary in summaries:
            own = {"form": summary.form, "way": summary.way}
            with tracking.run(f"{summary.form}, {summary.way}", parent=False, params=params | own):
                recalls = {f"recall_at_{cut}": value.mean for cut, value in summary.recall.items()}
                table = [r.model_dump(mode="json") for r in results if (r.form, r.way) == (summary.form, summary.way)]
                tracking.log(
                    {**recalls, "mrr": summary.mrr.mean, "p50_ms": summary.p50_ms, "p95_ms": summary.p95_ms},
                    {"questions.json": table},
                )
    tracking.finish()
    return uri


def _print(summaries: Sequence[RetrievalSummary], uri: str) -> None:
    cuts = list(summaries[0].recall)
    table = table_of(("form", "by", *(f"@{cut}" for cut in cuts), "95 %", "MRR", "p50 ms", "p95 ms"), 2)
    for summary in summaries:
        cut = 5 if summary.form == "bare" else 1
        table.add_row(
            summary.form,
            summary.way,
            *(f"{100 * summary.recall[cut].mean:.1f}" for cut in cuts),
            f"@{cut} {100 * summary.recall[cut].low:.1f}-{100 * summary.recall[cut].high:.1f}",
            f"{summary.mrr.mean:.3f}",
            f"{summary.p50_ms:.0f}",
            f"{summary.p95_ms:.0f}",
        )
    common.console().print(table)
    for summary in summaries:
        if summary.form != "bare" and summary.way == "fused":
            parts = [f"{name} {right}/{n}" for name, (right, n) in summary.by_template.items()]
            tell(f"right page first, by way of naming: {', '.join(parts)}")
    tell("by: words is BM25 alone, meaning the vectors alone; @5: recall, the page is among the first 5", style="dim")
    tell(f"{summaries[0].n} questions; {common.store_words(uri)}", style="dim")
