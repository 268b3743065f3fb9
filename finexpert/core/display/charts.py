"""Charts of an answer as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from finexpert.storage.private_files import make_folder, write_whole

if TYPE_CHECKING:
    from finexpert.core.display.shown import Shown


def save_figures(answer: Shown, folder: Path) -> list[Path]:
    """Keep the figures of an answer as PNG files, readable by their owner only; their paths, in their order."""
    make_folder(folder)
    name = answer.record.id if answer.record else "figure"
    paths = [folder / f"{name}-{number}.png" for number in range(1, len(answer.figures) + 1)]
    for path, png in zip(paths, answer.figures, strict=True):
        write_whole(path, png)
    return paths
