"""From a compiled program on disk, or in MLflow, to a `FinancialExpert` ready to be called.

    expert = load("runs/compiled/frontier")         a folder
    expert = load("frontier")                       a name under runs/compiled of the current folder
    expert = load("qwen2.5-coder-1.5b")             one that comes with finexpert, see `shipped`
    expert = load("promoted")                       the one that `finexpert compiled promote` chose
    expert = load("models:/finexpert/3")            MLflow's registry; also models:/finexpert@champion
    expert = load("runs:/<id>/compiled")            what a run logged

Only JSON is read, and no class or code is taken from it: a pickle is refused, and so is a state whose signature is
not the one of this version of finexpert any more.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from finexpert import tracking
from finexpert.errors import ConfigurationError, DataError
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.program import shipped
from finexpert.optimizers.program.artifact import COMPILED, class_path, fill, layers_of, predictors_of, read_states
from finexpert.optimizers.program.fingerprints import differences, of_signature
from finexpert.optimizers.program.manifest import MANIFEST, LayerEntry, Manifest, read
from finexpert.settings import Settings
from finexpert.storage import foreign_files
from finexpert.storage.whole_files import write_whole

PROMOTED = "promoted.json"
_PICKLES = (".pkl", ".pickle", ".joblib", ".dill")
_log = logging.getLogger(__name__)


def load(place: str | Path = "promoted", *, settings: Settings | None = None) -> FinancialExpert:
    """The program that was compiled. Its stores, sources and models are those of the settings, as always.

    The program has two more attributes: `options`, the options that compiling chose (such as {"drafts": False};
    `finexpert.settings.with_options` puts them into settings), and `manifest`, what it was compiled with and why it was kept.
    Raises DataError and ConfigurationError, which say what is wrong with which file.
    """
    with located(place, settings) as folder:
        return _load(folder)


def _load(folder: Path) -> FinancialExpert:
    manifest = read(folder)
    if found := _pickle_in(folder):
        raise DataError(_pickled(found))
    expert = FinancialExpert()
    layers = layers_of(expert)
    for name, entry in manifest.layers.items():
        if name not in layers:
            raise DataError(f"{folder / MANIFEST} has a layer {name}; this version has {', '.join(layers)}")
        if entry.class_ != class_path(layers[name]):
            raise DataError(f"{folder / MANIFEST}: {name} is a {entry.class_}, and here a {class_path(layers[name])}")
        _check_signatures(folder / entry.file, name, entry, layers[name])
    for name, entry in manifest.layers.items():
        fill(layers[name], read_states(folder / entry.file, entry))
    expert.options = manifest.options.chosen()
    expert.manifest = manifest
    return expert


def _check_signatures(path: Path, name: str, entry: LayerEntry, layer: Any) -> None:
    code = predictors_of(layer)
    if new := sorted(set(code) - set(entry.predictors)):
        _log.warning(
            "%s: %s has got the predictors %s since it was compiled; they are as in the code",
            path,
            name,
            ", ".join(new),
        )
    if set(entry.predictors) - set(code):
        raise DataError(f"{path}: {name} had the predictors {sorted(entry.predictors)}, and has {sorted(code)} now")
    for place, facts in entry.predictors.items():
        here = of_signature(code[place].signature)
        if found := differences(facts, here):
            raise DataError(
                f"{path}: the signature {facts.name} of {name}.{place} is another now: {'; '.join(found)}. "
                f"Compile {name} again, or use the version of finexpert that compiled it"
            )
        if facts.wording != here.wording:
            _log.warning("%s: the wording of %s changed since it was compiled; the compiled one is used", path, name)


@contextmanager
def located(place: str | Path, settings: Settings | None = None) -> Iterator[Path]:
    """The folder that holds the manifest; from MLflow it is fetched into one that is gone afterwards."""
    if not str(place).startswith(("models:/", "runs:/")):
        yield _local(place)
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield _fetched(str(place), temporary, settings or Settings())


def _local(place: str | Path) -> Path:
    text = str(place)
    if text == "promoted" and not Path(text).is_dir():
        return COMPILED / promoted().name
    path = Path(place)
    if path.suffix in _PICKLES:
        raise DataError(_pickled(path))
    if path.is_dir():
        if not (path / MANIFEST).is_file() and (found := _pickle_in(path)):
            raise DataError(_pickled(found))
        return path
    if path.exists():
        raise DataError(f"{path} is a file: give the folder that holds {MANIFEST}")
    if path.name == text and (COMPILED / text).is_dir():
        return COMPILED / text
    if text in shipped.names() and (ours := shipped.folder()) is not None:
        return ours / text
    raise DataError(
        f"there is no compiled program {text!r}, neither as a folder nor under {COMPILED.absolute()}: "
        f"`finexpert compiled list` shows what there is"
    )


def _pickle_in(folder: Path) -> Path | None:
    return next((path for path in sorted(folder.rglob("*")) if path.suffix in _PICKLES), None)


def _pickled(path: Path) -> str:
    return (
        f"{path} is a pickle, which runs code of whoever wrote it when it is read; it is not read. "
        f"A compiled program is a folder of JSON files: compile again, or save it with finexpert.optimizers.program.artifact.save"
    )


def _fetched(uri: str, to: str, settings: Settings) -> Path:
    # Read when MLflow is imported: without it every start tries to reach the network.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    import mlflow
    from mlflow.exceptions import MlflowException

    address = tracking.address(settings)
    try:
        root = Path(mlflow.artifacts.download_artifacts(uri, dst_path=to, tracking_uri=address))
    except (MlflowException, OSError) as error:
        raise DataError(f"{uri} cannot be fetched from {address}: {str(error).splitlines()[0]}") from error
    # A run logs the folder itself; in a logged model it stands among the artifacts.
    for pattern in (MANIFEST, f"artifacts/*/{MANIFEST}"):
        for path in sorted(root.glob(pattern)):
            return path.parent
    if found := _pickle_in(root):
        raise DataError(f"{uri}: {_pickled(Path(found.name))}")
    raise DataError(f"{uri} holds no compiled program: there is no {MANIFEST} in it. `finexpert log-model` logs one")


class Promotion(BaseModel):
    """Which program is in use, since when and by whom."""

    model_config = ConfigDict(extra="forbid")

    name: str
    at: dt.datetime
    by: str
    previous: str | None = None
    anyway: list[str] = []


def promoted() -> Promotion:
    """The program in use; ConfigurationError where none was chosen."""
    path = COMPILED / PROMOTED
    try:
        return Promotion.model_validate_json(foreign_files.read_bytes(path))
    except FileNotFoundError:
        raise ConfigurationError(
            f"no compiled program is in use: there is no {path.absolute()}. Choose one with `finexpert compiled promote`"
        ) from None
    except ValidationError as error:
        raise DataError(f"{path} is unreadable: choose again with `finexpert compiled promote`") from error


def promote(name: str, *, keep_anyway: bool = False) -> Promotion:
    """Put a program under runs/compiled into use, if it loads and the gate passed all of it."""
    if name not in {path.name for path in saved()}:
        raise ConfigurationError(f"there is no {COMPILED / name}: `finexpert compiled list` shows what there is")
    manifest: Manifest = load(COMPILED / name).manifest
    if manifest.refused and not keep_anyway:
        raise ConfigurationError(
            f"the gate refused {', '.join(manifest.refused)} of {name}: see `finexpert compiled show {name}`; "
            f"to use it against the evidence say --keep-anyway"
        )
    previous = promoted().name if (COMPILED / PROMOTED).is_file() else None
    made = Promotion(
        name=name, at=dt.datetime.now(dt.UTC), by=Settings().teacher, previous=previous, anyway=manifest.refused
    )
    write_whole(COMPILED / PROMOTED, json.dumps(made.model_dump(mode="json"), indent=1).encode())
    return made


def saved() -> list[Path]:
    """The folders under runs/compiled that hold, or should hold, a program; by name."""
    if not COMPILED.is_dir():
        return []
    return sorted(path for path in COMPILED.iterdir() if path.is_dir() and not path.name.startswith("."))
