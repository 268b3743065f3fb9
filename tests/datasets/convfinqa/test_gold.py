"""The gold programs of the real data, where it is at hand: FINEXPERT_TEST_CONVFINQA_DIR=DIR with train.json and dev.json."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from finexpert.core.workspace import Turn, Workspace
from finexpert.datasets.convfinqa.conversations import Conversation, load
from finexpert.datasets.convfinqa.plans import from_official_program, to_official_program
from finexpert.datasets.convfinqa.programs import execute, tokenize
from finexpert.datasets.convfinqa.scoring import strict
from finexpert.errors import PlanError
from finexpert.plans import checks, execution

FOLDER = os.environ.get("FINEXPERT_TEST_CONVFINQA_DIR")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="set FINEXPERT_TEST_CONVFINQA_DIR to a folder with train.json and dev.json"
)


@pytest.fixture(scope="module", params=["train.json", "dev.json"])
def conversations(request: pytest.FixtureRequest) -> list[Conversation]:
    return load(Path(FOLDER or "") / request.param)


def test_the_executor_reproduces_the_gold_answers(conversations: list[Conversation]) -> None:
    turns = [(c, turn) for c in conversations for turn in c.turns]
    misses = [(c.id, t) for c, t in turns if execute(t.program or "", c.filing.table) != t.answer]
    assert len(misses) <= 0.005 * len(turns), misses


def test_plans_that_read_the_gold_numbers_from_the_page_reproduce_the_gold_answers(
    conversations: list[Conversation],
) -> None:
    """Number reading, plans, checks, execution and operations together, without a model."""
    misses, problems, programs, count = [], [], 0, 0
    for conversation in conversations:
        workspace = Workspace()
        for turn in conversation.turns:
            count += 1
            try:
                plan = from_official_program(turn.program or "", conversation.filing, turn.question)
            except PlanError as error:
                misses.append((conversation.id, turn, str(error)))
                continue
            problems += checks.before(plan, conversation.filing, workspace)
            value = execution.run(plan, workspace, execution.Surroundings(filing=conversation.filing)).value
            if turn.answer is None or not strict(value.value, turn.answer):
                misses.append((conversation.id, turn, str(value.value)))
            program = to_official_program(plan, conversation.filing, workspace)
            programs += program is not None and (execute(program, conversation.filing.table) == turn.answer)
            assert program is None or tokenize(turn.program or "")[-1] == program[-1]
            workspace.add_turn(Turn(turn.question, value, plan=plan))
    assert len(misses) <= 0.01 * count, misses
    assert len(problems) <= 0.005 * count, problems
    assert programs >= 0.98 * count
