"""Running the steps of a plan that look into a library: searches of pages, and companies looked up in its table."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pandas as pd

from finexpert.core import progress
from finexpert.core.answers import Citation
from finexpert.core.plans import Lookup, Search, reference
from finexpert.core.workspace import Value
from finexpert.errors import PlanError, QueryError, StepError
from finexpert.plans.retries import FILING_SEARCH, StepFailed
from finexpert.plans.running import Running, counted
from finexpert.plans.surroundings import PageFinder


def search(running: Running, steps: Sequence[Search]) -> None:
    """Find the pages of one wave side by side; what was found stands in the steps."""
    find = running.around.find_page
    if not steps:
        return
    if find is None:
        raise PlanError(f"step {steps[0].id} searches a library, but the question is asked of none")
    companies = [_company(running, step) for step in steps]
    with progress.stage("reading", counted(steps, "page search", "page searches")):
        _search(running, steps, companies, find)


def _search(running: Running, steps: Sequence[Search], companies: Sequence[str], find: PageFinder) -> None:
    with ThreadPoolExecutor(len(steps)) as pool:
        jobs = [
            pool.submit(copy_context().run, find, step, company) for step, company in zip(steps, companies, strict=True)
        ]
    failed: StepError | None = None
    for step, job in zip(steps, jobs, strict=True):
        try:
            running.registers[step.id], running.done[step.id] = job.result()
        except StepError as error:
            failed = failed or error
    if failed is not None:
        raise StepFailed(FILING_SEARCH, failed, 1) from failed


def _company(running: Running, step: Search) -> str:
    found = reference(step.company)
    if found is None:
        return step.company
    name = running.look_up(found).value
    if not isinstance(name, str):
        raise PlanError(
            f"step {step.id} takes {step.company} for a company, which gives the {type(name).__name__} {name}"
        )
    return name


def look_up_company(running: Running, step: Lookup) -> Value:
    """The one value that a step's SELECT gives of the library's table of companies; raises QueryError for none or several."""
    if running.around.companies is None:
        raise QueryError(
            "there is no table of companies to look this up in; `finexpert library companies FILE` adds one"
        )
    if running.around.code_review is not None:
        running.around.code_review.select(step.select)
    data = running.around.companies.query(step.select).data
    if data.shape != (1, 1):
        raise QueryError(
            f"the SELECT of step {step.id} must return one value, not {data.shape[0]} rows of {data.shape[1]} columns"
        )
    value: Any = data.iat[0, 0]
    value = value.item() if hasattr(value, "item") else value
    if pd.isna(value):
        raise QueryError(f"the SELECT of step {step.id} returns a missing value")
    return Value(value, citations=(Citation(source="table of companies", place=step.select, value=value),))
