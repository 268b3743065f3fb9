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
from finexpert.cli.eval.taught import house, memory

eval_app = typer.Typer(help="Run an evaluation, tracked in MLflow.", no_args_is_help=True)
eval_app.command()(fred)
eval_app.command()(convfinqa)
eval_app.command()(house)
eval_app.command()(memory)
eval_app.command()(lookup)
eval_app.command()(keywords)
eval_app.command()(layers)
eval_app.command()(filings)
eval_app.command()(financebench)
eval_app.command()(retrieval)
eval_app.command()(sql)
eval_app.command()(csv)
eval_app.command()(compare)
