"""Makes a command of `finexpert eval` of what opens an evaluation.

@evaluated("data budget json_out")
def house(given: Given, half: Half = None) -> Iterator[Evaluation[Result]]: ...

finexpert.evaluate("house", half="keywords")       # the table as a frame
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from finexpert.cli.evaluating.report import EVALUATIONS
from finexpert.cli.options import Given, takes

if TYPE_CHECKING:
    from finexpert.cli.evaluating.report import Asked
    from finexpert.cli.evaluating.running import EngineOf

P = ParamSpec("P")
Opens = Callable[Concatenate[Given, P], "Iterator[Asked]"]


def evaluated(names: str, **defaults: Any) -> Callable[[Opens[P]], Callable[..., None]]:
    """Make a command of a function that opens an evaluation; it takes the shared options of these names."""

    def decorate(opens: Opens[P]) -> Callable[..., None]:
        EVALUATIONS[opens.__name__] = (opens, frozenset(names.split()), defaults)

        @wraps(opens)
        def command(given: Given, *args: P.args, **options: P.kwargs) -> None:
            from finexpert.cli.evaluating.running import run
            from finexpert.cli.evaluating.showing import Terminal

            engine = engine_of(opens, given, *args, **options)
            with contextmanager(opens)(given, *args, **options) as asked:
                run(asked, screen=Terminal(), fresh=given.fresh, json_out=given.json_out, engine=engine)

        return takes(names, **defaults)(command)  # type: ignore[arg-type]

    return decorate


def engine_of(opens: Opens[P], given: Given, *args: P.args, **options: P.kwargs) -> EngineOf:
    """Where the questions of an evaluation are asked."""
    if given.engine == "threads":
        return lambda evaluation, number: None
    from finexpert.cli.evaluating import on_ray

    return on_ray.engine_of(opens.__module__, opens.__name__, given, args, options)
