"""The facts of one company, read from a file of EDGAR's company facts.

    {"cik": 320193, "entityName": "Apple Inc.", "facts": {"us-gaap": {"Assets": {"label": "Assets", "description": "...",
     "units": {"USD": [{"end": "2023-09-30", "val": 352583000000, "accn": "0000320193-23-000106", "fy": 2023, "fp": "FY",
                        "form": "10-K", "filed": "2023-11-03", "frame": "CY2023Q3I"}]}}}}}

A fact without `start` is of a moment. `fy` and `fp` are those of the filing and not of the fact: a 10-K of 2023 gives the figures
of 2022 with "fy": 2023. What a filing is that is no periodic report (a proxy statement, a prospectus) is left out: its figures are often
in other units than they say. So is what one filing gives twice with values that contradict each other.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from finexpert.errors import DataError
from finexpert.storage import foreign_json

ANNUAL = ("10-K", "10-K405", "20-F", "40-F")
_PERIODIC = re.compile(r"(10-K|10-K405|10-KT|10-Q|10-QT|20-F|40-F|6-K|8-K)(/A)?")
_CURRENCY = re.compile(r"[A-Z]{3}")


class _Value(BaseModel):
    start: dt.date | None = None
    end: dt.date
    val: float = Field(allow_inf_nan=False)
    accn: str = Field(pattern=r"^\d{10}-\d{2}-\d{6}$")
    fy: int | None = None
    fp: str | None = None
    form: str
    filed: dt.date


class _Concept(BaseModel):
    label: str | None = None
    description: str | None = None
    units: dict[str, list[_Value]]


class _File(BaseModel):
    cik: int
    entityName: str
    facts: dict[str, dict[str, _Concept]]


class Filing(NamedTuple):
    """A filing; they sort by the order in which they became known: by day, an amendment after what it amends."""

    filed: dt.date
    amended: bool
    accession: str
    form: str
    fiscal_year: int | None
    fiscal_period: str | None

    @property
    def is_annual(self) -> bool:
        """Whether it is the report of a whole year."""
        return self.form.removesuffix("/A") in ANNUAL


class Figure(NamedTuple):
    """What a fact is of: a concept in a unit, over a period; `start` is None for a moment."""

    concept: str
    unit: str
    start: dt.date | None
    end: dt.date

    @property
    def days(self) -> int:
        """The length of the period in days, 0 of a moment."""
        return (self.end - self.start).days + 1 if self.start else 0

    @property
    def is_additive(self) -> bool:
        """Whether the figure of a period is the sum of those of its parts: flows of money, and no averages.

        Earnings per share, average shares and rates are none: their quarters do not add up to the year.
        """
        return self.start is not None and is_currency(self.unit) and "Average" not in self.concept


@dataclass(frozen=True)
class Fact:
    """A value of a figure, as a filing gives it."""

    figure: Figure
    value: float
    filing: Filing


@dataclass(frozen=True)
class Concept:
    """A concept with the words of its taxonomy."""

    name: str
    label: str
    definition: str


@dataclass
class CompanyFacts:
    """All facts of a company, and how many were left out, by the reason."""

    cik: int
    name: str
    concepts: list[Concept]
    facts: list[Fact]
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def currency(self) -> str | None:
        """The currency that the company reports in: that of most of its facts of money."""
        counts = Counter(fact.figure.unit for fact in self.facts if is_currency(fact.figure.unit))
        return max(counts, key=lambda unit: (counts[unit], unit)) if counts else None


def is_currency(unit: str) -> bool:
    """Whether a unit is a currency.

    >>> [is_currency(unit) for unit in ("USD", "USD/shares", "shares", "pure")]
    [True, False, False, False]
    """
    return _CURRENCY.fullmatch(unit) is not None


def read_facts(path: Path) -> CompanyFacts:
    """The facts of a file; DataError names the file and the place of what is wrong in it."""
    try:
        content = _File.model_validate(foreign_json.parse(path.read_bytes()))
    except (OSError, json.JSONDecodeError) as error:
        raise DataError(
            f"{path} cannot be read as JSON: {error}. Fetch it with `finexpert data edgar --refresh`"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{path}, {place}: {first['msg']}. Fetch it with `finexpert data edgar --refresh`") from None
    concepts = [
        Concept(f"{taxonomy}:{name}", concept.label or "", concept.description or "")
        for taxonomy, named in content.facts.items()
        for name, concept in named.items()
    ]
    left_out: Counter[str] = Counter()
    facts = list(_once(_kept(content, left_out), left_out))
    return CompanyFacts(content.cik, content.entityName, concepts, facts, left_out)


def _kept(content: _File, left_out: Counter[str]) -> Iterator[Fact]:
    for taxonomy, concepts in content.facts.items():
        for name, concept in concepts.items():
            for unit, values in concept.units.items():
                for value in values:
                    if _PERIODIC.fullmatch(value.form) is None:
                        left_out["of no periodic report"] += 1
                    elif value.start is not None and value.start > value.end:
                        left_out["period ends before it starts"] += 1
                    elif f"{taxonomy}:{name}" != _SHARES_ON_COVER and value.end > value.filed:
                        # A wrong year, or a plan: neither was known on the day of the filing.
                        left_out["period ends after the filing"] += 1
                    else:
                        filing = Filing(
                            value.filed, value.form.endswith("/A"), value.accn, value.form, value.fy, value.fp
                        )
                        yield Fact(Figure(f"{taxonomy}:{name}", unit, value.start, value.end), value.val, filing)


_SHARES_ON_COVER = "dei:EntityCommonStockSharesOutstanding"


def _once(facts: Iterable[Fact], left_out: Counter[str]) -> Iterator[Fact]:
    """One fact a figure and filing, in the order of the filings."""
    grouped: dict[tuple[Filing, Figure], list[Fact]] = defaultdict(list)
    filings: dict[str, Filing] = {}
    for fact in facts:
        # A filing has one line in the index: the words of its first fact hold for all.
        filing = filings.setdefault(fact.filing.accession, fact.filing)
        grouped[filing, fact.figure].append(replace(fact, filing=filing))
    for key in sorted(grouped, key=lambda pair: pair[0][:3]):
        same = grouped[key]
        value = most_precise({fact.value for fact in same}, key[1])
        if value is None:
            left_out["contradicted in its own filing"] += len(same)
        else:
            yield replace(same[0], value=value)


def most_precise(values: set[float], figure: Figure) -> float | None:
    """The value of which all others are roundings; None where they contradict each other.

    >>> money = Figure("us-gaap:Revenues", "USD", dt.date(2023, 1, 1), dt.date(2023, 12, 31))
    >>> most_precise({274_500_000_000.0, 274_515_000_000.0}, money)
    274515000000.0
    >>> most_precise({274_515_000_000.0, 260_174_000_000.0}, money)
    """
    return next((one for one in values if all(one == other or rounds(other, one, figure) for other in values)), None)


def rounds(coarse: float, fine: float, figure: Figure, *, digits: int = 1) -> bool:
    """Whether one value is the other rounded, with at least so many digits left and so many fewer, as a text gives it.

    Only amounts of money and of shares from a million on are rounded in texts; 5.1 is no rounding of 5.11 a share.

    >>> money = Figure("us-gaap:Revenues", "USD", dt.date(2023, 1, 1), dt.date(2023, 12, 31))
    >>> rounds(5.1e9, 5_112e6, money), rounds(5_112e6, 5.1e9, money), rounds(5_113e6, 5_112e6, money)
    (True, False, False)
    >>> rounds(100e6, 96e6, money, digits=2)
    False
    """
    if not (is_currency(figure.unit) or figure.unit == "shares") or abs(coarse) < 1e6 or coarse % 1 or coarse == fine:
        return False
    unit, whole = 1, int(coarse)
    while whole % (unit * 10) == 0:
        unit *= 10
    # 100 has as many digits as it likes: it may be exact.
    known_digits = abs(whole) // unit >= 10 ** (digits - 1)
    return known_digits and fine % (unit / 10 ** (digits - 1)) != 0 and abs(coarse - fine) <= unit / 2
