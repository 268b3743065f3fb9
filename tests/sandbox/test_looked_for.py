"""Texts that a script looks for among the cells of its frames: what met none is told, and what leaves rows out looks for nothing."""

from __future__ import annotations

import pandas as pd
import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.sandbox import Sandbox

FRAMES = {
    "budget": pd.DataFrame({"version": ["Draft", "Final", "Final"], "eur": [1.0, 2.0, 3.0]}),
    "readme": pd.DataFrame({"line": ["Final was approved by the board", None], "odd": [[1], {"a": 1}]}),
}
SUM = "\nanswer = float(budget.loc[m, 'eur'].sum())"
IN_VAIN = {
    "equal": "m = budget.version == 'final'" + SUM,
    "the other way round": "m = 'final' == budget['version']" + SUM,
    "isin": "m = budget.version.isin(['Approved', 'Agreed'])" + SUM,
    "a list with a name": "names = ['Approved']\nm = budget.version.isin(names)" + SUM,
    "eq": "m = budget.version.eq('Approved')" + SUM,
    "str": "m = budget.version.str.contains('approved|agreed', case=False)" + SUM,
    "lower": "m = budget.version.str.lower().str.startswith('app')" + SUM,
    "re": "import re\nm = [bool(re.search('approved', v.lower())) for v in budget.version]" + SUM,
    "in": "m = ['approved' in v.lower() for v in budget['version']]" + SUM,
    "another branch decides": "m = budget.version == 'Approved'\nif not m.any():\n    m = budget.version == 'Final'"
    + SUM,
    "beside one that is met": "m = (budget.version == 'Approved') & (budget.version != 'Draft')" + SUM,
    "a loop": "answer = 0.0\nfor r in budget.itertuples():\n    if r.version == 'Approved':\n        answer += r.eur",
}
MET = {
    "equal": "m = budget.version == 'Final'" + SUM,
    "one of several": "m = budget.version.isin(['Final', 'Approved'])" + SUM,
    "one of an or": "m = (budget.version == 'Final') | (budget.version == 'Approved')" + SUM,
    "one of a chain": "answer = 0.0\nfor r in budget.itertuples():\n    if r.version == 'Approved':\n        answer -= r.eur\n"
    "    elif r.version == 'Final':\n        answer += r.eur",
    "left out": "m = ~budget.version.str.contains('total')" + SUM,
    "left out by name": "t = budget.version.str.contains('total')\nm = ~t" + SUM,
    "left out by a column": "budget['t'] = budget.version.str.contains('total')\nm = ~budget['t']" + SUM,
    "left out by a function": "def total(v):\n    return 'total' in v.lower()\nm = ~budget.version.map(total)" + SUM,
    "passed over": "answer = 0.0\nfor r in budget.itertuples():\n    if 'total' in r.version:\n        continue\n    answer += r.eur",
    "dropped": "b = budget.drop(budget[budget.version == 'Total'].index)\nanswer = float(b.eur.sum())",
    "unequal": "m = budget.version != 'Approved'" + SUM,
    "no cell": "kinds = [str(t) for t in budget.dtypes]\nanswer = float(sum(k == 'category' for k in kinds))",
    "of none": "m = [v.lower() not in ('nan', 'none') and v.lower() == v.lower() for v in budget.version]" + SUM,
    "taken apart": "import re\nanswer = float(sum(bool(re.search(r'(\\d+) days', v)) for v in budget.version))",
}


@pytest.fixture(scope="module")
def sandbox() -> object:
    with Sandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize("name", IN_VAIN)
def test_what_met_no_cell_is_told(sandbox: Sandbox, name: str) -> None:
    outcome = sandbox.run(IN_VAIN[name], FRAMES, AnswerFormat(kind="number"))
    assert [(one.frame, one.column) for one in outcome.unmet] == [("budget", "version")]


@pytest.mark.parametrize("name", MET)
def test_what_was_met_or_leaves_rows_out_is_not(sandbox: Sandbox, name: str) -> None:
    assert sandbox.run(MET[name], FRAMES, AnswerFormat(kind="number")).unmet == ()


def test_what_is_compared_stays_what_it_was(sandbox: Sandbox) -> None:
    code = """
import re
m = re.search('(fin)al', 'a final word')
seen = budget.version == 'Final'
answer = [m.group(1), str(seen.dtype), seen.name, type('a' == 'b').__name__, str('Final' in budget.version.values)]
"""
    outcome = sandbox.run(code, FRAMES, AnswerFormat(kind="list"))
    assert outcome.value == ["fin", "bool", "version", "bool", "True"]
