"""Runs the commands of the program one after the other in one process, over data with canaries and with planted keys.

    python run_commands.py FOLDER

Each command of `commands.txt` leaves its output in FOLDER/out; everything that is logged, at the level DEBUG, goes to FOLDER/debug.log,
and what the model was asked and which keys it was sent to FOLDER/seen.json. The model is a server that speaks OpenAI's protocol; models
called refused and broken answer with errors that repeat the key and the prompt.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import re
import shlex
import sys
import warnings
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from served import Served, body_of, completion, send_json

from finexpert.testing import fields

SELECT = "SELECT date, note, amount FROM sales ORDER BY date"
LEAK = "raise ValueError(sales['note'].iloc[0] + str(sales.amount.iloc[0]) + sales.to_string())"
FIGURE = "fig, axes = plt.subplots()\naxes.plot(sales.date, sales.amount)\nanswer = len(sales)"
FIRST_FIELD = re.compile(r"starting with the field `\[\[ ## (\w+) ## \]\]`")


def reply(prompt: str) -> str:
    """A count; where the question speaks of notes, first drafts whose SELECT or script would show cells in an error."""
    found = FIRST_FIELD.search(prompt)
    first = found[1] if found else ""
    leaky = "notes" in prompt
    select = SELECT.replace("note", "CAST(note AS INTEGER) AS note") if leaky and first == "interpretation" else SELECT
    selects = [{"df_name": "sales", "df_columns": ["date", "note", "amount"], "select_query": select}]
    code = LEAK if leaky else (FIGURE if "chart" in prompt else "answer = len(sales)")
    by_first: dict[str, dict[str, Any]] = {
        "interpretation": {"interpretation": "as asked", "selects": selects, "code": code, "answer_kind": "integer"},
        "selects": {"selects": selects},
        "absent": {"absent": "", "selects": selects},
        "code": {"code": code},
        "select_query": {"select_query": SELECT, "code": "answer = len(df)"},
        "terms": {"terms": [], "rephrased": ""},
        "chosen": {"chosen": [], "whole": False},
        "variants": {"variants": ["months"], "parts": []},
        "heading": {
            "heading": "Month count",
            "aliases": [],
            "variables": [],
            "steps": [{"text": "Count the months.", "sql": SELECT, "code": "answer = len(sales)"}],
            "case_question": "How many months are there?",
        },
    }
    said = by_first[first]
    return fields(**said, **({"unit": ""} if first == "interpretation" else {}))


class Model(Served):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.keys: set[str] = set()
        super().__init__()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(body_of(handler))
        key = str(handler.headers.get("Authorization"))
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        self.keys.add(key)
        self.prompts.append(prompt)
        if body["model"] in ("refused", "broken"):
            error = {"message": f"Incorrect API key provided: {key}", "type": "x", "code": "x"}
            send_json(handler, {"error": error}, 401 if body["model"] == "refused" else 500)
        else:
            send_json(handler, completion(reply(prompt)))


def run(name: str, line: str, folder: Path, places: dict[str, str]) -> int:
    """One command as the installed script runs it; its exit code."""
    from finexpert.cli.main import main

    line, _, typed = line.partition(" <<< ")
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["finexpert", *(part.format_map(places) for part in shlex.split(line))]
    sys.stdin = io.StringIO(typed.replace(" / ", "\n") + "\n")
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0) if not isinstance(ended.code, str) else 1
    (folder / "out" / f"{name}.txt").write_text(f"{out.getvalue()}\n--- stderr\n{err.getvalue()}", encoding="utf-8")
    return code


def share_sandbox() -> Any:
    """One warm sandbox for all commands, each of which would start one of its own; closing it leaves it open."""
    import finexpert.sandbox
    import finexpert.session.base

    box = finexpert.sandbox.Sandbox(finexpert.sandbox.Limits(wall_seconds=10))

    class Borrowed:
        def __getattr__(self, name: str) -> Any:
            return getattr(box, name)

        def close(self) -> None:
            pass

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    for place in (finexpert.sandbox, finexpert.session.base):
        place.Sandbox = lambda *limits, **given: Borrowed()  # type: ignore[attr-defined]
    return box


def main_(folder: Path, commands: Path) -> None:
    server = Model()
    places = {"port": server.address.rpartition(":")[2], "folder": str(folder)}
    (folder / "out").mkdir()
    # What a user sees who switches everything on.
    logging.basicConfig(filename=folder / "debug.log", level=logging.DEBUG, force=True)
    box = share_sandbox()
    codes = {}
    for line in commands.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(": ")
            if "{record}" in rest:
                places["record"] = min(
                    (folder / "home" / "records").glob("*.json"), key=lambda path: path.stat().st_mtime_ns
                ).stem
            codes[name] = run(name, rest, folder, places)
    seen = {"codes": codes, "prompts": server.prompts, "keys": sorted(server.keys)}
    (folder / "seen.json").write_text(json.dumps(seen), encoding="utf-8")
    box.close()
    server.close()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main_(Path(sys.argv[1]), Path(sys.argv[2]))
