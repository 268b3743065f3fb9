"""The control: an attack in a plain interpreter, to show that it is the sandbox that stops it.

    unconfined(cases)   ->   {'read a file of the user': 'answer', 'set up io_uring': "AssertionError()"}

Only cases without the mark [no control] are run. Each gets files, sockets and a home of its own, which are removed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack

from finexpert.attacks.aims import SECRET_VARIABLE, Aims
from finexpert.attacks.cases import Case

_SECONDS = 120
_RUN = """
import json, sys
import matplotlib; matplotlib.use('Agg')
import matplotlib.pyplot as plt, numpy as np, pandas as pd
reached = {}
for name, code in json.load(sys.stdin):
    names = {'pd': pd, 'np': np, 'plt': plt}
    try:
        exec(code, names)
    except Exception as error:
        reached[name] = repr(error)
    else:
        reached[name] = 'answer' if names.get('answer') else 'no answer'
print(json.dumps(reached))
"""


def unconfined(chosen: Iterable[Case]) -> dict[str, str]:
    """What each attack reaches without a sandbox: `answer`, or the error that it met."""
    with ExitStack() as stack:
        aims = [(case, stack.enter_context(Aims())) for case in chosen if "no control" not in case.marks]
        home = stack.enter_context(Aims()).folder
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _RUN],
            input=json.dumps([(case.name, case.filled(aim.places)) for case, aim in aims]),
            env={**os.environ, "HOME": str(home), "TMPDIR": str(home), SECRET_VARIABLE: "canary-" + "0" * 32},
            cwd=home,
            capture_output=True,
            text=True,
            check=True,
            timeout=_SECONDS,
            start_new_session=True,
        )
    reached: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return reached
