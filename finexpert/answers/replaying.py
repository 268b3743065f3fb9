"""A record computed again without a language model, and compared with what it says.

    replay(record, warehouse, sandbox)  ->  Replay(value=4.1, same=True, differences=[])
    replay_filing(record, page), replay_library(record, library)

`differences` are sentences for a person: other rows, other pages, another period, another answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from finexpert.answers.records import Record
from finexpert.core.answers import Sentence, in_words, show
from finexpert.core.encoding import encode
from finexpert.core.plans import Search
from finexpert.core.workspace import Turn, Value, Workspace
from finexpert.errors import AnswerFormatError, RecordError
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.plans import execution
from finexpert.plans.pages import page as page_reading
from finexpert.plans.pages.answer import typed_answer
from finexpert.plans.pages.evidence import holds
from finexpert.plans.pages.printed import Printed
from finexpert.plans.pages.proved import Reading
from finexpert.plans.pages.reading import carried_out
from finexpert.plans.pages.typed import typed
from finexpert.sandbox import Sandbox
from finexpert.warehouse.frame_values import value_of
from finexpert.warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class Replay:
    """What running a record again gave."""

    value: Any
    same: bool
    differences: list[str]
    sentences: list[Sentence] = field(default_factory=list)

    def text(self, record: Record) -> str:
        """What came out, as the answer of the record shows it."""
        shown = in_words(self.sentences) or show(self.value, record.answer_format)
        return f"in part: {shown}" if record.status == "partial" else shown


def replay(record: Record, source: Warehouse, sandbox: Sandbox) -> Replay:
    """Run the SELECTs and the script of a record again; says what came out and how the data differ, if they do.

    Raises RecordError when the record holds no answer, StepError when a SELECT or the script no longer runs.
    """
    code = record.code
    differences = _words_differ(record)
    frames = {}
    for kept in record.frames:
        frame = source.query(kept.select, as_of=record.as_of, declared_only=not record.as_of_given)
        if len(kept.columns) != len(frame.data.columns):
            raise RecordError(
                f"the frame {kept.name} has {len(frame.data.columns)} columns, and the record names {len(kept.columns)}"
            )
        frames[kept.name] = frame.data.set_axis(kept.columns, axis=1)
        if frame.fingerprint != kept.fingerprint:
            differences.append(f"the frame {kept.name} has other rows: {kept.rows:,} then, {len(frame.data):,} now")
    changed = len(differences) > len(_words_differ(record))
    now = source.snapshot()
    if changed and now != record.source.snapshot:
        about = f"{record.source.name} of {record.source.snapshot} then, {source.name} of {now} now"
        differences.insert(0, f"the data are not the same: {about}")
    if record.script is None:
        value = value_of(frames[record.frames[0].name], record.answer_format)[0]
    else:
        outcome = sandbox.run(code, frames, record.answer_format)
        value = outcome.value
        if outcome.period and outcome.period != record.period:
            differences.append(f"the period is {outcome.period}, and was {record.period}")
    # A table without ORDER BY may come in another order from several threads; its hash does not depend on that.
    same = encode(value) == record.value or (
        record.script is None and record.answer_format.kind == "table" and not changed
    )
    if not same:
        differences.append(f"the answer was {show(record.decoded, record.answer_format)}")
    return Replay(value, same, differences)


def replay_filing(record: Record, filing: Filing) -> Replay:
    """Run the plan of a record over a filing again. Raises StepError when it no longer runs."""
    differences = _words_differ(record)
    if filing.fingerprint != record.source.fingerprint:
        differences.append(f"the page is not the same: {record.source.name} then, {filing.id} now")
    turns = [Turn("", None if value is None else Value(value)) for value in record.earlier]
    outcome = _run(record, Workspace(turns=turns), execution.Surroundings(filing=filing))
    return _compared(record, outcome.value, differences)


def replay_library(record: Record, library: Library) -> Replay:
    """Run the plan of a record over a library again, on the pages that were found then.

    Raises LibraryError when a page is gone, StepError when its plan no longer runs.
    """
    moved = ["the library holds other filings than then"] if library.fingerprint != record.source.fingerprint else []
    if record.reading is not None:
        return _replay_reading(record, record.reading, library, moved)
    differences = [*_words_differ(record), *moved]
    turns = [Turn("", None if value is None else Value(value)) for value in record.earlier]

    def find(step: Search, company: str) -> tuple[Value, Search]:
        if step.page is None or step.plan is None:
            raise RecordError(f"step {step.id} of the record {record.id} names no page")
        return page_reading.read_page(library.page(step.page), step.plan)[0], step

    surroundings = execution.Surroundings(find_page=find, companies=library.company_table())
    outcome = _run(record, Workspace(turns=turns), surroundings)
    return _compared(record, outcome.value, differences)


def _run(record: Record, workspace: Workspace, surroundings: execution.Surroundings) -> execution.Outcome:
    try:
        return execution.run(record.plan, workspace, surroundings)
    except execution.StepFailed as failed:
        raise failed.error from failed


def _compared(record: Record, found: Value, differences: list[str]) -> Replay:
    """What a plan over pages gives now, as the record's answer was asked for."""
    try:
        value = typed(found, record.answer_format).value
    except AnswerFormatError:
        value = found.value
    same = encode(value) == record.value
    if not same:
        differences.append(f"the answer was {record.value}")
    return Replay(value, same, differences)


def _words_differ(record: Record) -> list[str]:
    """What of a record's words does not fit to its plan."""
    said, planned = record.explanation, record.plan.interpretation
    return ["the explanation is not that of the plan"] if said and planned and said != planned else []


def _replay_reading(record: Record, reading: Reading, library: Library, differences: list[str]) -> Replay:
    """Look up every quote of a reading and compute every formula again."""
    carried = carried_out(reading, library.page)
    gone = [cited.page for cited in reading.statements if not _holds(library, cited.page, cited.quote)]
    differences += [f"quoted words no longer stand on {page}" for page in dict.fromkeys(gone)]
    differences += [f"{name} can no longer be computed" for name in carried.missing]
    if carried.missing:
        return Replay(carried.text, False, differences)
    value = typed_answer(reading, carried, record.answer_format)
    if carried.plan != record.plan:
        differences.append("the plan is not that of the quotes and formulas")
    if encode(value) != record.value:
        differences.append(f"the answer was {record.value}")
    # Where a type was asked for, the words stand in the explanation alone.
    words = carried.sentences if record.sentences else []
    if words != record.sentences:
        differences.append(f"the answer was {in_words(record.sentences)!r}")
    said = "\n".join(carried.lines) if record.sentences else carried.plan.interpretation
    if (record.explanation or "") != said:
        differences.append("the explanation is not that of the plan")
    same = not gone and encode(value) == record.value and carried.plan == record.plan and words == record.sentences
    return Replay(value, same, differences, words)


def _holds(library: Library, page: str, quote: str) -> bool:
    parts = [part for part in library.pages_of(library.page(page).filing) if part.number == library.page(page).number]
    return holds(Printed(library.filing(parts[0].filing), parts[0].number, tuple(parts)), quote) is not None
