"""How long a question over many filings takes beside a question over one; `finexpert bench parallel` prints it.

    8 companies, 12 quarters: 96 searches side by side take 1.12 times as long as one, with 3 s a call

The model is a script that answers after so many seconds, and the pages are made up: search, reading and plans are real. With few
seconds a call it is the program's own work that is measured, with many how well the calls run side by side.
"""

from __future__ import annotations

import datetime as dt
import re
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.bench import frame

if TYPE_CHECKING:
    from finexpert.filings.library.library import Library

COMPANIES = ("Alder", "Birch", "Cedar", "Damson", "Elder", "Fir", "Gorse", "Hazel")
YEARS, QUARTERS = (2022, 2023, 2024), (1, 2, 3, 4)
QUESTION = "What did they earn together?"
# A company's number, a year, a quarter.
Part = tuple[int, int, int]
_ASKED = re.compile(r"PAGE: .*?, Q(\d) (\d+)")


def parallel_command(
    latency: Annotated[float, typer.Option(min=0, help="Seconds that the scripted model takes for a call.")] = 3.0,
    repeats: Annotated[int, typer.Option(min=1, help="Rounds, of which the best counts.")] = 3,
    as_json: common.Json = False,
) -> None:
    """Time a question that takes 96 searches side by side, beside one that takes a single one."""
    facts = parallel(latency, repeats)
    frame.tell(facts, as_json, facts=facts)


def parallel(latency: float = 3.0, repeats: int = 3) -> dict[str, Any]:
    """Seconds of a question with one search and of one with a search a company and quarter, the best of some repeats."""
    from finexpert.filings.library.library import Library

    every = [(n, year, quarter) for n in range(len(COMPANIES)) for year in YEARS for quarter in QUARTERS]
    with tempfile.TemporaryDirectory(prefix="finexpert-bench-") as folder:
        library = Library.open(Path(folder) / "library", make=True)
        try:
            _fill(library, every)
            # The first of each opens what the others find open.
            one = min(_asked(library, every[-1:], latency) for _ in range(repeats))
            many = min(_asked(library, every, latency) for _ in range(repeats))
        finally:
            library.close()
    return {
        "seconds a call": latency,
        "one search, s": round(one, 2),
        "searches side by side": len(every),
        "all of them, s": round(many, 2),
        "ratio": round(many / one, 2),
    }


def _fill(library: Library, parts: list[Part]) -> None:
    from finexpert.filings.records import FilingInfo, LibraryPage

    now = dt.datetime.now(dt.UTC)
    for number, year, quarter in parts:
        ticker, name, filing = f"C{number}", f"{COMPANIES[number]} Works", f"C{number}/{year}Q{quarter}"
        table = (("( in millions )", f"q{quarter} {year}"), ("net revenue", f"$ {100 + quarter}"))
        text = (f"results of {name} in the quarter.",)
        page = LibraryPage(
            f"{filing}/page_1", filing, name, ticker, year, quarter, "10-Q", "results", 1, text, table, ("reviewed.",)
        )
        library.add([page], FilingInfo(filing, name, ticker, year, quarter, "10-Q", "", filing, filing, 1, now))
    library.refresh()


def _asked(library: Library, parts: list[Part], latency: float) -> float:
    """Seconds of one question that needs these parts."""
    from finexpert.language_models.roles import LanguageModels
    from finexpert.language_models.scripted import ScriptedModel
    from finexpert.session import Session
    from finexpert.settings import Settings

    def reply(messages: list[dict[str, str]]) -> str:
        time.sleep(latency)
        last = messages[-1]["content"]
        return _plan(parts) if "field `[[ ## interpretation" in last else _reading(last)

    settings = Settings(cache=False, memory=False, as_of=dt.date(2025, 1, 1))
    with Session(library, settings=settings, models=LanguageModels(ScriptedModel(reply))) as session:
        start = time.perf_counter()
        answer = session.ask(QUESTION)
        seconds = time.perf_counter() - start
    if answer.value != sum(100 + quarter for _, _, quarter in parts):
        raise RuntimeError(f"the benchmark's own plan failed: {answer.text}")
    return seconds


def _plan(parts: list[Part]) -> str:
    steps: list[dict[str, Any]] = [
        {
            "kind": "search",
            "id": place,
            "company": f"C{number}",
            "year": year,
            "quarter": quarter,
            "question": f"What was the net revenue of {COMPANIES[number]} Works in Q{quarter} {year}?",
        }
        for place, (number, year, quarter) in enumerate(parts, 1)
    ]
    total = len(steps) + 1
    terms = [f"step {step['id']}" for step in steps]
    steps.append({"kind": "compute", "id": total, "operation": "add", "arguments": [*terms, 0]})
    from finexpert.testing import fields

    return fields(interpretation="The sum of the net revenues.", steps=steps, answer=f"step {total}")


def _reading(prompt: str) -> str:
    """The one cell of the page that is shown."""
    found = _ASKED.search(prompt)
    column = f"q{found[1]} {found[2]}" if found else ""
    step = {"kind": "cell", "id": 1, "row": "net revenue", "column": column}
    from finexpert.testing import fields

    return fields(answers="true", entity="net revenue", steps=[step], answer="step 1")
