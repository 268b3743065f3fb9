"""What a statement for a database server may be made of: tables that are known, and words of a few lists.

    SELECT pg_read_file('/etc/passwd')   ->   pg_read_file() is not allowed on PostgreSQL: ...

The lists say what is allowed; whatever else a server can do, now or in its next version, is refused. They are checked on
the text that is sent, read once more. The boundary itself is the read-only transaction, the rights of the user and, in SQLite,
an authorizer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope
from sqlglot.tokenizer_core import Token, TokenType

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.select import Read
from finexpert.warehouse.engines.functions import FUNCTIONS, KEYWORDS, MAX_PADDING, PADDING
from finexpert.warehouse.warehouse import DIALECTS

MAX_CHARACTERS = 20_000
# With tables led to their rows; and how often one column may come to stand for another.
MAX_SENT = 400_000
MAX_GROWTH = 100_000
CTE_PREFIX = "q_"
_words = str.split
NODES = frozenset(
    _words("""
    Select From Join Where Group Having Order Ordered Limit Offset Distinct With CTE Subquery TableAlias Table Column
    Identifier Alias Aliases Star Union Intersect Except Values Tuple Paren Literal Boolean Null Var Interval Window WindowSpec
    WithinGroup Filter Lateral DataType DataTypeParam Between In Like ILike Not Neg And Or Xor EQ NEQ GT GTE LT LTE Is Escape
    NullSafeEQ NullSafeNEQ Add Sub Mul Div IntDiv Mod Pow DPipe Collate GroupingSets Rollup Cube Fetch LimitOptions Bracket Slice Any
    All Exists RegexpLike Collation PropertyEQ Kwarg Glob SimilarTo AtTimeZone JSONPath JSONPathRoot JSONPathKey JSONPathSubscript JSONValue
    BitwiseAnd BitwiseOr National Qualify IgnoreNulls RespectNulls
""")
)
TYPES = frozenset(
    _words("""
    BOOLEAN SMALLINT INT BIGINT TINYINT UINT UBIGINT FLOAT DOUBLE DECIMAL TEXT VARCHAR CHAR NCHAR NVARCHAR DATE TIMESTAMP TIMESTAMPTZ
    TIME INTERVAL TIMESTAMPNTZ DATETIME JSON JSONB UUID ARRAY BPCHAR DATE32 DATETIME2 DATETIME64 TIMESTAMPLTZ BIGDECIMAL MONEY USMALLINT
    UTINYINT INT128 INT256 DECIMAL32 DECIMAL64 DECIMAL128
""")
)
_QUERY_PARTS = frozenset(
    _words("""
    this expression expressions from_ joins where group having order limit offset distinct with_ laterals windows qualify alias side kind
    by_name on named_by
""")
)
INNER_TABLE = frozenset(("this", "db", "alias", "joins", "laterals"))
# Written without brackets, these call a function all the same.
_CURRENT = frozenset(
    _words("""
    current_date current_time current_timestamp localtime localtimestamp current_user user session_user current_role current_catalog
    current_schema current_database system_user utc_date utc_time utc_timestamp
""")
)
_PLACES = {
    "postgres": frozenset(("ctid", "xmin", "xmax", "cmin", "cmax", "tableoid")),
    "mysql": frozenset(("_rowid",)),
    "sqlite": frozenset(("rowid", "_rowid_", "oid")),
}
_VARIES = "differs from run to run: write the value itself, as '2024-09-30'"
_MAKES_TEXT = (exp.DPipe, exp.Concat, exp.ConcatWs, exp.Replace, exp.Reverse, exp.Substring, exp.Chr, exp.Translate)
# Functions on dates that mean the present day where nothing, or the word now, is given to them.
_ON_DATES = frozenset(
    _words("date time datetime julianday strftime unixepoch unix_timestamp timediff age to_days timestamp")
)


def parse_one(select: str, dialect: str, most: int = MAX_CHARACTERS) -> exp.Query:
    """The one query in a text of at most so many characters; QueryError for anything else."""
    if len(select) > most:
        raise QueryError(f"the SELECT has {len(select)} characters, more than {most}: shorten it")
    try:
        statements = [one for one in sqlglot.parse(select, read=dialect) if not isinstance(one, exp.Semicolon | None)]
    except (SqlglotError, RecursionError) as error:
        raise QueryError(f"the SELECT cannot be parsed{_near(error, select)}: write it in plainer SQL") from None
    if len(statements) != 1:
        raise QueryError(f"{len(statements)} statements were given: write exactly one SELECT")
    if not isinstance(statements[0], exp.Query):
        raise QueryError("only a SELECT is allowed (WITH and UNION may be part of it): write exactly one SELECT")
    return statements[0]


def _near(error: Exception, select: str) -> str:
    """Where a SELECT cannot be parsed, in its own words."""
    found = getattr(error, "errors", None) or [{}]
    word = str(found[0].get("highlight") or "")
    return f" near {word!r}" if word and word in select else ""


def check_written(tree: exp.Query, known: Collection[str], dialect: str) -> None:
    """Refuses what would be read otherwise once it is written again, before it is; `known` are the columns of the tables."""
    named = {name.lower() for name in known} | {node.alias.lower() for node in tree.find_all(exp.Alias, exp.TableAlias)}
    for node in tree.walk():
        if isinstance(
            node, exp.Into | exp.Lock | exp.DML | exp.DDL | exp.Command | exp.Parameter | exp.Placeholder
        ) and not (isinstance(node, exp.Query)):
            raise QueryError(f"{type(node).__name__.upper()} is not allowed: write exactly one SELECT that only reads")
        if isinstance(node, exp.Func):
            _check_varying(node)
        if isinstance(node, exp.Column) and not node.this.args.get("quoted"):
            name = node.name.lower()
            if name in _PLACES.get(dialect, ()) and name not in named:
                raise QueryError(f"{name} says where a row lies, which changes: use a column of the table")
            if name in _CURRENT and not node.table and name not in named:
                raise QueryError(f"{name} {_VARIES}")


def _check_varying(node: exp.Func) -> None:
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.sql_name().lower()
    if name in _CURRENT or name.startswith(("current_", "rand", "uuid", "utc_")):
        raise QueryError(f"{name} {_VARIES}")
    if name == "age" and node.expression is None and len(node.expressions) < 2:
        raise QueryError(f"{name}() of one date {_VARIES}")
    if name not in _ON_DATES and not isinstance(
        node, exp.Cast | exp.TimeToStr | exp.TsOrDsToDate | exp.TsOrDsToTimestamp
    ):
        return
    given = [one for one in node.args.values() if isinstance(one, exp.Expr)] + node.expressions
    texts = {part.name.strip().lower() for one in given for part in one.find_all(exp.Literal) if part.is_string}
    # A text that is put together of others may say it as well: 'no' || 'w'.
    made = any(one.find(*_MAKES_TEXT) and not one.find(exp.Column) for one in given)
    if not given or made or texts & {"now", "today", "tomorrow", "yesterday"}:
        raise QueryError(f"{name}() {_VARIES}")


def check_growth(one: Read) -> None:
    """Refuses a SELECT that repeats a value so often, one SELECT in another, that a server would not come to an end with planning it.

    >>> from finexpert.warehouse.checks.reading.select import read
    >>> from finexpert.warehouse.schema import Column, TableSchema
    >>> rounds = ", ".join(f"a{n + 1} AS (SELECT s || s AS s FROM a{n})" for n in range(20))
    >>> select = f"WITH a0 AS (SELECT note AS s FROM t), {rounds} SELECT s FROM a20"
    >>> check_growth(read(select, "postgres", [TableSchema("t", "", (Column("note", "VARCHAR"),))]))
    Traceback (most recent call last):
    finexpert.errors.QueryError: it repeats a column too often, one SELECT in another: write it in plainer SQL
    """
    sizes: dict[int, int] = {}
    for scope in one.scopes:
        of_source = {
            name: sizes.get(id(source.expression), 1) if isinstance(source, Scope) else 1
            for name, source in scope.sources.items()
        }
        node = scope.expression
        parts = node.selects if isinstance(node, exp.Select) else []
        made = [sum(of_source.get(column.table, 1) for column in part.find_all(exp.Column)) for part in parts]
        if isinstance(node, exp.SetOperation):
            made = [sizes.get(id(side), 1) for side in (node.this, node.expression)]
        size = max(1, *made) if made else 1
        sizes[id(node)] = size
        if size > MAX_GROWTH:
            raise QueryError("it repeats a column too often, one SELECT in another: write it in plainer SQL")


def check_statement(sql: str, dialect: str, places: Collection[tuple[str, str]]) -> None:
    """Refuses a statement that names a table outside of `places` (schema, name), or anything that is not on the lists.

    >>> check_statement('SELECT MAX("v") FROM "public"."cpi" AS "cpi"', "postgres", {("public", "cpi")})
    >>> check_statement('SELECT * FROM pg_ls_dir(\\'.\\')', "postgres", {("public", "cpi")})
    Traceback (most recent call last):
    finexpert.errors.QueryError: pg_ls_dir() is not allowed on PostgreSQL: write it with other functions
    """
    _check_calls(sqlglot.tokenize(sql, read=dialect), dialect)
    for node in parse_one(sql, dialect, most=MAX_SENT).walk():
        name = type(node).__name__
        if isinstance(node, exp.Anonymous):
            if not isinstance(node.this, str):
                raise _not_allowed(str(node.this), dialect)
        elif not isinstance(node, exp.Func) and name not in NODES:
            raise QueryError(f"{name.upper()} is not allowed on {DIALECTS[dialect]}: write it in plainer SQL")
        if isinstance(node, exp.Query):
            _check_parts(node)
        if isinstance(node, exp.Table):
            _check_table(node, places)
        elif isinstance(node, exp.DataType):
            _check_type(node, dialect)


def _check_parts(query: exp.Query) -> None:
    """Refuses what an engine lets stand beside a SELECT: settings, formats, hints."""
    if extra := [key for key, value in query.args.items() if value and key not in _QUERY_PARTS]:
        raise QueryError(f"{', '.join(extra).rstrip('_')} beside a SELECT is not allowed: write it in plainer SQL")


def _check_calls(tokens: Sequence[Token], dialect: str) -> None:
    """Every word before a bracket is a word of the language, or a function that is allowed."""
    allowed = FUNCTIONS[dialect] | KEYWORDS
    for place, (before, token, after) in enumerate(zip([None, *tokens], tokens, tokens[1:], strict=False)):
        if after.token_type != TokenType.L_PAREN or not re.fullmatch(r"[\w$]+", token.text):
            continue
        # What stands behind AS is a name with its columns, or a type.
        if token.token_type in (TokenType.STRING, TokenType.NUMBER) or (before and before.text.upper() == "AS"):
            continue
        name = token.text.lower()
        is_name = token.token_type == TokenType.IDENTIFIER or name.startswith(CTE_PREFIX)
        if name not in allowed and not is_name:
            raise _not_allowed(name, dialect)
        if is_name and before and before.text.upper() not in ("WITH", "RECURSIVE", ","):
            raise _not_allowed(name, dialect)
        if name in PADDING and not _is_padded(tokens, place + 1):
            raise QueryError(f"{name}() needs a length written as a number up to {MAX_PADDING}")


def calls_only_known(query: exp.Query, dialect: str) -> bool:
    """Whether all that a query calls only computes: what somebody stored in the database may read any table.

    >>> calls_only_known(parse_one("SELECT round(a) FROM t", "postgres"), "postgres")
    True
    >>> calls_only_known(parse_one("SELECT own.round(a) FROM t", "postgres"), "postgres")
    False
    """
    # Written in quotes or behind the name of a schema it is none of the engine's own.
    if any(isinstance(dot.expression, exp.Func) for dot in query.find_all(exp.Dot)):
        return False
    if any(not isinstance(call.this, str) for call in query.find_all(exp.Anonymous)):
        return False
    try:
        _check_calls(sqlglot.tokenize(query.sql(dialect, normalize_functions=False), read=dialect), dialect)
    except (QueryError, SqlglotError):
        return False
    return True


def _is_padded(tokens: Sequence[Token], start: int) -> bool:
    """Whether the second argument of a call is a small number; `start` is the place of its bracket."""
    depth = 0
    for place in range(start, len(tokens)):
        kind = tokens[place].token_type
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(kind, 0)
        if kind == TokenType.COMMA and depth == 1:
            text = tokens[place + 1].text
            ends = tokens[place + 2].token_type in (TokenType.COMMA, TokenType.R_PAREN)
            return ends and text.isdigit() and int(text) <= MAX_PADDING
    return False


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


def _check_type(node: exp.DataType, dialect: str) -> None:
    if not isinstance(node.this, exp.DataType.Type | exp.Interval) or (
        isinstance(node.this, exp.DataType.Type) and node.this.name not in TYPES
    ):
        raise QueryError(f"the type {node.sql(dialect)} is not allowed: cast to numbers, text, booleans or dates only")


def _not_allowed(name: str, dialect: str) -> QueryError:
    return QueryError(f"{name}() is not allowed on {DIALECTS[dialect]}: write it with other functions")
