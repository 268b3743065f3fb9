"""A draft of the catalogue with what the files of other tools say: dbt, Cube and LookML, side by side where they lie in one folder.

taken = importing(draft(warehouse.tables, warehouse.name), Path("models"), warehouse)
taken.model, taken.left_out
"""

from __future__ import annotations

from pathlib import Path

from finexpert.errors import ConfigurationError
from finexpert.warehouse.semantic_model.document import SemanticModel
from finexpert.warehouse.semantic_model.importing import cube, dbt, lookml
from finexpert.warehouse.semantic_model.importing.documents import find
from finexpert.warehouse.semantic_model.importing.lookml_process import read_lookml
from finexpert.warehouse.semantic_model.importing.taken import Taken
from finexpert.warehouse.warehouse import Warehouse

_HOLDS = ("models, semantic_models or metrics of dbt", "cubes of Cube", "views of LookML")


def importing(draft: SemanticModel, place: Path, warehouse: Warehouse) -> Taken:
    """What a file or folder says, taken over into a draft; ConfigurationError where nothing of these tools stands in it."""
    found = find(place)
    taken = Taken(draft.model_copy(deep=True), warehouse, found.left_out)
    known = [
        dbt.take(found.documents, taken),
        cube.take(found.documents, taken),
        lookml.take(read_lookml(found.lookml, place, taken), taken),
    ]
    if not any(known):
        seen = "".join(f"; {one}" for one in taken.left_out[:3])
        raise ConfigurationError(
            f"{place} holds no {', no '.join(_HOLDS)}: name such a file, or the folder of the models{seen}"
        )
    return taken
