"""What earlier turns left behind, as a prompt tells it."""

from __future__ import annotations

from finexpert.core.workspace import Turn, Workspace
from finexpert.modules.script_generation import describe_frames
from finexpert.signatures import rules

# So many earlier turns are told in full; of those before only the questions.
_IN_FULL = 4
_SHOWN = 12


def conversation(workspace: Workspace) -> str:
    """What earlier turns left behind, for a prompt: questions, how they were understood, frames at hand; no values.

    A question that failed is left out, unless it is the last one, which the next may correct; a message that explained something is not.
    """
    numbered = list(enumerate(workspace.turns, 1))
    told = [each for each in numbered if each[1].plan is not None or each[1].explained or each[0] == len(numbered)][
        -_SHOWN:
    ]
    lines = [_line(number, turn, full=place > len(told) - _IN_FULL) for place, (number, turn) in enumerate(told, 1)]
    if script := next((turn.script for turn in reversed(workspace.turns) if turn.script), None):
        lines.append(f"script of the last turn:\n{script}")
    if workspace.frames:
        lines.append(f"frames at hand:\n{describe_frames(list(workspace.frames.values()))}")
    return "\n".join(lines) or rules.NONE


def _line(number: int, turn: Turn, full: bool) -> str:
    words = f"turn {number}: {turn.question}"
    if turn.plan is None:
        return words if turn.explained else f"{words} (not answered)"
    return f"{words} — {turn.interpretation}" if full and turn.interpretation else words
