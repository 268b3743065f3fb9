"""The example of docs/batch.md on Spark, as it stands there, in a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LOGGED = """
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.program.mlflow_model import log_model

assert log_model(FinancialExpert(), "finexpert") == "models:/finexpert/1"
"""
SHOWN = "print('came out:', [(row['status'], row['value']) for row in answers.collect()])"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(find_spec("pyspark") is None, reason="needs PySpark: make test-engines installs it")
@pytest.mark.skipif(shutil.which("java") is None, reason="needs Java 17 or newer")
def test_the_example_answers(own_home: Path, tmp_path: Path) -> None:
    examples = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "batch.md").read_text(), re.MULTILINE | re.DOTALL)
    (example,) = (code for code in examples if "spark_udf" in code)
    environment = os.environ | {
        "FINEXPERT_LM": "recorded",
        "FINEXPERT_MEMORY": "false",
        "MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path}/mlflow.db",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": "--master local[1] --conf spark.ui.enabled=false pyspark-shell",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    ran = subprocess.run(
        [sys.executable, "-c", f"{LOGGED}\n{example}\n{SHOWN}"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "came out: [('answered', '3')]" in ran.stdout, ran.stderr[-3000:]
