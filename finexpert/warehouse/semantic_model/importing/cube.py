"""What Cube says of tables: the `cubes:` of its YAML.

    cubes: [{name: orders, sql_table: public.orders, measures: [{name: revenue, type: sum, sql: "{CUBE}.amount"}]}]
        ->  revenue = SUM(orders.amount)

Jinja is not run, and what Cube fills in when it is asked (FILTER_PARAMS, SECURITY_CONTEXT, parts of times) has no place in the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from finexpert.warehouse.semantic_model.importing.documents import FILE, Documents, listed, words
from finexpert.warehouse.semantic_model.importing.taken import Named, Taken
from finexpert.warehouse.semantic_model.importing.viewed import take_views
from finexpert.warehouse.semantic_model.importing.views import Join, Member, Template, View

_REFERENCE = re.compile(r"\{([^{}]*)\}")
_OWN = "CUBE"
_WHOLE_TABLE = re.compile(r"\s*SELECT\s+\*\s+FROM\s+([\w.\"`]+)\s*;?\s*", re.IGNORECASE)
_SAID = {"name", "title", "description", "meta", "public", "shown", "format", "currency", "sql", "type", FILE}
_OF_DIMENSION = _SAID | {"primary_key", "order", "granularities", "links"}
_OF_MEASURE = _SAID | {"filters", "drill_members"}
_KINDS = {"avg": "average", "number_agg": "number"}
_RELATIONSHIPS = {
    "belongs_to": "many_to_one", "has_many": "one_to_many", "has_one": "one_to_one",
    "belongsTo": "many_to_one", "hasMany": "one_to_many", "hasOne": "one_to_one",
}  # fmt: skip
_SELECTED = "its rows are a SELECT of its own, which is no table of the data"
_DEEPEST = 20


def take(documents: Documents, taken: Taken) -> bool:
    """Take over what is Cube's; whether anything is."""
    cubes: dict[str, dict[str, Any]] = {}
    for one in listed(documents, "cubes"):
        if one["name"] in cubes:
            taken.leave_out(f"{one[FILE]}: {one['name']}", f"it stands in {cubes[one['name']][FILE]} too")
        else:
            cubes[one["name"]] = one
    take_views({name: _view(one, cubes) for name, one in cubes.items()}, taken)
    for one in listed(documents, "views"):
        if cubes:
            taken.leave_out(
                f"{one[FILE]}: view {one['name']}", "it chooses members of cubes, which are taken over from there"
            )
    for one in cubes.values():
        for segment in listed([one], "segments"):
            taken.leave_out(
                f"{one[FILE]}: segment {one['name']}.{segment['name']}", "conditions alone have no place in the model"
            )
        if one.get("access_policy"):
            taken.leave_out(
                f"{one[FILE]}: access_policy of {one['name']}",
                "who may see what is not taken over: the database decides it",
            )
    return bool(cubes)


def _view(given: Mapping[str, Any], cubes: Mapping[str, Mapping[str, Any]], depth: int = 0) -> View:
    view = View(_named(given), given[FILE])
    table, sql = words(given, "sql_table"), words(given, "sql")
    if not table and (whole := _WHOLE_TABLE.fullmatch(sql)):
        table = whole[1]
    parent = given.get("extends")
    if parent is not None:
        if depth > _DEEPEST or parent not in cubes:
            view.refused = f"it extends {parent!r}, which is not there or extends itself"
            return view
        base = _view(cubes[parent], cubes, depth + 1)
        view.members, view.joins = dict(base.members), list(base.joins)
        view.table, view.refused = base.table, base.refused
    if table or sql:
        view.table, view.refused = table, ""
    if _is_template(table):
        view.refused = "its table is written in a template, which is not run"
    elif not view.table:
        view.refused = view.refused or (_SELECTED if sql else "it has no table of its own")
    for kind, read in (("dimensions", _dimension), ("measures", _measure)):
        for one in listed([given], kind):
            member = read(one)
            if one["name"] in view.members:
                member = replace(member, refused="it changes a member of the cube that is extended, or stands twice")
            view.members[one["name"]] = member
    view.joins += [_join(one) for one in listed([given], "joins")]
    return view


def _named(given: Mapping[str, Any]) -> Named:
    meta = given.get("meta")
    context = words(meta, "ai_context") if isinstance(meta, dict) else ""
    return Named(given["name"], " ".join(filter(None, (words(given, "description"), context))), words(given, "title"))


def _dimension(given: Mapping[str, Any]) -> Member:
    sql, refused = _template(given)
    if given.get("type") not in ("string", "number", "boolean", "time"):
        refused = f"dimensions of the type {given.get('type')} are no column"
    refused = _unknown(given, _OF_DIMENSION) or refused
    return Member(_named(given), sql, is_key=given.get("primary_key") is True, refused=refused)


def _measure(given: Mapping[str, Any]) -> Member:
    kind = str(given.get("type"))
    sql, refused = _template(given)
    conditions = []
    filters = given.get("filters")
    for one in filters if isinstance(filters, list) else []:
        condition, fault = _template(one) if isinstance(one, dict) else (None, "")
        refused = refused or fault or ("" if condition else "a filter without `sql`")
        conditions += [condition] if condition else []
    if filters is not None and not isinstance(filters, list):
        refused = "its filters are no list"
    return Member(
        _named(given),
        sql,
        _KINDS.get(kind, kind),
        tuple(conditions),
        is_hidden=given.get("public", given.get("shown")) is False,
        refused=_unknown(given, _OF_MEASURE) or refused,
    )


def _join(given: Mapping[str, Any]) -> Join:
    sql, refused = _template(given)
    kind = words(given, "relationship")
    return Join(given["name"], _RELATIONSHIPS.get(kind, kind), sql, refused=refused)


def _template(given: Mapping[str, Any]) -> tuple[Template | None, str]:
    """The `sql` of a member, and why it is not used."""
    sql = given.get("sql")
    if sql is None:
        return None, ""
    text = str(sql)
    if _is_template(text):
        return None, "it has a part in Jinja, which is not run"
    return Template.of(text.replace("${", "{"), _REFERENCE, _OWN), ""


def _is_template(text: str) -> bool:
    return any(mark in text for mark in ("{{", "{%", "{#", "\\{"))


def _unknown(given: Mapping[str, Any], known: set[str]) -> str:
    more = sorted(str(name) for name in set(given) - known)
    return f"`{more[0]}` has no place in the model" if more else ""
