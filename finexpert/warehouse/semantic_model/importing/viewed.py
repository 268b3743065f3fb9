"""Views taken over into a semantic model: what their columns mean, their keys, what joins them, their measures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from finexpert.warehouse.semantic_model.document import Dataset
from finexpert.warehouse.semantic_model.importing.taken import NotTaken, Taken, describe, field_of
from finexpert.warehouse.semantic_model.importing.views import Join, Member, View, Views

_TURNED = {"many_to_one": False, "one_to_one": False, "one_to_many": True}


def take_views(views: Mapping[str, View], taken: Taken) -> None:
    """Take over what the views say of tables that are there; the rest is listed."""
    datasets = _datasets(views, taken)
    known = Views(views, datasets, taken.warehouse.dialect)
    seen: set[tuple[str, Member]] = set()
    joined: list[tuple[str, Join]] = []
    for name, dataset in datasets.items():
        describe(dataset, views[name].said)
        # What a view has of one that it extends is said once of their table.
        members = [each for each in views[name].members.values() if (dataset.name, each) not in seen]
        seen |= {(dataset.name, each) for each in members}
        _take_columns(views[name], [each for each in members if not each.kind], dataset, known, taken)
    for name, dataset in datasets.items():
        for join in views[name].joins:
            if (dataset.name, join) not in joined:
                joined.append((dataset.name, join))
                _take_join(views[name], join, known, taken)
    _take_measures([(views[name], dataset.name) for name, dataset in datasets.items()], known, taken)


def _datasets(views: Mapping[str, View], taken: Taken) -> dict[str, Dataset]:
    """The tables of the views, by view. Two tables of other schemas that are one here are neither."""
    found: dict[str, Dataset] = {}
    written: defaultdict[str, set[str]] = defaultdict(set)
    for name, view in views.items():
        what = f"{view.file}: {view.said.name}"
        dataset = None if view.refused else taken.dataset(view.table)
        if view.refused:
            taken.leave_out(what, view.refused)
        elif dataset is None:
            taken.leave_out(what, f"there is no table {view.table} in the data")
        else:
            found[name] = dataset
            written[dataset.name].add(view.table.lower())
    for name, dataset in list(found.items()):
        if len({table for table in written[dataset.name] if "." in table}) > 1:
            shown = ", ".join(sorted(written[dataset.name]))
            taken.leave_out(f"{views[name].file}: {name}", f"{shown} are one table {dataset.name} in the data")
            del found[name]
    return found


def _take_columns(view: View, members: Sequence[Member], dataset: Dataset, known: Views, taken: Taken) -> None:
    keys: list[str] = []
    computed: list[str] = []
    for member in members:
        try:
            tree = known.member(view.said.name, member.said.name)
        except NotTaken as reason:
            taken.leave_out(view.what("dimension", member.said.name), reason)
            continue
        column = field_of(dataset, tree.name) if isinstance(tree, exp.Column) and tree.table == dataset.name else None
        if column is None:
            computed.append(member.said.name)
            continue
        label = member.said.label or ("" if member.said.name == column.name else member.said.name.replace("_", " "))
        describe(column, replace(member.said, name=column.name, label=label))
        keys += [column.column] if member.is_key else []
    if computed:
        taken.leave_out(
            f"{view.file}: {view.said.name}, {', '.join(computed)}",
            "computed, which has no place in the model; measures may use it",
        )
    if len(keys) < sum(member.is_key for member in members):
        taken.leave_out(view.what("key of", dataset.name), "it is computed")
    elif keys:
        taken.key(dataset, keys, view.what("key", ", ".join(keys)), primary=True)


def _take_join(view: View, join: Join, known: Views, taken: Taken) -> None:
    try:
        _relate(view.said.name, join, known, taken)
    except NotTaken as reason:
        taken.leave_out(view.what("join", join.second), reason)


def _relate(view: str, join: Join, known: Views, taken: Taken) -> None:
    if join.refused:
        raise NotTaken(join.refused)
    if join.relationship not in _TURNED:
        raise NotTaken(f"a relationship {join.relationship} says no key")
    if join.on is None:
        raise NotTaken("it has no condition on columns")
    second = known.table(join.second)
    pairs: list[tuple[str, str]] = []
    firsts: set[str] = set()
    for condition in _conditions(known.sql(view, join.on, join.names)):
        sides = [condition.this, condition.expression] if isinstance(condition, exp.EQ) else []
        by_table = {side.table: side.name for side in sides if isinstance(side, exp.Column)}
        if len(by_table) != 2 or second not in by_table:
            raise NotTaken("its condition is more than columns of two tables that are equal")
        firsts |= set(by_table) - {second}
        pairs.append((by_table[(set(by_table) - {second}).pop()], by_table[second]))
    if len(firsts) != 1:
        raise NotTaken(f"its condition is on several tables: {', '.join(sorted(firsts))}")
    many, one = firsts.pop(), second
    if _TURNED[join.relationship]:
        many, one, pairs = one, many, [(there, here) for here, there in pairs]
    datasets = {each.name: each for each in taken.model.datasets}
    fields = [(field_of(datasets[many], here), field_of(datasets[one], there)) for here, there in pairs]
    found = [(here.column, there.column) for here, there in fields if here and there]
    if len(found) < len(pairs):
        raise NotTaken("its condition names a column that is not in the data")
    taken.relate(datasets[many], [here for here, _ in found], datasets[one], [there for _, there in found])


def _conditions(tree: exp.Expr) -> list[exp.Expr]:
    tree = tree.unnest()
    parts = list(tree.flatten()) if isinstance(tree, exp.And) else [tree]
    return [tree] if parts == [tree] else [each for part in parts for each in _conditions(part)]


def _take_measures(views: Sequence[tuple[View, str]], known: Views, taken: Taken) -> None:
    """Each measure under its name, or with its view's before it where several are called so."""
    found: dict[tuple[str, str, str], tuple[View, Member, exp.Expr | None]] = {}
    for view, table in views:
        for name, member in view.members.items():
            if member.kind:
                tree, reason = _tried(view, member, known)
                said = reason if tree is None else tree.sql()
                found.setdefault((table, name.lower(), said), (view, member, tree))
    names = Counter(name for _, name, _ in found)
    for (_, name, reason), (view, member, tree) in found.items():
        what = view.what("measure", member.said.name)
        if tree is None:
            taken.leave_out(what, reason)
        else:
            whole = member.said.name if names[name] == 1 else f"{view.said.name}_{member.said.name}"
            taken.metric(replace(member.said, name=whole), tree, what)


def _tried(view: View, member: Member, known: Views) -> tuple[exp.Expr | None, str]:
    if view.no_metrics:
        return None, view.no_metrics
    if member.is_hidden:
        return None, "it is hidden there; measures that use it have its expression"
    try:
        return known.member(view.said.name, member.said.name), ""
    except NotTaken as reason:
        return None, str(reason)
