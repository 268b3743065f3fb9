"""A compiled program on disk: one DSPy state file a layer, and the manifest, which is written last.

    runs/compiled/frontier/
        planning.json  sql_extraction.json  script_generation.json  ...  manifest.json

One file a layer is not taste: DSPy freezes what BootstrapFewShot compiled, and the `save` of a program around it leaves
the frozen part out without a word. Here every predictor that a layer's class makes is written, frozen or not, and what
was written is read back and compared before the folder gets its name. Files are JSON; keys, models and addresses are
never part of it. See `loading` for the way back.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import dspy
from dspy.utils.saving import get_dependency_versions

from finexpert.errors import ConfigurationError, DataError
from finexpert.optimizers.program.fingerprints import differences, of_signature
from finexpert.optimizers.program.manifest import (
    MANIFEST,
    NAME,
    ChosenOptions,
    Combined,
    LayerEntry,
    Manifest,
    Provenance,
)
from finexpert.storage import foreign_files, foreign_json

COMPILED = Path("runs") / "compiled"

# What optimizers leave on the program that won: other candidates and logs, no part of the program.
_LEFTOVERS = ("candidate_programs", "detailed_results", "trial_logs", "prompt_model_total_calls", "total_calls")
_STATE_KEYS = {"traces", "train", "demos", "signature", "lm", "fields"}


def layers_of(expert: dspy.Module) -> dict[str, dspy.Module]:
    """The layers of a program: its attributes that are modules, in the order in which it makes them.

    >>> from finexpert.modules.financial_expert import FinancialExpert
    >>> {"planning", "sql_extraction", "script_generation"} <= set(layers_of(FinancialExpert()))
    True
    """
    return {name: value for name, value in vars(expert).items() if isinstance(value, dspy.Module)}


def predictors_of(layer: dspy.Module) -> dict[str, dspy.Predict]:
    """Every predictor that the layer's class makes, by its place in the layer, frozen ones too.

    DataError where an optimizer changed the layer in a way that its state does not hold.
    """
    made = _walk(type(layer)()) if not isinstance(layer, dspy.Predict) else {"self": layer}
    found = _walk(layer)
    if "forward" in vars(layer):
        raise DataError(
            f"the {type(layer).__name__} was given another forward, as dspy.KNNFewShot does, which no JSON can hold: "
            f"show it fixed demonstrations instead, as dspy.LabeledFewShot does"
        )
    if missing := sorted(set(made) - set(found)):
        raise DataError(f"the {type(layer).__name__} has lost its predictors {', '.join(missing)}")
    if added := sorted(name for name in set(found) - set(made) if not name.startswith(_LEFTOVERS)):
        raise DataError(f"the {type(layer).__name__} has predictors that its class does not make: {', '.join(added)}")
    return {name: found[name] for name in made}


def _walk(module: dspy.Module) -> dict[str, dspy.Predict]:
    return {name.removeprefix("self."): value for name, value in module.named_sub_modules(dspy.Predict)}


def state_of(predictor: dspy.Predict) -> dict[str, Any]:
    """What compiling may change in a predictor, as JSON: instructions, descriptions, demonstrations.

    The model is left out: the settings choose it.
    """
    state = predictor.dump_state(json_mode=True) | {"lm": None, "traces": [], "train": []}
    if unknown := set(state) - _STATE_KEYS:
        raise DataError(f"a {type(predictor).__name__} has state that is not known here: {', '.join(sorted(unknown))}")
    plain: dict[str, Any] = json.loads(json.dumps(state, allow_nan=False, default=_plain))
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, dspy.Example):
        return value.toDict()
    raise DataError(f"a demonstration holds a {type(value).__name__}, which JSON does not have: {str(value)[:60]!r}")


def save(
    expert: dspy.Module,
    folder: Path,
    *,
    layers: Mapping[str, Provenance] | None = None,
    options: ChosenOptions = ChosenOptions(),  # noqa: B008  (never changed)
    evidence: Mapping[str, Any] | None = None,
    combined: list[Combined] | None = None,
    exists: Literal["refuse", "version"] = "refuse",
) -> Path:
    """Write the program whole or not at all, and give its folder back.

    `layers` says how each was compiled. A folder that exists is refused, or with exists="version" left alone: then
    the new one is called folder-2, folder-3 and so on.
    """
    if unknown := set(layers or {}) - set(layers_of(expert)):
        raise ConfigurationError(
            f"the program has no layer {', '.join(sorted(unknown))}; it has {', '.join(layers_of(expert))}"
        )
    folder = folder.absolute()
    if not re.fullmatch(NAME, folder.name):
        raise ConfigurationError(f"{folder.name!r} is no name of a program: letters, digits, '.', '_' and '-' make one")
    folder.parent.mkdir(parents=True, exist_ok=True)
    if exists == "refuse" and folder.exists():
        raise _taken(folder)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
    try:
        entries = {
            name: _write_layer(name, layer, temporary, (layers or {}).get(name, Provenance()))
            for name, layer in layers_of(expert).items()
        }
        manifest = Manifest(
            name=folder.name, layers=entries, options=options, evidence=dict(evidence or {}), combined=combined or []
        )
        _read_back(expert, temporary, manifest)
        return _name(temporary, folder, manifest, exists)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _write_layer(name: str, layer: dspy.Module, folder: Path, provenance: Provenance) -> LayerEntry:
    code = predictors_of(type(layer)()) if not isinstance(layer, dspy.Predict) else {"self": layer}
    states: dict[str, Any] = {}
    for place, predictor in predictors_of(layer).items():
        if found := differences(of_signature(code[place].signature), of_signature(predictor.signature)):
            raise DataError(f"{name}.{place} was compiled to other fields than its signature has: {'; '.join(found)}")
        states[place] = state_of(predictor)
    content = {**states, "metadata": {"dependency_versions": get_dependency_versions()}}
    digest = _write(folder / f"{name}.json", json.dumps(content, indent=1, ensure_ascii=False))
    entry = {
        "file": f"{name}.json",
        "class": class_path(layer),
        "sha256": digest,
        "predictors": {place: of_signature(predictor.signature) for place, predictor in code.items()},
    }
    return LayerEntry.model_validate(dict(provenance) | entry)


def class_path(layer: dspy.Module) -> str:
    """Module and name of a layer's class."""
    return f"{type(layer).__module__}.{type(layer).__qualname__}"


def _write(path: Path, text: str) -> str:
    content = text.encode()
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return hashlib.sha256(content).hexdigest()


def _name(temporary: Path, folder: Path, manifest: Manifest, exists: Literal["refuse", "version"]) -> Path:
    """Write the manifest and rename; a rename onto a folder that holds something is refused by the system."""
    number = 1
    while True:
        target = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        if not target.exists():
            named = manifest.model_copy(update={"name": target.name})
            _write(temporary / MANIFEST, named.model_dump_json(indent=1, by_alias=True))
            temporary.chmod(0o755)
            try:
                temporary.rename(target)
            except OSError:
                # Someone else took the name meanwhile.
                if not target.exists():
                    raise
            else:
                return target
        if exists == "refuse":
            raise _taken(folder)
        number += 1


def _taken(folder: Path) -> ConfigurationError:
    return ConfigurationError(
        f"{folder} exists, and a compiled program is never overwritten: give another name, or move it away"
    )


def _read_back(expert: dspy.Module, folder: Path, manifest: Manifest) -> None:
    fresh = type(expert)()
    for name, layer in layers_of(expert).items():
        loaded = layers_of(fresh)[name]
        fill(loaded, read_states(folder / f"{name}.json", manifest.layers[name]))
        written, kept = (states_of(module) for module in (layer, loaded))
        if written != kept:
            places = ", ".join(place for place in written if written[place] != kept.get(place))
            raise DataError(f"the state of {name} ({places}) does not survive JSON: nothing was saved")


def states_of(layer: dspy.Module) -> dict[str, dict[str, Any]]:
    """What compiling may change in a layer, by predictor."""
    return {place: state_of(predictor) for place, predictor in predictors_of(layer).items()}


def read_states(path: Path, entry: LayerEntry) -> dict[str, dict[str, Any]]:
    """The states in a layer's file; DataError where it is missing, was changed, or is not of the documented form."""
    try:
        content = foreign_files.read_bytes(path)
    except OSError as error:
        raise DataError(f"{path} is missing or cannot be read, so the program is not whole: {error}") from error
    if hashlib.sha256(content).hexdigest() != entry.sha256:
        raise DataError(
            f"{path} is not the file that {MANIFEST} was written for: its scores were measured on another text. "
            f"Restore the file, or compile again"
        )
    try:
        states = foreign_json.parse(content)
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}") from None
    if not isinstance(states, dict):
        raise DataError(f"{path} holds no state of predictors")
    states.pop("metadata", None)
    if set(states) != set(entry.predictors):
        raise DataError(f"{path} holds the predictors {sorted(states)}, and {MANIFEST} says {sorted(entry.predictors)}")
    for place, state in states.items():
        _check(state, f"{path}, {place}", len(entry.predictors[place].fields))
    return states


def _check(state: Any, where: str, fields: int) -> None:
    if not isinstance(state, dict) or not {"demos", "signature"} <= set(state) <= _STATE_KEYS:
        raise DataError(f"{where}: no state of a predictor")
    if state.get("lm") is not None:
        raise DataError(f"{where}: it names a model; a compiled program takes the model of the settings")
    signature, demos = state["signature"], state["demos"]
    if not isinstance(signature, dict) or len(signature.get("fields", ())) != fields:
        raise DataError(f"{where}: the signature does not have the {fields} fields of the manifest")
    if not isinstance(demos, list) or not all(isinstance(demo, dict) for demo in demos):
        raise DataError(f"{where}: demos is no list of examples")


def fill(layer: dspy.Module, states: Mapping[str, Mapping[str, Any]]) -> None:
    """Give a fresh layer its compiled state, predictor by predictor; one without a state stays as it is in the code."""
    for place, predictor in predictors_of(layer).items():
        if place not in states:
            continue
        predictor.load_state(dict(states[place]))
