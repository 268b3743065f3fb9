"""The house itself: links and lists agree, the floors stay apart, the guards are not empty."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from groups import ALONE, SLOW

import finexpert

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MOST_FILES = 20
MOST_LINES = 300
LAYERS = {"modules", "signatures", "optimizers", "datasets"}


def links() -> set[str]:
    return {path.name for path in (ROOT / "finexpert").iterdir() if path.is_symlink()}


def sources() -> list[Path]:
    folders = [ROOT / name for name in sorted(LAYERS)] + [ROOT / "finexpert"]
    return [path for folder in folders for path in folder.rglob("*.py") if not _through_link(path)]


def _through_link(path: Path) -> bool:
    return any(parent.is_symlink() for parent in path.parents)


def test_links_and_lists_are_the_same_set() -> None:
    pyright = {name.split("/")[1] for name in PROJECT["tool"]["pyright"]["include"] if "/" in name}
    coverage = set(PROJECT["tool"]["coverage"]["run"]["source_dirs"]) - {"finexpert"}
    assert links() == LAYERS == pyright == coverage


def test_datasets_and_tests_are_no_packages() -> None:
    assert not (ROOT / "datasets" / "__init__.py").exists()
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_sources_are_found() -> None:
    assert len(sources()) > 40


def test_import_linter_sees_every_file() -> None:
    """Its contracts hold for what it finds: a folder without `__init__.py` would be left out in silence."""
    bare = {path.parent for path in sources() if not (path.parent / "__init__.py").exists()}
    assert {path.relative_to(ROOT).parts[0] for path in bare} == {"datasets"}
    assert "finexpert.datasets" in PROJECT["tool"]["importlinter"]["root_packages"]


def test_rooms_are_small() -> None:
    counts = Counter(path.parent for path in sources())
    assert not [str(folder.relative_to(ROOT)) for folder, n in counts.items() if n > MOST_FILES]


def test_files_are_short() -> None:
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources()}
    assert not {path: lines for path, lines in long.items() if lines > MOST_LINES}


def test_files_that_docstrings_name_are_there() -> None:
    paths = [path.relative_to(ROOT).as_posix() for path in sources()]
    for path in sources():
        for name in re.findall(r"`([\w/]+\.py)`", ast.get_docstring(ast.parse(path.read_text())) or ""):
            beside = (path.parent / name).exists() or (ROOT / name).exists()
            assert beside or ("/" in name and any(each.endswith(f"/{name}") for each in paths)), f"{path} names {name}"


def test_what_stands_apart_is_there() -> None:
    names = [path.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    assert [path for path in (*SLOW, *ALONE) if not any(name.startswith(path) for name in names)] == []


def test_make_runs_every_group() -> None:
    """Each test has one of the marks by which the two commands choose."""
    recipe = subprocess.run(
        ["make", "-n", "test", "test-slow"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    chosen = re.findall(r"pytest .*-m '?([\w ]+?)'?(?: tests\S*)?$", recipe, re.MULTILINE)
    assert chosen == [
        "not browser and not slow and not alone",
        "slow and not alone and not browser",
        "alone",
        "browser",
    ]


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


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_wheel_holds_every_file_of_the_package(tmp_path: Path, links: bool) -> None:
    """Also from a clone without symbolic links, where each is a small file that names its folder."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not uv or not listed:
        pytest.skip("needs uv and a git checkout")
    clone = tmp_path / "clone"
    for name in filter(None, listed.split("\0")):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, clone / name, follow_symlinks=False)
        if not links and (clone / name).is_symlink():
            target = str((clone / name).readlink())
            (clone / name).unlink()
            (clone / name).write_text(target)
    built = subprocess.run(
        [uv, "build", "--wheel", "--no-build-isolation", "--python", sys.executable, "-o", str(tmp_path), str(clone)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    tops = {"finexpert/": "", **{f"{layer}/": "finexpert/" for layer in LAYERS}}
    wanted = {
        above + name
        for name in filter(None, listed.split("\0"))
        for top, above in tops.items()
        if name.startswith(top) and name not in {f"finexpert/{layer}" for layer in LAYERS}
    }
    assert held == wanted


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, typer, finexpert.cli.main as cli\n"
        "list(typer.main.get_command(cli.app).commands.values())\n"
        "print(sorted({'dspy','mlflow','pandas','numpy','duckdb','matplotlib','litellm','sqlglot','scipy','fastapi','jinja2','mcp','sqlalchemy'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_command_imports_no_other_one() -> None:
    code = (
        "import sys, typer, finexpert.cli.main as cli\n"
        "typer.main.get_command(cli.app).commands['ask']\n"
        "print([name for name, place in cli._PLACES.items() if place.split(':')[0] in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['ask']"


def test_a_session_begins_without_what_reads_filings() -> None:
    late = (
        "finexpert.filings.readers.files",
        "finexpert.modules.flow.library",
        "finexpert.modules.flow.several.question",
    )
    code = f"import sys\nfrom finexpert.session import Session\nprint([name for name in {late} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_nothing_private_of_a_library_is_imported() -> None:
    private = re.compile(r"^\s*(?:from|import) +(?:dspy|litellm|mlflow)(?:\.\w+)*(?:\._| import _)", re.MULTILINE)
    assert private.search("from dspy.clients._litellm import get_litellm")
    assert [str(path) for path in sources() if private.search(path.read_text())] == []


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
