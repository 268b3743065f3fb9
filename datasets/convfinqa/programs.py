"""The program language of FinQA and ConvFinQA: running it, comparing programs, and writing a plan in it.

    >>> execute("subtract(60.94, 25.14), divide(#0, 25.14)")
    1.42403
    >>> tokenize("divide(#0, 25.14)")
    ['divide(', '#0', '25.14', ')', 'EOF']

The rules are those of the official evaluation: commas dropped, "13.4%" read as 0.134, const_N a constant, the last step
rounded to five decimals, an invalid program without a value.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence

from finexpert.datasets.convfinqa.conversations import GoldAnswer

BINARY: Mapping[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "exp": lambda a, b: a**b,
}
OVER_ROWS: Mapping[str, Callable[[list[float]], float]] = {
    "table_max": max,
    "table_min": min,
    "table_sum": sum,
    "table_average": lambda row: sum(row) / len(row),
}
OPERATIONS = (*BINARY, "greater", *OVER_ROWS)

_STEP = re.compile(r"\s*,?\s*([a-z_]+)\((.*?)\)(?=\s*,\s*[a-z_]+\(|\s*$)")


class _Invalid(Exception):
    """The program has no value."""


def tokenize(program: str) -> list[str]:
    """The tokens of a program, ending with EOF."""
    if "(" not in program:
        return [program.strip(), "EOF"]
    tokens: list[str] = []
    for operation, inside in _STEP.findall(program):
        first, _, second = inside.rpartition(", ")
        tokens += [f"{operation}(", first.strip(), second.strip(), ")"]
    return [*tokens, "EOF"]


def steps_of(program: str) -> int:
    """How many operations a program has; 0 for a number chosen from the page."""
    return (len(tokenize(program)) - 1) // 4


def execute(program: str | Sequence[str], table: Sequence[Sequence[str]] = ()) -> GoldAnswer | None:
    """The value of a program, rounded to five decimals, "yes" or "no"; None where it is invalid.

    >>> execute("13.4%"), execute("greater(1,829, 1,735)"), execute("divide(1, 0)"), execute("table_max(sales, none)", [["sales", "5", "$ 7 ( 7 )"]])
    (0.134, 'yes', None, 7.0)
    """
    tokens = tokenize(program) if isinstance(program, str) else list(program)
    try:
        value = _run(tokens[:-1], table)
        return value if isinstance(value, str) else round(value, 5)
    except (_Invalid, ArithmeticError, ValueError, TypeError, IndexError):
        return None


def read_token(token: str) -> float:
    """The number that a token stands for; ValueError where it is none.

    >>> read_token("5,829"), read_token("const_m1"), read_token("27%")
    (5829.0, -1.0, 0.27)
    """
    text = token.replace(",", "").strip()
    if text.startswith("const_"):
        text = text.removeprefix("const_").replace("m", "-")
    value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    if not math.isfinite(value):
        raise ValueError(f"{token} is no finite number")
    return value


def _run(tokens: list[str], table: Sequence[Sequence[str]]) -> GoldAnswer:
    if len(tokens) == 1:
        return read_token(tokens[0])
    if not tokens or len(tokens) % 4:
        raise _Invalid
    results: list[float | str] = []
    for start in range(0, len(tokens), 4):
        opened, first, second, closed = tokens[start : start + 4]
        operation = opened.strip("(")
        if operation not in OPERATIONS or not opened.endswith("(") or closed != ")":
            raise _Invalid
        if operation in OVER_ROWS:
            results.append(OVER_ROWS[operation](_row(first, table)))
            continue
        a, b = (_argument(token, results) for token in (first, second))
        if operation == "greater":
            results.append("yes" if a > b else "no")
        else:
            value = BINARY[operation](a, b)
            if isinstance(value, complex) or not math.isfinite(value):
                raise _Invalid
            results.append(value)
    return results[-1]


def _argument(token: str, results: Sequence[float | str]) -> float:
    if not token.startswith("#"):
        return read_token(token)
    place = int(token[1:])
    if not 0 <= place < len(results):
        raise _Invalid
    value = results[place]
    if isinstance(value, str):
        raise _Invalid
    return value


def _row(name: str, table: Sequence[Sequence[str]]) -> list[float]:
    rows = {row[0]: row[1:] for row in table if row}
    if name not in rows:
        raise _Invalid
    return [read_token(cell.replace("$", "").split("(")[0].strip()) for cell in rows[name]]


def equal_programs(gold: Sequence[str], predicted: Sequence[str]) -> bool:
    """Whether two programs are algebraically the same over the same numbers, as the official comparison has it.

    Every different number token is a variable, so constants and numbers of equal value written differently differ.

    >>> equal_programs(tokenize("add(5, 3), divide(#0, const_2)"), tokenize("add(3, 5), divide(#0, const_2)"))
    True
    >>> equal_programs(tokenize("divide(5, 3)"), tokenize("divide(3, 5)"))
    False
    """
    if len(gold) <= 2 or len(predicted) <= 2:
        return list(gold) == list(predicted)
    if not set(_variables(predicted)) <= set(_variables(gold)):
        return False
    return all(_same_at(gold, predicted, seed) for seed in range(3))


def _variables(tokens: Sequence[str]) -> list[str]:
    """The numbers of a program, and its operations over a row, each taken as one variable."""
    found = []
    for start in range(0, len(tokens) - 1, 4):
        step = list(tokens[start : start + 4])
        if step[0].strip("(") in OVER_ROWS:
            found.append("|".join(step))
        else:
            found += [token for token in step[1:3] if not token.startswith("#")]
    return found


def _same_at(gold: Sequence[str], predicted: Sequence[str], seed: int) -> bool:
    source = random.Random(seed)
    values = {name: source.uniform(1.1, 2.9) for name in dict.fromkeys(_variables(gold))}
    one, other = (_substituted(tokens, values) for tokens in (gold, predicted))
    if one is None or other is None or one[0] != other[0]:
        return False
    return all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(one[1:], other[1:], strict=True))


def _substituted(tokens: Sequence[str], values: Mapping[str, float]) -> tuple[str, float, float] | None:
    """The last step over made-up numbers: its kind, and its value or, for a comparison, both sides."""
    results: list[float] = []
    last = ("value", 0.0, 0.0)
    try:
        for start in range(0, len(tokens) - 1, 4):
            step = list(tokens[start : start + 4])
            operation = step[0].strip("(")
            if operation in OVER_ROWS:
                results.append(values["|".join(step)])
                last = ("value", results[-1], 0.0)
                continue
            a, b = (results[int(t[1:])] if t.startswith("#") else values[t] for t in step[1:3])
            if operation == "greater":
                results.append(math.nan)
                last = ("greater", a, b)
                continue
            results.append(BINARY[operation](a, b))
            last = ("value", results[-1], 0.0)
    except (KeyError, IndexError, ValueError, ArithmeticError):
        return None
    return last
