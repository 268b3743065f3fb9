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
    from ray.cluster_utils import Cluster

    one = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False, "node_ip_address": "127.0.0.1"}
    cluster: Any = Cluster(initialize_head=True, head_node_args=one)
    cluster.second = cluster.add_node(num_cpus=1, object_store_memory=80 << 20, node_ip_address="127.0.0.1")
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()
