"""What a script gets and gives: frames in, typed answers, periods and figures out, errors that can be repaired."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.errors import ScriptError
from finexpert.sandbox import Limits, Sandbox

Frames = dict[str, pd.DataFrame]


@pytest.mark.parametrize(
    ("code", "answer_format", "expected"),
    [
        ("answer = gdp['value'].mean()", {"kind": "number"}, 127.5),
        ("answer = np.float32(0.5)", {"kind": "number"}, 0.5),
        ("answer = gdp['value'].tail(1)", {"kind": "number"}, 155.0),
        ("answer = len(gdp)", {"kind": "integer"}, 12),
        ("answer = 3.0", {"kind": "integer"}, 3),
        ("answer = gdp['date'].max()", {"kind": "date"}, dt.date(2020, 10, 1)),
        ("answer = '2020-01-01'", {"kind": "date"}, dt.date(2020, 1, 1)),
        ("answer = gdp['date'].dt.to_period('Q').iloc[0]", {"kind": "date"}, dt.date(2018, 1, 1)),
        ("answer = gdp['date'].iloc[-1]", {"kind": "year"}, 2020),
        ("answer = gdp['value'].iloc[0] > 1", {"kind": "boolean"}, True),
        ("answer = gdp['region'].iloc[0]", {"kind": "text"}, "east"),
        ("answer = gdp['date'].head(2)", {"kind": "list", "items": "date"}, [dt.date(2018, 1, 1), dt.date(2018, 4, 1)]),
        ("answer = gdp['region'].unique()", {"kind": "list", "items": "text"}, ["east", "west"]),
        ("answer = gdp['value'].head(1)", {"kind": "list", "items": "number"}, [100.0]),
        ("answer = (1, 2.5)", {"kind": "list", "items": "number"}, [1.0, 2.5]),
        ("answer = []", {"kind": "list", "items": "number"}, []),
    ],
)
def test_typed_answers(
    sandbox: Sandbox, frames: Frames, code: str, answer_format: dict[str, Any], expected: object
) -> None:
    value = sandbox.run(code, frames, AnswerFormat(**answer_format)).value
    assert value == expected
    assert type(value) is type(expected)


def test_tables(sandbox: Sandbox, frames: Frames) -> None:
    table = sandbox.run("answer = gdp.head(2)", frames, AnswerFormat(kind="table")).value
    pd.testing.assert_frame_equal(table, frames["gdp"].head(2))
    grouped = sandbox.run("answer = gdp.groupby('region')['value'].max()", frames, AnswerFormat(kind="table")).value
    assert grouped.to_dict("list") == {"region": ["east", "west"], "value": [150.0, 155.0]}


def test_tables_of_every_kind_of_column(sandbox: Sandbox) -> None:
    code = """
day = pd.Timestamp('2020-01-31')
answer = pd.DataFrame({
    'period': pd.period_range('2020Q1', periods=2, freq='Q'),
    'band': pd.cut(pd.Series([1.0, 9.0]), [0, 5, 10]),
    'category': pd.Categorical(['a', 'b']),
    'zone': pd.to_datetime(['2020-01-01', '2020-06-01']).tz_localize('UTC'),
    'day': [day.date(), None],
    'mixed': [1, 'one'],
    'nothing': [None, None],
    'items': [[1], [2, 3]],
    'span': pd.to_timedelta(['1D', '2D']),
})
answer.columns = pd.MultiIndex.from_product([['all'], answer.columns])
"""
    table = sandbox.run(code, {}, AnswerFormat(kind="table")).value
    assert list(table.columns)[:2] == ["all / period", "all / band"]
    assert table.iloc[0].to_dict() == {
        "all / period": pd.Timestamp("2020-01-01"),
        "all / band": "(0, 5]",
        "all / category": "a",
        "all / zone": pd.Timestamp("2020-01-01", tz="UTC"),
        "all / day": dt.date(2020, 1, 31),
        "all / mixed": "1",
        "all / nothing": pytest.approx(np.nan, nan_ok=True),
        "all / items": "[1]",
        "all / span": pd.Timedelta("1D"),
    }


def test_frames_arrive_as_ordinary_types(sandbox: Sandbox) -> None:
    frame = pd.DataFrame(
        {
            "day": [dt.date(2020, 1, 31), None],
            "price": [decimal.Decimal("1.25"), None],
            "mixed": [1, "a"],
            "text": ["x", None],
            "flag": [True, None],
        }
    )
    code = "answer = [str(kind) for kind in df.dtypes] + [str(df['day'].iloc[0]), str(df['price'].sum())]"
    kinds = sandbox.run(code, {"df": frame}, AnswerFormat(kind="list", items="text")).value
    assert kinds == ["datetime64[us]", "float64", "str", "str", "object", "2020-01-31 00:00:00", "1.25"]


@pytest.mark.parametrize(
    ("code", "period"),
    [
        ("period = '2008 Q3'", "2008 Q3"),
        ("period = (gdp['date'].min(), gdp['date'].max())", "2018-01-01 to 2020-10-01"),
        ("period = pd.Period('2008Q3')", "2008Q3"),
        ("period = gdp", None),
        ("", None),
    ],
)
def test_periods(sandbox: Sandbox, frames: Frames, code: str, period: str | None) -> None:
    assert sandbox.run(f"{code}\nanswer = 1", frames, AnswerFormat()).period == period


def test_figures_and_output(sandbox: Sandbox, frames: Frames) -> None:
    code = "print('hello')\nfor n in range(2):\n    plt.figure()\n    plt.plot(gdp['date'], gdp['value'])\nanswer = 1"
    outcome = sandbox.run(code, frames, AnswerFormat())
    assert [image[:8] for image in outcome.figures] == [b"\x89PNG\r\n\x1a\n"] * 2
    assert outcome.stdout == "hello\n"
    assert 0 < outcome.seconds < 10


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1", "did not set `answer`; set it to a float"),
        ("answer = 'east'", "must be a finite number, not the str it is"),
        ("answer = gdp", "not the DataFrame it is"),
        ("answer = gdp['value']", "not the Series it is"),
        ("answer = {'a': 1}", "not the dict it is"),
        ("answer = float('nan')", "missing value"),
        ("answer = None", "NoneType"),
        ("answer = gdp['valeu'].mean()", r"KeyError \(line 1: `answer = gdp\['valeu'\]\.mean\(\)`\)"),
        ("x = 1\n\nanswer = 1 / 0", r"ZeroDivisionError: division by zero \(line 3"),
        ("answer = (", "SyntaxError: <value> was never closed"),
        ("answer = undefined + 1", r"NameError: name <value> is not defined \(line 1: `answer = undefined \+ 1`\)"),
        ("answer = gdp.vale", r"'DataFrame' object has no attribute <value> \(line 1: `answer = gdp\.vale`\)"),
        ("import os\nanswer = 1", "the script was refused. line 1: `import os` is not allowed"),
        ("import sys\nsys.exit()", "refused"),
        ("raise SystemExit", "called exit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        (
            "answer = gdp[['value', 'nothing']]",
            r"KeyError: <value> not in index \(line 1: `answer = gdp\[\['value', 'nothing'\]\]`\)",
        ),
    ],
)
def test_errors_can_be_repaired(sandbox: Sandbox, frames: Frames, code: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        sandbox.run(code, frames, AnswerFormat())


@pytest.mark.parametrize(
    "code",
    [
        "answer = float(staff['name'].iloc[0])",
        "answer = staff.set_index('name').loc['x' + staff['name'].iloc[0]]",
        "raise ValueError(staff['name'].iloc[0], staff['pay'].iloc[0])",
        "assert False, staff.to_string()",
        "class E(Exception):\n    pass\nE.__name__ = staff['name'].iloc[0]\nraise E(staff['name'].iloc[0])",
        "answer = type(staff['name'].iloc[0], (), {})()",
        "answer = pd.to_datetime(staff['name'])",
        "answer = staff.astype({'name': 'int64'})",
        "answer = staff.pivot(columns='name', values='pay')[staff['name'].iloc[0] + '!']",
        "exec_like = staff['name'].iloc[0]\nanswer = getattr(staff, exec_like)",
    ],
)
def test_errors_hold_no_cell_value(sandbox: Sandbox, code: str) -> None:
    staff = pd.DataFrame({"name": ["Ottokar", "Zdenka"], "pay": [48213.75, 99817.25]})
    with pytest.raises(ScriptError) as caught:
        sandbox.run(code, {"staff": staff}, AnswerFormat())
    for value in ("Ottokar", "Zdenka", "48213", "99817", ".75"):
        assert value not in str(caught.value)


SPELLED = [
    # Each says the pay of the first row through words that stand in the code itself.
    "w = 'zero one two three four five six seven eight nine'.split()\nraise ValueError(' '.join(w[int(c)] for c in PAY))",
    "raise KeyError(['zero','one','two','three','four','five','six','seven','eight','nine'][int(PAY[0])])",
    "# 0 1 2 3 4 5 6 7 8 9\nraise ValueError(' '.join(PAY))",
    "raise ValueError('name ' + ''.join('abcdefghij'[int(c)] for c in PAY) + ' is not defined')",
    "w = 'zero one two three four'.split()\nraise NameError(f\"name '{w[int(PAY[0])]}' is not defined\")",
    "class zero(Exception): pass\nclass four(Exception): pass\nraise [zero, zero, zero, zero, four][int(PAY[0])]('x')",
    "raise type('E' + PAY, (Exception,), {})()",
    "w = 'zero one two three four'.split()\nraise AttributeError(f\"'DataFrame' object has no attribute '{w[int(PAY[0])]}'\")",
    "w = 'zero one two three four'.split()\nraise KeyError(f\"['{w[int(PAY[0])]}'] not in index\")",
    "w = 'zero one two three four'.split()\nraise IndexError(f'index {PAY} is out of bounds')",
    "w = 'zero one two three four'.split()\nraise OSError(int(PAY), w[int(PAY[0])])",
    "w = ['zero','one','two','three','four']\nassert False, w[int(PAY[0])]",
    "w = ['zero','one','two','three','four']\nraise UnicodeDecodeError(w[int(PAY[0])], b'x', 0, 1, 'four')",
    "w = ['zero','one','two','three','four']\nexec_ = {}[w[int(PAY[0])]]",
]


@pytest.mark.parametrize("code", SPELLED)
def test_a_script_says_nothing_in_words_of_its_own(sandbox: Sandbox, code: str) -> None:
    staff = pd.DataFrame({"name": ["Ottokar", "Zdenka"], "pay": [48213, 99817]})
    setting = "PAY = str(staff['pay'].iloc[0])\n"
    with pytest.raises(ScriptError) as caught:
        sandbox.run(setting + code, {"staff": staff}, AnswerFormat())
    said = str(caught.value).partition(" (line ")[0]
    for word in ("four", "eight", "48213", "4 8", "eicbd", "eibcd", "E4"):
        assert word not in said


def test_names_of_columns_are_told(sandbox: Sandbox) -> None:
    staff = pd.DataFrame({"name": ["a"], "pay": [1]})
    for code, told in (
        ("answer = staff[['name']]['pay']", "KeyError: 'pay'"),
        (
            "staff.insert(0, 'pay', 1)",
            "ValueError: cannot insert <value>, already exists|cannot insert 'pay', already exists",
        ),
        ("answer = staff.drop(columns='pay').drop(columns=['pay'])", "'pay' not found in axis"),
    ):
        with pytest.raises(ScriptError, match=told):
            sandbox.run(code, {"staff": staff}, AnswerFormat())


@pytest.mark.parametrize("name", ["pd", "answer", "a b", "class", "1x"])
def test_names_that_no_frame_can_have(sandbox: Sandbox, name: str) -> None:
    with pytest.raises(ScriptError, match="cannot be called"):
        sandbox.run("answer = 1", {name: pd.DataFrame()}, AnswerFormat())


def test_input_has_limits() -> None:
    with Sandbox(Limits(code_chars=20, input_bytes=1000)) as sandbox:
        with pytest.raises(ScriptError, match="21 characters"):
            sandbox.run("answer = 1" + " " * 11, {}, AnswerFormat())
        with pytest.raises(ScriptError, match="select fewer rows"):
            sandbox.run("answer = 1", {"df": pd.DataFrame({"a": range(10_000)})}, AnswerFormat())


def test_the_same_script_gives_the_same_answer(sandbox: Sandbox) -> None:
    code = "import random\nanswer = list({'a', 'b', 'c', 'd', 'e'}) + [str(np.random.rand()), str(random.random())]"
    kind = AnswerFormat(kind="list", items="text")
    first = sandbox.run(code, {}, kind).value
    assert sandbox.run(code, {}, kind).value == first


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="workers is 0"):
        Sandbox(workers=0)
    with pytest.raises(ValueError, match="wall_seconds"):
        Limits(wall_seconds=-1)
