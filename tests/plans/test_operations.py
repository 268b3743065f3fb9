"""The compute operations: results, units, provenance, errors, and plug-ins."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from finexpert.core.answers import Citation
from finexpert.core.workspace import Value
from finexpert.errors import ConfigurationError, OperationError
from finexpert.plans import operations, unit_rules
from finexpert.plans.operations import Operation


def cited(value: Any, unit: str | None = None, scale: float = 1.0, place: str = "a / 2017", **more: Any) -> Value:
    return Value(value, unit=unit, scale=scale, citations=(Citation(source="page", place=place),), **more)


@pytest.mark.parametrize("name", list(operations.registry()))
def test_every_operation_gives_what_its_example_says(name: str) -> None:
    operation = operations.registry()[name]
    operations.check(operation)
    arguments, expected = operation.example
    values = [Value(argument, entity=str(place)) for place, argument in enumerate(arguments)]
    result = operations.apply(name, values).value
    expected = str(int(expected)) if operation.names else expected
    assert result == (pytest.approx(expected, abs=1e-9) if not isinstance(expected, str) else expected)
    assert operation.describe() in operations.catalogue().splitlines()


@pytest.mark.parametrize(
    ("alias", "name"),
    [("Percentage Change", "percent_change"), ("table_average", "average"), ("-", "subtract"), ("power", "exp"), ("ABS", "absolute"),
     ("percent-of", "percent"), ("earnings_per_share", "eps")],
)  # fmt: skip
def test_an_alias(alias: str, name: str) -> None:
    assert operations.find(alias).name == name


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("add", [1.0, 2.0, 3.0], 6.0),
        ("greater", [1.0, 1.0], "no"),
        ("average", [[1.0, 2.0], 6.0], 3.0),
        ("subtract", [[5.0], 2.0], 3.0),
        ("sum", [[0.1] * 10], 1.0),
        ("percentile", [25.0, 10.0, 20.0, 30.0], 15.0),
        ("irr", [-1000.0, 300.0, 420.0, 680.0], 0.16340560),
        ("npv", [0.1, [-1000.0, 300.0, 420.0, 680.0]], 130.72877),
        ("cagr", [-100.0, -121.0, 2.0], 0.1),
        ("eps", [100.0, 50.0], 2.0),
    ],
)
def test_a_result(name: str, arguments: list[Any], result: object) -> None:
    value = operations.apply(name, [Value(a) for a in arguments]).value
    assert value == (result if isinstance(result, str) else pytest.approx(result, rel=1e-6))


def test_dated_flows_by_argument_and_by_period() -> None:
    flows = [Value(-100.0), Value(dt.date(2020, 12, 31)), Value(121.0), Value("2022-12-31")]
    assert operations.apply("xirr", flows).value == pytest.approx(0.1, rel=1e-3)
    by_period = [cited(-100.0, period="2020"), cited(121.0, period="2022-12-31")]
    assert operations.apply("xirr", by_period).value == pytest.approx(0.1, rel=1e-3)
    for wrong in ([Value(-1.0), Value(1.0)], [Value("2020"), Value(1.0)], [*by_period, Value(3.0)]):
        with pytest.raises(OperationError):
            operations.apply("xirr", wrong)


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("percnt_change", [1.0, 2.0], "nearest are percent_change"),
        ("divide", [1.0, 0.0], "divides by zero"),
        ("percent_change", [0.0, 1.0], "divides by zero"),
        ("divide", [1.0], r"divide\(a, b\) takes 2 arguments, not 1"),
        ("eps", [1.0], "takes 2 to 3 arguments"),
        ("sum", [], "at least 1"),
        ("exp", [1e200, 1e200], "too large"),
        ("exp", [-8.0, 0.5], "no real number"),
        ("exp", [0.0, -1.0], "divides by zero"),
        ("multiply", [1e200, 1e200], "no finite number"),
        ("add", ["yes", 1.0], "argument 1 is a str"),
        ("add", [True, 1.0], "argument 1 is a bool"),
        ("add", [float("nan"), 1.0], "argument 1 of add is no finite number"),
        ("add", [10**400, 1], "no finite number"),
        ("subtract", [[1.0, 2.0], 1.0], "argument 1 is a list"),
        ("cagr", [0.0, 1.0, 2.0], "neither of them zero"),
        ("cagr", [1.0, 2.0, 0.0], "positive number of periods"),
        ("moving_average", [3.0, 1.0, 2.0], "does not fit 2 values"),
        ("percentile", [101.0, 1.0], "between 0 and 100"),
        ("irr", [1.0, 2.0], "both signs"),
        ("npv", [-1.0, 2.0], "rate above -1"),
        ("sum", [[1.0] * 20_000], "at most 10,000"),
    ],
)
def test_what_does_not_apply_says_why(name: str, arguments: list[Any], reason: str) -> None:
    with pytest.raises(OperationError, match=reason):
        operations.apply(name, [Value(a) for a in arguments])


def test_provenance_and_flags_are_joined_and_period_and_entity_kept_when_equal() -> None:
    one = cited(5.0, "USD", 1e6, "sales / 2017", period="2017", entity="sales", flags=("fuzzy 90",))
    other = cited(4.0, "USD", 1e6, "costs / 2017", period="2017", entity="costs", flags=("fuzzy 90", "a dash"))
    result = operations.apply("subtract", [one, other])
    assert [c.place for c in result.citations] == ["sales / 2017", "costs / 2017"]
    assert (result.unit, result.scale, result.period, result.entity) == ("USD", 1e6, "2017", None)
    assert result.flags == ("fuzzy 90", "a dash")
    assert operations.apply("multiply", [one, Value(100.0)]).period == "2017"
    assert operations.apply("add", [one, one]).citations == one.citations


@pytest.mark.parametrize(
    ("name", "left", "right", "unit", "scale", "flag"),
    [
        ("subtract", ("USD", 1e6), ("USD", 1e6), "USD", 1e6, ""),
        ("subtract", ("USD", 1e6), ("USD", 1e3), "USD", 1e6, "different scales: million and thousand"),
        ("add", ("fraction", 1.0), ("USD", 1.0), None, 1.0, "different units: fraction and USD"),
        ("divide", ("USD", 1e6), ("USD", 1e6), "ratio", 1.0, ""),
        ("divide", ("USD", 1e6), ("shares", 1e6), "USD per share", 1.0, ""),
        ("multiply", ("USD per share", 1.0), ("shares", 1e3), "USD", 1e3, ""),
        ("multiply", ("fraction", 1.0), ("USD", 1e6), "USD", 1e6, ""),
        ("percent_change", ("USD", 1e6), ("USD", 1e6), "fraction", 1.0, ""),
        ("multiply", ("USD", 1e6), ("EUR", 1e3), "EUR * USD", 1e9, ""),
        ("divide", ("EUR * USD", 1e12), ("EUR", 1e6), "USD", 1e6, ""),
        ("divide", ("USD * USD", 1e12), ("USD * USD", 1e12), "ratio", 1.0, ""),
        ("divide", ("USD * USD", 1e12), ("EUR", 1e6), None, 1e6, "USD * USD divided by EUR"),
        ("divide", ("USD", 1e6), ("USD * USD", 1e12), None, 1e-6, "USD divided by USD * USD"),
        ("divide", ("USD * USD", 1e12), (None, 1.0), None, 1e12, "USD * USD divided by what has no unit"),
    ],
)
def test_units_and_scales(
    name: str, left: tuple[str, float], right: tuple[str, float], unit: str | None, scale: float, flag: str
) -> None:
    result = operations.apply(name, [cited(2.0, *left), cited(3.0, *right, place="b")])
    assert (result.unit, result.scale, "".join(result.flags)) == (unit, scale, flag)


def test_a_factor_of_a_thousand_changes_the_scale_and_a_hundred_makes_percent() -> None:
    amount, share = cited(2.3, "USD", 1e9), cited(0.134, "fraction")
    assert operations.apply("multiply", [amount, Value(1000.0)]).scale == 1e6
    assert operations.apply("divide", [amount, Value(1000.0)]).scale == 1e12
    assert operations.apply("multiply", [share, Value(100.0)]).unit == "percent"
    assert operations.apply("divide", [cited(13.4, "percent"), Value(100.0)]).unit == "fraction"
    assert unit_rules.is_constant(Value(100.0))
    assert not unit_rules.is_constant(share)


def amount_of(value: Value) -> float:
    assert isinstance(value.value, float)
    return value.value * value.scale


def test_a_scale_never_runs_away() -> None:
    value = cited(1.0, "USD", 1e12)
    for times in range(2, 26):
        value = operations.apply("multiply", [value, cited(1.0, None, 1e12)])
        assert amount_of(value) == pytest.approx(10.0 ** (12 * times))
    with pytest.raises(OperationError, match="no finite number"):
        operations.apply("multiply", [value, cited(1.0, None, 1e12)])


@pytest.mark.parametrize(
    ("factors", "exponent", "amount", "unit"),
    [
        (2, 0.5, 6e6, "USD"),
        (1, 2.0, 36e12, "USD * USD"),
        (3, 1 / 3, 6e6, "USD"),
        (4, 0.5, 36e12, "USD * USD"),
        (4, 0.25, 6e6, "USD"),
        (1, 1.0, 6e6, "USD"),
        (2, 1.5, 216e18, "USD * USD * USD"),
    ],
)
def test_a_root_of_a_product_keeps_its_scale(factors: int, exponent: float, amount: float, unit: str) -> None:
    product = cited(6.0, "USD", 1e6)
    for _ in range(factors - 1):
        product = operations.apply("multiply", [product, cited(6.0, "USD", 1e6)])
    found = operations.apply("exp", [product, Value(exponent)])
    assert amount_of(found) == pytest.approx(amount)
    assert found.unit == unit
    assert found.flags == ()


@pytest.mark.parametrize(
    ("factors", "exponent"), [(1, 0.5), (1, 1 / 3), (2, 1 / 3), (3, 0.5), (1, -1.0), (1, 0.0), (2, 0.25)]
)
def test_a_root_without_a_unit_is_said(factors: int, exponent: float) -> None:
    product = cited(6.0, "USD", 1e6)
    for _ in range(factors - 1):
        product = operations.apply("multiply", [product, cited(6.0, "USD", 1e6)])
    found = operations.apply("exp", [product, Value(exponent)])
    assert (found.unit, found.scale) == (None, 1.0)
    assert "what unit and scale that has is not known" in found.flags[0]


@pytest.mark.parametrize("base", [cited(0.1, "fraction"), cited(1.2, "ratio"), cited(1.2, None), Value(2.0)])
def test_a_share_to_a_power_is_a_plain_number(base: Value) -> None:
    found = operations.apply("exp", [base, Value(1 / 3)])
    assert (found.unit, found.scale, found.flags) == (None, 1.0, ())


DOUBLE = Operation("double", lambda a: 2 * a, (1, 1), "a", "twice a", ((2.0,), 4.0), unit_rules.same, ("twice",))


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def plug(loaded: object) -> None:
        class Entry(EntryPoint):
            def load(self) -> object:
                if isinstance(loaded, Exception):
                    raise loaded
                return loaded

        entry = Entry("double", "plugin:double", operations.GROUP)
        monkeypatch.setattr(operations, "entry_points", lambda group: [entry] if group == operations.GROUP else [])
        _forget()

    yield plug
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    operations.registry.cache_clear()
    operations._names.cache_clear()


def test_a_plug_in_adds_an_operation(plugged: Any) -> None:
    plugged([DOUBLE])
    assert operations.apply("twice", [Value(4.0)]).value == 8.0
    assert "double(a): twice a" in operations.catalogue()


@pytest.mark.parametrize(
    ("loaded", "reason"),
    [
        (ImportError("no module"), "cannot be loaded: no module"),
        ([Operation("double", lambda a: a, (1, 1), "a", "", ((2.0,), 4.0), unit_rules.same)], "gives 2.0, not 4.0"),
        (
            [Operation("bad", lambda a: a / 0, (1, 1), "a", "", ((2.0,), 4.0), unit_rules.same)],
            "the example of .* fails",
        ),
        ([Operation("add", lambda a: 2 * a, (1, 1), "a", "", ((2.0,), 4.0), unit_rules.same)], "exists already"),
        (["text"], "is no finexpert.plans.operations.Operation"),
    ],
)
def test_a_plug_in_that_is_wrong_is_named(plugged: Any, loaded: object, reason: str) -> None:
    plugged(loaded)
    with pytest.raises(ConfigurationError, match=reason):
        operations.registry()


@pytest.mark.parametrize("values", [([0.0, -1.0], None), ([5.0, 1.0], 3.0)])
def test_a_list_is_of_one_company(values: tuple[list[float], float | None]) -> None:
    given = [
        Value(value, entity=name) for value, name in zip(values, ("Acme", "Bolt"), strict=True) if value is not None
    ]
    with pytest.raises(OperationError, match="is a list"):
        operations.apply("which_least", given)
