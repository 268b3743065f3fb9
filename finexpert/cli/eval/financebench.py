"""`finexpert eval financebench FOLDER`: questions of FinanceBench over whole filings, tracked in MLflow.

finexpert eval financebench FOLDER --recall-only          page recall of the questions' own words; no model is asked
finexpert eval financebench FOLDER --json OUT             answers judged; the single call over first pages beside with --baseline
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.eval.options import Fresh, JsonOut, Only, Threads

if TYPE_CHECKING:
    from finexpert.datasets.external.financebench import Question
    from finexpert.datasets.external.financebench_evaluation import Bench, BenchSummary
    from finexpert.filings.library.library import Library


def financebench(
    folder: Annotated[Path, typer.Argument(help="Folder with questions.jsonl, and the filings in pdf/.")],
    library: Annotated[
        Path | None, typer.Option(help="Folder of the library; one of its own at home if not given.")
    ] = None,
    only: Only = None,
    baseline: Annotated[
        bool, typer.Option("--baseline/--no-baseline", help="A single call on the first pages, beside the program.")
    ] = False,
    recall_only: Annotated[bool, typer.Option("--recall-only", help="Page recall alone: no model is asked.")] = False,
    lm: common.Model = None,
    api_base: common.ApiBase = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    budget: common.Budget = None,
    program: common.Program = None,
    threads: Threads = 4,
    fresh: Fresh = False,
    json_out: JsonOut = None,
) -> None:
    """Ask FinanceBench's questions of whole filings; print right, wrong and refused, by type and form."""
    settings = common.settings_from(
        lm=lm, api_base=api_base, record=record, recordings=recordings, **common.budget_settings(budget, "run")
    )
    from finexpert.datasets.external import financebench_evaluation as evaluation
    from finexpert.datasets.external.financebench import read_questions
    from finexpert.datasets.filings.bench import BASELINE, PROGRAM
    from finexpert.filings.library.library import Library
    from finexpert.language_models.roles import LanguageModels

    asked = _chosen(read_questions(folder), only)
    expert, settings = common.program_of(program, settings)
    with Library.open(library or settings.home / "financebench", make=True) as source:
        _fill(source, folder, asked)
        if recall_only:
            _print_recall(source, asked)
            return
        bench = evaluation.Bench(source, LanguageModels.from_settings(settings), settings, expert)
        modes = [PROGRAM] + ([BASELINE] if baseline else [])
        _run(bench, asked, modes, threads=threads, fresh=fresh, json_out=json_out)


def _chosen(questions: Sequence[Question], only: str | None) -> list[Question]:
    """The questions that --only names by the ends of their ids, or all of them."""
    if only is None:
        return list(questions)
    ends = [name.strip() for name in only.split(",")]
    for end in ends:
        if not end or not any(question.id.endswith(end) for question in questions):
            raise typer.BadParameter(f"there is no question {end!r}", param_hint="--only")
    return [question for question in questions if question.id.endswith(tuple(ends))]


def _fill(library: Library, folder: Path, questions: Sequence[Question]) -> None:
    """Add the filings of the questions that the library does not have yet; their words alone, no vectors are needed."""
    from finexpert.datasets.external.financebench import FILINGS
    from finexpert.errors import LibraryError
    from finexpert.filings.library.adding import add_files
    from finexpert.filings.readers.files import WHOLE

    here = {Path(filing.path).stem for filing in library.filings()}
    names = {question.doc_name for question in questions} - here
    held = {file.stem: file for file in sorted((folder / FILINGS).glob("*")) if file.suffix.lower() in WHOLE}
    if missing := sorted(names - held.keys()):
        raise LibraryError(f"there is no filing {missing[0]} in {folder / FILINGS}: put FinanceBench's filings there")
    files = [held[name] for name in sorted(names)]
    if not files:
        return
    with common.progress("filings", len(files)) as done:
        for added in add_files(library, files):
            done(1)
            if added.outcome == "failed":
                raise LibraryError(added.message)


def _run(
    bench: Bench,
    questions: Sequence[Question],
    modes: Sequence[str],
    *,
    threads: int,
    fresh: bool,
    json_out: Path | None,
) -> None:
    from finexpert import tracking
    from finexpert.cli.eval.resumable import ResumableRun, mark_of
    from finexpert.datasets.evaluations.evaluation import ask_in_modes
    from finexpert.datasets.external import financebench_evaluation as evaluation

    params: dict[str, Any] = {
        "model": common.model_words(bench.models.describe()),
        "library_fingerprint": bench.library.fingerprint,
        "questions": len(questions),
        "modes": ",".join(modes),
        "program": common.program_words(bench.expert),
    }
    mark = mark_of(bench.expert, bench.fingerprint(questions, modes))
    going = ResumableRun("financebench", mark, evaluation.BenchResult, bench.settings, fresh=fresh)
    with going.tracked(
        params,
        len(questions) * len(modes),
        lambda journal, told: ask_in_modes(
            bench.ask, questions, modes, journal, bench.settings, threads=threads, on_result=told
        ),
    ) as results:
        summaries = [evaluation.summarise(mode, results) for mode in modes]
        for summary in summaries:
            with tracking.run(summary.mode, parent=False, params=params | {"mode": summary.mode}):
                rows = [r.model_dump(mode="json") for r in results if r.rung == summary.mode]
                tracking.log(summary.metrics(), {"questions.json": rows})
    content = {
        "config": params,
        "modes": {s.mode: s.metrics() | {"wrong": s.wrong, "refused": s.refused} for s in summaries},
        "results": [r.model_dump(mode="json") for r in results],
    }
    going.write(json_out, content)
    _print(summaries, bench)
    going.tell()


def _print_recall(library: Library, questions: Sequence[Question]) -> None:
    from finexpert.datasets.external.financebench_evaluation import CUTS, recall

    rows = [(question.id, recall(library, question)) for question in questions]
    for id, found in rows:
        common.console().print(f"{id}: " + ", ".join(f"@{cut} {found[cut]:.0%}" for cut in CUTS), soft_wrap=True)
    means = {cut: sum(found[cut] for _, found in rows) / max(1, len(rows)) for cut in CUTS}
    told = ", ".join(f"@{cut} {value:.1%}" for cut, value in means.items())
    common.console().print(f"{len(rows)} questions, own words, no model: recall {told}", soft_wrap=True)


def _print(summaries: Sequence[BenchSummary], bench: Bench) -> None:
    out = common.console()
    out.print(
        f"{common.model_words(bench.models.describe())}; {len(bench.library.filings()):,} filings",
        soft_wrap=True,
        markup=False,
    )
    for s in summaries:
        out.print(
            f"{s.mode}: {s.overall.right} of {s.overall.n} right, {len(s.wrong)} wrong, {len(s.refused)} refused",
            soft_wrap=True,
        )
        for name, shares in (("type", s.by_type), ("form", s.by_form)):
            told = ", ".join(f"{key} {part.right}/{part.n}" for key, part in shares.items())
            out.print(f"  by {name}: {told}", soft_wrap=True, markup=False)
        found = ", ".join(f"@{cut} {value:.1%}" for cut, value in s.recall.items())
        read = ", ".join(f"@{cut} {value:.1%}" for cut, value in s.recall_read.items()) or "none"
        out.print(f"  page recall: own words {found}; pages read {read}", soft_wrap=True, markup=False)
        out.print(f"  {s.calls:.2f} calls, {s.tokens:,.0f} tokens, {s.seconds:.1f} s a question", soft_wrap=True)
        for word, ids in (("wrong", s.wrong), ("refused", s.refused)):
            if ids:
                out.print(f"  {word}: {', '.join(ids)}", soft_wrap=True, markup=False)
