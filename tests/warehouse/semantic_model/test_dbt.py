"""dbt's YAML as a semantic model: its metrics give what plain SQL gives, and what has no place is listed."""

from __future__ import annotations

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
from finexpert.warehouse.semantic_model import dbt
from finexpert.warehouse.semantic_model.document import load
from finexpert.warehouse.semantic_model.drafting import draft

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
      - {name: p90, agg: percentile, expr: quantity, create_metric: true}
      - {name: held, agg: sum, expr: quantity, non_additive_dimension: {name: day}, create_metric: true}
metrics:
  - {name: fill_rate, description: Share of trades, type: ratio, type_params: {numerator: filled, denominator: {name: trades}}}
  - {name: filled_shares, type: simple, type_params: {measure: shares}, filter: "{{ Dimension('trade__state') }} = 'FILLED'"}
  - {name: open_share, type: derived, type_params: {expr: 1 - f, metrics: [{name: fill_rate, alias: f}]}}
  - {name: running, type: cumulative, type_params: {measure: shares, window: 7 days}}
  - {name: before, type: derived, type_params: {expr: s, metrics: [{name: shares, alias: s, offset_window: 1 month}]}}
  - {name: of_emea, type: simple, type_params: {measure: shares}, filter: "{{ Dimension('account__region') }} = 'EMEA'"}
  - {name: recent, type: simple, type_params: {measure: shares}, filter: "{{ TimeDimension('trade__day', 'day') }} > '2024-01-01'"}
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
    taken = dbt.take_over(draft(desk.tables, "desk"), folder / "models")
    trades = next(each for each in taken.model.datasets if each.name == "trades")
    assert trades.description == "Executed trades"
    assert {each.name: each.description for each in trades.fields}["status"] == "FILLED or not"
    assert [each.unique_keys for each in taken.model.datasets if each.name == "accounts"] == [[["region"]]]
    assert [(one.from_, one.to, one.to_columns) for one in taken.model.relationships] == [
        ("trades", "accounts", ["account_id"])
    ]
    assert not any("values" in each.own for dataset in taken.model.datasets for each in dataset.fields)
    assert taken.left_out == [
        "values of trades.status: not published; `finexpert model publish trades.status` does",
        "column trades.gone: it is not in the table",
        "model elsewhere: there is no such table in the data",
        "metric running: metrics of the type cumulative have no expression of their own",
        "metric before: offset_window of a part",
        "metric of_emea: its filter is by account__region, which is of another table",
        "metric recent: its filter has a part in Jinja other than Dimension",
        "metric round: it refers to itself",
        "metric p90: its measure is the aggregate percentile",
        "metric held: its measure is not additive",
    ]


def test_a_metric_gives_what_plain_sql_gives(folder: Path) -> None:
    data, file = str(folder / "desk.duckdb"), folder / "desk.model.yaml"
    done = CliRunner().invoke(app, ["model", "import", str(folder / "models"), "--data", data, "--file", str(file)])
    assert done.exit_code == 0, done.output
    assert "4 expressions and queries tried, 0 problems" in " ".join(done.output.split())
    assert {metric.name for metric in load(file).metrics} == {"shares", "fill_rate", "filled_shares", "open_share"}
    with open_duckdb(folder / "desk.duckdb", Settings(semantic_model=file)) as opened:
        for name, value in (("shares", 22), ("fill_rate", 2 / 3), ("filled_shares", 17), ("open_share", 1 / 3)):
            found = opened.query(f"SELECT MEASURE({name}) AS m FROM trades AS t").data["m"].item()
            assert found == pytest.approx(value), name
    again = CliRunner().invoke(app, ["model", "import", str(folder / "models"), "--data", data, "--file", str(file)])
    assert again.exit_code != 0


def test_a_file_of_something_else_is_refused(folder: Path, desk: DuckDBWarehouse) -> None:
    (folder / "other.yml").write_text("cubes: [{name: a}]")
    with pytest.raises(ConfigurationError, match=r"other\.yml holds no models, semantic_models or metrics of dbt"):
        dbt.take_over(draft(desk.tables, "desk"), folder / "other.yml")
