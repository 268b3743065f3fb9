"""A formula that a model wrote over named values, as the compute steps of a plan: the program computes, never the model.

    >>> steps = as_steps("(a - b) / b", {"a": "step 1", "b": "step 2"}, first=3)
    >>> [(step.id, step.operation, step.arguments) for step in steps]
    [(3, 'subtract', ['step 1', 'step 2']), (4, 'divide', ['step 3', 'step 2'])]
    >>> as_steps("cagr(a, b, 3)", {"a": "step 1", "b": "step 2"}, first=3)[0].operation
    'cagr'

Known are + - * / **, brackets, numbers, names, and the operations of `finexpert.plans.operations` by their names.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from finexpert.core.plans import Compute
from finexpert.errors import PlanError
from finexpert.plans import operations

_OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "exp",
}
_FUNCTIONS = {"mean": "average", "avg": "average", "abs": "absolute"}
LONGEST = 600


def as_steps(formula: str, names: Mapping[str, str], first: int) -> list[Compute]:
    """The steps of a formula, numbered from `first`; the last is its result. PlanError says what cannot be computed."""
    writer = _Steps(names, first)
    last = writer.write(parsed(formula).body)
    if not writer.steps:  # a value by itself
        writer.step("sum", [last])
    return writer.steps


def parsed(formula: str) -> ast.Expression:
    """The tree of a formula, also of one with typographic signs; PlanError where it is none."""
    if len(formula) > LONGEST:
        raise PlanError(f"a formula of {len(formula):,} characters; at most {LONGEST} are read")
    plain = formula.strip()
    for sign, operator in (("^", "**"), ("\u2212", "-"), ("\u00d7", "*"), ("\u00f7", "/")):
        plain = plain.replace(sign, operator)
    try:
        return ast.parse(plain, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PlanError(f"the formula {formula[:80]!r} cannot be read: {error}") from None


class _Steps:
    """Writes the steps of one formula."""

    def __init__(self, names: Mapping[str, str], first: int) -> None:
        self._names, self._next = names, first
        self.steps: list[Compute] = []

    def write(self, node: ast.expr) -> float | str:
        """A constant, or the reference of the step that gives the value of a node."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return float(node.value)
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return self.step(_OPERATORS[type(node.op)], [self.write(node.left), self.write(node.right)])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._negative(node.operand)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt | ast.Lt):
            sides = [self.write(node.left), self.write(node.comparators[0])]
            return self.step("greater", sides if isinstance(node.ops[0], ast.Gt) else sides[::-1])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            name = _FUNCTIONS.get(node.func.id, node.func.id)
            arguments = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], ast.List) else node.args
            return self.step(operations.find(name).name, [self.write(argument) for argument in arguments])
        raise PlanError(
            f"the formula has {ast.unparse(node)[:60]!r}, which is neither a value, + - * / ** nor an operation"
        )

    def step(self, operation: str, arguments: list[float | str]) -> str:
        self.steps.append(Compute(id=self._next, operation=operation, arguments=arguments))
        self._next += 1
        return f"step {self._next - 1}"

    def _named(self, name: str) -> str:
        if name not in self._names:
            raise PlanError(f"the formula names {name!r}, and there is no such value")
        return self._names[name]

    def _negative(self, node: ast.expr) -> float | str:
        value = self.write(node)
        return -value if isinstance(value, float) else self.step("multiply", [-1.0, value])
