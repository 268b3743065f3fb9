"""The semantic model: what a first one holds, what it adds to prompts, what it compiles, and how it is refused."""

from __future__ import annotations

import datetime as dt
import time
from pathlib import Path

import duckdb
import pytest

from finexpert.errors import ConfigurationError, QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.schema import Metric
from finexpert.warehouse.semantic_model.checking import check
from finexpert.warehouse.semantic_model.document import SemanticModel, load, save
from finexpert.warehouse.semantic_model.drafting import draft
from finexpert.warehouse.semantic_model.finding import beside, find
from finexpert.warehouse.semantic_model.metrics import expand
from finexpert.warehouse.semantic_model.publishing import published, values_of

MADE = """
CREATE TABLE accounts (account_id INTEGER PRIMARY KEY, segment VARCHAR, secret VARCHAR);
INSERT INTO accounts VALUES (1, 'institutional', 'CANARY-1'), (2, 'retail', 'CANARY-2'), (3, 'retail', 'CANARY-3');
CREATE TABLE trades (trade_id INTEGER PRIMARY KEY, acct INTEGER, status VARCHAR, fee DOUBLE, booked DATE, traded DATE);
INSERT INTO trades VALUES (1, 1, 'FILLED', 10, DATE '2024-01-05', DATE '2024-01-02'), (2, 1, 'CXL', 0, DATE '2024-02-05', DATE '2024-02-02'),
    (3, 2, 'FILLED', 4, DATE '2024-03-05', DATE '2024-03-01');
"""
WRITTEN = """
version: "1.0"
semantic_model:
  - name: desk
    datasets:
      - name: orders
        source: trades
        description: orders of clients
        ai_context: {synonyms: [executions]}
        custom_extensions: [{vendor_name: FINEXPERT, data: {date_column: traded}}]
        fields:
          - name: status
            expression: {dialects: [{dialect: ANSI_SQL, expression: status}]}
            ai_context: state of the order
            custom_extensions: [{vendor_name: FINEXPERT, data: '{"values": ["FILLED", "CXL"]}'}]
      - name: accounts
    relationships:
      - {name: owner, from: orders, to: accounts, from_columns: [acct], to_columns: [account_id]}
    metrics:
      - name: fill_rate
        expression: {dialects: [{dialect: ANSI_SQL, expression: "avg(CASE WHEN orders.status = 'FILLED' THEN 1.0 ELSE 0 END)"}]}
        description: share of orders that were filled
        ai_context: {synonyms: [hit ratio]}
    custom_extensions:
      - {vendor_name: FINEXPERT, data: {verified_queries: [{question: how many, select: SELECT count(*) FROM trades}]}}
      - {vendor_name: OTHER, data: {anything: 1}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "desk.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(MADE)
    return path


@pytest.fixture
def model(tmp_path: Path) -> SemanticModel:
    path = tmp_path / "desk.model.yaml"
    path.write_text(WRITTEN)
    return load(path)


def test_a_first_model_holds_the_catalogue_and_no_value(file: Path, tmp_path: Path) -> None:
    with DuckDBWarehouse(file) as warehouse:
        before = warehouse.schema_card()
        made = draft(warehouse.tables, "desk")
    target = tmp_path / "first.model.yaml"
    save(made, target)
    text = target.read_text()
    assert "CANARY" not in text
    assert "FILLED" not in text
    again = load(target)
    assert again == made
    with DuckDBWarehouse(file, model=again) as warehouse:
        # What the catalogue said it says again, but for what was inferred: a person has let it stand.
        assert warehouse.schema_card() == before.replace(" (inferred)", "")


def test_what_the_model_says_stands_in_the_card(file: Path, model: SemanticModel) -> None:
    with DuckDBWarehouse(file, model=model) as warehouse:
        card = warehouse.schema_card()
    assert "table trades: orders of clients; also called executions; key trade_id" in card
    assert "acct INTEGER -> accounts.account_id" in card
    assert "status VARCHAR: state of the order; one of 'FILLED', 'CXL'" in card
    assert "traded DATE (date column)" in card
    assert "fill_rate: share of orders that were filled; also called hit ratio; over trades" in card
    assert "avg" not in card
    assert "CANARY" not in card


def test_a_first_model_hides_no_row_that_nobody_asked_to_hide(file: Path) -> None:
    select, day = "SELECT count(*) AS n FROM trades", dt.date(2024, 2, 3)
    with DuckDBWarehouse(file) as warehouse:
        made = draft(warehouse.tables, "desk")
        found, whole = warehouse.query(select, as_of=day).data, warehouse.query(select).data
        assert found["n"].item() < whole["n"].item()
    with DuckDBWarehouse(file, model=made) as warehouse:
        assert warehouse.query(select, as_of=day, declared_only=True).data.equals(whole)
        assert warehouse.query(select, as_of=day).data.equals(found)


def test_rows_end_by_the_declared_date(file: Path, model: SemanticModel) -> None:
    select = "SELECT count(*) AS n FROM trades"
    with DuckDBWarehouse(file, model=model) as warehouse:
        assert warehouse.query(select, as_of=dt.date(2024, 3, 2)).data["n"].tolist() == [3]
        assert warehouse.query(select, as_of=dt.date(2024, 2, 3), declared_only=True).data["n"].tolist() == [2]


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("SELECT MEASURE(fill_rate) AS r FROM trades", [2 / 3]),
        ("SELECT measure(Fill_Rate) AS r FROM trades AS t", [2 / 3]),
        ("SELECT MEASURE(fill_rate) AS r FROM main.trades AS t JOIN accounts AS a ON t.acct = a.account_id WHERE segment = 'retail'", [1.0]),
        ("SELECT r FROM (SELECT acct, MEASURE(fill_rate) AS r FROM trades GROUP BY acct) AS x ORDER BY r", [0.5, 1.0]),
        ("WITH x AS (SELECT MEASURE(fill_rate) AS r FROM trades) SELECT r * 2 AS r FROM x", [4 / 3]),
    ],
)  # fmt: skip
def test_a_metric_is_compiled(file: Path, model: SemanticModel, select: str, expected: list[float]) -> None:
    with DuckDBWarehouse(file, model=model) as warehouse:
        checked = Checks(warehouse).run(select)
    assert checked.frame.data["r"].tolist() == pytest.approx(expected)
    assert checked.written == select
    assert "MEASURE" not in checked.frame.select.upper()


@pytest.mark.parametrize(
    ("select", "words"),
    [
        ("SELECT MEASURE(margin) AS r FROM trades", "there is no such metric; there are fill_rate"),
        ("SELECT MEASURE() AS r FROM trades", "there is no such metric"),
        ("SELECT MEASURE(fill_rate) AS r FROM accounts", "needs table trades in the FROM"),
        (
            "SELECT MEASURE(fill_rate) AS r FROM trades a JOIN trades b ON a.acct = b.acct",
            "cannot tell a and b apart, which both read table trades",
        ),
    ],
)
def test_a_metric_that_does_not_fit_goes_back(file: Path, model: SemanticModel, select: str, words: str) -> None:
    with DuckDBWarehouse(file, model=model) as warehouse, pytest.raises(QueryError, match=words):
        warehouse.query(select)


def test_a_condition_inside_of_a_metric_keeps_its_place() -> None:
    ratio = Metric("ratio", "sum(t.a) / nullif(sum(t.b), 0)")
    written = expand("SELECT 1 - MEASURE(ratio) AS r FROM t AS u", [ratio], "duckdb")
    assert written == "SELECT 1 - (SUM(u.a) / NULLIF(SUM(u.b), 0)) AS r FROM t AS u"


def test_publishing_and_hiding(file: Path, tmp_path: Path) -> None:
    with DuckDBWarehouse(file) as warehouse:
        values = values_of(warehouse, "accounts.segment", 50)
        assert values == ["retail", "institutional"]
        made = published(draft(warehouse.tables, "desk"), warehouse.tables, "accounts.segment", values, 50)
        hidden = published(made, warehouse.tables, "accounts.segment", None, 50)
        with pytest.raises(ConfigurationError, match="has no column 'segmnt': it has account_id, segment, secret"):
            values_of(warehouse, "accounts.segmnt", 50)
    save(made, tmp_path / "m.yaml")
    with DuckDBWarehouse(file, model=load(tmp_path / "m.yaml")) as warehouse:
        assert "segment VARCHAR: one of 'retail', 'institutional'" in warehouse.schema_card()
        assert "CANARY" not in warehouse.schema_card()
    with DuckDBWarehouse(file, model=hidden) as warehouse:
        assert "retail" not in warehouse.schema_card()


@pytest.mark.parametrize("stock", [True, False])
def test_an_owner_says_what_may_not_be_added_up_over_time(file: Path, tmp_path: Path, stock: bool) -> None:
    path = tmp_path / "stock.model.yaml"
    field = f"- name: fee\n            custom_extensions: [{{vendor_name: FINEXPERT, data: {{stock: {str(stock).lower()}}}}}]\n          "
    path.write_text(WRITTEN.replace("- name: status", field + "- name: status", 1))
    with DuckDBWarehouse(file, model=load(path)) as warehouse:
        if not stock:
            assert Checks(warehouse).run("SELECT sum(fee) FROM trades").frame.data.iat[0, 0] == 14
            return
        with pytest.raises(QueryError, match=r"trades.fee says what was there on each"):
            Checks(warehouse).run("SELECT sum(fee) FROM trades")


def test_check_runs_every_expression(file: Path, model: SemanticModel) -> None:
    with DuckDBWarehouse(file, model=model) as warehouse:
        assert check(model, warehouse) == ([], 2)
    wrong = model.model_copy(deep=True)
    wrong.metrics[0].expression.dialects[0].expression = "sum(orders.no_such_column)"
    wrong.custom_extensions[0].data["verified_queries"].append({"question": "?"})
    with DuckDBWarehouse(file, model=wrong) as warehouse:
        problems, tried = check(wrong, warehouse)
    assert tried == 3
    assert "metric 'fill_rate'" in problems[0]
    assert problems[1] == "verified query 2 has no `select`"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("source: trades", "source: trade", "dataset 'orders' is table 'trade', which is not in these data"),
        (
            "date_column: traded",
            "date_column: trade_day",
            "names column 'trade_day', which table 'trades' does not have",
        ),
        ("to: accounts", "to: clients", "relationship 'owner' names 'clients', which is no dataset of it"),
        ("to_columns: [account_id]", "to_columns: [id]", "names column 'id'"),
        (
            "- name: accounts",
            "- {name: accounts, primary_key: [account]}",
            "names column 'account', which table 'accounts'",
        ),
        (
            "- name: accounts",
            "- {name: accounts, unique_keys: [[segment, nr]]}",
            "names column 'nr', which table 'accounts'",
        ),
        ("orders.status", "trades.status", "write columns as dataset.column, with one of orders, accounts"),
        ("THEN 1.0 ELSE 0 END", "THEN", "is no SQL expression"),
        ('\'{"values": ["FILLED", "CXL"]}\'', "'{values'", "data is not JSON"),
        ('["FILLED", "CXL"]', '"FILLED"', "has to be a list of texts"),
        ('"values": ["FILLED", "CXL"]', '"stock": "yes"', "`stock` has to be true or false, not 'yes'"),
        ("- name: accounts", "- name: orders", "dataset 'orders' stands twice"),
        (
            "      - name: fill_rate",
            "      - {name: Fill_Rate, expression: {dialects: [{dialect: ANSI_SQL, expression: avg(orders.fee)}]}}\n      - name: fill_rate",
            "metric 'fill_rate' stands twice",
        ),
        ("semantic_model:", "semantics:", "has to hold `semantic_model:` with one model"),
    ],
)
def test_a_wrong_model_is_refused_by_its_place(file: Path, tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "wrong.model.yaml"
    assert old in WRITTEN
    path.write_text(WRITTEN.replace(old, new, 1))
    with pytest.raises(ConfigurationError) as raised:
        DuckDBWarehouse(file, model=load(path)).close()
    assert words in str(raised.value)


def test_it_is_found_beside_the_data(file: Path, tmp_path: Path) -> None:
    assert find(None, file) is None
    place = beside(file)
    assert place is not None
    place.write_text(WRITTEN)
    found = find(None, file)
    assert found is not None
    assert found.name == "desk"
    with pytest.raises(ConfigurationError, match="is not there"):
        find(tmp_path / "nothing.yaml", file)


@pytest.mark.parametrize(
    "expression",
    [
        "sum(list_sum(list_transform([orders.fee], x -> x + 1)))",
        "sum(list_sum(list_transform([orders.fee], lambda x : x + 1)))",
        "max(len(list_filter([orders.fee], x -> x > 1)))",
        "max(list_reduce([orders.fee, 1.0], (x, y) -> x + y))",
        "sum(orders.fee)::DECIMAL(9, 2) // 1",
        "max(orders.fee) FILTER (orders.status = 'FILLED')",
        "max({'fee': orders.fee}.fee)",
        "max([orders.fee, 1][1])",
        "sum(COLUMNS(orders.fee))",
        "any_value(orders.fee ORDER BY orders.fee)",
        "max(struct_extract({'a': orders.fee}, 'a'))",
    ],
)
def test_a_metric_in_the_words_of_the_engine_is_described(file: Path, tmp_path: Path, expression: str) -> None:
    with DuckDBWarehouse(file, model=load(_with_metric(tmp_path, expression))) as warehouse:
        assert (
            "  fill_rate: share of orders that were filled; also called hit ratio; over trades"
            in warehouse.schema_card()
        )


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("max(orders.fee" + unit * (characters // len(unit)) + ")", said)
        for unit in ("+ orders.fee", ", orders.fee", " OR orders.fee", "(", "- ", "CASE WHEN orders.fee THEN ")
        for characters, said in ((360_000, "at most 4,000 are read"), (3_900, "is no SQL expression"))
        if characters > 4_000 or unit in ("(", "- ", "CASE WHEN orders.fee THEN ")
    ],
    ids=lambda given: given[14:34],
)
def test_a_long_or_deep_metric_is_refused_at_once(file: Path, tmp_path: Path, expression: str, said: str) -> None:
    model = load(_with_metric(tmp_path, expression))
    began = time.monotonic()
    with pytest.raises(ConfigurationError, match=f"'fill_rate'.*{said}"):
        DuckDBWarehouse(file, model=model)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("expression", ["count(*)", "COUNT(1)", "100.0 * count(*) FILTER (1 > 0)", "sum(1)"])
def test_a_metric_that_counts_the_rows_of_any_table_is_refused(file: Path, tmp_path: Path, expression: str) -> None:
    with pytest.raises(ConfigurationError, match=r"'fill_rate' is .*counts the rows of whatever table"):
        DuckDBWarehouse(file, model=load(_with_metric(tmp_path, expression)))


@pytest.mark.parametrize(("expression", "problems"), [("0.19", 0), ("no_such(2)", 1), ("count(orders.trade_id)", 0)])
def test_check_tries_a_metric_of_no_table_too(file: Path, tmp_path: Path, expression: str, problems: int) -> None:
    made = load(_with_metric(tmp_path, expression))
    with DuckDBWarehouse(file, model=made) as warehouse:
        assert len(check(made, warehouse)[0]) == problems


def _with_metric(folder: Path, expression: str) -> Path:
    path = folder / "desk.model.yaml"
    path.write_text(WRITTEN.replace("avg(CASE WHEN orders.status = 'FILLED' THEN 1.0 ELSE 0 END)", expression))
    return path


@pytest.mark.parametrize("name", [".desk.model.yaml.unfinished", "desk.model.yaml"])
@pytest.mark.parametrize("kind", ["a file", "nothing"])
def test_a_model_is_not_written_through_a_link(model: SemanticModel, tmp_path: Path, name: str, kind: str) -> None:
    """Another person of the folder plants a link under the name that is written."""
    target = tmp_path / "victim"
    if kind == "a file":
        target.write_text("precious")
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).symlink_to(target)
    save(model, tmp_path / "desk.model.yaml")
    assert target.exists() == (kind == "a file")
    assert kind == "nothing" or target.read_text() == "precious"
    assert load(tmp_path / "desk.model.yaml") == model
    assert not (tmp_path / "desk.model.yaml").is_symlink()
