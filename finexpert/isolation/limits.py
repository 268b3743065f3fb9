"""How much a script may use and return.

    >>> Limits(wall_seconds=2).wall_seconds
    2

What is not limited here: the time that a worker needs to start (`start_seconds` only bounds it), and what the
parent process itself uses.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of one call; a script that passes one is killed and its result thrown away."""

    wall_seconds: float = 10.0
    cpu_seconds: int = 8
    memory_bytes: int = 1 << 30  # above what the warm interpreter has mapped
    resident_bytes: int = 1536 << 20  # in memory, the warm interpreter included
    stdout_bytes: int = 64 << 10  # kept; printing four times as much ends the script
    result_bytes: int = 32 << 20
    json_bytes: int = 1 << 20
    text_bytes: int = 64 << 10  # of one text, also of one cell
    rows: int = 200_000
    columns: int = 200
    cells: int = 5_000_000
    figures: int = 8
    figure_bytes: int = 5 << 20
    figure_pixels: int = 4096  # of each side
    code_chars: int = 20_000
    input_bytes: int = 256 << 20
    start_seconds: float = 90.0
    calls_per_worker: int = 200

    def __post_init__(self) -> None:
        """Refuse limits that switch a limit off.

        >>> Limits(wall_seconds=0)
        Traceback (most recent call last):
            ...
        ValueError: the limit wall_seconds is 0: it must be above 0
        """
        for name, value in vars(self).items():
            if value <= 0:
                raise ValueError(f"the limit {name} is {value}: it must be above 0")
