"""Every place that opens foreign bytes or runs what was generated stands on a list, with what stands around it.

A new one fails here: let it cross the boundary (`warehouse/isolated`, `sandbox`), and add it to `entry_points.txt` with the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import finexpert

ROOT = Path(finexpert.__file__).parent
FOLDERS = (ROOT, *(ROOT / name for name in ("modules", "signatures", "optimizers", "datasets")))
LIST = Path(__file__).with_name("entry_points.txt")
# What opens a database, reads a format, loads code or starts a program; the end of a dotted name.
WATCHED = frozenset(
    [
        "duckdb.connect",
        "sqlite3.connect",
        "sqlalchemy.create_engine",
        "create_engine",
        "sa.create_engine",
        "psycopg.connect",
        "pymysql.connect",
        "exec",
        "eval",
        "compile",
        "__import__",
        "importlib.import_module",
        "import_module",
        "runpy.run_path",
        "subprocess.Popen",
        "subprocess.run",
        "subprocess.call",
        "subprocess.check_output",
        "os.system",
        "os.fork",
        "os.execv",
        "os.execve",
        "os.popen",
        "os.posix_spawn",
        "pickle.load",
        "pickle.loads",
        "marshal.loads",
        "cloudpickle.load",
        "joblib.load",
        "shelve.open",
        "yaml.load",
        "yaml.safe_load",
        "yaml.parse",
        "yaml.compose",
        "lkml.load",
        "tomllib.load",
        "tomllib.loads",
        "pd.read_csv",
        "pd.read_parquet",
        "pq.ParquetFile",
        "pd.read_excel",
        "pd.read_json",
        "pd.read_html",
        "pd.read_xml",
        "pd.read_pickle",
        "pd.read_feather",
        "pa.ipc.open_stream",
        "pa.ipc.open_file",
        "pq.read_table",
        "pyarrow.parquet.read_table",
        "zipfile.ZipFile",
        "tarfile.open",
        "gzip.open",
        "gzip.decompress",
        "gzip.GzipFile",
        "zlib.decompress",
        "zlib.decompressobj",
        "lzma.open",
        "bz2.open",
        "shutil.unpack_archive",
        "lxml.html.fromstring",
        "html.fromstring",
        "etree.fromstring",
        "etree.parse",
        "etree.HTMLParser",
        "html.document_fromstring",
        "ElementTree.parse",
        "pdfium.PdfDocument",
        "pypdfium2.PdfDocument",
        "CalamineWorkbook.from_path",
        "python_calamine.load_workbook",
        "load_workbook",
        "mlflow.pyfunc.load_model",
        "mlflow.dspy.load_model",
        "dspy.load",
        "open_file",
        "open_data",
        "open_duckdb",
        "open_fred",
        "open_sqlite",
        "open_files",
        "open_frames",
        "read_catalogue",
        "zygote",
    ]
)


def calls(path: Path) -> Iterator[str]:
    """The watched calls of a file, by the names that it imports them under."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
            parts = name.split(".")
            ends = {".".join(parts[-length:]) for length in range(2, len(parts) + 1)} | {name}
            if found := ends & WATCHED:
                yield max(found, key=len)


def found() -> set[str]:
    """Each file with a watched call, as `file call`."""
    files = {path.resolve(): path for folder in FOLDERS for path in folder.rglob("*.py")}
    shown = {path: path.relative_to(ROOT).as_posix() for path in files.values()}
    return {f"{shown[path]} {call}" for path in files.values() for call in calls(path)}


def listed() -> dict[str, str]:
    """The entry points of the list with what stands around each."""
    lines = [line for line in LIST.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]
    return {place: why for place, _, why in (line.partition("  ") for line in lines)}


def test_every_entry_point_is_listed() -> None:
    assert found() - set(listed()) == set(), "cross the boundary, then add the line to tests/attacks/entry_points.txt"


def test_the_list_holds_nothing_that_is_gone() -> None:
    assert set(listed()) - found() == set()


def test_each_has_a_known_reason() -> None:
    reasons = {"behind the boundary", "in the locked process", "starts the boundary", "our own file", "our own code",
               "where no boundary is", "another server", "limits, in this process", "no foreign bytes"}  # fmt: skip
    assert {why.strip().partition(":")[0] for why in listed().values()} <= reasons
