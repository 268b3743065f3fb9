"""What compiling changed, as text for people: the prompt of each predictor, and the differences of two programs.

planning.warehouse
-  Plan how to answer a financial question from a database.
+  Plan how to answer a question from tables. Name every window.
"""

from __future__ import annotations

import difflib
import json
from typing import Any

import dspy

from finexpert.optimizers.program.artifact import layers_of, predictors_of, state_of


def prompts(expert: dspy.Module) -> dict[str, str]:
    """Every predictor's instructions, fields and demonstrations, by layer and place.

    >>> from finexpert.modules.financial_expert import FinancialExpert
    >>> print(prompts(FinancialExpert())["sql_extraction.write"].splitlines()[0])
    Write one SELECT for each frame asked for, in the SQL that the database speaks.
    """
    return {
        f"{name}.{place}": prompt_text(predictor)
        for name, layer in layers_of(expert).items()
        for place, predictor in predictors_of(layer).items()
    }


def prompt_text(predictor: dspy.Predict) -> str:
    """What compiling may change in one predictor, as text that can be compared line by line."""
    state = state_of(predictor)
    lines = [state["signature"]["instructions"], "", "Fields"]
    for name, field in zip(predictor.signature.fields, state["signature"]["fields"], strict=True):
        lines.append(f"  {name}: {field['description']}")
    for key, value in sorted(predictor.config.items()):
        lines.append(f"  ({key}: {value})")
    if state["demos"]:
        lines += ["", f"Demonstrations: {len(state['demos'])}", *_examples(state["demos"])]
    return "\n".join(lines) + "\n"


def _examples(demos: list[dict[str, Any]]) -> list[str]:
    lines = []
    for number, demo in enumerate(demos, 1):
        lines.append(f"  {number}.")
        for name, value in demo.items():
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
            lines += [f"    {name}: {line}" for line in shown.splitlines() or [""]]
    return lines


def between(old: dspy.Module, new: dspy.Module, names: tuple[str, str] = ("before", "after")) -> dict[str, str]:
    """Unified diffs of the predictors that differ, by layer and place; empty for two programs that ask the same.

    >>> from finexpert.modules.financial_expert import FinancialExpert
    >>> between(FinancialExpert(), FinancialExpert())
    {}
    """
    was, is_ = prompts(old), prompts(new)
    return {
        name: difference(was.get(name, ""), is_.get(name, ""), names)
        for name in dict.fromkeys([*was, *is_])
        if was.get(name, "") != is_.get(name, "")
    }


def difference(old: str, new: str, names: tuple[str, str] = ("before", "after")) -> str:
    """The unified diff of two texts.

    >>> print(difference("a\\nb\\n", "a\\nc\\n"), end="")
    --- before
    +++ after
    @@ -1,2 +1,2 @@
     a
    -b
    +c
    """
    return "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), *names))
