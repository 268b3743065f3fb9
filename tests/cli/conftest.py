"""Running commands: a home with the sample economy, an empty current folder, and models that answer from a script."""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from finexpert.settings import Settings


class Ran(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Ran]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the sample economy is built."""
    from finexpert.datasets.fred.database import open_fred

    home = tmp_path_factory.mktemp("built")
    open_fred(settings=Settings(home=home)).close()
    return home


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of MLflow with its tables and no run: making one takes seconds."""
    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    with warnings.catch_warnings():
        # What MLflow and SQLAlchemy say of themselves while they are imported and make tables.
        warnings.simplefilter("ignore")
        import mlflow.dspy

        mlflow.MlflowClient(tracking_uri=f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def home(own_home: Path, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home with the sample economy; the current folder is the test's own."""
    shutil.copytree(built / "cache", own_home / "cache", copy_function=os.link)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return own_home


@pytest.fixture
def tracked(home: Path, empty_store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The store of MLflow that an evaluation in the current folder writes; what it switched on is off again after."""
    import mlflow.dspy

    # MLflow keeps the last store in the environment too; None takes it back.
    mlflow.set_tracking_uri(None)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    # Traces take most of the time; tests/test_tracking.py has them.
    monkeypatch.setattr(mlflow.dspy, "autolog", lambda **options: None)
    path = Path("runs") / "mlflow.db"
    path.parent.mkdir()
    shutil.copy(empty_store, path)
    yield path.resolve()
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri(None)


@pytest.fixture
def finexpert(home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process, as the installed script does."""
    from finexpert.cli.main import main

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["finexpert", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        code = ended.value.code
        assert "Traceback" not in err
        return Ran(int(code or 0), out, err)

    return run


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], list[str]]:
    """Has every command ask a scripted model; gives the list of prompts that it gets."""
    from finexpert.language_models.roles import LanguageModels
    from finexpert.language_models.scripted import ScriptedModel

    def use(answers: Any) -> list[str]:
        prompts: list[str] = []
        rest = None if callable(answers) else iter(answers)

        def reply(messages: list[dict[str, str]]) -> str:
            prompts.append(messages[-1]["content"])
            return str(next(rest) if rest is not None else answers(prompts[-1]))

        models = LanguageModels(ScriptedModel(reply))
        monkeypatch.setattr(LanguageModels, "from_settings", lambda settings: models)
        return prompts

    return use
