"""`finexpert eval filings`: questions over a library of filings, tracked in MLflow.

finexpert eval filings --library DIR                                 the packaged questions, on your own copy of the pages
finexpert eval filings --questions FILE --library DIR --json OUT
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.eval.options import Fresh, JsonOut, Only, Threads

if TYPE_CHECKING:
    from finexpert.datasets.evaluations.evaluation import Share
    from finexpert.datasets.filings.evaluation import Bench, FilingSummary
    from finexpert.datasets.filings.questions import FilingQuestion


def filings(
    questions: Annotated[
        Path | None, typer.Option(help="Question file, JSON lines; the packaged ones if not given.")
    ] = None,
    library: Annotated[Path | None, typer.Option(help="Folder of the library; the one at home if not given.")] = None,
    split: Annotated[str, typer.Option(help="train, dev or all, of the question file.")] = "dev",
    only: Only = None,
    baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help="A single call on the first pages, beside the program.")
    ] = True,
    lm: common.Model = None,
    api_base: common.ApiBase = None,
    retries: common.Retries = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    budget: common.Budget = None,
    program: common.Program = None,
    threads: Threads = 4,
    fresh: Fresh = False,
    json_out: JsonOut = None,
) -> None:
    """Ask questions over many filings; print one table by category; log everything to MLflow."""
    if split not in ("train", "dev", "all"):
        raise typer.BadParameter(f"{split!r} is neither train, dev nor all", param_hint="--split")
    settings = common.settings_from(
        lm=lm,
        api_base=api_base,
        retries=retries,
        record=record,
        recordings=recordings,
        **common.budget_settings(budget, "run"),
    )
    from finexpert.cli.eval.running import chosen
    from finexpert.datasets.filings import evaluation
    from finexpert.datasets.filings.bench import BASELINE, PROGRAM
    from finexpert.datasets.filings.questions import load_questions, missing_pages
    from finexpert.filings.library.library import Library
    from finexpert.language_models.roles import LanguageModels

    of_split = [question for question in load_questions(questions) if split in ("all", question.split)]
    asked = chosen(of_split, only, where=f" in {split}")
    if not asked:
        raise typer.BadParameter(f"no question is of the split {split}", param_hint="--split")
    expert, settings = common.program_of(program, settings)
    with Library.open(library) as source:
        if missing := missing_pages(asked, source):
            raise typer.BadParameter(
                f"{source.folder} lacks {len(missing)} of the pages that the questions rest on, such as {missing[0]}: "
                "add them with `finexpert library add`",
                param_hint="--library",
            )
        bench = evaluation.Bench(source, LanguageModels.from_settings(settings), settings, expert)
        modes = [PROGRAM] + ([BASELINE] if baseline else [])
        _run(bench, asked, modes, threads=threads, fresh=fresh, json_out=json_out)


def _run(
    bench: Bench,
    questions: Sequence[FilingQuestion],
    modes: Sequence[str],
    *,
    threads: int,
    fresh: bool,
    json_out: Path | None,
) -> None:
    from finexpert import tracking
    from finexpert.cli.eval.resumable import ResumableRun, mark_of
    from finexpert.datasets.evaluations.evaluation import ask_in_modes
    from finexpert.datasets.filings import evaluation

    params: dict[str, Any] = {
        "model": common.model_words(bench.models.describe()),
        "library": bench.library.name,
        "library_fingerprint": bench.library.fingerprint,
        "questions": len(questions),
        "modes": ",".join(modes),
        "program": common.program_words(bench.expert),
    }
    mark = mark_of(bench.expert, bench.fingerprint(questions, modes))
    going = ResumableRun("filings", mark, evaluation.FilingResult, bench.settings, fresh=fresh)
    with going.tracked(
        params,
        len(questions) * len(modes),
        lambda journal, told: ask_in_modes(
            bench.ask, questions, modes, journal, bench.settings, threads=threads, on_result=told
        ),
    ) as results:
        summaries = [evaluation.summarise(mode, results, questions) for mode in modes]
        for summary in summaries:
            with tracking.run(summary.mode, parent=False, params=params | {"mode": summary.mode}):
                rows = [r.model_dump(mode="json") | {"verdict": r.verdict} for r in results if r.rung == summary.mode]
                tracking.log(summary.metrics(), {"questions.json": rows})
    content = {
        "config": params,
        "modes": {s.mode: s.metrics() | {"wrong": s.wrong} for s in summaries},
        "results": [r.model_dump(mode="json") for r in results],
    }
    going.write(json_out, content)
    _print(summaries, bench, results)
    going.tell()


def _print(summaries: Sequence[FilingSummary], bench: Bench, results: Sequence[Any]) -> None:
    from rich import box
    from rich.table import Table

    from finexpert.datasets.evaluations.evaluation import mcnemar

    out = common.console()
    model = common.model_words(bench.models.describe())
    out.print(f"{model}; {len(bench.library.filings()):,} filings", soft_wrap=True, markup=False)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("category")
    for summary in summaries:
        table.add_column(summary.mode, justify="right")
        table.add_column("95 %", justify="right")
    parts: dict[str, list[Share | None]] = {
        name: [s.by_category.get(name) for s in summaries] for name in summaries[0].by_category
    }
    parts["all"] = [s.overall for s in summaries]
    for name, shares in parts.items():
        cells = [[f"{p.right}/{p.n}", f"{p.low:.0%}-{p.high:.0%}"] if p else ["", ""] for p in shares]
        table.add_row(name, *[cell for pair in cells for cell in pair])
    out.print(table)
    for s in summaries:
        found = ", ".join(f"@{k} {value:.1%}" for k, value in s.recall.items())
        cited = s.citation_precision
        out.print(
            f"{s.mode}: {s.calls:.2f} calls, {s.tokens:,.0f} tokens, {s.seconds:.1f} s, {s.rounds:.2f} searches, "
            f"{s.pages_read:.2f} pages read a question; citations right {cited.right}/{cited.n}, right pages cited "
            f"{s.page_recall:.1%}; first search: recall {found}, MRR {s.mrr:.3f}",
            soft_wrap=True,
        )
        if s.wrong:
            out.print(f"{s.mode}: not right: {', '.join(s.wrong)}", soft_wrap=True, markup=False)
    if len(summaries) == 2:
        correct = [{r.id: r.correct for r in results if r.rung == s.mode} for s in summaries]
        ids = sorted(correct[0].keys() & correct[1].keys())
        won, lost, p = mcnemar([correct[0][i] for i in ids], [correct[1][i] for i in ids])
        out.print(f"{won} only {summaries[0].mode} has right, {lost} only {summaries[1].mode}; McNemar p = {p:.3f}")
