"""The tables of a server's state. Times are in UTC; JSON is kept as text, so that both databases hold the same."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import sqlalchemy as sa
from sqlalchemy.types import TypeDecorator

metadata = sa.MetaData()


class Json(TypeDecorator[Any]):
    """A value as JSON text; None stays NULL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str | None:
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> Any:
        return None if value is None else json.loads(value)


class Utc(TypeDecorator[dt.datetime]):
    """A moment in UTC. SQLite keeps no zone, so it is put back."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: dt.datetime | None, dialect: sa.Dialect) -> dt.datetime | None:
        return None if value is None else value.astimezone(dt.UTC)

    def process_result_value(self, value: dt.datetime | None, dialect: sa.Dialect) -> dt.datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)


def _id(name: str = "id", **given: Any) -> sa.Column[str]:
    options: dict[str, Any] = {"primary_key": True} | given
    return sa.Column(name, sa.String(80), **options)


def _text(name: str, **given: Any) -> sa.Column[str]:
    options: dict[str, Any] = {"nullable": False, "default": ""} | given
    return sa.Column(name, sa.Text, **options)


def _at(name: str, **given: Any) -> sa.Column[dt.datetime]:
    return sa.Column(name, Utc, **given)


meta = sa.Table("meta", metadata, _id("key"), _text("value"))

servers = sa.Table("servers", metadata, _id(), _at("beat", nullable=False))

tokens = sa.Table(
    "tokens",
    metadata,
    _id(),
    sa.Column("name", sa.String(120), nullable=False),
    _text("hash"),
    _text("role"),
    _text("team"),
    sa.Column("scopes", Json, nullable=False),
    _text("made_by"),
    _at("made", nullable=False),
    _at("expires", nullable=False),
    _at("revoked"),
    _at("used"),
)

logins = sa.Table(
    "logins",
    metadata,
    _id("hash"),
    sa.Column("person", Json, nullable=False),
    _id("token", primary_key=False, nullable=True),
    _at("made", nullable=False),
    _at("expires", nullable=False),
)

sources = sa.Table(
    "sources",
    metadata,
    _id(),
    sa.Column("name", sa.String(120), nullable=False),
    _text("kind"),
    _text("place"),  # sealed: it may hold a password
    _id("person", primary_key=False, nullable=False),
    _text("team"),
    sa.Column("shared", sa.Boolean, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False, default=1),
    _at("made", nullable=False),
    _at("removed"),
)

credentials = sa.Table("credentials", metadata, _id("source"), _id("person"), _text("sealed"))

conversations = sa.Table(
    "conversations",
    metadata,
    _id(),
    _id("person", primary_key=False, nullable=False, index=True),
    _text("source"),
    _text("name"),
    _at("made", nullable=False),
    _at("changed", nullable=False),
    sa.Column("revision", sa.Integer, nullable=False, default=0),
    _id("asking", primary_key=False, nullable=True),
    sa.Column("turns", Json, nullable=False),  # ids of the answers that a follow-up builds upon
    sa.Column("frames", Json, nullable=False),
    sa.Column("declined", Json, nullable=False),
    sa.Column("chosen", Json, nullable=False),
    sa.Column("spent", Json, nullable=False),
    _at("removed"),
)

answers = sa.Table(
    "answers",
    metadata,
    _id(),
    sa.Column("conversation", sa.String(80), sa.ForeignKey("conversations.id"), nullable=False, index=True),
    _id("person", primary_key=False, nullable=False, index=True),
    sa.Column("number", sa.Integer, nullable=False),
    _text("question"),
    _text("state"),
    _text("server"),
    sa.Column("cancel", sa.Boolean, nullable=False, default=False),
    _at("asked", nullable=False),
    _at("ended"),
    _text("error"),
    sa.Column("body", Json),
    sa.Column("turn", Json),
    sa.Column("record", Json),
    sa.Column("table", sa.LargeBinary),
    sa.UniqueConstraint("conversation", "number"),
)

figures = sa.Table(
    "figures",
    metadata,
    sa.Column("answer", sa.String(80), sa.ForeignKey("answers.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("png", sa.LargeBinary, nullable=False),
)

feedback = sa.Table(
    "feedback",
    metadata,
    sa.Column("answer", sa.String(80), sa.ForeignKey("answers.id"), primary_key=True),
    _id("person"),
    sa.Column("up", sa.Boolean, nullable=False),
    _text("reason"),
    _at("at", nullable=False),
)

# What a teacher made of a thumb down, or of an edited SELECT.
settled = sa.Table(
    "settled",
    metadata,
    sa.Column("answer", sa.String(80), sa.ForeignKey("answers.id"), primary_key=True),
    _text("became"),
    _text("by"),
    _at("at", nullable=False),
)

pending = sa.Table(
    "pending",
    metadata,
    _id("conversation"),
    sa.Column("remembered", Json, nullable=False),
    _at("made", nullable=False),
)

threads = sa.Table(
    "threads",
    metadata,
    _id("key"),
    _id("person"),
    _id("conversation", primary_key=False, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
)

# The semantic model of a source, as it was after each change.
models = sa.Table(
    "models",
    metadata,
    _id("source"),
    sa.Column("version", sa.Integer, primary_key=True),
    _at("at", nullable=False),
    _text("by"),
    _text("action"),
    _text("text"),
)

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    _at("at", nullable=False),
    _id("person", primary_key=False, nullable=False),
    _text("name"),
    _text("team"),
    _text("action"),
    _text("object"),
    _text("note"),
)
