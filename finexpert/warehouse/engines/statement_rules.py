"""What a statement for a database server may be made of: tables that are known, and words of two lists.

    SELECT pg_read_file('/etc/passwd')   ->   pg_read_file() is not allowed on postgres: ...

The lists say what is allowed; whatever else a server can do, now or in its next version, is refused. They are checked on
the text that is sent, read once more. The boundary itself is the read-only transaction, the rights of the user and, in SQLite,
an authorizer.
"""

from __future__ import annotations

from collections.abc import Collection

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.errors import QueryError

MAX_DEPTH = 200
CTE_PREFIX = "q_"
_words = str.split
NODES = frozenset(
    _words("""
    Select From Join Where Group Having Order Ordered Limit Offset Distinct With CTE Subquery TableAlias Table Column
    Identifier Alias Aliases Star Union Intersect Except Values Tuple Paren Literal Boolean Null Var Interval Window WindowSpec
    WithinGroup Filter Lateral DataType DataTypeParam Between In Like ILike Not Neg And Or EQ NEQ GT GTE LT LTE Is Escape
    NullSafeEQ NullSafeNEQ Add Sub Mul Div IntDiv Mod Pow DPipe Collate GroupingSets Rollup Cube Fetch Bracket Any All Exists
    RegexpLike Collation PropertyEQ
""")
)
FUNCTIONS = frozenset(
    _words("""
    And Or Collate Case If Cast TryCast Coalesce Nullif Greatest Least Abs Ceil Floor Round Sign Sqrt Cbrt Exp Ln Log Pow Trunc Power
    Concat ConcatWs SafeConcat Sum Avg Count CountIf Min Max AnyValue Stddev StddevSamp StddevPop Variance VariancePop
    PercentileCont PercentileDisc Corr CovarSamp CovarPop Mode ArrayAgg RowNumber Rank DenseRank Ntile PercentRank CumeDist
    Lag Lead FirstValue LastValue NthValue Extract DateTrunc TimestampTrunc TimeToStr ToChar StrToDate StrToTime Date
    TsOrDsToDate TsOrDsToTimestamp Timestamp Datetime LastDay Upper Lower Trim Substring Length Left Right StrPosition
    StartsWith SplitPart Initcap LogicalAnd LogicalOr GenerateSeries ExplodingGenerateSeries Explode Unnest Exists GroupConcat
    Grouping Any All Age RegrSlope RegrIntercept RegrR2 RegrCount RegexpLike NullSafeEQ Mod IntDiv DateFromParts Ceiling Sin Cos
    Tan Atan Atan2 Degrees Radians Pi Array StringAgg MakeDate StrToUnix UnixToTime Replace Datetrunc JulianDay
""")
)
PLAIN = {
    "postgres": frozenset(
        _words(
            "date_part make_date div regr_slope regr_intercept regr_r2 regr_count age mod ceiling justify_days cume_dist"
        )
    ),
    "mysql": frozenset(_words("weekday makedate")),
    "sqlite": frozenset(
        _words(
            "finexpert_trunc finexpert_part finexpert_add finexpert_diff finexpert_div finexpert_whole date datetime julianday iif instr total"
        )
    ),
}
# What MySQL has itself: a word that it lacks would call a function that somebody stored in the database.
IN_MYSQL = frozenset(
    _words("""
    And Or Collate Case If Cast Coalesce Nullif Greatest Least Abs Ceil Floor Round Sign Exp Ln Log Pow Trunc Concat ConcatWs Sum Avg
    Count Min Max StddevSamp StddevPop Variance VariancePop RowNumber Rank DenseRank Ntile PercentRank CumeDist Lag Lead FirstValue
    LastValue NthValue Extract TimeToStr TsOrDsToDate TsOrDsToTimestamp LastDay Upper Lower Trim Substring Length Left Right StrPosition GroupConcat
    Exists Any All NullSafeEQ Mod IntDiv Sin Cos Tan Atan Atan2 Degrees Radians Pi Replace Sqrt Year Month Day DayOfMonth Quarter
    Week DayOfWeek DayOfYear Hour Minute Second DateAdd DateSub DateDiff TimestampDiff
""")
)
TYPES = frozenset(
    _words("""
    BOOLEAN SMALLINT INT BIGINT TINYINT FLOAT DOUBLE DECIMAL TEXT VARCHAR CHAR NCHAR NVARCHAR DATE TIMESTAMP TIMESTAMPTZ TIME
    INTERVAL TIMESTAMPNTZ DATETIME
""")
)
INNER_TABLE = frozenset(("this", "db", "alias", "joins", "laterals"))


def parse_one(select: str, dialect: str) -> exp.Query:
    """The one query in a text; QueryError for anything else."""
    try:
        statements = [one for one in sqlglot.parse(select, read=dialect) if not isinstance(one, exp.Semicolon | None)]
    except (SqlglotError, RecursionError):
        raise QueryError("the SELECT cannot be parsed: write it in plainer SQL") from None
    if len(statements) != 1:
        raise QueryError(f"{len(statements)} statements were given: write exactly one SELECT")
    if not isinstance(statements[0], exp.Query):
        raise QueryError("only a SELECT is allowed (WITH and UNION may be part of it): write exactly one SELECT")
    return statements[0]


def check_statement(sql: str, dialect: str, places: Collection[tuple[str, str]]) -> None:
    """Refuses a statement that names a table outside of `places` (schema, name), or anything that is not on the lists.

    >>> check_statement('SELECT MAX("v") FROM "public"."cpi" AS "cpi"', "postgres", {("public", "cpi")})
    >>> check_statement('SELECT * FROM pg_ls_dir(\\'.\\')', "postgres", {("public", "cpi")})
    Traceback (most recent call last):
    finexpert.errors.QueryError: pg_ls_dir() is not allowed on postgres: write it with plainer functions
    """
    tree = parse_one(sql, dialect)
    functions = IN_MYSQL if dialect == "mysql" else FUNCTIONS
    for node in tree.walk():
        name = type(node).__name__
        if isinstance(node, exp.Anonymous):
            called = str(node.this).lower()
            if called not in PLAIN[dialect] or not isinstance(node.this, str):
                raise QueryError(f"{called}() is not allowed on {dialect}: write it with plainer functions")
        elif isinstance(node, exp.Func):
            if name not in functions:
                raise QueryError(
                    f"{node.sql_name().lower()}() is not allowed on {dialect}: write it with plainer functions"
                )
        elif name not in NODES:
            raise QueryError(f"{name.upper()} is not allowed on {dialect}: write it in plainer SQL")
        if isinstance(node, exp.Table):
            _check_table(node, places)
        elif isinstance(node, exp.DataType) and (
            not isinstance(node.this, exp.DataType.Type) or node.this.name not in TYPES
        ):
            raise QueryError(
                f"the type {node.sql(dialect)} is not allowed: cast to numbers, text, booleans or dates only"
            )


def _check_table(table: exp.Table, places: Collection[tuple[str, str]]) -> None:
    if isinstance(table.this, exp.Func):
        return
    extra = [key for key, value in table.args.items() if value and key not in INNER_TABLE]
    if extra or not isinstance(table.this, exp.Identifier):
        raise QueryError(
            f"{', '.join(extra) or 'this form'} beside a table is not allowed: write the table's name alone"
        )
    if table.db:
        if (table.db, table.name) not in places:
            raise QueryError(f'there is no table "{table.db}.{table.name}"')
    elif not table.name.startswith(CTE_PREFIX):
        raise QueryError(f'there is no table "{table.name}"')
