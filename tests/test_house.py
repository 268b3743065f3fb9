"""The house itself: links and lists agree, the floors stay apart, the guards are not empty."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

import finexpert

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LAYERS = {"modules", "signatures", "optimizers", "datasets"}

# Each floor may import itself and what stands to the right of it.
FLOORS = ["cli", "optimizers", "datasets", "modules", "signatures"]
# These belong to the ground floor but exist to speak with models, MLflow or both.
WITH_DSPY = ("language_models", "tracking", "session", "cli")


def links() -> set[str]:
    return {path.name for path in (ROOT / "finexpert").iterdir() if path.is_symlink()}


def sources() -> list[Path]:
    folders = [ROOT / name for name in sorted(LAYERS)] + [ROOT / "finexpert"]
    return [path for folder in folders for path in folder.rglob("*.py") if not _through_link(path)]


def _through_link(path: Path) -> bool:
    return any(parent.is_symlink() for parent in path.parents)


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def floor(path: Path) -> str | None:
    parts = path.relative_to(ROOT).parts
    return parts[0] if parts[0] in LAYERS else ("cli" if parts[:2] == ("finexpert", "cli") else None)


def test_links_and_lists_are_the_same_set() -> None:
    pyright = {name.split("/")[1] for name in PROJECT["tool"]["pyright"]["include"] if "/" in name}
    coverage = set(PROJECT["tool"]["coverage"]["run"]["source_dirs"]) - {"finexpert"}
    assert links() == LAYERS == pyright == coverage


def test_datasets_and_tests_are_no_packages() -> None:
    assert not (ROOT / "datasets" / "__init__.py").exists()
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_sources_are_found() -> None:
    assert len(sources()) > 40
    assert {floor(path) for path in sources()} == {*FLOORS, None}


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    here = floor(path)
    allowed = FLOORS if here is None else FLOORS[FLOORS.index(here) :]
    lower = set(FLOORS) - set(allowed) if here else set(FLOORS)
    exempt = here is None and path.stem in ("session", "__init__")
    used = {name.split(".")[1] for name in imports(path) if name.startswith("finexpert.") and "." in name}
    if not exempt:
        assert not used & lower, f"{path} imports from {used & lower}"


@pytest.mark.parametrize("path", [p for p in sources() if floor(p) is None], ids=lambda p: str(p.relative_to(ROOT)))
def test_ground_floor_is_free_of_dspy(path: Path) -> None:
    if not any(part in WITH_DSPY for part in (*path.parts, path.stem)):
        assert not {name for name in imports(path) if name.split(".")[0] in ("dspy", "litellm", "mlflow")}


def test_public_names_exist_and_are_exact() -> None:
    assert finexpert.__all__ == sorted(finexpert.__all__)
    assert set(finexpert.__all__) == set(finexpert._HOME) == set(dir(finexpert))
    for name in finexpert.__all__:
        assert getattr(finexpert, name).__name__ == name


def test_error_tree_in_the_docstring_is_complete() -> None:
    from finexpert import errors

    drawn = set(re.findall(r"[├└]── (\w+)", errors.__doc__ or "")) | {"FinexpertError"}
    defined = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert drawn == defined


def test_package_data_is_named_for_every_kind_of_file() -> None:
    data = PROJECT["tool"]["setuptools"]["package-data"]
    kept = set((ROOT / "datasets").rglob("*.json*"))
    named = {path for pattern in data["finexpert.datasets"] for path in (ROOT / "datasets").glob(pattern)}
    assert kept <= named
    assert {*(ROOT / "finexpert").rglob("*.txt")} <= {
        path for pattern in data["finexpert"] for path in (ROOT / "finexpert").glob(pattern)
    }


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, finexpert.cli.main\n"
        "print(sorted({'dspy','mlflow','pandas','numpy','duckdb','matplotlib','litellm','sqlglot','scipy'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_no_path_of_this_machine_stands_in_the_tree() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    files = [path for name in listed.split("\0") if name and (path := ROOT / name).is_file() and not path.is_symlink()]
    for path in files:
        text = path.read_text(errors="ignore")
        # A folder that every machine has says nothing of this one.
        if ROOT.parent != Path(tempfile.gettempdir()):
            assert f"{ROOT.parent}/" not in text, path
        assert f"{ROOT}/" not in text, path
        assert f"{Path.home()}/" not in text, path
