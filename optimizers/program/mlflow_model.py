"""A compiled program as a model in MLflow's registry: `mlflow models serve` and `mlflow.pyfunc` run it.

    uri = log_model("runs/compiled/frontier", "finexpert")            -> models:/finexpert/1
    mlflow.pyfunc.load_model(uri).predict(pd.DataFrame({"question": ["When did the latest recession start?"]}))

One row of input is one question; one row of output is its answer, whose `value` and `record` are JSON. What is logged
is the folder of JSON files and a few lines of code that import finexpert: nothing is pickled. Where the data are and
which model is asked is the business of who serves it, never of a request: FINEXPERT_DATA and the other FINEXPERT_*
variables, or `model_config` of `mlflow.pyfunc.load_model` with {"data": ..., "settings": {...}}.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import math
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from finexpert.batch.asking import answer_to
from finexpert.core.answers import Answer, AnswerFormat, Failure
from finexpert.core.encoding import encode
from finexpert.core.statuses import gives_value
from finexpert.datasets.fred.database import open_data
from finexpert.errors import ConfigurationError
from finexpert.knowledge.taught import Taught
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.program import artifact
from finexpert.optimizers.program.loading import load, located
from finexpert.sandbox import Limits, Sandbox
from finexpert.session import Session
from finexpert.settings import Settings, with_options

COLUMNS = ("status", "value", "text", "confidence", "explanation", "record")
_OPTIONAL = ("answer_format", "knowledge", "as_of")

# The file that MLflow keeps and runs. The class of MLflow's stands there, so that importing this module is cheap.
_CODE = '''\
"""A compiled finexpert program: questions in, answers out."""

import pandas as pd
from finexpert.optimizers.program.mlflow_model import Serving
from mlflow.models import set_model
from mlflow.pyfunc import PythonModel


class FinancialExpertModel(PythonModel):
    def load_context(self, context):
        self.serving = Serving(context.artifacts["compiled"], context.model_config or {})

    def predict(self, context, model_input: pd.DataFrame, params=None) -> pd.DataFrame:
        return self.serving.predict(model_input)


set_model(FinancialExpertModel())
'''

# Answered by the packaged recordings over the sample economy, so that it can be tried without a model.
EXAMPLE = {"question": "How many recessions have there been in the last 30 years?", "as_of": "2024-09-30"}


class Serving:
    """A loaded program with its data and its sandbox; may be asked by several threads."""

    def __init__(self, compiled: str | Path, config: Mapping[str, Any]) -> None:
        if unknown := set(config) - {"data", "settings"}:
            raise ConfigurationError(f"model_config has {', '.join(sorted(unknown))}; it may have data and settings")
        self.expert = load(compiled)
        try:
            self.settings = with_options(Settings(**config.get("settings", {})), self.expert.options)
        except ValidationError as error:
            first = error.errors()[0]
            raise ConfigurationError(f"the setting {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
        self._data = config.get("data") or os.environ.get("FINEXPERT_DATA")
        self._lock = threading.Lock()
        self._ready: dict[str, Any] = {}

    def predict(self, rows: pd.DataFrame) -> pd.DataFrame:
        """One row an answer, with the index of the questions.

        A question that cannot be answered, or whose prompt the model refuses, is a row with status "failed"; a model that cannot
        be reached raises.
        """
        if "question" not in rows.columns:
            raise ValueError(f"the column question is missing; there are {', '.join(map(str, rows.columns)) or 'none'}")
        answers = [as_row(self.answer(row)) for row in rows.to_dict("records")]
        # As objects: a column of texts would turn a missing one into NaN.
        return pd.DataFrame(answers, columns=list(COLUMNS), index=rows.index, dtype=object)

    def answer(self, row: Mapping[Any, Any]) -> Answer:
        """The answer to one row of the input."""
        question = str(row["question"]) if isinstance(row["question"], str) else ""
        try:
            given = {name: text for name in _OPTIONAL if (text := _text(name, row.get(name)))}
            as_of = dt.date.fromisoformat(given["as_of"]) if "as_of" in given else self.settings.as_of
            form = AnswerFormat.model_validate_json(given["answer_format"]) if "answer_format" in given else None
            if not question.strip():
                raise ValueError("the question is empty")
        except (TypeError, ValueError) as error:
            message = f"the input is not usable: {_why(error)}"
            failure = Failure(layer="input", kind="input", message=message)
            return Answer(question=question, status="failed", failure=failure)
        with self._lock:
            common = self._ready or self._start()
        with Session(settings=self.settings, expert=self.expert, **common) as session:
            told = given.get("knowledge", "")
            return answer_to(question, session, answer_format=form, knowledge=told, as_of=as_of)

    def _start(self) -> dict[str, Any]:
        """Data, models, sandbox and what was taught, opened by the process that answers: Spark and servers start others."""
        limits = Limits(wall_seconds=self.settings.script_seconds)
        self._ready = {
            "source": open_data(Path(self._data) if self._data else None, settings=self.settings),
            "models": LanguageModels.from_settings(self.settings),
            "sandbox": Sandbox(limits, workers=self.settings.workers),
            "taught": Taught.from_settings(self.settings) if self.settings.memory else None,
        }
        return self._ready


def _text(name: str, value: Any) -> str:
    """What stands in a column beside the question, nothing where it is missing; TypeError for what would be left out in silence.

    >>> _text("as_of", dt.date(2024, 9, 30)), _text("knowledge", float("nan"))
    ('2024-09-30', '')
    """
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return ""
    if name == "as_of" and isinstance(value, dt.date):
        return f"{value:%Y-%m-%d}"
    if not isinstance(value, str):
        raise TypeError(f"{name} is a {type(value).__name__}, and a text is needed")
    return value.strip()


def _why(error: TypeError | ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    return f"answer_format {'.'.join(map(str, first['loc']))}: {first['msg']}".replace(" :", ":")


def as_row(answer: Answer) -> dict[str, Any]:
    """An answer as a row of the output.

    >>> as_row(Answer(question="Which?", status="answered", value=dt.date(2020, 2, 1)))["value"]
    '"2020-02-01"'
    """
    return {
        "status": answer.status,
        "value": json.dumps(encode(answer.value)) if gives_value(answer.status) else None,
        "text": answer.text,
        "confidence": None if answer.confidence is None else float(answer.confidence),
        "explanation": answer.explanation,
        "record": answer.record.model_dump_json() if answer.record else None,
    }


def log_model(
    program: FinancialExpert | str | Path,
    name: str,
    *,
    settings: Settings | None = None,
    alias: str | None = None,
    requirements: Sequence[str] | None = None,
) -> str:
    """Register a program as a model and give its address, models:/name/version.

    `program` is what `load` takes, or a program at hand. Log into the store that is chosen (see `tracking.start`), in
    the open run or in one of its own. `requirements` replace the pinned ones, for example by the path of a wheel.
    """
    with tempfile.TemporaryDirectory() as temporary:
        if isinstance(program, FinancialExpert):
            folder = artifact.save(program, Path(temporary) / "compiled")
            return _log(folder, name, Path(temporary), alias, requirements)
        with located(program, settings) as folder:
            # What cannot be loaded here is not handed on.
            load(folder)
            return _log(folder, name, Path(temporary), alias, requirements)


def _log(folder: Path, name: str, temporary: Path, alias: str | None, requirements: Sequence[str] | None) -> str:
    import mlflow

    # It would like to pin pip too, and says so where there is none.
    logging.getLogger("mlflow.utils.environment").setLevel(logging.ERROR)
    code = temporary / "finexpert_model.py"
    code.write_text(_CODE, encoding="utf-8")
    info = mlflow.pyfunc.log_model(
        name=name,
        python_model=str(code),
        artifacts={"compiled": str(folder)},
        signature=_signature(),
        input_example=pd.DataFrame([EXAMPLE]),
        pip_requirements=list(pinned() if requirements is None else requirements),
        registered_model_name=name,
        metadata={"finexpert": version("finexpert"), "compiled": folder.name},
    )
    if alias:
        mlflow.MlflowClient().set_registered_model_alias(name, alias, info.registered_model_version)
    return f"models:/{name}/{info.registered_model_version}"


def _signature() -> Any:
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, Schema, TensorSpec

    inputs: list[ColSpec | TensorSpec] = [ColSpec("string", "question")]
    inputs += [ColSpec("string", column, required=False) for column in _OPTIONAL]
    outputs: list[ColSpec | TensorSpec] = [
        ColSpec("double" if c == "confidence" else "string", c, required=c in ("status", "text")) for c in COLUMNS
    ]
    return ModelSignature(inputs=Schema(inputs), outputs=Schema(outputs))


def pinned() -> list[str]:
    """This version of finexpert and what it needs, each with the version that is installed.

    >>> pinned()[0].startswith("finexpert=="), any(line.startswith("dspy==3") for line in pinned())
    (True, True)
    """
    from packaging.requirements import Requirement

    needed = [Requirement(line) for line in requires("finexpert") or ()]
    names = [r.name for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    return [f"{name}=={version(name)}" for name in ("finexpert", *names)]
