"""What databases of strangers hold: restated rows, versions of a customer, quantities in two units, numbers that stand for none, years that are not over."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import duckdb
import pytest

from finexpert.errors import QueryError, UnknownValue
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE applications (app_id INTEGER, ver INTEGER, score INTEGER, amount_eur DOUBLE, app_day VARCHAR, PRIMARY KEY (app_id, ver));
INSERT INTO applications SELECT i, 1, CASE WHEN i % 10 = 0 THEN -1 ELSE 300 + i END, 10, '2023' || lpad((1 + i % 12)::VARCHAR, 2, '0') || '15' FROM range(1, 101) t(i);
INSERT INTO applications VALUES (7, 2, 310, 12, '20230815');
CREATE TABLE dim_customer (customer_key INTEGER PRIMARY KEY, customer_id VARCHAR, tier VARCHAR, is_current BOOLEAN);
INSERT INTO dim_customer VALUES (1, 'C1', 'gold', FALSE), (2, 'C1', 'silver', TRUE), (3, 'C2', 'gold', TRUE);
CREATE TABLE parcels (parcel_id INTEGER PRIMARY KEY, customer_key INTEGER REFERENCES dim_customer, sent_on DATE, weight DOUBLE, weight_unit VARCHAR);
INSERT INTO parcels SELECT i, 1 + i % 3, DATE '2024-01-01' + i::INTEGER, 10, CASE WHEN i % 2 = 0 THEN 'kg' ELSE 'lb' END FROM range(0, 200) t(i);
CREATE TABLE claim_lines (claim_id INTEGER, line_no INTEGER, claimed_eur DOUBLE, PRIMARY KEY (claim_id, line_no));
INSERT INTO claim_lines VALUES (1, 1, 10), (1, 2, 30), (2, 1, 20);
CREATE TABLE clients (client_no INTEGER PRIMARY KEY, del_flg VARCHAR);
INSERT INTO clients VALUES (1, 'N'), (2, 'Y');
CREATE TABLE kept (client_no INTEGER PRIMARY KEY, del_flg VARCHAR);
INSERT INTO kept VALUES (1, 'N'), (2, 'N');
CREATE TABLE loans (loan_id INTEGER PRIMARY KEY, ccy VARCHAR);
INSERT INTO loans VALUES (1, 'EUR'), (2, 'SEK');
CREATE TABLE payments (pay_id INTEGER PRIMARY KEY, loan_id INTEGER REFERENCES loans, amount DOUBLE);
INSERT INTO payments VALUES (1, 1, 10), (2, 2, 20), (3, 1, 5);
CREATE TABLE dim_date (date_key INTEGER PRIMARY KEY, day DATE, month INTEGER);
INSERT INTO dim_date SELECT strftime(d, '%Y%m%d')::INTEGER, d, month(d) FROM (SELECT DATE '2024-01-01' + i::INTEGER AS d FROM range(0, 60) t(i));
CREATE TABLE inventory_daily (depot INTEGER, date_key INTEGER REFERENCES dim_date, pallets INTEGER, capacity INTEGER, PRIMARY KEY (depot, date_key));
INSERT INTO inventory_daily SELECT p, date_key, 100 + p, 200 FROM dim_date, range(1, 4) t(p);
CREATE TABLE calendar (cal_key INTEGER PRIMARY KEY, cal_day DATE, cal_year INTEGER, cal_month INTEGER, is_weekend BOOLEAN);
INSERT INTO calendar SELECT i, d, year(d), month(d), dayofweek(d) IN (0, 6) FROM (SELECT i, DATE '2023-01-01' + i::INTEGER AS d FROM range(0, 731) t(i));
CREATE TABLE visits (visit_id INTEGER PRIMARY KEY, cal_key INTEGER REFERENCES calendar, fee DOUBLE);
INSERT INTO visits SELECT i, i, 5 FROM range(20, 500) t(i);
CREATE TABLE tickets (ticket_no INTEGER PRIMARY KEY, opened DATE, topic VARCHAR, city VARCHAR);
INSERT INTO tickets SELECT i, DATE '2022-01-01' + i::INTEGER, ['billing', 'Billing', 'move'][1 + i % 3], 'Hamm' FROM range(0, 730) t(i);
CREATE TABLE tolls (toll_id INTEGER PRIMARY KEY, day_key INTEGER, paid_month VARCHAR, fee DOUBLE);
INSERT INTO tolls SELECT i, strftime(d, '%Y%m%d')::INTEGER, strftime(d, '%Y-%m'), 2 FROM (SELECT i, DATE '2023-01-01' + i::INTEGER AS d FROM range(0, 565) t(i));
CREATE TABLE claims (claim_id INTEGER PRIMARY KEY, region VARCHAR);
INSERT INTO claims VALUES (1, 'north'), (2, 'south');
CREATE TABLE payouts (payout_id INTEGER PRIMARY KEY, claim_id INTEGER REFERENCES claims, paid_eur DOUBLE);
INSERT INTO payouts VALUES (1, 1, 10), (2, 1, 30), (3, 2, 20);
"""
VERSIONS = "applications holds several rows of one app_id, told apart by ver: all of them count"
CUSTOMERS = "dim_customer holds several rows of one customer_id, told apart by is_current: all of them count"
KEYS = "count(DISTINCT customer_key) counts each version as one: dim_customer holds several of one customer_id"
NOT_OVER = (
    "parcels.sent_on ends on 2024-07-18 in these data, and the period goes on until 2024-12-31: it is not all there"
)
KEY_NOT_OVER = NOT_OVER.replace("parcels.sent_on", "tolls.day_key")
PER_CLAIM = "AVG(paid_eur) takes each row of payouts as one, and one claim_id has several rows"
LAST_MONTH = "parcels.sent_on ends on 2024-07-18 in these data: the last month is not all there"
YEAR_OF_CALENDAR = (
    "visits ends on 2024-05-14 in these data, and the period goes on until 2024-12-31: it is not all there"
)
MONTH_OF_CALENDAR = YEAR_OF_CALENDAR.replace("2024-12-31", "2024-05-31")
TOPICS = "SELECT y, k FROM (SELECT year(opened) AS y, {} AS k, count(*) AS n FROM tickets GROUP BY 1, 2) t QUALIFY row_number() OVER (PARTITION BY y ORDER BY n DESC, k) = 1 ORDER BY y"
TWICE = "groups of topic differ in case or blanks alone, as 'Billing' and 'billing': they may be one"
BEGUN = "visits begins on 2023-01-21 in these data, and the period on 2023-01-01: it is not all there"
PARCELS_BEGIN = "parcels.sent_on begins on 2024-01-01 in these data, and the period on 2023-07-01: it is not all there"
NONE = "AVG(score) takes -1 for a number, which stands in several rows of applications.score far from all others: it may say that there is none"
LATEST = "SELECT * FROM applications QUALIFY row_number() OVER (PARTITION BY app_id ORDER BY ver DESC) = 1"


@pytest.mark.parametrize(
    ("question", "select", "notes"),
    [
        ("", "SELECT count(*) FROM applications", [VERSIONS]),
        ("", "SELECT sum(amount_eur) FROM applications WHERE ver = 1", []),
        ("", f"SELECT count(*) FROM ({LATEST})", []),
        ("", "SELECT count(DISTINCT app_id) FROM applications", []),
        ("", "SELECT avg(score) FROM applications WHERE ver = 1", [NONE]),
        ("", "SELECT avg(score) FROM applications WHERE ver = 1 AND score <> -1", []),
        ("", "SELECT avg(nullif(score, -1)) FROM applications WHERE ver = 1", []),
        ("", "SELECT count(*) FROM applications WHERE ver = 1 AND app_day LIKE '2023%'", []),
        ("", "SELECT count(*) FROM dim_customer", [CUSTOMERS]),
        ("", "SELECT count(DISTINCT topic) FROM tickets", [TWICE.replace("groups", "values counted")]),
        ("", "SELECT count(DISTINCT lower(topic)) FROM tickets", []),
        ("", "SELECT tier, count(DISTINCT customer_id) AS n FROM dim_customer GROUP BY tier ORDER BY tier", [CUSTOMERS]),
        ("", "SELECT count(DISTINCT customer_id) FROM dim_customer", []),
        ("", "SELECT count(*) FROM dim_customer WHERE is_current", []),
        ("", "SELECT count(*) FROM dim_customer c WHERE NOT EXISTS (SELECT 1 FROM parcels p WHERE p.customer_key = c.customer_key AND p.parcel_id > 198)", [CUSTOMERS]),
        ("", "SELECT tier, count(*) AS n FROM parcels JOIN dim_customer USING (customer_key) GROUP BY tier ORDER BY tier", []),
        ("", "SELECT count(DISTINCT customer_key) FROM parcels", [KEYS]),
        ("What is the average amount per claim?", "SELECT avg(claimed_eur) FROM claim_lines", ["AVG(claimed_eur) takes each row of claim_lines as one, and one claim_id has several rows"]),
        ("How many claims are there?", "SELECT count(*) FROM claim_lines", ["COUNT(*) takes each row of claim_lines as one, and one claim_id has several rows"]),
        ("How many claims are there?", "SELECT count(DISTINCT claim_id) FROM claim_lines", []),
        ("What is the average amount per claim?", "SELECT sum(claimed_eur) / count(DISTINCT claim_id) FROM claim_lines", []),
        ("What is the average amount of a line?", "SELECT avg(claimed_eur) FROM claim_lines", []),
        ("How many lines has claim 1?", "SELECT count(*) FROM claim_lines WHERE claim_id = 1", []),
        ("", "SELECT count(*) FROM clients", ["clients.del_flg marks some rows, and the SELECT does not look at it: they count like the others"]),
        ("", "SELECT count(*) FROM clients WHERE del_flg = 'N'", []),
        ("", "SELECT count(*) FROM kept", []),
        ("", "SELECT sum(amount) FROM payments", ["SUM(amount) may add up several currencies: loans.ccy holds several, and the SELECT does not look at it"]),
        ("", "SELECT sum(amount) FROM payments JOIN loans USING (loan_id) WHERE ccy = 'EUR'", []),
        ("", "SELECT sum(CASE weight_unit WHEN 'lb' THEN weight / 2.2 ELSE weight END) FROM parcels", []),
        ("", "SELECT weight_unit, sum(weight) AS w FROM parcels GROUP BY weight_unit ORDER BY 1", []),
        ("", "SELECT sum(weight) FROM parcels WHERE weight_unit = 'kg'", []),
        ("", "SELECT count(*) FROM parcels WHERE sent_on >= DATE '2024-01-01' AND sent_on < DATE '2025-01-01'", [NOT_OVER]),
        ("", "SELECT count(*) FROM parcels WHERE sent_on BETWEEN DATE '2024-01-01' AND DATE '2024-07-19'", []),
        ("", "SELECT count(*) FROM parcels WHERE sent_on >= DATE '2024-01-01'", []),
        ("", "SELECT date_trunc('month', sent_on) AS m, count(*) AS n FROM parcels GROUP BY 1 ORDER BY 1", [LAST_MONTH]),
        ("", "SELECT year(sent_on) AS y, month(sent_on) AS m, count(*) AS n FROM parcels GROUP BY 1, 2 ORDER BY 1, 2", [LAST_MONTH]),
        ("", "SELECT month(sent_on) AS m, count(*) AS n FROM parcels GROUP BY 1 ORDER BY 1", []),
        ("", "SELECT date_trunc('month', sent_on) AS m, count(*) AS n FROM parcels WHERE sent_on < DATE '2024-07-01' GROUP BY 1 ORDER BY 1", []),
        ("", "SELECT date_trunc('month', sent_on) AS m, count(*) AS n FROM parcels WHERE month(sent_on) < 7 GROUP BY 1 ORDER BY 1", []),
        ("", "SELECT m, n FROM (SELECT date_trunc('month', sent_on) AS m, count(*) AS n FROM parcels GROUP BY 1) AS t WHERE m < DATE '2024-07-01' ORDER BY m", []),
        ("", "SELECT sum(fee) AS f FROM visits JOIN calendar USING (cal_key) WHERE cal_year = 2024", [YEAR_OF_CALENDAR]),
        ("", "SELECT sum(fee) AS f FROM visits v JOIN calendar c ON c.cal_key = v.cal_key WHERE c.cal_year = 2023", [BEGUN]),
        ("", "SELECT cal_month, sum(fee) AS f FROM visits JOIN calendar USING (cal_key) WHERE cal_year = 2023 GROUP BY cal_month ORDER BY 1", [BEGUN]),
        ("", "SELECT sum(fee) AS f FROM visits JOIN calendar USING (cal_key) WHERE cal_year = 2023 AND cal_month = 2", []),
        ("", "SELECT count(*) FROM parcels WHERE sent_on BETWEEN DATE '2023-07-01' AND DATE '2024-06-30'", [PARCELS_BEGIN]),
        ("", "SELECT count(*) FROM parcels WHERE sent_on BETWEEN DATE '2000-01-01' AND DATE '2024-06-30'", []),
        ("", "SELECT sum(fee) AS f FROM visits v JOIN calendar c ON c.cal_key = v.cal_key WHERE c.cal_year >= 2023", []),
        ("", "SELECT cal_year, sum(fee) AS f FROM visits JOIN calendar USING (cal_key) GROUP BY cal_year ORDER BY 1", [YEAR_OF_CALENDAR]),
        ("", "SELECT cal_year, cal_month, sum(fee) AS f FROM visits JOIN calendar USING (cal_key) GROUP BY 1, 2 ORDER BY 1, 2", [MONTH_OF_CALENDAR]),
        ("", "SELECT sum(fee) AS f FROM tolls WHERE day_key BETWEEN 20240101 AND 20241231", [KEY_NOT_OVER]),
        ("", "SELECT sum(fee) AS f FROM tolls WHERE day_key >= 20240101 AND day_key < 20250101", [KEY_NOT_OVER]),
        ("", "SELECT sum(fee) AS f FROM tolls WHERE day_key > 20240000 AND day_key < 20249999", [KEY_NOT_OVER]),
        ("", "SELECT sum(fee) AS f FROM tolls WHERE day_key // 10000 = 2024", [KEY_NOT_OVER]),
        ("", "SELECT sum(fee) AS f FROM tolls WHERE paid_month BETWEEN '2024-01' AND '2024-12'", [NOT_OVER.replace("parcels.sent_on", "tolls.paid_month").replace("07-18", "07-31")]),
        ("", "SELECT sum(fee) AS f FROM tolls WHERE paid_month BETWEEN '2024-01' AND '2024-07'", []),
        ("", "SELECT sum(fee) AS f FROM tolls WHERE day_key BETWEEN 20230101 AND 20231231", []),
        ("", "SELECT sum(fee) AS f FROM tolls WHERE day_key BETWEEN 20240101 AND 20240715", []),
        ("", "SELECT day_key // 100 AS m, sum(fee) AS f FROM tolls GROUP BY 1 ORDER BY 1", [LAST_MONTH.replace("parcels.sent_on", "tolls.day_key")]),
        ("What was paid per claim, on average?", "SELECT avg(paid_eur) FROM payouts", [PER_CLAIM]),
        ("What is the average payout per claim?", "SELECT avg(paid_eur) FROM payouts", [PER_CLAIM]),
        ("What is the average payout per claim in the north?", "SELECT avg(p.paid_eur) FROM payouts p JOIN claims c ON c.claim_id = p.claim_id WHERE c.region = 'north'", [PER_CLAIM]),
        ("What is the average payout per claim in the south?", "SELECT avg(p.paid_eur) FROM payouts p JOIN claims c ON c.claim_id = p.claim_id WHERE c.region = 'south'", []),
        ("What is the average payout per claim?", "SELECT sum(paid_eur) / count(DISTINCT claim_id) FROM payouts", []),
        ("What is the average payout per claim?", "SELECT avg(s) FROM (SELECT claim_id, sum(paid_eur) AS s FROM payouts GROUP BY claim_id)", []),
        ("What is the average payout?", "SELECT avg(paid_eur) FROM payouts", []),
        ("How many payouts are there per claim?", "SELECT claim_id, count(*) AS n FROM payouts GROUP BY claim_id ORDER BY claim_id", []),
        ("", "SELECT is_weekend, sum(fee) AS f FROM visits JOIN calendar USING (cal_key) GROUP BY 1 ORDER BY 1", []),
        ("", TOPICS.format("topic"), [TWICE]),
        ("", TOPICS.format("lower(topic)"), []),
        ("", TOPICS.format("city"), []),
        ("", "SELECT topic, count(*) AS n FROM tickets GROUP BY topic ORDER BY n DESC, topic LIMIT 1", [TWICE]),
        ("", "SELECT sum(pallets) FROM inventory_daily WHERE date_key = 20240131", []),
        ("", "SELECT sum(i.pallets) / sum(i.capacity) FROM inventory_daily i JOIN dim_date d ON d.date_key = i.date_key WHERE d.month = 1", []),
        ("", "SELECT d.day, sum(i.pallets) AS n FROM inventory_daily i JOIN dim_date d ON d.date_key = i.date_key GROUP BY d.day ORDER BY d.day LIMIT 2", []),
    ],
)  # fmt: skip
def test_a_person_is_told_of_rows_that_are_not_what_they_are_taken_for(
    source: DuckDBWarehouse, question: str, select: str, notes: list[str]
) -> None:
    assert list(Checks(source, question=question).run(select).notes) == notes


def test_a_period_is_not_missed_after_the_day_that_is_asked_for(source: DuckDBWarehouse) -> None:
    select = "SELECT count(*) FROM parcels WHERE sent_on >= DATE '2024-01-01' AND sent_on < DATE '2025-01-01'"
    found = Checks(source, as_of=dt.date(2024, 7, 18)).run(select).notes
    assert not [note for note in found if "is not all there" in note]


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        ("SELECT sum(weight) FROM parcels", r"several units, as parcels.weight_unit says: convert each to one unit"),
        ("SELECT customer_key, avg(weight) AS w FROM parcels GROUP BY customer_key", "several units"),
        ("SELECT d.month, sum(i.pallets) AS n FROM inventory_daily i JOIN dim_date d ON d.date_key = i.date_key GROUP BY d.month", "rows of several days"),
    ],
)  # fmt: skip
def test_sums_of_what_cannot_be_added_go_back(source: DuckDBWarehouse, select: str, reason: str) -> None:
    with pytest.raises(QueryError, match=reason):
        Checks(source).run(select)


def test_a_branch_for_a_unit_that_no_row_has_is_a_caution_where_the_others_name_all(source: DuckDBWarehouse) -> None:
    case = "SELECT sum(weight * CASE WHEN weight_unit = 'kg' THEN 1 WHEN weight_unit {} THEN 0.45 WHEN weight_unit = 'ton' THEN 1000 END) FROM parcels"
    checked = Checks(source).run(case.format("= 'lb'"))
    assert "weight_unit = 'ton' meets no row: the other branches name every value" in checked.notes
    with pytest.raises(UnknownValue):
        Checks(source).run(case.format("= 'pound'"))


def test_a_guard_against_empty_texts_is_no_guess(source: DuckDBWarehouse) -> None:
    select = "SELECT count(*) FROM loans WHERE {} loan_id > 1"
    assert Checks(source).run(select.format("ccy IS NULL OR ccy = '' OR lower(ccy) = 'null' OR")).notes == ()
    with pytest.raises(UnknownValue):
        Checks(source).run(select.format("ccy = '' OR"))
    with pytest.raises(UnknownValue):
        Checks(source).run(select.format("ccy IS NULL OR ccy = 'NOK' OR"))


def test_a_text_that_stands_in_its_column_is_not_read_as_itself_where_there_was_no_time(
    source: DuckDBWarehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Probe, "first_values", lambda self, origin: (frozenset(), False))
    monkeypatch.setattr(Probe, "any_row", lambda self, select: None)
    found = Checks(source).run("SELECT count(*) FROM clients WHERE upper(del_flg) = 'N'").notes
    assert not [note for note in found if "read 'N' as" in note]


def test_groups_that_are_written_alike_are_told_of_a_long_table_too(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "long.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE calls AS SELECT i AS call_id, CASE i % 3 WHEN 0 THEN 'Water' WHEN 1 THEN 'water' ELSE 'fire' END AS topic "
            "FROM range(250000) t(i)"
        )
    largest = "SELECT topic FROM (SELECT topic, count(*) AS n FROM calls GROUP BY topic) t ORDER BY n DESC LIMIT 1"
    with DuckDBWarehouse(tmp_path / "long.duckdb", isolated=False) as opened:
        told = Checks(opened).run(largest).notes
    assert "groups of topic differ in case or blanks alone, as 'Water' and 'water': they may be one" in told


@pytest.mark.parametrize(
    ("select", "told"),
    [
        ("SELECT avg(date_diff('day', lost, reported)) AS d FROM losses", True),
        ("SELECT avg(reported::DATE - lost) AS d FROM losses", True),
        ("SELECT min(reported) AS d FROM losses", True),
        ("SELECT avg(date_diff('day', lost, reported)) AS d FROM losses WHERE reported > DATE '2000-01-01'", False),
        ("SELECT avg(date_diff('day', lost, nullif(reported, TIMESTAMP '1900-01-01'))) AS d FROM losses", False),
        (
            "SELECT avg(CASE WHEN reported > DATE '2000-01-01' THEN date_diff('day', lost, reported) END) AS d FROM losses",
            False,
        ),
        ("SELECT min(lost) AS d FROM losses", False),
        ("SELECT min(born) AS d FROM losses", False),
    ],
)
def test_a_first_day_of_the_calendar_stands_for_none(tmp_path: Path, select: str, told: bool) -> None:
    with duckdb.connect(str(tmp_path / "losses.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE losses AS SELECT i AS loss_no, DATE '2020-01-01' + i::INTEGER AS lost, DATE '1899-12-30' + 300 * i::INTEGER AS born, "
            "CASE WHEN i % 50 = 0 THEN TIMESTAMP '1900-01-01' ELSE TIMESTAMP '2020-01-05' + to_days(i::INTEGER) END AS reported FROM range(200) t(i)"
        )
    with DuckDBWarehouse(tmp_path / "losses.duckdb", isolated=False) as opened:
        notes = Checks(opened).run(select).notes
    assert (
        any("takes 1900-01-01 for a day, which stands in several rows of losses.reported" in note for note in notes)
        is told
    )
    assert told or not any("for a day" in note for note in notes)
