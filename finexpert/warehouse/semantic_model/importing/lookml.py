"""What LookML says of tables: its views, and of its explores the joins.

    view: orders { sql_table_name: public.orders ;; measure: revenue { type: sum  sql: ${TABLE}.amount ;; } }
        ->  revenue = SUM(orders.amount)

Liquid and constants are not run. Where refinements or extended views say a field again, what holds is decided by the order of includes: such fields are listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from finexpert.warehouse.semantic_model.importing.documents import FILE, Documents, listed, words
from finexpert.warehouse.semantic_model.importing.lookml_filters import condition
from finexpert.warehouse.semantic_model.importing.taken import Named, NotTaken, Taken
from finexpert.warehouse.semantic_model.importing.viewed import take_views
from finexpert.warehouse.semantic_model.importing.views import Join, Member, Template, View

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_OWN = "TABLE"
_SHOWN = {
    "name", "type", "sql", "label", "description", "hidden", "value_format", "value_format_name", "group_label", "group_item_label", "view_label",
    "tags", "drill_fields", "links", "actions", "html", "can_filter", "alias", "order_by_field", "suggestable", "suggestions", "suggest_dimension",
    "suggest_explore", "suggest_persist_for", "full_suggestions", "bypass_suggest_restrictions", "map_layer_name", "allow_fill", "style",
    "allow_approximate_optimization", "precision", FILE,
}  # fmt: skip
_OF_DIMENSION = _SHOWN | {"primary_key", "timeframes", "datatype", "convert_tz"}
_OF_MEASURE = _SHOWN | {"filters", "filters__all"}
_PLAIN = ("string", "number", "yesno", "zipcode")
# What an explore keeps of the rows, whatever is asked.
_ALWAYS = ("sql_always_where", "sql_always_having")
_ASKED = ("always_filter", "conditionally_filter", "access_filters")
_AGAIN = "it is said again in a refinement or an extended view"
_DEEPEST = 20


@dataclass
class _Project:
    """All views and explores by name, with the refinements of each."""

    views: Mapping[str, Mapping[str, Any]]
    explores: Mapping[str, Mapping[str, Any]]
    refined: Sequence[Mapping[str, Any]]
    is_case_sensitive: bool


def take(documents: Documents, taken: Taken) -> bool:
    """Take over what is LookML's, as `read_lookml` gives it; whether anything is."""
    views = _by_name(listed(documents, "views"), taken)
    explores = _by_name(listed(documents, "explores"), taken)
    folds = any(str(one.get("case_sensitive")) == "no" for one in (*documents, *explores.values()))
    refined = [one for one in listed(documents, "views") if one["name"].startswith("+")]
    project = _Project(views, explores, refined, not folds)
    made = {name: _view(one, project) for name, one in views.items() if one.get("extension") != "required"}
    for one in [*listed(documents, "explores")]:
        _take_explore(one, project, made, taken)
    take_views(made, taken)
    return bool(views)


def _by_name(given: Sequence[Mapping[str, Any]], taken: Taken) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for one in given:
        if one["name"] in found:
            taken.leave_out(f"{one[FILE]}: {one['name']}", f"it stands in {found[one['name']][FILE]} too")
        elif not one["name"].startswith("+"):
            found[one["name"]] = one
    return found


def _lineage(
    given: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]], depth: int = 0
) -> Iterator[Mapping[str, Any]]:
    """What a view or an explore extends, and what these extend, each after the ones that it changes."""
    yield given
    for name in _names(given, "extends"):
        if depth > _DEEPEST or name not in known:
            raise NotTaken(f"it extends {name}, which is not there or extends itself")
        yield from _lineage(known[name], known, depth + 1)


def _names(given: Mapping[str, Any], name: str) -> list[str]:
    """The names of a list, which lkml gives as a list of lists where it may stand several times."""
    said = given.get(f"{name}__all", given.get(name))
    found = []
    for one in said if isinstance(said, list) else [said]:
        found += [each for each in (one if isinstance(one, list) else [one]) if isinstance(each, str)]
    return found


def _view(given: Mapping[str, Any], project: _Project) -> View:
    name = given["name"]
    view = View(Named(name, words(given, "description"), words(given, "label")), given[FILE])
    try:
        parts = list(_lineage(given, project.views))
    except NotTaken as reason:
        view.refused = str(reason)
        return view
    parts += [one for part in parts for one in project.refined if one["name"] == f"+{part['name']}"]
    tables = [part for part in parts if part.get("derived_table") or words(part, "sql_table_name")]
    own = tables[0] if tables else {}
    view.table = words(own, "sql_table_name") or name
    if own.get("derived_table"):
        view.refused = "its rows are a derived table, which is no table of the data"
    elif any(part["name"].startswith("+") for part in tables):
        view.refused = "a refinement says its table again"
    elif _template_in(view.table) or "${" in view.table:
        view.refused = "its table is written in a template, which is not run"
    kinds = {one["name"]: str(one.get("type", "string")) for one in listed(parts, "dimensions")}
    for part in parts:
        for member in _members(part, name, kinds, project.is_case_sensitive):
            before = view.members.get(member.said.name)
            view.members[member.said.name] = replace(member, refused=_AGAIN) if before else member
    return view


def _members(
    given: Mapping[str, Any], view: str, kinds: Mapping[str, str], is_case_sensitive: bool
) -> Iterator[Member]:
    for one in listed([given], "dimensions"):
        yield _dimension(one)
    for one in listed([given], "dimension_groups"):
        yield from _group(one)
    for one in listed([given], "measures"):
        sql, refused = _template(one)
        conditions = []
        try:
            for name, said in _filters(one):
                own = name.removeprefix(f"{view}.")
                conditions.append(condition(own, said, kinds.get(own, ""), is_case_sensitive=is_case_sensitive))
        except NotTaken as reason:
            refused = str(reason)
        yield _measure(one, sql, tuple(conditions), refused)


def _dimension(given: Mapping[str, Any]) -> Member:
    kind = str(given.get("type", "string"))
    sql, refused = _template(given, f"${{{_OWN}}}.{given['name']}")
    if kind not in _PLAIN:
        refused = f"dimensions of the type {kind} are computed by Looker"
    return Member(
        _named(given), sql, is_key=given.get("primary_key") == "yes", refused=_unknown(given, _OF_DIMENSION) or refused
    )


def _group(given: Mapping[str, Any]) -> Iterator[Member]:
    """A time has its column under `_raw`; its days are certain where no time zone is put in."""
    if str(given.get("type", "time")) != "time":
        return
    sql, refused = _template(given, f"${{{_OWN}}}.{given['name']}")
    refused = _unknown(given, _OF_DIMENSION) or refused
    label = words(given, "label") or given["name"].replace("_", " ")
    raw = Member(replace(_named(given), name=f"{given['name']}_raw", label=label), sql, refused=refused)
    yield raw
    if sql and given.get("convert_tz") == "no" and not refused:
        yield replace(raw, said=Named(f"{given['name']}_date"), sql=sql.around("CAST(", " AS DATE)"))


def _measure(given: Mapping[str, Any], sql: Template | None, conditions: tuple[Template, ...], refused: str) -> Member:
    kind = str(given.get("type", "string"))
    if kind == "count" and sql:
        refused = "a count of rows has no `sql`"
    refused = _unknown(given, _OF_MEASURE) or refused
    return Member(_named(given), sql, kind, conditions, is_hidden=given.get("hidden") == "yes", refused=refused)


def _filters(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The filters of a measure, [status: "done"] or {field: status value: "done"}."""
    said = given.get("filters__all", given.get("filters")) or []
    for one in said if isinstance(said, list) else [said]:
        for each in one if isinstance(one, list) else [one]:
            if not isinstance(each, dict) or not all(isinstance(value, str) for value in each.values()):
                raise NotTaken("its filters are of no form that is known")
            yield from [(each["field"], each["value"])] if {"field", "value"} == set(each) else each.items()


def _take_explore(given: Mapping[str, Any], project: _Project, views: Mapping[str, View], taken: Taken) -> None:
    """Its joins stand at its view; rows that it always leaves out are none that a measure of its views may count."""
    name = given["name"].removeprefix("+")
    what = f"{given[FILE]}: explore {given['name']}"
    try:
        parts = list(_lineage(given, project.explores))
    except NotTaken as reason:
        taken.leave_out(what, reason)
        return
    named = [given, project.explores.get(name, {})]
    base = next((said for one in named for key in ("from", "view_name") if (said := words(one, key))), name)
    joins = [one for part in parts for one in listed([part], "joins")]
    names = {one["name"]: words(one, "from") or one["name"] for one in joins} | {name: base}
    always = next((each for part in parts for each in _ALWAYS if part.get(each)), "")
    for each in {base, *names.values()} & set(views) if always else ():
        views[each].no_metrics = f"explore {name} keeps rows by `{always}`: write its condition into the measure"
    for each in _ASKED:
        if any(part.get(each) for part in parts):
            taken.leave_out(what, f"`{each.removesuffix('s')}` has no place in the model: measures are over all rows")
    if base in views:
        views[base].joins += [_join(one, names, views) for one in listed([given], "joins")]
    else:
        taken.leave_out(what, f"there is no view {base}")


def _join(given: Mapping[str, Any], names: Mapping[str, str], views: Mapping[str, View]) -> Join:
    sql, refused = _template({"sql": given.get("sql_on")})
    name = names[given["name"]]
    if given.get("type") == "cross" or given.get("sql") or given.get("sql_where"):
        refused = "it is more than columns that are equal"
    if key := words(given, "foreign_key"):
        keys = [each.said.name for each in views[name].members.values() if each.is_key] if name in views else []
        head = (key,) if "." not in key else tuple(key.split("."))
        sql = Template((head, " = ", (given["name"], keys[0]))) if len(keys) == 1 else None
    return Join(name, words(given, "relationship") or "many_to_one", sql, names, refused)


def _named(given: Mapping[str, Any]) -> Named:
    return Named(given["name"], words(given, "description"), words(given, "label"))


def _template(given: Mapping[str, Any], otherwise: str = "") -> tuple[Template | None, str]:
    """The `sql` of a field, and why it is not used."""
    text = words(given, "sql") or otherwise
    if not text:
        return None, ""
    if _template_in(text):
        return None, "it has a part in Liquid or a constant, which is not run"
    return Template.of(text, _REFERENCE, _OWN), ""


def _template_in(text: str) -> bool:
    return any(mark in text for mark in ("{{", "{%", "@{"))


def _unknown(given: Mapping[str, Any], known: set[str]) -> str:
    more = sorted(set(given) - known)
    return f"`{more[0].removesuffix('__all')}` has no place in the model" if more else ""
