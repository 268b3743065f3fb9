"""How the settings open a DuckDB file: limits, where what was found of it is kept, and the semantic model that applies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from finexpert.settings import Settings
from finexpert.warehouse.semantic_model.finding import find


def options(settings: Settings, data: Path | None = None) -> dict[str, Any]:
    """What a DuckDBWarehouse is opened with; a model is looked for beside `data`, which may be the files that it was made of."""
    return {
        "row_cap": settings.row_cap,
        "seconds": settings.sql_seconds,
        "process_bytes": settings.sql_memory_mb << 20,
        "cache": settings.home / "cache" / "profiles",
        "model": find(settings.semantic_model, data),
    }
