"""Units and scales of computed values, and what is wrong with combining them.

    >>> same([Value(1.0, unit="USD", scale=1e6), Value(2.0, unit="USD", scale=1e3)])
    ('USD', 1000000.0, ['different scales: million and thousand'])

A rule takes the arguments of an operation and gives unit, scale and flags. "fraction" is a share (13.4% as 0.134), "ratio" a
quotient of two amounts of one unit; None is unknown and goes with everything. "USD * USD" is a product on its way to a quotient,
which takes one of the two away; no result has it. Nothing is converted.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from finexpert.core.workspace import Value

UnitRule = Callable[[Sequence[Value]], tuple[str | None, float, list[str]]]

SCALE_WORDS = {1.0: "plain units", 1e3: "thousand", 1e6: "million", 1e9: "billion", 1e12: "trillion"}
_FACTORS = {factor: factor for factor in (1e3, 1e6, 1e9)}
_SHARES = ("fraction", "ratio")
_TIMES = " * "
_MOST_UNITS = 12


def is_constant(value: Value) -> bool:
    """Whether a value is a number of the plan's own, such as 100."""
    return not value.citations and value.unit is None and value.scale == 1.0


def compatible(one: str | None, other: str | None) -> bool:
    """Whether two units may be added.

    >>> compatible("USD", None), compatible("fraction", "ratio"), compatible("fraction", "USD")
    (True, True, False)
    """
    return one is None or other is None or one == other or (one in _SHARES and other in _SHARES)


def same(values: Sequence[Value]) -> tuple[str | None, float, list[str]]:
    """For sums and the like: the arguments must agree."""
    cited = [value for value in values if not is_constant(value)]
    units = list(dict.fromkeys(value.unit for value in cited if value.unit is not None))
    scales = list(dict.fromkeys(value.scale for value in cited))
    flags = []
    if any(not compatible(units[0], unit) for unit in units[1:]):
        flags.append(f"different units: {' and '.join(units)}")
    if len(scales) > 1:
        flags.append(f"different scales: {' and '.join(SCALE_WORDS.get(s, f'{s:g}') for s in scales)}")
    return (units[0] if units and not (flags and len(units) > 1) else None), scales[0] if scales else 1.0, flags


def on_one_scale(values: Sequence[Value]) -> list[Value]:
    """Amounts of different pages, all on the smallest scale among them; shares and constants stay as they are.

    >>> on_one_scale([Value(1.5, unit="USD", scale=1e6), Value(20.0, unit="USD", scale=1e3)])[0].value
    1500.0
    """
    least: dict[int, float] = {}
    for value in filter(_is_amount, values):
        least[_power(value)] = min(value.scale, least.get(_power(value), value.scale))
    # A page that prints no scale says nothing about its amounts.
    if least.get(1) == 1.0:
        return list(values)
    return [_scaled(value, least[_power(value)]) if _is_amount(value) else value for value in values]


def _power(value: Value) -> int:
    """Of how many amounts a value is the product: a million times a million is on another scale than a million."""
    return len((value.unit or "").split(_TIMES))


def _is_amount(value: Value) -> bool:
    return not is_constant(value) and value.unit not in _SHARES and isinstance(value.value, int | float)


def _scaled(value: Value, scale: float) -> Value:
    if value.scale == scale or not isinstance(value.value, int | float):
        return value
    return replace(value, value=value.value * (value.scale / scale), scale=scale)


def same_after_first(values: Sequence[Value]) -> tuple[str | None, float, list[str]]:
    """As `same`, where the first argument is a rate, a window or a percentile."""
    return same(values[1:])


def fraction(values: Sequence[Value]) -> tuple[str | None, float, list[str]]:
    return "fraction", 1.0, same(values)[2]


def ratio(values: Sequence[Value]) -> tuple[str | None, float, list[str]]:
    return "ratio", 1.0, same(values)[2]


def plain(values: Sequence[Value]) -> tuple[str | None, float, list[str]]:
    """A result without a unit; its arguments should still be of one kind."""
    return None, 1.0, same(values)[2]


def power(values: Sequence[Value]) -> tuple[str | None, float, list[str]]:
    """An amount to a power: its unit as often, and its scale to the same power; unknown, and said, where that is no whole number.

    >>> power([Value(6.0, unit="USD * USD", scale=1e12), Value(0.5)])
    ('USD', 1000000.0, [])
    >>> power([Value(6.0, unit="USD", scale=1e6), Value(0.5)])
    (None, 1.0, ['USD in million to the power of 0.5: what unit and scale that has is not known'])
    """
    base, exponent = values
    flags = same(values)[2]
    if is_constant(base) or base.unit in _SHARES or not isinstance(exponent.value, int | float):
        return None, 1.0, flags
    often = {unit: count * float(exponent.value) for unit, count in Counter((base.unit or "").split(_TIMES)).items()}
    if base.unit and all(count >= 1 and count.is_integer() for count in often.values()):
        units = sorted(unit for unit, count in often.items() for _ in range(min(int(count), _MOST_UNITS)))
        return _TIMES.join(units), 10.0 ** round(math.log10(base.scale) * exponent.value), flags
    if base.unit is None and base.scale == 1.0:
        return None, 1.0, flags
    scale = f" in {SCALE_WORDS.get(base.scale, f'{base.scale:g}')}" if base.scale != 1.0 else ""
    said = f"{base.unit or 'an amount'}{scale} to the power of {exponent.value:g}"
    return None, 1.0, [*flags, f"{said}: what unit and scale that has is not known"]


def per_share(values: Sequence[Value]) -> tuple[str | None, float, list[str]]:
    money, shares = values[0], values[1]
    unit = f"{money.unit} per share" if money.unit else None
    flags = [f"{money.unit} divided by {shares.unit}"] if shares.unit not in (None, "shares") else []
    return unit, money.scale / shares.scale, flags


def product(values: Sequence[Value]) -> tuple[str | None, float, list[str]]:
    """The unit of the one argument that has one; a factor such as 1,000 changes the scale, not the amount.

    >>> product([Value(2.3, unit="USD", scale=1e9), Value(1000.0)])
    ('USD', 1000000.0, [])
    """
    units = [unit for value in values if value.unit not in (None, *_SHARES) for unit in str(value.unit).split(_TIMES)]
    shares = [value.unit for value in values if value.unit in _SHARES]
    scale = 1.0
    for value in values:
        scale *= value.scale
    for value in values:
        if is_constant(value) and scale != 1.0 and isinstance(value.value, float):
            scale /= _FACTORS.get(value.value, 1.0)
    if len(units) == 2 and "shares" in units and any(unit and unit.endswith(" per share") for unit in units):
        return next(unit for unit in units if unit != "shares").removesuffix(" per share"), scale, []
    if len(units) > 1:
        return _TIMES.join(sorted(map(str, units))), scale, []
    if not units and any(is_constant(value) and value.value == 100.0 for value in values):
        return ("percent" if shares else None), scale, []
    return (units[0] if units else shares[0] if shares else None), scale, []


def quotient(values: Sequence[Value]) -> tuple[str | None, float, list[str]]:
    """One unit over itself is a ratio, over a constant it stays, over shares it is an amount per share.

    >>> quotient([Value(6.0, unit="USD", scale=1e6), Value(1000.0)])
    ('USD', 1000000000.0, [])
    >>> quotient([Value(6.0, unit="USD * USD", scale=1e12), Value(2.0, unit="USD", scale=1e6)])
    ('USD', 1000000.0, [])
    """
    top, bottom = values[0], values[1]
    if is_constant(bottom):
        if top.unit == "percent" and bottom.value == 100.0:
            return "fraction", top.scale, []
        return (
            top.unit,
            top.scale * _FACTORS.get(bottom.value, 1.0) if isinstance(bottom.value, float) else top.scale,
            [],
        )
    if is_constant(top):
        return None, 1.0, []
    if _TIMES in f"{top.unit} {bottom.unit}" and top.unit != bottom.unit and bottom.unit not in _SHARES:
        return _of_products(top, bottom)
    if bottom.unit in _SHARES and top.unit not in (None, *_SHARES):
        return top.unit, top.scale, []
    if top.unit and bottom.unit == "shares" and top.unit != "shares":
        return f"{top.unit} per share", top.scale / bottom.scale, []
    flags = same(values)[2] if top.unit and top.unit == bottom.unit else []
    return ("ratio" if top.unit == bottom.unit or top.unit in _SHARES else None), 1.0, flags


def _of_products(top: Value, bottom: Value) -> tuple[str | None, float, list[str]]:
    """What is left of a product after the units of the divisor; unknown, and said, where the divisor has another one."""
    left, over = (top.unit or "").split(_TIMES), (bottom.unit or "").split(_TIMES)
    scale = top.scale / bottom.scale
    for unit in over:
        if unit not in left:
            return None, scale, [f"{top.unit or 'an amount'} divided by {bottom.unit or 'what has no unit'}"]
        left.remove(unit)
    return _TIMES.join(left), scale, []


def settled(value: Value) -> Value:
    """A value as a result: one that is still a product of amounts has no unit, and says so.

    >>> settled(Value(6.0, unit="EUR * USD"))
    Value(value=6.0, unit=None, scale=1.0, entity=None, period=None, citations=(), flags=('a product of EUR and USD',))
    """
    if _TIMES not in (value.unit or ""):
        return value
    flag = f"a product of {(value.unit or '').replace(_TIMES, ' and ')}"
    return replace(value, unit=None, flags=tuple(dict.fromkeys([*value.flags, flag])))


def as_date(value: object) -> dt.date | None:
    """A date, an ISO text as a date, a year in text as its last day; else None.

    >>> as_date("2017"), as_date("2017-06-30"), as_date("net sales")
    (datetime.date(2017, 12, 31), datetime.date(2017, 6, 30), None)
    """
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    if isinstance(value, str) and re.fullmatch(r"\d{4}(-\d{2}){0,2}", value):
        year, month, day = (*map(int, value.split("-")), 0, 0)[:3]
        try:
            if day:
                return dt.date(year, month, day)
            end = dt.date(year + (month in (0, 12)), month % 12 + 1 if month else 1, 1)
        except ValueError:
            return None
        return end - dt.timedelta(days=1)
    return None
