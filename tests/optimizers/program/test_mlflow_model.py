"""A program in MLflow's registry: logged once, run by `mlflow.pyfunc` over the sample economy, and loaded again."""

from __future__ import annotations

import datetime as dt
import json
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

from finexpert import tracking
from finexpert.answers.records import Record
from finexpert.errors import ConfigurationError, DataError
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.program.artifact import save, state_of
from finexpert.optimizers.program.loading import load
from finexpert.optimizers.program.manifest import ChosenOptions
from finexpert.optimizers.program.mlflow_model import COLUMNS, EXAMPLE, Serving, log_model, pinned
from finexpert.settings import Settings


class Logged(NamedTuple):
    """A registered model: its address, the store, the folder of its files, and the home of who serves it."""

    uri: str
    store: str
    files: Path
    home: Path


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logged]:
    folder = tmp_path_factory.mktemp("mlflow")
    store = f"sqlite:///{folder}/mlflow.db"
    expert = FinancialExpert()
    # An instruction that the recordings do not depend on: the layer is not asked with drafts.
    predictor = expert.script_generation.write
    predictor.signature = predictor.signature.with_instructions("Write it.")
    save(expert, folder / "one", options=ChosenOptions(retries=0))
    logging.getLogger("alembic").setLevel(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what MLflow says of itself
        import mlflow

        mlflow.set_tracking_uri(store)
        mlflow.create_experiment("models", artifact_location=(folder / "artifacts").as_uri())
        mlflow.set_experiment("models")
        uri = log_model(folder / "one", "finexpert", alias="champion")
    (path,) = (folder / "artifacts").rglob("MLmodel")
    yield Logged(uri, store, path.parent, folder / "home")
    # None takes back what was chosen, also from the environment.
    mlflow.set_tracking_uri(None)


@pytest.fixture
def served(logged: Logged, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The model as `mlflow models serve` loads it, with the recorded completions."""
    import mlflow

    monkeypatch.setenv("FINEXPERT_HOME", str(logged.home))
    monkeypatch.setenv("FINEXPERT_LM", "recorded")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", logged.store)
    mlflow.set_tracking_uri(logged.store)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield mlflow.pyfunc.load_model(logged.uri)


def test_nothing_is_pickled_and_requirements_are_pinned(logged: Logged) -> None:
    names = {path.name for path in logged.files.rglob("*") if path.is_file()}
    assert {"finexpert_model.py", "manifest.json", "planning.json", "input_example.json", "MLmodel"} <= names
    assert not [name for name in names if name.endswith((".pkl", ".pickle"))]
    lines = (logged.files / "requirements.txt").read_text().split()
    assert lines == pinned()
    assert {"finexpert", "dspy", "mlflow", "duckdb"} <= {line.split("==")[0] for line in lines}
    assert all(line.count("==") == 1 for line in lines)


def test_a_question_goes_in_and_an_answer_comes_out(served: Any) -> None:
    rows = [
        EXAMPLE,
        {**EXAMPLE, "answer_format": '{"kind": "integr"}'},
        {**EXAMPLE, "as_of": "soon"},
        {"question": " "},
    ]
    answers = served.predict(pd.DataFrame(rows, index=[3, 5, 7, 9]))
    assert (list(answers.columns), list(answers.index)) == (list(COLUMNS), [3, 5, 7, 9])
    first, *wrong = answers.to_dict("records")
    assert (first["status"], json.loads(first["value"]), first["text"]) == ("answered", 3, "3 recessions")
    assert first["explanation"].startswith("A recession is taken, by the common rule")
    assert Record.model_validate_json(first["record"]).plan.steps[0].kind == "extract"
    # A row that is not usable fails by itself: the others have their answers.
    assert [row["status"] for row in wrong] == ["failed"] * 3
    assert [row["value"] for row in wrong] == [None] * 3
    for row, word in zip(wrong, ("answer_format kind: ", "soon", "the question is empty"), strict=True):
        assert word in row["text"]


def test_what_stands_beside_a_question_is_never_left_out(logged: Logged, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day that is no text would be dropped, and rows of later days be seen; a prompt that was refused would end all rows."""
    monkeypatch.setenv("FINEXPERT_HOME", str(logged.home))
    monkeypatch.setenv("FINEXPERT_LM", "recorded")
    serving = Serving(logged.files / "artifacts" / "one", {"settings": {"memory": False}})
    rows = [
        {**EXAMPLE, "as_of": dt.date(2024, 9, 30)},
        {**EXAMPLE, "as_of": 20240930},
        {"question": "What is the price of tea?", "as_of": "2024-09-30"},
    ]
    answers = serving.predict(pd.DataFrame(rows))
    assert answers.status.tolist() == ["answered", "failed", "failed"]
    assert "as_of is a int" in answers.text[1]
    assert "not among the recorded ones" in answers.text[2]


def test_the_model_says_what_it_takes(served: Any) -> None:
    schema = served.metadata.get_input_schema()
    assert schema.required_input_names() == ["question"]
    assert schema.input_names() == ["question", "answer_format", "knowledge", "as_of"]
    assert served.metadata.get_output_schema().input_names() == list(COLUMNS)
    assert served.input_example.to_dict("records") == [EXAMPLE]
    with pytest.raises(Exception, match="Model is missing inputs"):
        served.predict(pd.DataFrame({"q": ["x"]}))


@pytest.mark.parametrize("place", ["models:/finexpert/1", "models:/finexpert@champion"])
def test_it_comes_back_as_a_program(logged: Logged, place: str, tmp_path: Path) -> None:
    expert = load(place, settings=Settings(tracking_uri=logged.store))
    assert expert.script_generation.write.signature.instructions == "Write it."
    assert state_of(expert.planning.filing) == state_of(FinancialExpert().planning.filing)
    assert (expert.options, expert.manifest.name) == ({"retries": 0}, "one")


def test_what_a_run_logged_comes_back_too(logged: Logged) -> None:
    import mlflow

    mlflow.set_tracking_uri(logged.store)
    with mlflow.start_run(experiment_id="1") as run:
        mlflow.log_artifacts(str(logged.files / "artifacts" / "one"), "compiled")
        mlflow.log_text("x", "other/state.pkl")
        mlflow.log_text("x", "more/words.txt")
    settings = Settings(tracking_uri=logged.store)
    expert = load(f"runs:/{run.info.run_id}/compiled", settings=settings)
    assert expert.script_generation.write.signature.instructions == "Write it."
    for place, message in (
        ("other", "state.pkl is a pickle"),
        ("more", "holds no compiled program"),
        ("nothing", "cannot be fetched"),
    ):
        with pytest.raises(DataError, match=message):
            load(f"runs:/{run.info.run_id}/{place}", settings=settings)
    with pytest.raises(DataError, match="cannot be fetched from sqlite"):
        load("models:/nothing/1", settings=settings)
    assert tracking.address(settings) == logged.store


def test_who_serves_decides_and_not_who_asks(logged: Logged, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = logged.files / "artifacts" / "one"
    assert Serving(place, {}).settings.retries == 0
    assert Serving(place, {"settings": {"retries": 4}}).settings.retries == 4
    with pytest.raises(ConfigurationError, match=r"model_config has dta; it may have data and settings"):
        Serving(place, {"dta": "x"})
    with pytest.raises(ConfigurationError, match="the setting retries: "):
        Serving(place, {"settings": {"retries": 99}})
    with pytest.raises(ValueError, match="the column question is missing; there are q"):
        Serving(place, {}).predict(pd.DataFrame({"q": ["x"]}))
    # The data are named by the environment or the configuration; a missing file is told, not made.
    monkeypatch.setenv("FINEXPERT_DATA", str(tmp_path / "none.duckdb"))
    with pytest.raises(DataError, match="does not exist"):
        Serving(place, {}).predict(pd.DataFrame([EXAMPLE]))
