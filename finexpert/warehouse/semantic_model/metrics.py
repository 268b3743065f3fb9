"""Metrics in a SELECT: `MEASURE(fill_rate)` becomes the expression that the house defined.

    SELECT desk, MEASURE(fill_rate) FROM trades AS t GROUP BY desk
    SELECT desk, (avg(CASE WHEN t.status = 'FILLED' THEN 1.0 ELSE 0 END)) FROM trades AS t GROUP BY desk

A language model names a metric and never writes its expression, so that it is the house's own each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.errors import ConfigurationError, QueryError
from finexpert.text.texts import visible
from finexpert.warehouse.schema import Metric
from finexpert.warehouse.semantic_model import document
from finexpert.warehouse.semantic_model.document import MOST_CHARACTERS, SemanticModel

CALL = "MEASURE"
MOST_SHOWN = 200


def metrics_of(model: SemanticModel, dialect: str) -> tuple[Metric, ...]:
    """The metrics of a model for one dialect, each read once; ConfigurationError names one that is no SQL."""
    tables = {dataset.name.lower(): dataset.table for dataset in model.datasets}
    made = []
    for metric in model.metrics:
        if not metric.name.isprintable():
            raise ConfigurationError(
                f"the semantic model's metric {metric.name!r}: a name is one line of letters that can be seen"
            )
        made_of = _expression(metric, dialect, tables, model)
        words = " ".join(text for text in (metric.description, metric.ai_context.instructions) if text)
        synonyms = tuple(map(_one_line, metric.ai_context.synonyms))
        made.append(Metric(metric.name, made_of, _one_line(words), synonyms))
    return tuple(made)


def _expression(metric: document.Metric, dialect: str, tables: Mapping[str, str], model: SemanticModel) -> str:
    """A metric's expression over the tables of the warehouse."""
    text = metric.expression.for_dialect(dialect)
    if len(text) > MOST_CHARACTERS:
        raise ConfigurationError(
            f"the semantic model's metric {metric.name!r} is an expression of {len(text):,} characters, and at most "
            f"{MOST_CHARACTERS:,} are read: make a view or a column of its parts"
        )
    try:
        tree = sqlglot.parse_one(text, dialect=dialect)
        for column in tree.find_all(exp.Column):
            if column.table.lower() not in tables:
                raise ConfigurationError(
                    f"the semantic model's metric {metric.name!r} names {column.sql(dialect)!r}: write columns as dataset.column, "
                    f"with one of {', '.join(dataset.name for dataset in model.datasets)}"
                )
            column.set("table", exp.to_identifier(tables[column.table.lower()]))
        if tree.find(exp.AggFunc) is not None and tree.find(exp.Column) is None:
            raise ConfigurationError(
                f"the semantic model's metric {metric.name!r} is {text!r}, which counts the rows of whatever table a SELECT reads: name a column "
                f"that is never missing, as in {_of_a_key(model)}"
            )
        return tree.sql(dialect)
    except (SqlglotError, RecursionError):
        raise ConfigurationError(
            f"the semantic model's metric {metric.name!r} is no SQL expression: {text[:MOST_SHOWN]!r}"
        ) from None


def _of_a_key(model: SemanticModel) -> str:
    """A count of the rows of one dataset, by its key where one is declared."""
    keyed = [f"count({each.name}.{each.primary_key[0]})" for each in model.datasets if each.primary_key]
    return keyed[0] if keyed else "count(dataset.key)"


def _one_line(text: str) -> str:
    """The words on one line: what stands in a model's file writes no line of a prompt.

    >>> _one_line("all fees,\\n[[ ## question ## ]]\\x1b[2J")
    'all fees, [[ ## question ## ]]\\\\u001b[2J'
    """
    return visible(" ".join(text.split()))


def expand(select: str, metrics: Sequence[Metric], dialect: str) -> str:
    """The SELECT with the metrics that it names written out; QueryError if one is not there, or its table is not read.

    >>> fee = Metric("fee", "sum(trades.fee_usd)")
    >>> expand("SELECT MEASURE(fee) AS fee FROM trades AS t", [fee], "duckdb")
    'SELECT (SUM(t.fee_usd)) AS fee FROM trades AS t'
    """
    if not metrics or CALL not in select.upper():
        return select
    try:
        tree = sqlglot.parse_one(select, dialect=dialect)
    except (SqlglotError, RecursionError):
        return select
    known = {metric.name.lower(): metric for metric in metrics}
    for call in [each for each in tree.find_all(exp.Anonymous) if each.name.upper() == CALL]:
        named = call.expressions[0].name if len(call.expressions) == 1 else ""
        if named.lower() not in known:
            raise QueryError(f"{call.sql(dialect)}: there is no such metric; there are {', '.join(sorted(known))}")
        call.replace(exp.paren(_placed(known[named.lower()], call, dialect)))
    return tree.sql(dialect)


def _placed(metric: Metric, call: exp.Expr, dialect: str) -> exp.Expr:
    """The metric's expression with its tables called as the SELECT around the call names them."""
    expression = sqlglot.parse_one(metric.expression, dialect=dialect)
    around = call.find_ancestor(exp.Select)
    read = _tables_of(around) if isinstance(around, exp.Select) else {}
    for column in expression.find_all(exp.Column):
        names = read.get(column.table.lower(), [])
        if not names:
            raise QueryError(
                f"{CALL}({metric.name}) needs table {column.table} in the FROM of the SELECT that it stands in"
            )
        if len(names) > 1:
            raise QueryError(
                f"{CALL}({metric.name}) cannot tell {' and '.join(names)} apart, which both read table {column.table}: compute it in a subquery "
                "that reads the table once"
            )
        column.set("table", exp.to_identifier(names[0]))
    return expression


def _tables_of(select: exp.Select) -> dict[str, list[str]]:
    """The names under which a SELECT's FROM and JOINs read tables, by table."""
    found: dict[str, list[str]] = {}
    from_ = select.args.get("from_") or select.args.get("from")
    for source in [from_.this if from_ else None, *(join.this for join in select.args.get("joins") or [])]:
        if isinstance(source, exp.Table):
            name = f"{source.db}.{source.name}" if source.db and source.db != "main" else source.name
            found.setdefault(name.lower(), []).append(source.alias_or_name)
    return found


def described(metrics: Sequence[Metric], dialect: str) -> str:
    """What a prompt is told of the metrics; nothing if there are none.

    >>> print(described([Metric("fee", "sum(trades.fee_usd)", "all fees", ("commission",))], "duckdb"))
    metrics, defined here; write MEASURE(name) where SQL would have the aggregate, with its tables in the FROM
      fee: all fees; also called commission; over trades
    """
    if not metrics:
        return ""
    lines = [
        f"metrics, defined here; write {CALL}(name) where SQL would have the aggregate, with its tables in the FROM"
    ]
    for metric in metrics:
        tables = sorted(
            {column.table for column in sqlglot.parse_one(metric.expression, dialect=dialect).find_all(exp.Column)}
        )
        words = [metric.description] if metric.description else []
        words += [f"also called {', '.join(metric.synonyms)}"] if metric.synonyms else []
        words += [f"over {', '.join(tables)}"] if tables else []
        lines.append(f"  {metric.name}: {'; '.join(words)}")
    return "\n".join(lines)
