"""A made-up folder in Defog's form: a shop whose tables stand in a schema of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

DUMP = """\
CREATE SCHEMA shop;
CREATE TABLE shop.customers (id int PRIMARY KEY, name text NOT NULL, city text); -- '%' and {braces}
CREATE TABLE shop.orders (id int PRIMARY KEY, customer_id int REFERENCES shop.customers(id), amount numeric(10,2), day date);
INSERT INTO shop.customers VALUES (1, 'Ann', 'Oslo'), (2, 'Bob', 'Bern'), (3, 'Cid', NULL);
INSERT INTO shop.orders VALUES (1, 1, 10.50, '2024-01-05'), (2, 1, 4.50, CURRENT_DATE), (3, 2, 7, '2024-03-01');
"""
DESCRIBED = {"table_metadata": {"shop.orders": [{"column_name": "amount", "column_description": "the order's USD"}]}}
TOTALS = {
    "id": "totals",
    "db": "shop",
    "category": "basic_join",
    "question": "How much did each customer spend? Return the name and the amount.",
    "knowledge": "Customers without an order have 0.",
    "gold_sql": "SELECT {c.id, c.name}, COALESCE(SUM(o.amount), 0) AS amount FROM shop.customers c "
    "LEFT JOIN shop.orders o ON c.id = o.customer_id GROUP BY {}",
}
LATEST = {
    "id": "latest",
    "db": "shop",
    "category": "instructions_date",
    "question": "Which orders were made today?",
    "gold_sql": "SELECT id FROM shop.orders WHERE day = CURRENT_DATE",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "defog"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "shop.sql").write_text(DUMP)
    (folder / "shop.json").write_text(json.dumps(DESCRIBED))
    (folder / "questions.jsonl").write_text("\n".join(json.dumps(one) for one in (TOTALS, LATEST)))
    return folder
