"""The early refusal: what it refuses and what it must leave alone."""

from __future__ import annotations

import pytest

from finexpert.sandbox.policy import refusals


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os", "`import os` is not allowed"),
        ("import subprocess as s", "`import subprocess`"),
        ("from os import path", "`from os import`"),
        ("from . import x", "is not allowed"),
        ("import duckdb", "the frames are variables already"),
        ("x = open('a.csv')", "no file can be opened"),
        ("x = eval('1')", "write the expression itself"),
        ("exec('x = 1')", "write the statements themselves"),
        ("__import__('os')", "use an import statement"),
        ("name = input()", "nobody answers"),
        ("exit()", "let the script end"),
        ("x = ().__class__.__base__", "__class__"),
        ("x = pd.DataFrame.__init__.__globals__", "__globals__"),
        ("x = pd.read_csv('a.csv')", "reads a file"),
        ("import pandas\nx = pandas.read_parquet('a')", "line 2"),
        ("df.to_csv('out.csv')", "set `answer` to the DataFrame itself"),
        ("df.to_json(path_or_buf='x')", "writes a file"),
        ("df.to_parquet('x')", "writes a file"),
        ("plt.savefig('a.png')", "leave the figure open"),
        ("fig.savefig('a.png')", "leave the figure open"),
        ("x = np.loadtxt('a')", "reads or writes a file"),
        ("x = pd.io.common.os", "no access to the system"),
    ],
)
def test_refused_with_advice(code: str, words: str) -> None:
    assert words in " ".join(refusals(code))


@pytest.mark.parametrize(
    "code",
    [
        "df.query('a > 1 and b == \"x\"')",
        "df.eval('c = a + b')",
        "pd.eval('1 + 1')",
        "x = type(df).__name__",
        "isinstance(df, pd.DataFrame)",
        "open = df['open']\nx = open + 1",
        "x = df.open.iloc[0]",
        "x = df.to_csv(index=False)",
        "x = df.to_json(orient='records')",
        "x = df.head().to_string(index=False)",
        "x = df.to_dict('records')",
        "x = df.to_numpy()",
        "x = df['date'].dt.to_period('Q')",
        "from scipy import stats\nfrom scipy.optimize import brentq",
        "import statsmodels.api as sm",
        "import matplotlib.dates as mdates",
        "class A:\n    def __init__(self):\n        super().__init__()",
        "getattr(df, 'mean')()",
        "x = df.style",
        "model.load(1)",
        "x = df.os",
    ],
)
def test_left_alone(code: str) -> None:
    assert refusals(code) == []


def test_every_place_is_named_in_order() -> None:
    found = refusals("import os\nx = 1\nimport sys")
    assert [line.split(":")[0] for line in found] == ["line 1", "line 3"]


def test_no_python_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        refusals("a = (")
