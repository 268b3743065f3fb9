"""DuckDB SQL rewritten for MySQL and MariaDB, where sqlglot leaves what they read otherwise.

    unemploy / 7                     ->   CAST(unemploy AS DOUBLE) / 7, where MySQL would give four digits
    date_trunc('month', date)        ->   CAST(DATE_FORMAT(date, '%Y-%m-01') AS DATE)
    sum(value) FILTER (WHERE a > 1)  ->   SUM(CASE WHEN a > 1 THEN value END)

A rewriting keeps the rows: what cannot be kept is refused. What is no error in MySQL but a warning (a division by zero, a text
that is no number) is refused when the rows are read: see `mysql_connection.py`.
"""

from __future__ import annotations

import re
from typing import cast

from sqlglot import exp
from sqlglot.expressions import DType as Kind

from finexpert.warehouse.engines.mysql_dates import DATE_RULES, compared, number, refused
from finexpert.warehouse.engines.mysql_order import ordered, without_qualify
from finexpert.warehouse.engines.rewriting import DATES, TEXTS, TIMES, WHOLE, Rule, bottom_up, is_a, rewrite

FRACTIONS = (Kind.DOUBLE, Kind.FLOAT)
DIRECTIVES = frozenset("YmdHMSbBjy%")
MOST_ROWS = "18446744073709551615"
IN_SCRIPT = "take the plain columns, and compute it in the script"
# Without a word of their own in MySQL; what neither list has is refused by `statement_rules.py`.
LACKING: dict[type[exp.Expression], str] = {
    exp.Median: IN_SCRIPT,
    exp.PercentileCont: IN_SCRIPT,
    exp.PercentileDisc: IN_SCRIPT,
    exp.Quantile: IN_SCRIPT,
    exp.Mode: IN_SCRIPT,
    exp.Corr: IN_SCRIPT,
    exp.CovarSamp: IN_SCRIPT,
    exp.CovarPop: IN_SCRIPT,
    exp.Cbrt: IN_SCRIPT,
    exp.ArrayAgg: IN_SCRIPT,
    exp.RegexpLike: "use LIKE, or match in the script",
    exp.StrToTime: "cast a text of the form 2024-09-30 to DATE",
    exp.ArgMax: "number the rows with row_number() OVER (ORDER BY ...) and take the first",
    exp.ArgMin: "number the rows with row_number() OVER (ORDER BY ...) and take the first",
    exp.First: "number the rows with row_number() OVER (ORDER BY ...) and take the first",
    exp.Last: "number the rows with row_number() OVER (ORDER BY ...) and take the first",
    exp.IgnoreNulls: "filter the NULLs out before",
    exp.Lateral: "join a subquery",
    exp.GenerateSeries: "select the rows from a table",
    exp.ExplodingGenerateSeries: "select the rows from a table",
    exp.Unnest: "select the rows from a table",
    exp.Rollup: "group in several SELECTs",
    exp.Cube: "group in several SELECTs",
    exp.GroupingSets: "group in several SELECTs",
}


def rewrite_mysql(tree: exp.Query) -> exp.Query:
    """The tree with what MySQL needs; every node must have its type."""
    tree = rewrite(tree, "mysql")
    for select in reversed(list(tree.find_all(exp.Select))):
        if (made := without_qualify(select)) is not select:
            tree = made if select is tree else tree
    return bottom_up(tree, _mysql)


def _mysql(node: exp.Expression) -> exp.Expression:
    rule = next((rule for kinds, rule in _RULES if isinstance(node, kinds)), None)
    return rule(node) if rule else node


def _lacking(node: exp.Expression) -> exp.Expression:
    word = next(kind for kind in LACKING if isinstance(node, kind))
    raise refused(re.sub(r"(?<!^)(?=[A-Z])", " ", word.__name__).upper(), LACKING[word])


def _double(node: exp.Expression) -> exp.Expression:
    return node if is_a(node, (Kind.DOUBLE,)) and not isinstance(node, exp.Literal) else exp.cast(node, "double")


def _argument(node: exp.Expression) -> exp.Expression:
    """What an aggregate is taken of, within a DISTINCT and an ORDER BY."""
    inner = node.this
    while isinstance(inner, exp.Distinct | exp.Order):
        inner = inner.expressions[0] if isinstance(inner, exp.Distinct) else inner.this
    return cast(exp.Expression, inner)


def _filtered(node: exp.Expression) -> exp.Expression:
    aggregate, condition = node.this, node.expression.this
    target = _argument(aggregate)
    kept = exp.Literal.number(1) if target is None or isinstance(target, exp.Star) else target.copy()
    chosen = exp.Case(ifs=[exp.If(this=condition, true=kept)])
    if target is None or isinstance(target, exp.Star):
        aggregate.set("this", chosen)
    else:
        target.replace(chosen)
    return cast(exp.Expression, aggregate)


def _count_if(node: exp.Expression) -> exp.Expression:
    """NULL where there is no row, as in DuckDB."""
    return exp.Sum(this=exp.Case(ifs=[exp.If(this=node.this, true=number(1))], default=number(0)))


def _mean(node: exp.Expression) -> exp.Expression:
    target = _argument(node)
    if (exact := _double(target.copy())) != target:
        target.replace(exact)
    return node


def _extreme(node: exp.Expression) -> exp.Expression:
    return exp.Min(this=node.this) if isinstance(node, exp.LogicalAnd) else exp.Max(this=node.this)


def _greatest(node: exp.Expression) -> exp.Expression:
    """NULLs are passed over, as in DuckDB."""
    given = [node.this, *node.expressions]
    if len(given) > 8:
        raise refused(f"{node.sql_name()} of more than 8 values", "nest it")  # type: ignore[attr-defined]
    filled = [
        one.copy()
        if isinstance(one, exp.Literal)
        else exp.Coalesce(this=one.copy(), expressions=[other.copy() for other in given if other is not one])
        for one in given
    ]
    return type(node)(this=filled[0], expressions=filled[1:])


def _divided(node: exp.Expression) -> exp.Expression:
    return exp.Div(this=_double(node.this), expression=node.expression)


def _whole_numbers(node: exp.Expression) -> exp.Expression:
    if not (is_a(node.this, WHOLE) and is_a(node.expression, WHOLE)):
        raise refused("// of numbers that are not whole", "use / and floor()")
    return node


def _rounded(node: exp.Expression) -> exp.Expression:
    """A half goes away from zero, as in DuckDB; MySQL does so for decimals, not for doubles."""
    if is_a(node.this, (*WHOLE, Kind.DECIMAL)):
        return node
    digits = node.args.get("decimals") or number(0)
    if not (isinstance(digits, exp.Literal) and digits.name.isdigit() and int(digits.name) <= 15):
        raise refused("round() to such a number of digits", "write the digits as a number from 0 to 15")
    factor = number(f"1e{digits.name}")
    scaled = exp.Mul(this=exp.Paren(this=_double(node.this)), expression=factor)
    nearest = exp.Round(this=exp.cast(scaled, "decimal(65, 20)"))
    return exp.Paren(this=exp.Div(this=exp.cast(nearest, "double"), expression=factor.copy()))


def _logarithm(node: exp.Expression) -> exp.Expression:
    return node if node.expression else exp.Log(this=number(10), expression=node.this)


def _root(node: exp.Expression) -> exp.Expression:
    """The root of a negative number is an error, and not NULL."""
    return exp.Pow(this=node.this, expression=number("0.5e0"))


def _text(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.Null) or is_a(node, (*TEXTS, Kind.NULL)):
        return node
    if is_a(node, (Kind.BOOLEAN,)):
        ifs = [(node.copy(), "true"), (exp.not_(node.copy()), "false")]
        return exp.Case(ifs=[exp.If(this=one, true=exp.Literal.string(word)) for one, word in ifs])
    if is_a(node, (*WHOLE, *DATES, Kind.DECIMAL)):
        return exp.cast(node.copy(), "text")
    if is_a(node, TIMES):
        raise refused("a time as text", "write strftime(time, '%Y-%m-%d')")
    raise refused("a number with digits after the point as text", "select the number, and write it in the script")


def _joined(node: exp.Expression) -> exp.Expression:
    parts = [node.this, node.expression] if isinstance(node, exp.DPipe) else node.expressions
    texts = [_text(one) for one in parts]
    if isinstance(node, exp.DPipe):
        return exp.Concat(expressions=texts, safe=False, coalesce=False)
    node.set("expressions", texts)
    return node


def _listed(node: exp.Expression) -> exp.Expression:
    target = _argument(node)
    if (text := _text(target)) is not target:
        target.replace(text)
    return node


def _cast(node: exp.Expression) -> exp.Expression:
    target, given = node.args["to"].this, node.this
    if target in TEXTS:
        return _text(given)
    if target is Kind.BOOLEAN:
        if is_a(given, TEXTS):
            raise refused("a text as BOOLEAN", "compare it with the text")
        return given if is_a(given, (Kind.BOOLEAN,)) else exp.Paren(this=exp.NEQ(this=given, expression=number(0)))
    if target in WHOLE:
        if is_a(given, (*WHOLE, *TEXTS, Kind.DECIMAL, Kind.BOOLEAN)):
            return exp.cast(given, "bigint")
        # A number out of the range of BIGINT would become the largest one, without a warning.
        return exp.cast(exp.Round(this=_double(given)), "decimal(30, 0)")
    if target is Kind.DECIMAL:
        sizes = node.args["to"].expressions
        return exp.cast(given, node.args["to"] if sizes else "decimal(18, 3)")
    if target is Kind.FLOAT:
        return _single(given)
    if target in TIMES:
        return _moment(given)
    if target in (Kind.DOUBLE, Kind.DATE):
        return exp.cast(given, target)
    raise refused(f"a cast to {node.args['to'].sql('duckdb')}", "cast to numbers, text or dates only")


def _single(node: exp.Expression) -> exp.Expression:
    """A float of 4 bytes with all its digits: MySQL shows six of them."""
    return exp.cast(exp.Cast(this=node, to=exp.DataType.build("float")), "double")


def _moment(node: exp.Expression) -> exp.Expression:
    return exp.Cast(this=node, to=exp.DataType.build("datetime(6)", dialect="mysql"))


def _like(node: exp.Expression) -> exp.Expression:
    """A backslash is a character like any other, as in DuckDB."""
    given, pattern = node.this, node.expression
    if isinstance(node, exp.ILike):
        given, pattern = exp.Lower(this=given), exp.Lower(this=pattern)
    made = exp.Like(this=given, expression=pattern)
    if isinstance(node.parent, exp.Escape):
        return made
    return exp.Escape(this=made, expression=exp.Literal.string(""))


def _starts(node: exp.Expression) -> exp.Expression:
    return exp.EQ(this=exp.StrPosition(this=node.this, substr=node.expression), expression=number(1))


def _cut(node: exp.Expression) -> exp.Expression:
    """MySQL and DuckDB differ in positions below 1 and lengths below 0."""
    for key, least in (("start", 1), ("length", 0)) if isinstance(node, exp.Substring) else (("expression", 0),):
        given = node.args.get(key)
        if given is not None and not (
            isinstance(given, exp.Literal) and given.name.isdigit() and int(given.name) >= least
        ):
            raise refused("part of a text from or to a computed place", f"write a number from {least} on")
    return node


def _written_time(node: exp.Expression) -> exp.Expression:
    written = node.args["format"]
    if not isinstance(written, exp.Literal) or set(re.findall("%(.?)", written.name)) - DIRECTIVES:
        raise refused("this form of a date", f"use {', '.join('%' + one for one in sorted(DIRECTIVES))} only")
    return node


def _limited(node: exp.Expression) -> exp.Expression:
    if node.args.get("offset") and not node.args.get("limit"):
        node.set("limit", exp.Limit(expression=number(MOST_ROWS)))
    return node


def _among(node: exp.Expression) -> exp.Expression:
    """Texts among dates are cast; MySQL takes no LIMIT in a subquery of IN, but in a subquery of that one."""
    node = compared(node)
    inner = node.args.get("query")
    query = inner.this if isinstance(inner, exp.Subquery) else inner
    if not isinstance(query, exp.Query) or not query.args.get("limit"):
        return node
    name = exp.to_identifier("limited", quoted=True)
    columns = [exp.column(exp.to_identifier(one, quoted=True), table=name.copy()) for one in query.named_selects]
    outer = exp.select(*columns).from_(exp.Subquery(this=query, alias=exp.TableAlias(this=name)))
    node.set("query", exp.Subquery(this=outer))
    return node


def _join(node: exp.Expression) -> exp.Expression:
    if node.args.get("side") == "FULL":
        raise refused("FULL JOIN", "take both sides with LEFT JOIN, and join them in the script")
    if node.args.get("kind") in ("SEMI", "ANTI"):
        raise refused(f"{node.args['kind']} JOIN", "use IN or EXISTS")
    return node


_RULES: tuple[tuple[tuple[type, ...], Rule], ...] = (
    (tuple(LACKING), _lacking),
    *DATE_RULES,
    ((exp.Filter,), _filtered),
    ((exp.CountIf,), _count_if),
    ((exp.Avg, exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop), _mean),
    ((exp.LogicalAnd, exp.LogicalOr), _extreme),
    ((exp.Greatest, exp.Least), _greatest),
    ((exp.Div,), _divided),
    ((exp.IntDiv,), _whole_numbers),
    ((exp.Round,), _rounded),
    ((exp.Log,), _logarithm),
    ((exp.Sqrt,), _root),
    ((exp.DPipe, exp.Concat, exp.ConcatWs), _joined),
    ((exp.GroupConcat,), _listed),
    ((exp.Cast,), _cast),
    ((exp.Like, exp.ILike), _like),
    ((exp.StartsWith,), _starts),
    ((exp.Substring, exp.Left, exp.Right), _cut),
    ((exp.TimeToStr,), _written_time),
    ((exp.In,), _among),
    ((exp.Order,), ordered),
    ((exp.Join,), _join),
    ((exp.Query,), _limited),
)
