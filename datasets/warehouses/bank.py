"""The loan book of a bank that does not exist: loans, balances, payments, collateral, ratings, provisions.

    loans       L0017  Mortgage  North  originated 2019-04-01   240.0 thousand EUR   2.15 percent
    balances    2021-06-30  L0017  205.3 thousand EUR   0 days past due
    payments    2021-06-30  L0017  interest   367.80 EUR

Balances are in thousand euros and payments in euros. A floating loan has a margin and no rate, a fixed one a rate and
no margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from finexpert.datasets.warehouses.numbers import Floats, around, generator, month_ends, with_gaps
from finexpert.warehouse.local.building import Table

_ENDS = month_ends("2018-01-31", "2024-06-30")
_SEGMENTS = ("Mortgage", "Corporate", "Small business", "Consumer")
_SIZES = {"Mortgage": 230.0, "Corporate": 2600.0, "Small business": 320.0, "Consumer": 22.0}
_MONTHS = {"Mortgage": 240, "Corporate": 60, "Small business": 72, "Consumer": 42}
_SPREADS = {"Mortgage": 1.3, "Corporate": 2.1, "Small business": 3.0, "Consumer": 5.6}
_GRADES = ("AA", "A", "BBB", "BB", "B", "CCC", "D")
_LOANS = 120


class _Loan(NamedTuple):
    loan_id: str
    segment: str
    region: str
    originated: pd.Timestamp
    maturity: pd.Timestamp
    principal: float
    rate_type: str
    rate: float | None
    margin: float | None

    @property
    def month_ends(self) -> list[pd.Timestamp]:
        """The month ends at which it runs."""
        return [day for day in _ENDS if self.originated <= day < self.maturity]


@dataclass(frozen=True)
class _Book:
    """The loans and what happened to them month by month."""

    loans: list[_Loan]
    balances: pd.DataFrame
    payments: pd.DataFrame


def tables(variant: int = 0) -> list[Table]:
    """The seven tables; another `variant` has other numbers under the same schema."""
    book = _book(variant)
    return [_loans_table(book.loans), _balances_table(book.balances, variant), _payments_table(book.payments),
            _collateral(book.loans, variant), _ratings(book.loans, variant), _provisions(variant),
            _reference_rates(variant)]  # fmt: skip


def _loans(variant: int) -> list[_Loan]:
    random = generator("loans", variant)
    loans = []
    for number in range(1, _LOANS + 1):
        segment = _SEGMENTS[int(random.choice(4, p=[0.35, 0.2, 0.25, 0.2]))]
        start = pd.Timestamp("2018-01-01") + pd.DateOffset(months=int(random.integers(0, 66)))
        principal = round(_SIZES[segment] * float(np.exp(0.45 * random.standard_normal())), 1)
        spread = round(_SPREADS[segment] + 0.4 * float(random.standard_normal()), 2)
        floating = bool(random.random() < (0.6 if segment == "Corporate" else 0.2))
        region = ("North", "South", "East", "West")[int(random.integers(4))]
        rate, margin = (None, spread) if floating else (round(spread + 1.4, 2), None)
        maturity = start + pd.DateOffset(months=_MONTHS[segment])
        kind = "floating" if floating else "fixed"
        loans.append(_Loan(f"L{number:04d}", segment, region, start, maturity, principal, kind, rate, margin))
    return loans


def _book(variant: int) -> _Book:
    loans, base = _loans(variant), dict(zip(_ENDS, _euribor(variant).tolist(), strict=True))
    balances: list[tuple[object, ...]] = []
    payments: list[tuple[object, ...]] = []
    for loan in loans:
        random = generator(f"life {loan.loan_id}", variant)
        balance, late = loan.principal, 0
        for day in loan.month_ends:
            late = _next_delay(late, random)
            rate = loan.rate if loan.rate is not None else (loan.margin or 0.0) + base[day]
            if late == 0:
                payments.append((day, loan.loan_id, "interest", round(balance * rate * 10 / 12, 2)))
                if loan.segment != "Corporate":
                    part = min(balance, loan.principal / _MONTHS[loan.segment])
                    balance -= part
                    payments.append((day, loan.loan_id, "principal", round(part * 1000, 2)))
            elif random.random() < 0.3:
                payments.append((day, loan.loan_id, "fee", float(random.integers(2, 9) * 10)))
            balances.append((day, loan.loan_id, round(balance, 2), late))
    return _Book(
        loans,
        pd.DataFrame(balances, columns=["date", "loan_id", "balance", "days_past_due"]),
        pd.DataFrame(payments, columns=["date", "loan_id", "kind", "amount"]),
    )


def _next_delay(late: int, random: np.random.Generator) -> int:
    """Days past due one month later: most pay, who is late often stays late."""
    if late == 0:
        return 30 if random.random() < 0.025 else 0
    return late + 30 if random.random() < 0.62 and late < 360 else 0


def _loans_table(loans: list[_Loan]) -> Table:
    comments = {
        "originated": "day on which it was paid out",
        "principal": "amount at origination, thousand euros",
        "rate": "percent a year; NULL for a floating loan",
        "margin": "percentage points over the three-month Euribor; NULL for a fixed loan",
    }
    return Table(
        "loans", pd.DataFrame(loans), "One row a loan", comments, ("segment", "region", "rate_type"), "originated"
    )


def _balances_table(balances: pd.DataFrame, variant: int) -> Table:
    unknown = generator("days past due", variant).random(len(balances)) < 0.006
    late = balances["days_past_due"].astype("Int64").mask(pd.Series(unknown))
    data = balances.assign(days_past_due=late).sort_values(["date", "loan_id"], ignore_index=True)
    comments = {
        "date": "last day of the month",
        "balance": "outstanding after the month's payments, thousand euros",
        "days_past_due": "0 if nothing is overdue; NULL where not yet known",
    }
    return Table(
        "balances", data, "Month-end balances of running loans (long: one row per month and loan)", comments, (), "date"
    )


def _payments_table(payments: pd.DataFrame) -> Table:
    comments = {"date": "last day of the month", "amount": "euros (not thousands)"}
    data = payments.sort_values(["date", "loan_id", "kind"], ignore_index=True)
    return Table("payments", data, "What borrowers paid", comments, ("kind",), "date")


def _collateral(loans: list[_Loan], variant: int) -> Table:
    rows = []
    for loan in [loan for loan in loans if loan.segment != "Consumer"]:
        random = generator(f"collateral {loan.loan_id}", variant)
        kind = (
            "real estate"
            if loan.segment == "Mortgage"
            else ("equipment", "guarantee", "real estate")[int(random.integers(3))]
        )
        value = loan.principal * float(random.uniform(0.7, 1.6))
        day = loan.originated
        while day <= _ENDS[-1]:
            rows.append((day, loan.loan_id, kind, None if random.random() < 0.05 else round(value, 1)))
            value *= float(np.exp(0.02 + 0.06 * random.standard_normal()))
            day = day + pd.DateOffset(months=12)
    data = pd.DataFrame(rows, columns=["date", "loan_id", "kind", "value"]).sort_values(
        ["date", "loan_id"], ignore_index=True
    )
    comments = {"date": "day of the valuation; yearly", "value": "thousand euros; NULL while the valuation is pending"}
    return Table("collateral", data, "Valuations of collateral; consumer loans have none", comments, ("kind",), "date")


def _ratings(loans: list[_Loan], variant: int) -> Table:
    rows = []
    for loan in loans:
        random = generator(f"rating {loan.loan_id}", variant)
        grade = int(random.choice([1, 2, 3, 4], p=[0.2, 0.4, 0.3, 0.1]))
        rows.append((loan.originated, loan.loan_id, _GRADES[grade]))
        for day in loan.month_ends:
            if random.random() < 0.045:
                moved = min(6, max(0, grade + (1 if random.random() < 0.6 else -1)))
                rows += [(day, loan.loan_id, _GRADES[moved])] if moved != grade else []
                grade = moved
    data = pd.DataFrame(rows, columns=["date", "loan_id", "grade"]).sort_values(["date", "loan_id"], ignore_index=True)
    comments = {"date": "day from which the grade holds", "grade": "best to worst: AA, A, BBB, BB, B, CCC, D (default)"}
    return Table("ratings", data, "Internal grades: a row at origination and at each change", comments, (), "date")


def _provisions(variant: int) -> Table:
    size = len(_ENDS)
    random = generator("provisions", variant)
    data = pd.DataFrame({
        "date": _ENDS,
        "stage_1": np.clip(around("stage 1", variant, size, 0.6, 0.9, 0.05), 0.05, None).round(3),
        "stage_2": np.clip(around("stage 2", variant, size, 1.1, 0.9, 0.12), 0.05, None).round(3),
        "stage_3": np.clip(around("stage 3", variant, size, 2.4, 0.92, 0.25), 0.05, None).round(3),
        "write_offs": np.where(random.random(size) < 0.25, np.nan, random.gamma(1.5, 0.12, size)).round(3),
        "recoveries": np.where(random.random(size) < 0.35, np.nan, random.gamma(1.2, 0.05, size)).round(3),
    })  # fmt: skip
    stages = {f"stage_{n}": f"provisions for stage {n} loans at month end, million euros" for n in (1, 2, 3)}
    comments = {
        "date": "last day of the month", **stages,
        "write_offs": "of the month, million euros; NULL if none",
        "recoveries": "on loans written off before, of the month, million euros; NULL if none",
    }  # fmt: skip
    return Table("provisions", data, "Loan loss provisions of the book (wide, monthly)", comments, (), "date")


def _euribor(variant: int) -> Floats:
    return around("euribor", variant, len(_ENDS), 1.4, 0.97, 0.22).round(2)


def _reference_rates(variant: int) -> Table:
    savings = with_gaps("deposits", variant, around("deposits", variant, len(_ENDS), 0.7, 0.95, 0.08).round(2), 0.04)
    data = pd.DataFrame({"date": _ENDS, "euribor_3m": _euribor(variant), "deposit_rate": savings})
    comments = {
        "date": "last day of the month",
        "euribor_3m": "three-month Euribor, percent a year",
        "deposit_rate": "what the bank pays on deposits, percent a year; NULL where not published",
    }
    return Table("reference_rates", data, "Reference rates (wide, monthly)", comments, (), "date")
