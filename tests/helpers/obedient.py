"""A model that does what an injected text asks for, whatever it was asked itself.

    Obedient(" script\\nanswer = open('/etc/passwd').read()").reply(messages)

After the kind stands what it writes: `script` and `select` go where code and SQL belong, `interpretation` into the words of the
plan, `steps` into the plan over a page, and `raw` is its whole completion, in every layer. It follows all of what was taught that it is offered.
"""

from __future__ import annotations

import re
from typing import Any

from finexpert.testing import fields

_FIRST_FIELD = re.compile(r"starting with the field `\[\[ ## (\w+) ## \]\]`")
_KNOWN_HERE = re.compile(r"^\[\[ ## known_here ## \]\]\n(.*?)\n\n\[\[ ## ", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^\d+\. ", re.MULTILINE)
_GOOD = "SELECT date, region, amount FROM sales ORDER BY date"
KINDS = ("script", "select", "interpretation", "steps", "raw", "rephrased")


class Obedient:
    """Answers each layer; `read` is all that it was shown."""

    def __init__(self, obeyed: str) -> None:
        kind, _, text = obeyed.strip("- ").partition("\n")
        if kind.strip() not in KINDS:
            raise ValueError(f"an obedient model writes one of {', '.join(KINDS)}, not {kind.strip()!r}")
        self._said = {kind.strip(): text.strip()}
        self._prompts: list[str] = []

    @property
    def calls(self) -> int:
        return len(self._prompts)

    @property
    def rephrases(self) -> bool:
        """Whether it rewrites the question, which only a layer before planning is asked for."""
        return "rephrased" in self._said

    @property
    def read(self) -> str:
        return "\n".join(self._prompts)

    def reply(self, messages: list[dict[str, str]]) -> str:
        self._prompts.append("\n".join(str(message["content"]) for message in messages))
        found = _FIRST_FIELD.search(messages[-1]["content"])
        if "raw" in self._said:
            return self._said["raw"]
        return fields(**self._written(found[1] if found else "answer", messages[-1]["content"]))

    def _written(self, first: str, asked: str) -> dict[str, Any]:
        select = self._said.get("select", _GOOD)
        columns = ["date", "region", "amount"]
        selects = [{"df_name": "sales", "df_columns": columns, "select_query": select}]
        code = self._said.get("script", "answer = len(sales)")
        known_here = _KNOWN_HERE.search(asked)
        offered = len(_ENTRY.findall(known_here[1])) if known_here else 0
        by_layer: dict[str, dict[str, Any]] = {
            "interpretation": {
                "interpretation": self._said.get("interpretation", "as asked"),
                "follows": list(range(1, offered + 1)),
                "frames": [{"df_name": "sales", "df_columns": columns, "purpose": "sales"}],
                "task": "count",
                "selects": selects,
                "code": code,
                "answer_kind": "text" if "script" in self._said else "integer",
                "unit": "",
            },
            "entity": {
                "entity": self._said.get("interpretation", "net sales, 2020"),
                "steps": self._said.get("steps", '[{"id": 1, "kind": "cell", "row": "net sales", "column": "2020"}]'),
                "answer": "step 1",
            },
            "selects": {"selects": selects},
            "code": {"code": code},
            "terms": {"terms": [], "rephrased": self._said.get("rephrased", "")},
            "chosen": {"chosen": list(range(1, 13)), "whole": True},
            "variants": {"variants": ["selling months"], "parts": []},
        }
        return by_layer.get(first, {first: self._said.get("interpretation", "")})
