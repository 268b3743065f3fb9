"""The process behind `single_use.py`: warms up, locks itself, proves it, says so, runs the one script that it is sent.

    sandbox-exec -p PROFILE python single_worker.py '{"channel": 5, "output": 7, "cpu_seconds": 8, "site": [...]}'

What it imports and how it answers is `sandbox/worker.py`'s. Its lock is macOS's: on another system the canaries come through, and it says
that it is open.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path

_CHANNEL = 3


def _descriptors(channel: int, output: int) -> None:
    os.dup2(channel, 200)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(200, _CHANNEL)
    os.closerange(_CHANNEL + 1, 1024)


def main() -> None:
    worker = runpy.run_path(str(Path(__file__).parents[2] / "sandbox" / "worker.py"))
    worker["make_importable"]()
    from finexpert.isolation.macos import lockdown

    setup = json.loads(sys.argv[1])
    _descriptors(setup["channel"], setup["output"])
    sys.path += setup["site"]
    worker["warm_up"]()
    status = 70
    try:
        worker["serve"](lambda: lockdown.enter(setup["cpu_seconds"]), lockdown.prove)
        status = 0
    except EOFError:
        status = 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
