"""A Ray cluster: the one that this process is connected to, the one at RAY_ADDRESS, or one of this machine for as long as it is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from finexpert.errors import ConfigurationError

# Of a cluster of this machine alone; Ray reads them when it is imported.
_OWN = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Under `uv run` Ray would copy the whole folder into the cluster.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    # By this alone Ray takes 127.0.0.1 for the address of a node.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}
_STORE_BYTES = 128 << 20


def check_installed() -> None:
    """ConfigurationError where Ray is not installed. It is not imported: that is when it reads what `connected` sets."""
    if find_spec("ray") is None:
        raise ConfigurationError("engine ray needs Ray: pip install 'finexpert[ray]'")


@contextmanager
def connected() -> Iterator[Any]:
    """The module `ray`, connected; ConfigurationError says what is missing. A cluster that was started here listens on 127.0.0.1, and ends here."""
    address = os.environ.get("RAY_ADDRESS")
    if not address:
        os.environ.update(_OWN)
    check_installed()
    import ray

    if ray.is_initialized():
        yield ray
        return
    own = {"include_dashboard": False, "object_store_memory": _STORE_BYTES, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", **({"address": address} if address else own))
    except Exception as error:
        where = f"the cluster at {address} (RAY_ADDRESS) cannot be reached" if address else "Ray cannot be started here"
        raise ConfigurationError(f"{where} ({str(error).splitlines()[0]}); engine threads needs none") from error
    try:
        yield ray
    finally:
        ray.shutdown()
