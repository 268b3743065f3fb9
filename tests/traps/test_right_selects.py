"""Every right SELECT at hand, through all checks: none may be sent back. A new check has to pass it.

Of the traps their golds, of the recorded completions and of the example sets their SELECTs, and of Defog's questions their golds, where
FINEXPERT_TEST_DEFOG_DIR names a folder of them.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.traps.conftest import DATABASES
from tests.traps.test_traps import CASES, CONTROLS

from finexpert.datasets.external import defog
from finexpert.datasets.external.table_matching import alternatives
from finexpert.datasets.warehouses.examples import SCENARIOS, open_scenario
from finexpert.errors import CutFrame, NoRows, QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.warehouse import Warehouse

DATA = Path(__file__).parents[2] / "datasets"
TODAY = dt.date.today().isoformat()
_WRITTEN = re.compile(r'"select_query": "((?:[^"\\]|\\.)*)"')
# Asks for "the average weight of patients treated with" a drug and takes those twice who were treated twice, as the trap fan-average does of
# accounts that traded: the one gold that a check sends back.
ARGUABLE = {"adv33"}
DEFOG = os.environ.get("FINEXPERT_TEST_DEFOG_DIR")


def sent_back(source: Warehouse, select: str, question: str = "") -> str:
    """Why a SELECT that is right would be written again; nothing where it passes, or where these data hold less than it is written for."""
    try:
        Checks(source, seconds=10, question=question).run(select, answers=True)
    except (CutFrame, NoRows):
        return ""
    except QueryError as error:
        return f"{type(error).__name__}: {error}: {select}"
    return ""


@pytest.mark.parametrize("name", DATABASES)
def test_of_the_traps(sources: Mapping[str, DuckDBWarehouse], name: str) -> None:
    golds = [(case["question"], str(case["gold"])) for case in CASES if case["database"] == name]
    golds += [(case["question"], case["first"]) for case in CONTROLS if case["database"] == name]
    assert len(golds) > 50
    found = [sent_back(sources[name], select, question) for question, select in golds]
    assert not list(filter(None, found))


def test_of_the_example_sets() -> None:
    lines = (DATA / "examples" / "sql_extraction.jsonl").read_text().splitlines()
    frames = [(case, frame["select"]) for case in map(json.loads, lines) for frame in case["frames"]]
    assert {case["scenario"] for case, _ in frames} <= set(SCENARIOS)
    assert len(frames) > 30
    found = [sent_back(open_scenario(case["scenario"]), select, case["question"]) for case, select in frames]
    assert not list(filter(None, found))


def recorded() -> Iterator[str]:
    for path in sorted((DATA / "recorded").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            yield from (json.loads(f'"{text}"') for text in _WRITTEN.findall(json.loads(line)["completion"]))


def test_of_the_recorded_completions() -> None:
    selects = sorted(set(recorded()))
    assert len(selects) > 100
    assert not [found for select in selects if (found := sent_back(open_scenario("economy"), select))]


@pytest.mark.skipif(DEFOG is None, reason="set FINEXPERT_TEST_DEFOG_DIR to a folder of Defog's databases and questions")
def test_of_defog(server_programs: None) -> None:
    folder = Path(str(DEFOG))
    questions = defog.load_questions(folder)
    with defog.loaded(folder, sorted({question.db for question in questions})) as databases:
        found = {
            question.id: sent_back(databases[question.db].warehouse, plain(question.gold_sql), question.question)
            for question in questions
            if question.id not in ARGUABLE
        }
    assert not {name: said for name, said in found.items() if said}


def plain(gold: str) -> str:
    """One of the golds of a question, on the day on which its database was loaded."""
    return re.sub("current_date", f"DATE '{TODAY}'", alternatives(gold)[0], flags=re.IGNORECASE)
