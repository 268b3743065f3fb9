"""A list of guesses that meets a short code alone: what the house's table of codes calls it decides, and a person is asked where that is something else."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.core.reviews import UNSURE
from finexpert.errors import UnknownValue
from finexpert.warehouse.checks.checked import Checks

TABLES = """
CREATE TABLE code_table (domain VARCHAR, code VARCHAR, meaning VARCHAR);
INSERT INTO code_table VALUES ('INV', 'D', 'draft, not posted'), ('INV', 'O', 'open'), ('INV', 'P', 'settled'), ('INV', 'X', 'cancelled'),
  ('CN', 'P', 'posted'), ('CN', 'X', 'cancelled'), ('MOV', 'R', 'receipt from supplier'), ('MOV', 'S', 'shipment'), ('MOV', 'U', 'customer return');
CREATE TABLE invoices (id INTEGER, status VARCHAR, amount DOUBLE);
INSERT INTO invoices SELECT i, ['D', 'O', 'P', 'p', 'X'][1 + i % 5], 10 FROM range(100) t(i);
CREATE TABLE notes (id INTEGER, status VARCHAR); COMMENT ON COLUMN notes.status IS 'see code_table CN';
INSERT INTO notes SELECT i, ['P', 'X'][1 + i % 2] FROM range(10) t(i);
CREATE TABLE moves (id INTEGER, move_type VARCHAR);
INSERT INTO moves SELECT i, ['R', 'S', 'U'][1 + i % 3] FROM range(9) t(i);
CREATE VIEW seen AS SELECT id, status AS state FROM invoices;
CREATE TABLE order_states (state_cd VARCHAR, state_name VARCHAR); INSERT INTO order_states VALUES ('N', 'new'), ('S', 'shipped'), ('C', 'closed');
CREATE TABLE orders (id INTEGER, state VARCHAR, flag VARCHAR);
INSERT INTO orders SELECT i, ['N', 'S', 'C'][1 + i % 3], ['N', 'C'][1 + i % 2] FROM range(9) t(i);
CREATE TABLE claims (id INTEGER, claim_typ VARCHAR); INSERT INTO claims VALUES (1, 'PAY'), (2, 'LAE'), (3, 'RSV');
INSERT INTO code_table VALUES ('TRX', 'PAY', 'indemnity payment'), ('TRX', 'LAE', 'loss adjustment expense, external'), ('TRX', 'RSV', 'case reserve change');
CREATE TABLE costs (id INTEGER, cost_typ VARCHAR); INSERT INTO costs VALUES (1, 'PM'), (2, 'LE'), (3, 'RS');
INSERT INTO code_table VALUES ('CST', 'PM', 'payment'), ('CST', 'LE', 'loss expense'), ('CST', 'RS', 'reserve for expenses');
CREATE TABLE blanks (id INTEGER, state VARCHAR); INSERT INTO blanks VALUES (1, ''), (2, 'N'), (3, 's');
"""
POSTED = "('POSTED', 'POST', 'P', 'BOOKED', 'B')"


@pytest.mark.parametrize(
    ("select", "called"),
    [
        (f"SELECT count(*) FROM invoices WHERE upper(status) IN {POSTED}", "'P' is 'settled', 'p' is 'settled' in invoices.status, where 'POSTED'"),
        (f"SELECT sum(amount) FROM invoices WHERE upper(trim(status)) IN {POSTED} AND id > 3", "'P' is 'settled'"),
        (f"SELECT sum(CASE WHEN status IN {POSTED} THEN amount END) FROM invoices", "'P' is 'settled' in invoices.status"),
        (f"SELECT count(*) FROM seen WHERE state IN {POSTED}", "'P' is 'settled' in seen.state"),
        ("SELECT count(*) FROM moves WHERE upper(move_type) IN ('RETURN', 'RET', 'R')", "'R' is 'receipt from supplier' in moves.move_type"),
        ("SELECT count(*) FROM moves WHERE upper(move_type) NOT IN ('RETURN', 'RET', 'R')", "'R' is 'receipt from supplier' in moves.move_type"),
        ("SELECT count(*) FROM orders WHERE state IN ('SHIPPED', 'SENT', 'S', 'C')", "'C' is 'closed' in orders.state"),
    ],
)  # fmt: skip
def test_a_code_for_something_else_is_asked_about(source: Any, select: str, called: str) -> None:
    with pytest.raises(UnknownValue) as caught:
        Checks(source).run(select, answers=True)
    assert called in caught.value.question
    assert caught.value.values
    # What a model may be shown says nothing of meanings, nor of other codes.
    assert not any(word in str(caught.value) for word in ("settled", "receipt", "closed", "'D'", "'U'", "'p'"))


@pytest.mark.parametrize(
    "select",
    [
        "SELECT count(*) FROM invoices WHERE upper(status) NOT IN ('CANCELLED', 'CXL', 'X', 'DRAFT', 'D')",
        "SELECT count(*) FROM invoices WHERE upper(status) IN ('SETTLED', 'PAID', 'P')",
        # Its comment says of what they are codes.
        f"SELECT count(*) FROM notes WHERE status IN {POSTED}",
        "SELECT count(*) FROM moves WHERE move_type IN ('RETURN', 'RETURNED', 'U')",
        # One text alone is no guess, and who reads the table of codes knows what they mean.
        "SELECT count(*) FROM invoices WHERE status = 'P'",
        "SELECT count(*) FROM invoices i JOIN code_table c ON c.domain = 'INV' AND c.code = upper(i.status) WHERE i.status IN ('POSTED', 'P')",
        # No list of codes has all of its values, or the one that has is of another column.
        "SELECT count(*) FROM orders WHERE flag IN ('NO', 'NONE', 'N')",
        # Initials and abbreviations are what was looked for.
        "SELECT count(*) FROM claims WHERE upper(claim_typ) IN ('PAY', 'LAE')",
        "SELECT count(*) FROM costs WHERE cost_typ IN ('PAYMENT', 'PM', 'LE')",
        # What says that there is none is no code.
        "SELECT count(*) FROM blanks WHERE state IN ('', 'NONE', 'N/A')",
    ],
)
def test_a_code_for_what_was_looked_for_passes(source: Any, select: str) -> None:
    checked = Checks(source).run(select, answers=True)
    assert not [note for note in checked.notes if "none of the words" in note]


def test_where_no_code_has_the_meaning_the_answer_is_unsure(source: Any) -> None:
    checked = Checks(source).run("SELECT count(*) FROM moves WHERE move_type IN ('SALE', 'SOLD', 'S')", answers=True)
    said = "by code_table 'S' is 'shipment' in moves.move_type, which is none of the words that were looked for"
    assert f"{UNSURE}{said}" in checked.notes


def test_values_are_offered_as_the_column_spells_them(source: Any) -> None:
    with pytest.raises(UnknownValue) as caught:
        Checks(source).run("SELECT count(*) FROM blanks WHERE upper(state) IN ('NEW', 'OPEN', 'S')", answers=True)
    assert caught.value.values == ("N", "s")
    assert "Which is meant (N new; s shipped)?" in caught.value.question


def test_what_a_person_has_said_is_not_asked_again(source: Any) -> None:
    select = f"SELECT count(*) AS n FROM invoices WHERE upper(status) IN {POSTED}"
    checked = Checks(source, chosen={"invoices.status=POSTED": "O"}).run(select, answers=True)
    assert checked.frame.data.n[0] == 60
