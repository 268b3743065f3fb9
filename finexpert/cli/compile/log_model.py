"""`finexpert log-model`: put a compiled program into MLflow's registry, from where it can be served."""

from __future__ import annotations

from typing import Annotated

import typer

from finexpert.cli import common
from finexpert.warehouse.database_address import public_address


def log_model(
    program: Annotated[
        str, typer.Argument(help="A name under runs/compiled, a folder, or 'code' for the program as it stands.")
    ] = "promoted",
    name: Annotated[str, typer.Option(help="Name of the registered model.")] = "finexpert",
    alias: Annotated[str | None, typer.Option(help="Also give this version an alias, such as champion.")] = None,
    requirement: Annotated[
        list[str] | None, typer.Option(help="Replace the pinned requirements, for example by a wheel; repeatable.")
    ] = None,
) -> None:
    """Register a compiled program as a model for `mlflow models serve` and `mlflow.pyfunc`."""
    settings = common.settings_from()
    from finexpert import tracking
    from finexpert.cli.compiled import CODE
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.optimizers.program import mlflow_model

    uri = public_address(tracking.start(settings, "finexpert models"))
    chosen = FinancialExpert() if program == CODE else program
    model = mlflow_model.log_model(chosen, name, settings=settings, alias=alias, requirements=requirement or None)
    typer.echo(f"logged {model} in {uri}")
    typer.echo(f"serve it: MLFLOW_TRACKING_URI={uri} mlflow models serve -m {model} --env-manager local")
    typer.echo(f'load it: finexpert.load("{model}")')
