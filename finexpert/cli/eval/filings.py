"""`finexpert eval filings` and `finexpert eval financebench`: questions over a library of filings.

finexpert eval filings --library DIR                      the packaged questions, on your own copy of the pages
finexpert eval filings --questions FILE --library DIR --json OUT
finexpert eval financebench FOLDER --recall-only          page recall of the questions' own words; no model is asked
finexpert eval financebench FOLDER --json OUT             answers judged; the single call over first pages beside with --baseline
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.evaluating.questions import among, chosen, mark_of
from finexpert.cli.evaluating.registering import evaluated
from finexpert.cli.evaluating.report import Asked, Cell, Evaluation, Logged, Report, interval, number, right
from finexpert.cli.options import Baseline, Given, Only

if TYPE_CHECKING:
    from finexpert.datasets.external.financebench import Question
    from finexpert.datasets.external.financebench_evaluation import BenchSummary
    from finexpert.datasets.filings.evaluation import FilingSummary
    from finexpert.filings.library.library import Library


@evaluated("lm api_base retries record recordings budget program threads engine fresh json_out")
def filings(
    given: Given,
    questions: Annotated[
        Path | None, typer.Option(help="Question file, JSON lines; the packaged ones if not given.")
    ] = None,
    library: Annotated[Path | None, typer.Option(help="Folder of the library; the one at home if not given.")] = None,
    split: Annotated[str, typer.Option(help="train, dev or all, of the question file.")] = "dev",
    only: Only = None,
    baseline: Baseline = True,
) -> Iterator[Asked]:
    """Ask questions over many filings; print one table by category; log everything to MLflow."""
    among([split], ("train", "dev", "all"), "--split")
    settings = given.settings()
    from finexpert.datasets.filings import evaluation
    from finexpert.datasets.filings.bench import BASELINE, PROGRAM
    from finexpert.datasets.filings.questions import load_questions, missing_pages
    from finexpert.filings.library.library import Library
    from finexpert.language_models.roles import LanguageModels

    of_split = [question for question in load_questions(questions) if split in ("all", question.split)]
    asked = chosen(of_split, only, where=f" in {split}")
    if not asked:
        raise typer.BadParameter(f"no question is of the split {split}", param_hint="--split")
    expert, settings = given.expert(settings)
    with Library.open(library) as source:
        if missing := missing_pages(asked, source):
            raise typer.BadParameter(
                f"{source.folder} lacks {len(missing)} of the pages that the questions rest on, such as {missing[0]}: "
                "add them with `finexpert library add`",
                param_hint="--library",
            )
        bench = evaluation.FilingBench(source, LanguageModels.from_settings(settings), settings, expert)
        modes = [PROGRAM] + ([BASELINE] if baseline else [])
        yield _evaluation(
            "filings", bench, evaluation.FilingResult, asked, modes, given.threads,
            lambda mode, results: evaluation.summarise(mode, results, asked), _table_of_filings,
            {"library": source.name},
        )  # fmt: skip


@evaluated("lm api_base record recordings budget program threads engine fresh json_out")
def financebench(
    given: Given,
    folder: Annotated[Path, typer.Argument(help="Folder with questions.jsonl, and the filings in pdf/.")],
    library: Annotated[
        Path | None, typer.Option(help="Folder of the library; one of its own at home if not given.")
    ] = None,
    only: Only = None,
    baseline: Baseline = False,
    recall_only: Annotated[bool, typer.Option("--recall-only", help="Page recall alone: no model is asked.")] = False,
) -> Iterator[Asked]:
    """Ask FinanceBench's questions of whole filings; print right, wrong and refused, by type and form."""
    settings = given.settings()
    from finexpert.datasets.external import financebench_evaluation as evaluation
    from finexpert.datasets.external.financebench import read_questions
    from finexpert.datasets.filings.bench import BASELINE, PROGRAM
    from finexpert.filings.library.library import Library
    from finexpert.language_models.roles import LanguageModels

    asked = _by_ends(read_questions(folder), only)
    expert, settings = given.expert(settings)
    with Library.open(library or settings.home / "financebench", make=True) as source:
        _fill(source, folder, asked)
        if recall_only:
            _print_recall(source, asked)
            yield None
            return
        bench = evaluation.FinanceBench(source, LanguageModels.from_settings(settings), settings, expert)
        modes = [PROGRAM] + ([BASELINE] if baseline else [])
        kind, summarise = evaluation.BenchResult, evaluation.summarise
        yield _evaluation(
            "financebench", bench, kind, asked, modes, given.threads, summarise, _table_of_financebench, {}
        )  # fmt: skip


def _evaluation(
    name: str,
    bench: Any,
    kind: type[Any],
    questions: Sequence[Any],
    modes: Sequence[str],
    threads: int,
    summarise: Callable[[str, Sequence[Any]], Any],
    table: Callable[[Sequence[Any], Sequence[Any]], Mapping[str, Any]],
    more: Mapping[str, Any],
) -> Evaluation[Any]:
    """The evaluation of questions over a library in modes; `table` makes a report's table and lines of the summaries."""
    from finexpert.datasets.evaluations.journal import ask_in_modes

    model = common.model_words(bench.models.describe())
    params = {
        "model": model,
        **more,
        "library_fingerprint": bench.library.fingerprint,
        "questions": len(questions),
        "modes": ",".join(modes),
        "program": common.program_words(bench.expert),
    }

    def report(results: list[Any]) -> Report:
        summaries = [summarise(mode, results) for mode in modes]
        lists = ("wrong", "refused")
        return Report(
            head=f"{model}; {len(bench.library.filings()):,} filings",
            runs=[
                Logged(
                    s.mode,
                    {"mode": s.mode},
                    s.metrics(),
                    {
                        "questions.json": [
                            r.model_dump(mode="json") | {"verdict": r.verdict} for r in results if r.rung == s.mode
                        ]
                    },
                )
                for s in summaries
            ],
            content={
                "modes": {s.mode: s.metrics() | {n: getattr(s, n) for n in lists if hasattr(s, n)} for s in summaries},
                "results": [r.model_dump(mode="json") for r in results],
            },
            **table(summaries, results),
        )

    ask = partial(ask_in_modes, bench.ask, questions, modes, settings=bench.settings, threads=threads)
    return Evaluation(
        name=name,
        settings=bench.settings,
        kind=kind,
        mark=mark_of(bench.expert, bench.fingerprint(questions, modes)),
        params=params,
        total=len(questions) * len(modes),
        ask=lambda journal, told: ask(journal, on_result=told),
        report=report,
    )


def _table_of_filings(summaries: Sequence[FilingSummary], results: Sequence[Any]) -> dict[str, Any]:
    names = [*summaries[0].by_category, "all"]
    parts = {name: [s.overall if name == "all" else s.by_category.get(name) for s in summaries] for name in names}
    notes = []
    for s in summaries:
        found, cited = ", ".join(f"@{k} {value:.1%}" for k, value in s.recall.items()), s.citation_precision
        notes.append(
            f"{s.mode}: {s.calls:.2f} calls, {s.tokens:,.0f} tokens, {s.seconds:.1f} s, {s.rounds:.2f} searches, "
            f"{s.pages_read:.2f} pages read a question; citations right {cited.right}/{cited.n}, right pages cited "
            f"{s.page_recall:.1%}; first search: recall {found}, MRR {s.mrr:.3f}"
        )
        if s.wrong:
            notes.append(f"{s.mode}: not right: {', '.join(s.wrong)}")
    if len(summaries) == 2:
        notes.append(_paired(summaries, results))
    return {
        "columns": ["category", *(name for s in summaries for name in (s.mode, "95 %"))],
        "rows": [
            [Cell(name, name), *(cell for share in shares for cell in (right(share), interval(share)))]
            for name, shares in parts.items()
        ],
        "notes": notes,
    }


def _paired(summaries: Sequence[FilingSummary], results: Sequence[Any]) -> str:
    from finexpert.datasets.evaluations.evaluation import mcnemar

    correct = [{r.id: r.correct for r in results if r.rung == s.mode} for s in summaries]
    ids = sorted(correct[0].keys() & correct[1].keys())
    won, lost, p = mcnemar([correct[0][i] for i in ids], [correct[1][i] for i in ids])
    return f"{won} only {summaries[0].mode} has right, {lost} only {summaries[1].mode}; McNemar p = {p:.3f}"


def _table_of_financebench(summaries: Sequence[BenchSummary], results: Sequence[Any]) -> dict[str, Any]:
    notes = []
    for s in summaries:
        notes.append(
            f"{s.mode}: {s.overall.right} of {s.overall.n} right, {len(s.wrong)} wrong, {len(s.refused)} refused"
        )
        for name, shares in (("type", s.by_type), ("form", s.by_form)):
            told = ", ".join(f"{key} {part.right}/{part.n}" for key, part in shares.items())
            notes.append(f"  by {name}: {told}")
        found = ", ".join(f"@{cut} {value:.1%}" for cut, value in s.recall.items())
        read = ", ".join(f"@{cut} {value:.1%}" for cut, value in s.recall_read.items()) or "none"
        notes.append(f"  page recall: own words {found}; pages read {read}")
        notes += [f"  {word}: {', '.join(ids)}" for word, ids in (("wrong", s.wrong), ("refused", s.refused)) if ids]
    return {
        "columns": ["mode", "right", "95 %", "calls", "tokens", "s"],
        "rows": [
            [
                Cell(s.mode, s.mode),
                right(s.overall),
                interval(s.overall),
                number(s.calls, ".2f"),
                number(s.tokens, ",.0f"),
                number(s.seconds, ".1f"),
            ]
            for s in summaries
        ],
        "notes": notes,
    }


def _by_ends(questions: Sequence[Question], only: str | None) -> list[Question]:
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


def _print_recall(library: Library, questions: Sequence[Question]) -> None:
    from finexpert.datasets.external.financebench_evaluation import CUTS, recall

    rows = [(question.id, recall(library, question)) for question in questions]
    for id, found in rows:
        common.console().print(f"{id}: " + ", ".join(f"@{cut} {found[cut]:.0%}" for cut in CUTS), soft_wrap=True)
    means = {cut: sum(found[cut] for _, found in rows) / max(1, len(rows)) for cut in CUTS}
    told = ", ".join(f"@{cut} {value:.1%}" for cut, value in means.items())
    common.console().print(f"{len(rows)} questions, own words, no model: recall {told}", soft_wrap=True)
