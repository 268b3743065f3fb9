"""A SELECT on its way through the checks: read, put right, run, looked at.

    checks = Checks(warehouse, as_of=dt.date(2024, 9, 30))
    checks.run("SELECT count(*) AS n FROM trades WHERE status = 'Filled'")
        Checked(frame=..., notes=["read 'Filled' as 'FILLED'"])

The order is data: what is cheap and certain comes first, and what needs rows comes last.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from finexpert.core import progress
from finexpert.core.pace import Pace
from finexpert.core.reviews import NOT_CHECKED, UNSURE
from finexpert.errors import NoRows, StepError, UnknownValue
from finexpert.warehouse.checks.arbitrary import check_arbitrary
from finexpert.warehouse.checks.brackets import check_brackets
from finexpert.warehouse.checks.counts import check_counts
from finexpert.warehouse.checks.currencies import check_currencies
from finexpert.warehouse.checks.division import check_division
from finexpert.warehouse.checks.fan_out import check_fan_out
from finexpert.warehouse.checks.literals import Looked, look_up
from finexpert.warehouse.checks.magnitudes import check_bounds, check_magnitudes
from finexpert.warehouse.checks.meaning import check_meaning
from finexpert.warehouse.checks.nulls import check_nan, check_nulls
from finexpert.warehouse.checks.outer_joins import check_outer_joins
from finexpert.warehouse.checks.outside import check_outside
from finexpert.warehouse.checks.reading.comparisons import compared_columns, meant
from finexpert.warehouse.checks.reading.date_forms import check_date_forms
from finexpert.warehouse.checks.reading.horizons import check_horizon
from finexpert.warehouse.checks.reading.named import of_named
from finexpert.warehouse.checks.reading.period import period_of, seen_of
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, read
from finexpert.warehouse.checks.reading.spelled_keys import check_spelled_keys
from finexpert.warehouse.checks.reading.told_by_rows import HouseRows
from finexpert.warehouse.checks.reading.written import check_written
from finexpert.warehouse.checks.remarks.grain import grain
from finexpert.warehouse.checks.remarks.names import names
from finexpert.warehouse.checks.remarks.one_currency import one_currency
from finexpert.warehouse.checks.remarks.outcomes import outcomes
from finexpert.warehouse.checks.remarks.periods import periods
from finexpert.warehouse.checks.remarks.rates import rates
from finexpert.warehouse.checks.remarks.ratios import ratios, shares
from finexpert.warehouse.checks.remarks.rounding import rounding
from finexpert.warehouse.checks.remarks.rows import remarks
from finexpert.warehouse.checks.remarks.stand_ins import stand_ins
from finexpert.warehouse.checks.remarks.ties import ties
from finexpert.warehouse.checks.remarks.times import times
from finexpert.warehouse.checks.remarks.weeks import weeks
from finexpert.warehouse.checks.results import check_result
from finexpert.warehouse.checks.scales import check_scales
from finexpert.warehouse.checks.times.days import check_days
from finexpert.warehouse.checks.times.fiscal import check_fiscal, fiscal_as_of
from finexpert.warehouse.checks.times.moments import check_moments
from finexpert.warehouse.checks.times.not_yet import check_not_yet
from finexpert.warehouse.checks.times.steps import check_steps
from finexpert.warehouse.checks.times.stocks import check_snapshots, check_stocks
from finexpert.warehouse.checks.times.versions import check_versions
from finexpert.warehouse.checks.times.weekdays import check_weekdays
from finexpert.warehouse.checks.times.zones import check_zones
from finexpert.warehouse.checks.unions import check_unions
from finexpert.warehouse.checks.whole_numbers import check_whole_numbers
from finexpert.warehouse.checks.windows import check_windows
from finexpert.warehouse.frames import Frame
from finexpert.warehouse.named_selects import NamedSelect, written_out
from finexpert.warehouse.semantic_model.metrics import expand
from finexpert.warehouse.warehouse import Warehouse

SECONDS = 3.0
# A SELECT that takes longer is not run again for a note: that would take the time of the checks that decide, and of the person.
_QUICK = 1.0
# What the checks are called where one of them had no time. These decide about an answer; the others find what is rare.
_ONE_CURRENCY = "whether rows in other currencies are left out"
_SPELLED = "whether keys and dates are written alike"
_WORDS = "whether its conditions and units are those of the question"
_LITERALS = "whether the texts in its conditions stand in their columns"
_FAN_OUT = "whether a join multiplies the rows that it adds up"
_EMPTINESS = "which condition leaves nothing"
_DECIDING = frozenset((_LITERALS, _FAN_OUT, _EMPTINESS))
_OUTER = "whether a condition leaves out what an outer join keeps"
_SNAPSHOTS = "whether what is there is counted on several days"
_FISCAL = "whether fiscal years are those of the calendar"
_NOT_YET = "whether what was never done is left out"
_STEPS = "whether the row before is of the period before"
_REMARKS = "which rows count that should not"
# Each raises QueryError for a SELECT that runs and means something else than it says, and may give notes.
_MEANINGS: tuple[tuple[str, Callable[[Read, Probe], list[str] | None]], ...] = (
    ("whether its days are in the calendar", check_days),
    ("how texts compare that are numbers or dates", check_meaning),
    ("whether an aggregate takes rows that it does not name", check_counts),
    ("whether amounts are in one currency", check_currencies),
    ("whether balances of several days are added up", check_stocks),
    ("whether two rows hold on one day", check_versions),
    ("whether a NOT IN holds a NULL", check_nulls),
    ("whether NaN counts as the greatest number", check_nan),
    ("whether moments lie later on a day", check_moments),
    ("whether a divisor is zero", check_division),
    ("whether whole numbers are divided", check_whole_numbers),
    ("whether percent is taken for a fraction", check_scales),
    ("whether a row is any of several", check_arbitrary),
    ("whether the order of a window is clear", check_windows),
    ("whether a UNION or DISTINCT takes rows twice or drops some", check_unions),
)


@dataclass(frozen=True)
class Checked:
    """The rows of a SELECT that passed.

    `frame.select` is the SELECT that ran, `written` the one that was given, with what it reads by name: it alone may stand in a prompt. `notes` are for the
    person, and `period` is what its conditions ask about.
    """

    frame: Frame
    written: str
    notes: tuple[str, ...] = ()
    period: str | None = None


@dataclass(frozen=True)
class SentBack:
    """A SELECT that did not pass, and why."""

    frame: str
    select: str
    reason: str


@dataclass
class _Attempts:
    """What the SELECTs of one frame compared so far, and the texts that were not in their columns."""

    missing: dict[str, UnknownValue] = field(default_factory=dict)
    compared: set[str] = field(default_factory=set)


@dataclass
class Checks:
    """The checks of one question's SELECTs.

    `as_of` hides later rows; with `declared_only` by dates that an owner declared alone, as where nobody asked for a day. `chosen` are
    texts that a person has said the meaning of, by "table.column=text". `seconds` bound what the checks may take on an idle machine; a busy one
    gives them more, by the `pace` at which it goes. The `question` tells what a count is meant to count, `house` what was taught of
    such words. `named` are SELECTs that may be read
    by their names; those that were are in `read_by_name`.
    """

    source: Warehouse
    as_of: dt.date | None = None
    declared_only: bool = False
    seconds: float = SECONDS
    chosen: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    house: str = field(default="", repr=False)
    named: Mapping[str, NamedSelect] = field(default_factory=dict, repr=False)
    read_by_name: dict[str, NamedSelect] = field(default_factory=dict, init=False, repr=False)
    pace: Callable[[], Pace] = Pace
    sent_back: list[SentBack] = field(default_factory=list, init=False, repr=False)
    _frames: dict[str, _Attempts] = field(default_factory=dict, init=False, repr=False)
    _before: _Attempts = field(default_factory=_Attempts, init=False, repr=False)
    _reminded: set[str] = field(default_factory=set, init=False, repr=False)

    def run(self, select: str, frame: str = "", *, answers: bool = False, unit: str | None = None) -> Checked:
        """The rows of a SELECT; raises QueryError where they would be no ground for an answer, AsOfError where the day can't be kept.

        The name of a `frame` tells which SELECTs are attempts at the same one: a condition may not be lost between them. `answers` says
        that nothing is computed from the rows: they are the answer, shown in this `unit`. What does not pass is kept in `sent_back`.
        """
        reads: list[NamedSelect] = []
        try:
            whole = written_out(select, self.named, self.source.tables, self.source.dialect, reads.append)
            checked = self._run(whole, frame, answers, unit)
        except StepError as error:
            told = of_named(error, reads, self.named, self.source.tables, self.source.dialect) if reads else error
            self.sent_back.append(SentBack(frame, select, str(told)))
            if told is error:
                raise
            raise told from error
        self.read_by_name.update({each.name: each for each in reads})
        return checked

    def _run(self, select: str, frame: str, answers: bool, unit: str | None) -> Checked:
        # The engine's own rules speak first: they name tables and columns best, and a refused SELECT is not worth a look.
        pace = self.pace()
        ran = expand(select, self.source.metrics, self.source.dialect)
        one = read(ran, self.source.dialect, self.source.tables)
        explicit = self.as_of is not None and not self.declared_only
        notes = check_horizon(one, self.as_of) if explicit and self.as_of else []
        probe = Probe(self.source, self.seconds, self.as_of, self.declared_only, pace)
        looked = Looked(one.sql, [], [])
        with progress.stage("checking"):
            check_outside(one)
            with probe.checking(_WORDS):
                check_weekdays(one, self.question)
                check_zones(one, self.question)
                notes += [*check_brackets(one), *check_bounds(one, self.question)]
                notes += check_magnitudes(one, self.question, unit) if answers else []
            with probe.checking(_LITERALS):
                looked = self._looked_up(one, probe, self._attempts(frame))
            found: list[str] = []
            for name, check in _MEANINGS:
                with probe.checking(name):
                    found += check(one, probe) or []
            with probe.checking(_SNAPSHOTS):
                check_snapshots(one, probe, self.question)
            notes += looked.notes + found
            with probe.checking(_SPELLED):
                for spelled in (check_spelled_keys, check_date_forms, check_written):
                    spelled(one, probe)
            with probe.checking(_FAN_OUT):
                notes += check_fan_out(one, probe, self.question)
            with probe.checking(_OUTER):
                notes += check_outer_joins(one, probe, self.question)
            with probe.checking(_FISCAL):
                notes += [
                    *check_fiscal(one, probe, self.question, self.house),
                    *fiscal_as_of(one, self.as_of if explicit else None, self.house),
                ]
            with probe.checking(_NOT_YET):
                notes += check_not_yet(one, probe, self.question)
            with probe.checking(_STEPS):
                notes += check_steps(one, probe, self.question)
            with probe.checking(_REMARKS):
                notes += [*remarks(one, probe), *times(one, probe), *ratios(one, probe), *names(one, probe)]
                notes += [*grain(one, probe, self.question), *stand_ins(one, probe), *periods(one, probe, self.as_of)]
                notes += [*weeks(one, probe), *rounding(one, probe), *rates(one, probe)]
                notes += outcomes(one, probe, self.question, self._reminded)
            with probe.checking(_ONE_CURRENCY):
                notes += one_currency(looked.compared, one, probe, self.question)
        with pace.elsewhere():
            given = self.source.query(looked.select, as_of=self.as_of, declared_only=self.declared_only)
        again = self._read_again(one, looked)
        try:
            with probe.checking(_EMPTINESS):
                notes += check_result(given, again, probe)
        except NoRows as error:
            seen = f" as of {self.as_of}" if explicit else ""
            raise NoRows(f"{error}{seen}", span=error.span, beyond=error.beyond) from None
        if probe.idle(given.seconds) <= min(_QUICK, probe.left):
            notes += ties(again, probe)
        notes += [*(shares(one, given.data, self.question) if answers else ()), *_without_end(probe)]
        period = period_of(one)
        if period is not None and explicit and self.as_of:
            period, told = seen_of(period, self.as_of)
            notes += told
        return Checked(given, select, tuple(dict.fromkeys(notes)), period)

    @property
    def house_rows(self) -> HouseRows:
        """What the house's own rows say of words of the question."""
        return HouseRows(self.source, Probe(self.source, self.seconds, self.as_of, self.declared_only, self.pace()))

    def another_plan(self) -> None:
        """A new plan may call its frames otherwise: what was missing before may be lost in none of them."""
        known = [self._before, *self._frames.values()]
        missing = {text: unknown for one in known for text, unknown in one.missing.items()}
        self._before, self._frames = _Attempts(missing, set().union(*(one.compared for one in known))), {}

    def _attempts(self, frame: str) -> _Attempts:
        begun = _Attempts(dict(self._before.missing), set(self._before.compared))
        return self._frames.setdefault(frame, begun)

    def _looked_up(self, one: Read, probe: Probe, attempts: _Attempts) -> Looked:
        compared = {meant(origin) for origin in compared_columns(one)}
        try:
            looked = look_up(one, probe, dict(self.chosen), self.question)
        except UnknownValue as unknown:
            attempts.missing[unknown.meant] = unknown
            attempts.compared |= compared
            raise
        left_out = sorted(set(attempts.missing) - compared)
        # A condition that moved to another column may be right; one that is gone makes the question another one.
        if left_out and not compared - attempts.compared:
            before = attempts.missing[left_out[0]]
            raise UnknownValue(
                f"the condition on {before.place} was left out: keep it, with texts that the column may hold",
                place=before.place,
                text=before.text,
                meant=before.meant,
                values=before.values,
            )
        return looked

    def _read_again(self, one: Read, looked: Looked) -> Read:
        return one if looked.select == one.sql else read(looked.select, one.dialect, one.tables)


def _without_end(probe: Probe) -> Iterator[str]:
    """What a person is told of each check that had no time, those first that decide."""
    for name in sorted(probe.unfinished, key=lambda name: name not in _DECIDING):
        start = UNSURE if name in _DECIDING else NOT_CHECKED
        yield f"{start}there was too little time or memory to check {name}; ask again, or of fewer rows, as of a shorter period"
    for name, fault in probe.broken.items():
        start = UNSURE if name in _DECIDING else NOT_CHECKED
        yield f"{start}a fault of this program ended the check {name} ({fault}); please report the SELECT"
