"""The files that a person names for `finexpert model import`: YAML as it stands in them, and where the files of LookML lie.

found = find(Path("models"))
listed(found.documents, "cubes")   ->   [{"name": "orders", "file": "orders.yml", ...}]
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from finexpert.errors import ConfigurationError
from finexpert.storage import foreign_yaml

FILE = "file"
"""under which a listed thing holds the name of its file; none of the formats says anything by this name"""
MOST_FILES = 5_000
_YAML = (".yml", ".yaml")
_LOOKML = (".lkml", ".lookml")
_FIRST_CHARACTERS = 1 << 20

Documents = Sequence[Mapping[str, Any]]


@dataclass
class Found:
    """The mappings of all YAML files, each with its file's name, the files of LookML, and what could not be read."""

    documents: list[Mapping[str, Any]] = field(default_factory=list)
    lookml: list[Path] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def find(place: Path) -> Found:
    """What stands in a file or folder. A file that cannot be read raises ConfigurationError; one of a folder is listed."""
    found = Found()
    for file in _files(place):
        name = file.relative_to(place).as_posix() if place.is_dir() else file.name
        if file.suffix.lower() in _LOOKML:
            found.lookml.append(file)
        elif file.suffix.lower() == ".js":
            if place.is_file() or "cube(" in _beginning(file):
                found.left_out.append(f"{name}: a model in JavaScript is a program, which is not run: write it as YAML")
        else:
            _read(file, name, place, found)
    return found


def _read(file: Path, name: str, place: Path, found: Found) -> None:
    try:
        content = foreign_yaml.read(file).content
    except foreign_yaml.YamlError as error:
        templates = "; its templates are not run" if "{%" in _beginning(file) else ""
        if not place.is_dir():
            raise ConfigurationError(
                f"{file} cannot be read: {error}{templates}; name a YAML file of dbt or Cube, a file of LookML, or their folder"
            ) from None
        found.left_out.append(f"{name}: {error}{templates}")
        return
    if isinstance(content, dict):
        found.documents.append({**content, FILE: name})


def _files(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    kinds = (*_YAML, *_LOOKML, ".js")
    named = (each for each in place.rglob("*") if each.suffix.lower() in kinds and each.is_file())
    files = sorted(itertools.islice(named, MOST_FILES + 1))
    if len(files) > MOST_FILES:
        raise ConfigurationError(f"{place} holds more than {MOST_FILES:,} files: name the folder of the models alone")
    return files


def _beginning(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_FIRST_CHARACTERS).decode("utf-8", errors="replace")
    except OSError:
        return ""


def listed(documents: Documents, name: str) -> list[dict[str, Any]]:
    """The named mappings of a list that may stand in several documents, each with its file."""
    found = []
    for content in documents:
        given = content.get(name)
        for one in given if isinstance(given, list) else []:
            if isinstance(one, dict) and words(one, "name"):
                found.append({**one, FILE: content.get(FILE, "")})
    return found


def words(given: Mapping[str, Any], name: str) -> str:
    """A text, empty where there is none."""
    said = given.get(name)
    return said if isinstance(said, str) else ""
