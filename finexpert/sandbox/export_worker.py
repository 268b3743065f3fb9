"""The process that runs an exported script, shut in: it reads the libraries and one data file, writes nothing and reaches no network.

    python export_worker.py '{"parent": 4711, "readable": [...], "site": [...], "memory": 4294967296, "seconds": 60}'   < answer.py

What scripts need is imported before the lock, so that a library finds what it only reads once.
"""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

NAME = "<exported script>"
_LOST = 70


def main() -> None:
    setup = json.loads(sys.argv[1])
    code = sys.stdin.read()
    home = Path(__file__).resolve().parents[1]
    for name, path in (("finexpert", home), ("finexpert.isolation", home / "isolation")):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules.setdefault(name, package)
    from finexpert.isolation import lockdown

    lockdown.enter_zygote(setup["parent"], setup["readable"])
    sys.path += setup["site"]
    _warm_up()
    lockdown.enter_child(setup["parent"], memory=setup["memory"], cpu_seconds=setup["seconds"], locks=True)
    try:
        lockdown.prove()
    except lockdown.NotLocked as error:
        sys.stderr.write(f"not locked: {error}\n")
        sys.exit(_LOST)
    exec(compile(code, NAME, "exec"), {"__name__": "__main__"})  # noqa: S102  locked in


def _warm_up() -> None:
    import duckdb
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import pandas as pd
    import pyarrow as pa
    import scipy.stats  # noqa: F401

    pa.set_cpu_count(1)
    plt.close(plt.figure())
    with duckdb.connect(config={"threads": "1", "async_threads": "0"}) as connection:
        # Arrow starts its thread here: none can be started behind the lock.
        connection.sql("SELECT 1 AS n, 'a' AS t, DATE '2024-01-01' AS d").to_arrow_table().to_pandas()
    pd.DataFrame({"n": [1]}).groupby("n").sum()


if __name__ == "__main__":
    main()
