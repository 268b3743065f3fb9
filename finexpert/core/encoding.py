"""A value of an answer as JSON holds it."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pandas as pd


def encode(value: Any) -> Any:
    """A value as JSON holds it: dates as ISO text, a table as columns and rows.

    >>> encode([dt.date(2020, 4, 1)])
    ['2020-04-01']
    """
    if isinstance(value, pd.DataFrame):
        return json.loads(value.to_json(orient="split", index=False, date_format="iso", double_precision=15))
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dt.date):
        return value.isoformat()
    return value
