"""Evaluations that were written with `--json`, read again as ways of answering that can be compared.

    before, after = ways_in(Path("before.json")), ways_in(Path("after.json"))
    for one, other in paired(before, after):
        against(one, other).p                      # McNemar, on the questions that both were asked

Those of `eval fred`, `house`, `memory`, `filings` and `convfinqa` hold results by question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from finexpert.core.answers import Usage
from finexpert.datasets.evaluations.answer_matching import close
from finexpert.datasets.evaluations.evaluation import Result
from finexpert.datasets.evaluations.mode_comparison import Way, ways_of
from finexpert.errors import DataError
from finexpert.storage import foreign_files, foreign_json

_NEXT = "`finexpert eval fred --json FILE` writes one, and so do eval house, memory, filings and convfinqa"


def ways_in(path: Path, name: str = "") -> list[Way]:
    """What an evaluation asked, a way for each of its modes, rungs and models, under a name or that of its file.

    Raises DataError where the file is not there, or holds no results by question.
    """
    try:
        content = foreign_json.parse(foreign_files.read_bytes(path))
        found = list(_of_pages(content["reports"]) if "reports" in content else _of_questions(content))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not JSON"
        why = "its results are not in the form that evaluations write" if isinstance(error, ValidationError) else why
        raise DataError(f"{path} cannot be read: {why}; {_NEXT}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} holds no results by question; {_NEXT}") from error
    return [replace(way, named=f"{name or path.stem}: {way.mode}") for way in found if way.right]


def paired(before: Sequence[Way], after: Sequence[Way]) -> list[tuple[Way, Way]]:
    """The ways that answer to each other: those of one mode; where a side has one way alone, it is paired with each.

    A mode asked of several models stands as often as there are models; they are paired in their order.
    """
    if len(before) == 1 or len(after) == 1:
        return [(one, other) for one in before for other in after]
    left = list(after)
    pairs = []
    for one in before:
        other = next((way for way in left if way.mode == one.mode), None)
        if other is not None:
            left.remove(other)
            pairs.append((one, other))
    return pairs


def _of_pages(reports: Sequence[dict[str, Any]]) -> Iterator[Way]:
    for report in reports:
        turns = [
            (f"{conversation['id']} turn {number}", turn)
            for conversation in report["conversations"]
            for number, turn in enumerate(conversation["turns"], start=1)
            if turn["gold"] is not None
        ]
        right = {key: close(turn["predicted"], turn["gold"]) for key, turn in turns}
        yield Way(report["model"], report["mode"], right, [Usage.model_validate(turn["usage"]) for _, turn in turns])


def _of_questions(content: dict[str, Any]) -> list[Way]:
    results = [Result.model_validate(row) for row in content["results"]]
    return ways_of(results, list(dict.fromkeys(result.rung for result in results)), str(content["config"]["model"]))
