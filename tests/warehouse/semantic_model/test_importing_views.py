"""Models of a shop in Cube and LookML: their metrics give what plain SQL gives, and what has no place is listed with file and reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from finexpert.settings import Settings
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.opening import open_duckdb
from finexpert.warehouse.semantic_model.document import save
from finexpert.warehouse.semantic_model.drafting import draft
from finexpert.warehouse.semantic_model.importing.importing import importing
from finexpert.warehouse.semantic_model.importing.taken import Taken

HERE = Path(__file__).parent
TABLES = """
CREATE TABLE users (id INT, city VARCHAR);
CREATE TABLE orders (id INT, user_id INT, status VARCHAR, amount DOUBLE, discount DOUBLE, currency VARCHAR, created_at TIMESTAMP);
CREATE TABLE order_items (order_id INT, quantity INT);
CREATE TABLE payments (amount DOUBLE, is_test BOOLEAN);
INSERT INTO users VALUES (1, 'Rome'), (2, 'Oslo'), (3, 'Rome');
INSERT INTO orders VALUES (1, 1, 'completed', 120, 20, 'EUR', '2024-01-01 10:00'), (2, 1, 'shipped', 50, NULL, 'EUR', '2024-01-02 10:00'),
  (3, 2, 'completed', 8, 1, 'USD', '2024-01-02 11:00'), (4, 2, 'cancelled', 200, NULL, 'USD', '2024-01-03 10:00'),
  (5, 3, NULL, 10, NULL, 'USD', '2024-01-03 12:00'), (6, 3, 'returned', 30, 5, 'USD', NULL);
INSERT INTO order_items VALUES (1, 2), (1, 3), (2, 4), (4, 5);
INSERT INTO payments VALUES (1, true), (2, false);
"""
NET = "sum(amount - coalesce(discount, 0))"
CUBE = {
    "orders_count": "SELECT count(*) FROM orders",
    "users_count": "SELECT count(*) FROM users",
    "revenue": f"SELECT {NET} FROM orders",
    "completed_count": "SELECT count(*) FROM orders WHERE status = 'completed'",
    "completed_revenue": f"SELECT {NET} FROM orders WHERE status = 'completed' AND (amount > 10 OR discount IS NULL)",
    "completed_share": "SELECT 2 / 6",
    "average_order": "SELECT avg(amount) FROM orders",
    "buyers": "SELECT count(DISTINCT user_id) FROM orders",
    "middle_order": "SELECT median(amount) FROM orders",
    "quantity": "SELECT sum(quantity) FROM order_items",
    "returned_amount": "SELECT 30",
}
LOOKML = {
    "orders_count": "SELECT count(*) FROM orders",
    "users_count": "SELECT count(*) FROM users",
    "revenue": f"SELECT {NET} FROM orders",
    "completed_revenue": f"SELECT {NET} FROM orders WHERE status = 'completed'",
    "kept_count": "SELECT 5",
    "sent_count": "SELECT count(*) FROM orders WHERE status IN ('completed', 'shipped') AND amount <= 100",
    "big_count": "SELECT count(*) FROM orders WHERE amount > 100",
    "large_revenue": "SELECT sum(amount) FROM orders WHERE amount >= 50",
    "discounted": "SELECT sum(amount) FROM orders WHERE status IS NOT NULL",
    "completed_share": f"SELECT 107 / (SELECT {NET} FROM orders)",
    "buyers": "SELECT count(DISTINCT user_id) FROM orders",
    "middle": "SELECT median(amount) FROM orders",
    "pieces": "SELECT 9",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(TABLES)
    return tmp_path / "shop.duckdb"


@pytest.fixture
def warehouse(shop: Path) -> Iterator[DuckDBWarehouse]:
    with open_duckdb(shop, Settings()) as opened:
        yield opened


def taken_from(warehouse: DuckDBWarehouse, place: Path) -> Taken:
    return importing(draft(warehouse.tables, "shop"), place, warehouse)


@pytest.mark.parametrize(("folder", "expected"), [("shop_cube", CUBE), ("shop_lookml", LOOKML)])
def test_a_metric_gives_what_plain_sql_gives(
    folder: str, expected: dict[str, str], shop: Path, warehouse: DuckDBWarehouse
) -> None:
    taken = taken_from(warehouse, HERE / folder)
    assert {metric.name for metric in taken.model.metrics} == set(expected)
    save(taken.model, shop.with_name("shop.model.yaml"))
    with open_duckdb(shop, Settings(semantic_model=shop.with_name("shop.model.yaml"))) as opened:
        for metric in opened.metrics:
            table = metric.expression.rpartition(".")[0].rpartition("(")[2].rpartition(" ")[2]
            found = opened.query(f"SELECT MEASURE({metric.name}) AS m FROM {table}").data["m"].item()
            assert found == pytest.approx(opened.query(expected[metric.name]).data.iloc[0, 0]), metric


@pytest.mark.parametrize("folder", ["shop_cube", "shop_lookml"])
def test_all_else_is_listed_with_its_file_and_the_reason(folder: str, warehouse: DuckDBWarehouse) -> None:
    taken = taken_from(warehouse, HERE / folder)
    assert "\n".join(taken.left_out) + "\n" == (HERE / folder / "left_out.txt").read_text()
    assert taken.notes == ["tables of public are those of the same last name: in the data no schema is named"]


def test_meanings_keys_and_joins_are_taken_over_from_cube(warehouse: DuckDBWarehouse) -> None:
    model = taken_from(warehouse, HERE / "shop_cube").model
    orders = next(each for each in model.datasets if each.name == "orders")
    status = next(each for each in orders.fields if each.name == "status")
    assert (orders.description, orders.ai_context.synonyms) == (
        "One row per order, cancelled ones too",
        ["Customer orders"],
    )
    assert status.description == "completed, shipped, cancelled or returned A returned order was completed before"
    assert status.ai_context.synonyms == ["Order status"]
    assert orders.primary_key == ["id"]
    ends = {(each.from_, *each.from_columns, each.to, *each.to_columns) for each in model.relationships}
    assert ends == {("orders", "user_id", "users", "id"), ("order_items", "order_id", "orders", "id")}
    assert not any("values" in each.own for dataset in model.datasets for each in dataset.fields)


def test_meanings_keys_and_joins_are_taken_over_from_lookml(warehouse: DuckDBWarehouse) -> None:
    model = taken_from(warehouse, HERE / "shop_lookml").model
    orders = next(each for each in model.datasets if each.name == "orders")
    told = {each.name: (each.description, each.ai_context.synonyms) for each in orders.fields}
    assert told["created_at"] == ("When it was placed", ["created"])
    assert (told["amount"], orders.primary_key) == (("", ["Gross sales"]), ["id"])
    assert next(each.primary_key for each in model.datasets if each.name == "users") == ["id"]
    ends = {(each.from_, *each.from_columns, each.to, *each.to_columns) for each in model.relationships}
    assert ends == {("orders", "user_id", "users", "id"), ("order_items", "order_id", "orders", "id")}


VIEW = "view: orders { dimension: id { primary_key: yes type: number } measure: count { type: count } %s }"
# What a measure is called and how it is written, and its value where it is taken over.
ONE_BY_ONE = {
    "a count alone": ("count", "", 6),
    "rows in a sum": ("n", "measure: n { type: sum sql: 1 ;; }", None),
    "rows in an expression": ("n", "measure: n { type: number sql: COUNT(*) / 2.0 ;; }", 3),
    "an apostrophe": ("n", """dimension: status {} measure: n { type: count filters: [status: "o'clock"] }""", 0),
    "not one of two": ("n", 'dimension: status {} measure: n { type: count filters: [status: "-shipped, -cancelled"] }', 4),
    "one and not another": ("n", 'dimension: status {} measure: n { type: count filters: [status: "shipped,-x"] }', None),
    "an underscore": ("n", 'dimension: status {} measure: n { type: count filters: [status: "in_transit"] }', None),
    "nothing": ("n", 'dimension: status {} measure: n { type: count filters: [status: ""] }', None),
    "without a value": ("n", 'dimension: status {} measure: n { type: count filters: [status: "NULL"] }', 1),
    "a number": ("n", 'dimension: amount { type: number } measure: n { type: count filters: [amount: "50"] }', 1),
    "a range": ("n", 'dimension: amount { type: number } measure: n { type: count filters: [amount: "[1, 50]"] }', None),
    "a day of a time": ("n", "dimension_group: at { convert_tz: no sql: ${TABLE}.created_at ;; } measure: n { type: count_distinct sql: ${at_date} ;; }", 3),
    "a text and SQL": ("n", """dimension: status {} measure: n { type: count filters: [status: "x' OR 1=1 --"] }""", 0),
    "a window": ("n", "measure: n { type: number sql: SUM(SUM(${TABLE}.amount)) OVER () ;; }", None),
    "its own alias": ("n", "measure: n { type: sum sql: orders.amount ;; }", 418),
    "the alias of another": ("n", "measure: n { type: sum sql: users.id ;; }", None),
    "too long": ("n", "measure: n { type: sum sql: " + "1 + " * 2_000 + "${TABLE}.amount ;; }", None),
    "doubled and doubled": ("n", "".join(f"dimension: d{i} {{ sql: ${{d{i + 1}}} + ${{d{i + 1}}} ;; }}" for i in range(19)) + "dimension: d19 { sql: ${TABLE}.amount ;; } measure: n { type: sum sql: ${d0} ;; }", None),
    "a chain": ("n", "".join(f"dimension: d{i} {{ sql: ${{d{i + 1}}} ;; }}" for i in range(900)) + "dimension: d900 { sql: ${TABLE}.amount ;; } measure: n { type: sum sql: ${d0} ;; }", None),
}  # fmt: skip


@pytest.mark.parametrize("case", ONE_BY_ONE)
def test_one_by_one(case: str, warehouse: DuckDBWarehouse, tmp_path: Path) -> None:
    name, text, value = ONE_BY_ONE[case]
    (tmp_path / "orders.view.lkml").write_text(VIEW % text)
    taken = taken_from(warehouse, tmp_path / "orders.view.lkml")
    found = {metric.name: metric.expression.dialects[0].expression for metric in taken.model.metrics}
    assert (name in found) == (value is not None), taken.left_out
    if value is None:
        assert any(f"measure orders.{name}: " in one for one in taken.left_out)
    else:
        assert warehouse.query(f"SELECT {found[name]} AS m FROM orders").data["m"].item() == pytest.approx(value)


def test_a_count_of_rows_counts_its_own_rows_in_a_join(warehouse: DuckDBWarehouse, tmp_path: Path) -> None:
    (tmp_path / "orders.view.lkml").write_text(VIEW % "")
    taken = taken_from(warehouse, tmp_path)
    expression = taken.model.metrics[0].expression.dialects[0].expression
    select = (
        f"SELECT {expression} AS m FROM users LEFT JOIN orders ON orders.user_id = users.id AND orders.amount > 100"
    )
    assert warehouse.query(select).data["m"].item() == 2


def test_two_tables_of_other_schemas_that_are_one_here_are_neither(warehouse: DuckDBWarehouse, tmp_path: Path) -> None:
    views = [
        VIEW.replace("view: orders", f"view: {name}") % f"sql_table_name: {name}.orders ;;" for name in ("live", "test")
    ]
    (tmp_path / "orders.view.lkml").write_text("\n".join(views))
    taken = taken_from(warehouse, tmp_path)
    assert not taken.model.metrics
    assert taken.left_out == [
        f"orders.view.lkml: {name}: live.orders, test.orders are one table orders in the data"
        for name in ("live", "test")
    ]
