"""finexpert: a compiled, modular program that answers financial questions the way a domain expert would.

    import finexpert

    with finexpert.Session(finexpert.DuckDBWarehouse("fred.duckdb")) as session:
        print(session.ask("Using a 6-month moving average, how often did unemployment cross 8 percent?").text)

The names here are the public ones; everything else may change. They are loaded when first used, so importing the
package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from finexpert.batch.ask_all import ask_all
    from finexpert.cli.eval.frame import evaluate
    from finexpert.core.answers import Answer, AnswerFormat
    from finexpert.core.progress import Event
    from finexpert.filings.library.library import Library
    from finexpert.filings.page.filing import Filing
    from finexpert.knowledge.glossary import Glossary
    from finexpert.knowledge.memory import Memory
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.optimizers.program.loading import load
    from finexpert.session import Session
    from finexpert.settings import Settings
    from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse
    from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
    from finexpert.warehouse.opening import open_data
    from finexpert.warehouse.warehouse import Warehouse

_HOME = {
    "Answer": "finexpert.core.answers",
    "AnswerFormat": "finexpert.core.answers",
    "DuckDBWarehouse": "finexpert.warehouse.local.duckdb_warehouse",
    "Event": "finexpert.core.progress",
    "Filing": "finexpert.filings.page.filing",
    "FinancialExpert": "finexpert.modules.financial_expert",
    "Glossary": "finexpert.knowledge.glossary",
    "Library": "finexpert.filings.library.library",
    "Memory": "finexpert.knowledge.memory",
    "SQLWarehouse": "finexpert.warehouse.engines.sql_warehouse",
    "Session": "finexpert.session",
    "Settings": "finexpert.settings",
    "Warehouse": "finexpert.warehouse.warehouse",
    "ask_all": "finexpert.batch.ask_all",
    "evaluate": "finexpert.cli.eval.frame",
    "load": "finexpert.optimizers.program.loading",
    "open_data": "finexpert.warehouse.opening",
}

__all__ = [
    "Answer",
    "AnswerFormat",
    "DuckDBWarehouse",
    "Event",
    "Filing",
    "FinancialExpert",
    "Glossary",
    "Library",
    "Memory",
    "SQLWarehouse",
    "Session",
    "Settings",
    "Warehouse",
    "ask_all",
    "evaluate",
    "load",
    "open_data",
]

# A checkout without symbolic links holds small text files in place of the layer folders.
if not (Path(__file__).parent / "modules").is_dir():
    raise ImportError(
        "finexpert/modules is not a folder: this checkout was made without symbolic links. "
        "Run 'git config core.symlinks true' and then 'git checkout -- finexpert', or install the wheel."
    )


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'finexpert' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext finexpert`: the magics `%finexpert` and `%%ask`."""
    from finexpert.app.notebook import load

    load(shell)
