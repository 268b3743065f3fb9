"""The compute operations of a plan: by name, with arity, units and provenance.

    >>> from finexpert.core.workspace import Value
    >>> apply("percent_change", [Value(80.0, unit="USD"), Value(100.0, unit="USD")])
    Value(value=0.25, unit='fraction', scale=1.0, entity=None, period=None, citations=(), flags=())

A result has the citations and flags of all its arguments. Values are never converted: where units or scales differ
in a sum, a flag says so, and the checks judge it. A new operation is an `Operation` (or a list of them) named by an
entry point of the group "finexpert.operations"; its example is run when it is loaded.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from rapidfuzz import fuzz, process

from finexpert.core.workspace import Value
from finexpert.errors import ConfigurationError, OperationError
from finexpert.plans import formulas, unit_rules
from finexpert.plans.unit_rules import UnitRule

GROUP = "finexpert.operations"
MOST_ARGUMENTS = 10_000


@dataclass(frozen=True)
class Operation:
    """An operation.

    `function` takes floats and returns a float, "yes" or "no", or a list of floats; it must raise OperationError, or an
    arithmetic error, where it has no value, and must end soon whatever it is given. `arity` counts its arguments, None
    for any number. `example` holds arguments and the result they give. With `dated` the function takes dates and flows. With `names` it gives the place of
    one of its arguments, and the result is what that one is about.
    """

    name: str
    function: Callable[..., Any]
    arity: tuple[int, int | None]
    arguments: str
    meaning: str
    example: tuple[tuple[Any, ...], Any]
    unit: UnitRule
    aliases: tuple[str, ...] = ()
    dated: bool = False
    names: bool = False

    @property
    def takes_lists(self) -> bool:
        return self.arity[1] is None

    def describe(self) -> str:
        """One line for a planner: `subtract(a, b): a minus b`."""
        return f"{self.name}({self.arguments}): {self.meaning}"


_BUILT_IN = (
    Operation("add", formulas.total, (2, None), "a, b, ...", "the sum", ((1.5, 2.0), 3.5), unit_rules.same, ("plus", "+")),
    Operation("subtract", lambda a, b: a - b, (2, 2), "a, b", "a minus b; for a change: later, earlier", ((5.0, 3.0), 2.0),
              unit_rules.same, ("minus", "difference", "-")),
    Operation("multiply", formulas.product, (2, None), "a, b, ...", "the product", ((2.0, 3.0), 6.0), unit_rules.product,
              ("times", "product", "*")),
    Operation("divide", lambda a, b: a / b, (2, 2), "a, b", "a divided by b", ((1.0, 4.0), 0.25), unit_rules.quotient,
              ("/", "quotient")),
    Operation("exp", formulas.power, (2, 2), "a, b", "a to the power b", ((2.0, 3.0), 8.0), unit_rules.power, ("power", "pow", "**")),
    Operation("absolute", lambda a: abs(a), (1, 1), "a", "a without its sign, for an amount printed as negative",
              ((-2.0,), 2.0), unit_rules.same, ("abs", "magnitude")),
    Operation("greater", formulas.greater, (2, 2), "a, b", "yes if a is greater than b, else no", ((2.0, 1.0), "yes"),
              unit_rules.plain, ("greater_than", ">")),
    Operation("percent", lambda part, whole: part / whole, (2, 2), "part, whole", "part of whole as a fraction",
              ((1.0, 4.0), 0.25), unit_rules.fraction, ("percent_of", "percentage", "share")),
    Operation("percent_change", formulas.percent_change, (2, 2), "old, new", "change from old to new as a fraction of old",
              ((80.0, 100.0), 0.25), unit_rules.fraction, ("percentage_change", "pct_change", "growth_rate")),
    Operation("ratio", lambda a, b: a / b, (2, 2), "a, b", "a divided by b", ((3.0, 2.0), 1.5), unit_rules.ratio),
    Operation("sum", formulas.total, (1, None), "values or a row", "the sum", ((1.0, 2.0, 3.0), 6.0), unit_rules.same,
              ("total", "table_sum")),
    Operation("average", formulas.average, (1, None), "values or a row", "the mean", ((1.0, 2.0, 6.0), 3.0), unit_rules.same,
              ("mean", "avg", "table_average")),
    Operation("min", lambda *values: min(values), (1, None), "values or a row", "the least", ((2.0, 1.0), 1.0), unit_rules.same,
              ("minimum", "table_min")),
    Operation("max", lambda *values: max(values), (1, None), "values or a row", "the greatest", ((2.0, 1.0), 2.0), unit_rules.same,
              ("maximum", "table_max")),
    Operation("cagr", formulas.cagr, (3, 3), "first, last, periods", "compound growth a period as a fraction",
              ((100.0, 121.0, 2.0), 0.1), unit_rules.fraction),
    Operation("moving_average", formulas.moving_average, (2, None), "window, values", "means of each window of values",
              ((2.0, 1.0, 3.0, 5.0), [2.0, 4.0]), unit_rules.same_after_first),
    Operation("percentile", formulas.percentile, (2, None), "percent, values", "the value at percent (0 to 100) of the values",
              ((50.0, 1.0, 2.0, 9.0), 2.0), unit_rules.same_after_first),
    Operation("npv", formulas.npv, (2, None), "rate, flows", "net present value, the first flow not discounted",
              ((0.1, -100.0, 110.0), 0.0), unit_rules.same_after_first),
    Operation("irr", formulas.irr, (2, None), "flows", "internal rate of return a period", ((-100.0, 110.0), 0.1),
              unit_rules.fraction),
    Operation("xirr", formulas.xirr, (2, None), "flow, date, flow, date, ...", "yearly internal rate of return of dated flows",
              ((-100.0, dt.date(2021, 1, 1), 110.0, dt.date(2022, 1, 1)), 0.1), unit_rules.fraction, dated=True),
    Operation("operating_profit_margin", lambda income, revenue: income / revenue, (2, 2), "operating income, revenue",
              "operating income as a fraction of revenue", ((20.0, 100.0), 0.2), unit_rules.fraction),
    Operation("current_ratio", lambda assets, liabilities: assets / liabilities, (2, 2), "current assets, current liabilities",
              "current assets divided by current liabilities", ((3.0, 2.0), 1.5), unit_rules.ratio),
    Operation("eps", formulas.eps, (2, 3), "net income, shares, preferred dividends", "earnings per share",
              ((110.0, 50.0, 10.0), 2.0), unit_rules.per_share, ("earnings_per_share",)),
    Operation("which_greatest", lambda *values: float(values.index(max(values))), (2, None), "a, b, ...",
              "what the greatest is about: its company, or its period", ((2.0, 5.0, 1.0), 1.0), unit_rules.plain,
              ("which_max",), names=True),
    Operation("which_least", lambda *values: float(values.index(min(values))), (2, None), "a, b, ...",
              "what the least is about: its company, or its period", ((2.0, 5.0, 1.0), 2.0), unit_rules.plain,
              ("which_min",), names=True),
    Operation("cash_flow_from_operations", formulas.cash_flow_from_operations, (3, 3),
              "net income, non-cash charges, increase in working capital", "cash flow from operations",
              ((100.0, 30.0, 12.0), 118.0), unit_rules.same, ("cfo", "operating_cash_flow")),
)  # fmt: skip


def apply(name: str, arguments: Sequence[Value]) -> Value:
    """The result of an operation; OperationError where it is unknown or does not apply to the arguments.

    >>> apply("divde", [])
    Traceback (most recent call last):
        ...
    finexpert.errors.OperationError: there is no operation 'divde'; the nearest are divide
    """
    operation = find(name)
    values = list(arguments)
    plain = _dated(operation, values) if operation.dated else _numbers(operation, values)
    try:
        result = operation.function(*plain)
    except ZeroDivisionError:
        raise OperationError(f"{operation.name} divides by zero") from None
    except OverflowError:
        raise OperationError(f"{operation.name} gives a number too large to hold") from None
    except (ArithmeticError, ValueError, TypeError, LookupError) as error:
        raise OperationError(f"{operation.name} does not apply to these arguments: {error}") from error
    if operation.names:
        result = _subject(operation, values, int(result))
    unit, scale, flags = operation.unit(values)
    if not 1e-12 <= scale <= 1e18:  # a scale without a name: in plain units
        result, scale = result * scale if isinstance(result, int | float) else result, 1.0
    return Value(
        _checked(operation.name, result),
        unit=unit,
        scale=scale,
        entity=_common([value.entity for value in values if not unit_rules.is_constant(value)]),
        period=_common([value.period for value in values if not unit_rules.is_constant(value)]),
        citations=tuple({(c.source, c.place): c for value in values for c in value.citations}.values()),
        flags=tuple(dict.fromkeys([flag for value in values for flag in value.flags] + flags)),
    )


def find(name: str) -> Operation:
    """The operation with a name or alias; OperationError with the nearest names where there is none."""
    key = name.strip().casefold().replace(" ", "_").replace("-", "_") if len(name.strip()) > 1 else name.strip()
    names = _names()
    if key not in names:
        near = [str(n) for n, *_ in process.extract(key[:60], [n for n in names if n[0].isalpha()], scorer=fuzz.ratio,
                                                    limit=3, score_cutoff=60)]  # fmt: skip
        known = f"; the nearest are {', '.join(near)}" if near else f"; there are {', '.join(registry())}"
        raise OperationError(f"there is no operation {name[:60]!r}{known}")
    return names[key]


@cache
def registry() -> Mapping[str, Operation]:
    """All operations by name: the built-in ones, then those of installed plug-ins."""
    known = {operation.name: operation for operation in _BUILT_IN}
    for entry in entry_points(group=GROUP):
        try:
            loaded = entry.load()
        except (ImportError, AttributeError, SyntaxError) as error:
            raise ConfigurationError(
                f"the operation {entry.name!r} ({entry.value}) cannot be loaded: {error}"
            ) from error
        for operation in [loaded] if isinstance(loaded, Operation) else loaded:
            check(operation)
            if operation.name in known:
                raise ConfigurationError(f"{entry.value} names its operation {operation.name!r}, which exists already")
            known[operation.name] = operation
    return known


def catalogue() -> str:
    """All operations, one a line, as a planner is told them."""
    return "\n".join(operation.describe() for operation in registry().values())


def check(operation: Operation) -> None:
    """Run an operation's example; ConfigurationError where it does not give what it says."""
    if not isinstance(operation, Operation):
        raise ConfigurationError(f"{operation!r} is no finexpert.plans.operations.Operation")
    arguments, expected = operation.example
    values = [Value(argument) for argument in arguments]
    try:
        plain = _dated(operation, values) if operation.dated else _numbers(operation, values)
        given = operation.function(*plain)
    except (OperationError, ArithmeticError, ValueError, TypeError, LookupError) as error:
        raise ConfigurationError(f"the example of the operation {operation.name!r} fails: {error}") from error
    if not _same(given, expected):
        raise ConfigurationError(f"the example of the operation {operation.name!r} gives {given!r}, not {expected!r}")


@cache
def _names() -> Mapping[str, Operation]:
    operations = registry().values()
    return {alias: op for op in operations for alias in op.aliases} | {op.name: op for op in operations}


def _same(given: object, expected: object) -> bool:
    if isinstance(given, list) and isinstance(expected, list):
        return len(given) == len(expected) and all(_same(a, b) for a, b in zip(given, expected, strict=True))
    if isinstance(given, float) and isinstance(expected, float):
        return math.isclose(given, expected, rel_tol=1e-9, abs_tol=1e-9)
    return given == expected


def _numbers(operation: Operation, values: Sequence[Value]) -> list[float]:
    plain: list[float] = []
    for place, value in enumerate(values, start=1):
        if isinstance(value.value, list) and (operation.takes_lists or len(value.value) == 1):
            plain += [_number(operation, item, place) for item in value.value[: MOST_ARGUMENTS + 1]]
        else:
            plain.append(_number(operation, value.value, place))
    _check_arity(operation, len(plain))
    return plain


def _number(operation: Operation, value: object, place: int) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OperationError(f"{operation.name} takes numbers; argument {place} is a {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise OperationError(f"argument {place} of {operation.name} is no finite number")
    return number


def _check_arity(operation: Operation, count: int) -> None:
    least, most = operation.arity
    if count > MOST_ARGUMENTS:
        raise OperationError(f"{operation.name} takes at most {MOST_ARGUMENTS:,} arguments")
    if count < least or (most is not None and count > most):
        wanted = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
        raise OperationError(f"{operation.name}({operation.arguments}) takes {wanted} arguments, not {count}")


def _dated(operation: Operation, values: Sequence[Value]) -> tuple[list[dt.date], list[float]]:
    """Dates and flows: a flow is followed by its date, or its period is its date (a year: its last day)."""
    dates: list[dt.date] = []
    flows: list[float] = []
    for place, value in enumerate(values, start=1):
        day = unit_rules.as_date(value.value)
        if day is None:
            flows.append(_number(operation, value.value, place))
            if value.period and (own := unit_rules.as_date(value.period)):
                dates.append(own)
        elif len(dates) == len(flows) and dates:
            dates[-1] = day
        else:
            dates.append(day)
        if len(dates) > len(flows):
            raise OperationError(f"{operation.name}({operation.arguments}): a date stands before its flow")
    if len(dates) != len(flows):
        raise OperationError(f"{operation.name}({operation.arguments}) got {len(flows)} flows and {len(dates)} dates")
    _check_arity(operation, len(flows))
    return dates, flows


def _subject(operation: Operation, values: Sequence[Value], place: int) -> str:
    """What one of the values is about, by what tells them apart."""
    if any(isinstance(value.value, list) and len(value.value) != 1 for value in values):
        raise OperationError(
            f"{operation.name} takes one number of each company or period, and one of its arguments is a list"
        )
    about = [[value.entity for value in values], [value.period for value in values]]
    for names in about:
        if len(set(names)) == len(names) and (name := names[place]) is not None:
            return name
    raise OperationError(f"{operation.name} takes values of different companies or periods")


def _checked(name: str, result: object) -> float | str | list[float]:
    if isinstance(result, list) and all(isinstance(item, float) and math.isfinite(item) for item in result):
        return result
    if isinstance(result, str):
        return result
    if isinstance(result, bool) or not isinstance(result, int | float) or not math.isfinite(result):
        raise OperationError(f"{name} gives no finite number")
    return float(result) + 0.0


def _common(texts: Sequence[str | None]) -> str | None:
    return texts[0] if texts and len(set(texts)) == 1 else None
