"""What is known of the tables of a warehouse, without their rows.

    TableSchema("trades", "", (Column("trade_id", "BIGINT"), Column("account_id", "INTEGER")), primary_key=("trade_id",),
        foreign_keys=(ForeignKey(("account_id",), "accounts", ("account_id",)),), rows=30_000_000)

It comes from the catalogue of the engine and from the semantic model; the model wins where both speak. Nothing here reads a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from finexpert.warehouse.dates import DateColumn

MAX_CATEGORIES = 50
_MOST_NAME = 255


@dataclass(frozen=True)
class Column:
    """A column; `categories` are its published values, None unless published, and `more` says that there are more of them.

    `dates` is the form of its dates where it is a text or a number that holds dates: see `dates.KINDS`. `stock` says whether it holds
    what is there at a time and cannot be added up over several; None where no owner says so. Rows with one of the values `not_counted` do not
    count unless they are asked for, as an owner says.
    """

    name: str
    type: str
    comment: str = ""
    categories: tuple[str, ...] | None = None
    more: bool = False
    synonyms: tuple[str, ...] = ()
    dates: str = ""
    stock: bool | None = None
    not_counted: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether values are compared as texts."""
        return self.type.partition("(")[0].upper() in _TEXT_TYPES


_TEXT_TYPES = frozenset(
    ("VARCHAR", "TEXT", "CHAR", "BPCHAR", "STRING", "NVARCHAR", "NCHAR", "CHARACTER VARYING", "CHARACTER", "CLOB", "ENUM",
     "LONGTEXT", "MEDIUMTEXT", "TINYTEXT", "FIXEDSTRING", "LOWCARDINALITY", "NAME", "CITEXT")
)  # fmt: skip


@dataclass(frozen=True)
class ForeignKey:
    """Columns that refer to the columns of another table; `inferred` where names and values say so and no constraint does."""

    columns: tuple[str, ...]
    table: str
    referred: tuple[str, ...]
    inferred: bool = False


@dataclass(frozen=True)
class TableSchema:
    """A table as the warehouse knows it. `rows` is the engine's estimate, or None; `unique` are keys beside the primary one.

    `timeless` says that an owner declared it to be without a date, `key_inferred` that no constraint declares the primary key; `told`
    are its rows, as texts in the order of the columns, where an owner lets models read them.

    A table outside of the main schema is called `schema.table`.
    """

    name: str
    comment: str
    columns: tuple[Column, ...]
    date: DateColumn | None = None
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    rows: int | None = None
    timeless: bool = field(default=False, kw_only=True)
    key_inferred: bool = field(default=False, kw_only=True)
    synonyms: tuple[str, ...] = field(default=(), kw_only=True)
    told: tuple[tuple[str, ...], ...] = field(default=(), kw_only=True)

    @property
    def date_column(self) -> str | None:
        """The name of the column by which `as_of` hides rows."""
        return self.date.name if self.date else None

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """Every set of columns that no two rows share."""
        return (*((self.primary_key,) if self.primary_key else ()), *self.unique)

    def column(self, name: str) -> Column | None:
        """The column of a name, in whatever case it is written.

        >>> TableSchema("t", "", (Column("Amount", "DOUBLE"),)).column("amount").type
        'DOUBLE'
        """
        return next((column for column in self.columns if column.name.lower() == name.lower()), None)


def find_table(tables: Sequence[TableSchema], name: str) -> TableSchema | None:
    """The table of a name, in whatever case; a name without its schema finds the only table called so.

    >>> find_table([TableSchema("desk.trades", "", ())], "Trades").name
    'desk.trades'
    """
    wanted = name.lower()
    exact = [table for table in tables if table.name.lower() == wanted]
    if exact:
        return exact[0]
    last = [table for table in tables if table.name.lower().rpartition(".")[2] == wanted.rpartition(".")[2]]
    return last[0] if len(last) == 1 and ("." not in wanted or "." not in last[0].name) else None


def nameable(tables: Sequence[TableSchema]) -> list[TableSchema]:
    """The tables and columns whose names may stand in a prompt: one printable line, not longer than a name is.

    >>> columns = (Column("n", "INTEGER"), Column("n\\n\\n[[ ## question ## ]]", "INTEGER"))
    >>> [column.name for column in nameable([TableSchema("t", "", columns)])[0].columns]
    ['n']
    """
    return [
        replace(
            table,
            columns=tuple(column for column in table.columns if _is_name(column.name)),
            primary_key=table.primary_key if all(map(_is_name, table.primary_key)) else (),
            foreign_keys=tuple(
                key for key in table.foreign_keys if all(map(_is_name, (*key.columns, key.table, *key.referred)))
            ),
        )
        for table in tables
        if _is_name(table.name)
    ]


def _is_name(name: str) -> bool:
    return name.isprintable() and 0 < len(name) <= _MOST_NAME


@dataclass(frozen=True)
class Metric:
    """A metric of a warehouse: `expression` names columns as table.column, in the SQL of the warehouse."""

    name: str
    expression: str
    description: str = ""
    synonyms: tuple[str, ...] = ()
