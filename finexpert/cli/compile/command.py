"""`finexpert compile`: tune layers on their example sets, keep what the gate finds better, save the program.

finexpert compile                                                      all five layers
finexpert compile sql_extraction --optimizer bootstrap --budget calls=300,minutes=30
finexpert compile sql_extraction --examples sql_extraction=mine.jsonl --data desk.duckdb      on one's own questions too
finexpert compile sql_extraction --from-feedback --data desk.duckdb                           and on what was called wrong
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.compile import own_examples
from finexpert.cli.options import Given, takes

if TYPE_CHECKING:
    from finexpert.cli.compile.opening import Opening
    from finexpert.optimizers.compiling.compile_run import CompileRun
    from finexpert.settings import Settings

Size = Annotated[int | None, typer.Option(min=1, help="At most so many examples; all if not given.")]


@takes("lm api_base budget threads engine drafts data record recordings")
def compile_(
    given: Given,
    layers: Annotated[
        list[str] | None,
        typer.Argument(help="Layers, such as planning; the five capabilities, so without critique, if none is named."),
    ] = None,
    optimizer: Annotated[
        str,
        typer.Option(help="labeled, bootstrap, bootstrap-random-search, miprov2 or gepa."),
    ] = "labeled",
    name: Annotated[str, typer.Option(help="Name of the program under runs/compiled.")] = "compiled",
    base: Annotated[
        str | None, typer.Option(help="Go on from a compiled program, as `finexpert compiled show` names it.")
    ] = None,
    teacher: Annotated[str | None, typer.Option(help="Model that shows how (bootstrap); the student if unset.")] = None,
    teacher_api_base: Annotated[str | None, typer.Option(help="Address of the teacher's server.")] = None,
    reflection_lm: Annotated[
        str | None, typer.Option(help="Model that words instructions (gepa, miprov2); the teacher if unset.")
    ] = None,
    reflection_api_base: Annotated[str | None, typer.Option(help="Address of the reflection model's server.")] = None,
    candidates: Annotated[int, typer.Option(min=1, max=50, help="Candidates to try for a layer.")] = 6,
    train: Size = None,
    val: Size = None,
    holdout: Size = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, other candidates.")] = 0,
    resume: Annotated[
        bool, typer.Option("--resume/--fresh", help="Go on with an interrupted compile of the same plan.")
    ] = True,
    keep_anyway: Annotated[
        bool, typer.Option("--keep-anyway", help="Keep what the gate refuses; the program says so for good.")
    ] = False,
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end/--no-end-to-end", help="Try the combined program before and after.")
    ] = True,
    questions: Annotated[int, typer.Option(min=0, help="FRED questions for the combined program.")] = 10,
    conversations: Annotated[int, typer.Option(min=0, help="ConvFinQA conversations for the combined program.")] = 5,
    house: Annotated[
        int, typer.Option(min=0, help="House questions for the combined program, which knows what they need.")
    ] = 8,
    examples: own_examples.Examples = None,
    from_feedback: own_examples.FromFeedback = False,
    only_own: own_examples.OnlyOwn = False,
    convfinqa: own_examples.ConvFinQA = None,
) -> None:
    """Compile layers: try candidates on val, keep what is proven better on the holdout, save the program."""
    settings = replace(given, budget=None).settings(workers=2)
    if from_feedback:
        examples = own_examples.with_feedback(examples, settings)
    from finexpert.cli.compile.on_ray import engine_of
    from finexpert.cli.compile.opening import Opening, Sizes
    from finexpert.cli.compile.view import View
    from finexpert.datasets.layers.examples import CAPABILITIES
    from finexpert.language_models.limits import SpendingLimits
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.optimizers.compiling.compile_run import CompilePlan, CompileRun
    from finexpert.optimizers.program.loading import load

    plan = CompilePlan(
        layers=tuple(dict.fromkeys(layers or CAPABILITIES)),
        recipe=optimizer,
        train=train,
        val=val,
        holdout=holdout,
        candidates=candidates,
        seed=seed,
        limits=SpendingLimits.parse(given.budget),
        keep_anyway=keep_anyway,
        end_to_end=end_to_end,
    )
    expert = load(base, settings=settings) if base else FinancialExpert()
    sizes = Sizes(questions, conversations, house)
    opening = Opening(given, examples, only_own, plan.layers, convfinqa, sizes, seed, str(Path.cwd()))
    settings = opening.settings(expert)
    roles = _roles(settings, teacher, teacher_api_base, reflection_lm, reflection_api_base)
    with ExitStack() as stack:
        bench = opening.bench(expert, settings, stack)
        own_examples.look_at(bench.examples, ("train", "val", "holdout"), bench.sandbox)
        view = View(plan.limits)
        engine = stack.enter_context(engine_of(opening, settings, expert)) if given.engine == "ray" else None
        run = CompileRun(bench, roles, plan, settings.home / "compile", given.threads, view, engine)
        if not resume:
            run.forget()
        _compile(run, view, name, opening, stack)


def _roles(
    settings: Settings, teacher: str | None, its_base: str | None, reflection: str | None, base: str | None
) -> Any:
    from finexpert.language_models.roles import LanguageModels
    from finexpert.optimizers.compiling.compile_run import Roles

    student = LanguageModels.from_settings(settings)

    def other(model: str | None, address: str | None, instead: LanguageModels) -> LanguageModels:
        if model is None:
            return instead
        # An address or a key of the student's provider is never handed to another.
        key = settings.api_key if address and address == settings.api_base else None
        given: dict[str, Any] = {"lm": model, "api_base": address, "api_key": key, "layers": {}}
        return LanguageModels.from_settings(settings.model_copy(update=given))

    shows = other(teacher, its_base, student)
    return Roles(student, shows, other(reflection, base, shows))


def _compile(run: CompileRun, view: Any, name: str, opening: Opening, stack: ExitStack) -> None:
    from finexpert import tracking
    from finexpert.cli.compile import log as compile_log
    from finexpert.language_models.usage import Meter

    settings, out = run.bench.settings, common.console()
    if run.found:
        out.print("going on with an interrupted compile; --fresh begins anew")
    out.print(f"student {common.model_words(run.roles.student.describe())}", markup=False, soft_wrap=True)
    uri = tracking.start(settings, "finexpert compile")
    compile_log.without_traces()
    with tracking.run(f"compile {name}", parent=True, params=compile_log.params(run)):
        with Meter() as meter, view.showing(meter):
            for layer in run.plan.layers:
                with tracking.run(layer, parent=False, params=compile_log.params(run)):
                    compile_log.layer(run.layer(layer), run)
            if run.plan.end_to_end and run.kept:
                verdict = run.whole(opening.sample(run.bench, stack))
                view.whole(verdict)
                compile_log.whole(verdict)
        compile_log.total(meter, run)
        saved = None
        if run.kept:
            saved = run.save(Path("runs") / "compiled" / name)
            compile_log.artifact(saved)
    tracking.finish()
    run.forget()
    _tell(run, saved, uri)


def _tell(run: CompileRun, saved: Path | None, uri: str) -> None:
    out = common.console()
    if saved is None and run.verdict is not None:
        out.print("the combined program got worse: no program is saved; --keep-anyway saves it nevertheless")
    elif saved is None:
        out.print("nothing was proven better: no program is saved")
    else:
        out.print(f"saved {saved.parent.name}/{saved.name}: {', '.join(run.kept)}", markup=False, soft_wrap=True)
        if run.verdict is not None and not run.verdict.passed:
            out.print("the combined program got worse: it can be loaded, and is not promoted without --keep-anyway")
        else:
            out.print(f"put it into use: finexpert compiled promote {saved.name}", markup=False, soft_wrap=True)
    out.print(common.store_words(uri), style="dim", soft_wrap=True)
