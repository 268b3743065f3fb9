"""dbt's YAML as a semantic model: its metrics give what plain SQL gives, and what has no place is listed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from finexpert.cli.main import app
from finexpert.errors import ConfigurationError
from finexpert.settings import Settings
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.opening import open_duckdb
from finexpert.warehouse.semantic_model.document import load
from finexpert.warehouse.semantic_model.drafting import draft
from finexpert.warehouse.semantic_model.importing.importing import importing

YAML = """
models:
  - name: trades
    description: Executed trades
    columns:
      - {name: status, description: FILLED or not, data_tests: [not_null, {accepted_values: {values: [FILLED, OPEN]}}]}
      - {name: account_id, tests: [{relationships: {to: "ref('accounts')", field: account_id}}]}
      - {name: gone}
  - {name: accounts, columns: [{name: region, data_tests: [unique]}]}
  - {name: elsewhere}
semantic_models:
  - name: the_trades
    model: "{{ ref('trades') }}"
    entities: [{name: trade, type: primary, expr: trade_id}, {name: account, type: foreign, expr: account_id}]
    dimensions: [{name: state, type: categorical, expr: upper(status)}, {name: day, type: time}]
    measures:
      - {name: shares, agg: sum, expr: quantity, create_metric: true}
      - {name: filled, agg: sum_boolean, expr: status = 'FILLED'}
      - {name: trades, agg: count, expr: trade_id}
      - {name: trade_rows, agg: sum, expr: 1, create_metric: true}
      - {name: p90, agg: percentile, expr: quantity, create_metric: true}
      - {name: held, agg: sum, expr: quantity, non_additive_dimension: {name: day}, create_metric: true}
  - {name: accounts, model: ref('accounts'), measures: [{name: account_rows, agg: count, expr: account_id}]}
metrics:
  - {name: fill_rate, description: Share of trades, type: ratio, type_params: {numerator: filled, denominator: {name: trades}}}
  - {name: filled_shares, type: simple, type_params: {measure: shares}, filter: "{{ Dimension('trade__state') }} = 'FILLED'"}
  - {name: open_share, type: derived, type_params: {expr: 1 - f, metrics: [{name: fill_rate, alias: f}]}}
  - {name: running, type: cumulative, type_params: {measure: shares, window: 7 days}}
  - {name: before, type: derived, type_params: {expr: s, metrics: [{name: shares, alias: s, offset_window: 1 month}]}}
  - {name: of_emea, type: simple, type_params: {measure: shares}, filter: "{{ Dimension('account__region') }} = 'EMEA'"}
  - {name: recent, type: simple, type_params: {measure: shares}, filter: "{{ TimeDimension('trade__day', 'day') }} > '2024-01-01'"}
  - {name: per_account, type: ratio, type_params: {numerator: shares, denominator: account_rows}}
  - {name: round, type: derived, type_params: {expr: round, metrics: [{name: round}]}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "desk.duckdb")) as connection:
        connection.execute("CREATE TABLE accounts (account_id INT, region VARCHAR)")
        connection.execute("CREATE TABLE trades (trade_id INT, account_id INT, status VARCHAR, quantity INT, day DATE)")
        connection.execute(
            "INSERT INTO trades VALUES (1, 1, 'FILLED', 10, NULL), (2, 1, 'OPEN', 5, NULL), (3, 1, 'FILLED', 7, NULL)"
        )
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "trades.yml").write_text(YAML)
    return tmp_path


@pytest.fixture
def desk(folder: Path) -> Iterator[DuckDBWarehouse]:
    with open_duckdb(folder / "desk.duckdb", Settings()) as opened:
        yield opened


def test_descriptions_keys_and_metrics_are_taken_over_and_the_rest_is_listed(
    folder: Path, desk: DuckDBWarehouse
) -> None:
    taken = importing(draft(desk.tables, "desk"), folder / "models", desk)
    trades = next(each for each in taken.model.datasets if each.name == "trades")
    assert trades.description == "Executed trades"
    assert {each.name: each.description for each in trades.fields}["status"] == "FILLED or not"
    assert [each.unique_keys for each in taken.model.datasets if each.name == "accounts"] == [[["region"]]]
    assert [(one.from_, one.to, one.to_columns) for one in taken.model.relationships] == [
        ("trades", "accounts", ["account_id"])
    ]
    assert not any("values" in each.own for dataset in taken.model.datasets for each in dataset.fields)
    assert taken.left_out == [
        "trades.yml: values of trades.status: not published; `finexpert model publish trades.status` does",
        "trades.yml: column trades.gone: it is not in the table",
        "trades.yml: model elsewhere: there is no such table in the data",
        "trades.yml: metric running: metrics of the type cumulative have no expression of their own",
        "trades.yml: metric before: offset_window of a part",
        "trades.yml: metric of_emea: its filter is by account__region, which is of another table",
        "trades.yml: metric recent: its filter has a part in Jinja other than Dimension",
        "trades.yml: metric per_account: it reads several tables: accounts, trades",
        "trades.yml: metric round: it refers to itself",
        "trades.yml: metric p90: its measure is the aggregate percentile",
        "trades.yml: metric held: its measure is not additive",
    ]


def test_a_metric_gives_what_plain_sql_gives(folder: Path) -> None:
    data, file = str(folder / "desk.duckdb"), folder / "desk.model.yaml"
    done = CliRunner().invoke(app, ["model", "import", str(folder / "models"), "--data", data, "--file", str(file)])
    assert done.exit_code == 0, done.output
    assert {metric.name for metric in load(file).metrics} == {
        "shares",
        "fill_rate",
        "filled_shares",
        "open_share",
        "trade_rows",
    }
    with open_duckdb(folder / "desk.duckdb", Settings(semantic_model=file)) as opened:
        for name, value in (
            ("shares", 22),
            ("fill_rate", 2 / 3),
            ("filled_shares", 17),
            ("open_share", 1 / 3),
            ("trade_rows", 3),
        ):
            found = opened.query(f"SELECT MEASURE({name}) AS m FROM trades AS t").data["m"].item()
            assert found == pytest.approx(value), name
    again = CliRunner().invoke(app, ["model", "import", str(folder / "models"), "--data", data, "--file", str(file)])
    assert again.exit_code != 0


def test_a_file_of_something_else_is_refused(folder: Path, desk: DuckDBWarehouse) -> None:
    (folder / "other.yml").write_text("pages: [{name: a}]")
    with pytest.raises(ConfigurationError, match=r"other\.yml holds no models, semantic_models or metrics of dbt"):
        importing(draft(desk.tables, "desk"), folder / "other.yml", desk)


def test_a_metric_that_doubles_and_doubles_costs_no_time(folder: Path, desk: DuckDBWarehouse) -> None:
    doubled = "".join(
        f"  - {{name: m{n}, type: derived, type_params: {{expr: a + b, metrics: [{{name: m{n - 1}, alias: a}}, {{name: m{n - 1}, alias: b}}]}}}}\n"
        for n in range(1, 19)
    )
    (folder / "models" / "doubled.yml").write_text(
        "metrics:\n  - {name: m0, type: simple, type_params: {measure: shares}}\n" + doubled
    )
    began = time.monotonic()
    taken = importing(draft(desk.tables, "desk"), folder / "models", desk)
    assert "m2" in {metric.name for metric in taken.model.metrics}
    assert "doubled.yml: metric m18: an expression of more than 4,000 characters" in taken.left_out
    assert time.monotonic() - began < 60
