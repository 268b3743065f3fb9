"""`finexpert eval`: evaluations as tracked MLflow runs."""

from __future__ import annotations

import typer

from finexpert.cli.eval.compare import compare
from finexpert.cli.eval.convfinqa import convfinqa
from finexpert.cli.eval.each_layer import layers
from finexpert.cli.eval.filings import filings, financebench
from finexpert.cli.eval.fred import fred
from finexpert.cli.eval.layers import keywords, lookup
from finexpert.cli.eval.outside import csv, sql
from finexpert.cli.eval.retrieval import retrieval
from finexpert.cli.eval.review import review
from finexpert.cli.eval.taught import house

eval_app = typer.Typer(help="Run an evaluation, tracked in MLflow.", no_args_is_help=True)
for _command in (
    fred,
    convfinqa,
    house,
    lookup,
    keywords,
    layers,
    filings,
    financebench,
    retrieval,
    review,
    sql,
    csv,
    compare,
):
    eval_app.command()(_command)
