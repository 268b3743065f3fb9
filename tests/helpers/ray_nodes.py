"""A Ray cluster of two nodes with a core each, on this machine alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def two_nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The cluster, connected; its `second` node may be removed."""
    for name, value in {"ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "USAGE_STATS_ENABLED": "0"}.items():
        monkeypatch.setenv(f"RAY_{name}", value)
    ray = pytest.importorskip("ray", reason="Ray is not installed: uv pip install ray")
    cluster = started()
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def started(tries: int = 4) -> Any:
    """Two nodes, from nothing at each try: Ray gives a node 30 seconds to start, and a busy machine may need more."""
    from ray.cluster_utils import Cluster

    one = {"num_cpus": 1, "object_store_memory": 80 << 20, "node_ip_address": "127.0.0.1"}
    while True:
        tries -= 1
        cluster: Any = Cluster()
        try:
            cluster.add_node(include_dashboard=False, **one)
            cluster.second = cluster.add_node(**one)
            return cluster
        except Exception as error:
            cluster.shutdown()
            if not tries or "timed out during startup" not in str(error):
                raise
