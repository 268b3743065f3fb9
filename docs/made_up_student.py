"""A made-up weak model for `compile_evaluate_load.ipynb`: no model anybody uses, but one that compiling can help.

    address = serve()                           # 'http://127.0.0.1:40001/v1', as OpenAI's API
    $ finexpert compile script_generation --lm openai/made-up-student --api-base ADDRESS

It writes scripts only, and knows only the questions whose scripts are recorded with the package. Asked one of them
it gives the recorded script. But unless the prompt shows it an example of a script, it calls the answer `result`, and
not `answer` as it was told, in every question of an even number of letters.
"""

from __future__ import annotations

import json
import re
import threading
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from finexpert.language_models.recordings.prompts import Prompt, about
from finexpert.language_models.recordings.recorded import packaged_files, read

MODEL = "openai/made-up-student"


@cache
def recorded_scripts() -> dict[str, str]:
    """The completions with a script, by question."""
    found = (recording for file in packaged_files() for recording in read(file))
    return {each.about: each.completion for each in found if each.completion.startswith("[[ ## code ## ]]")}


def completion(prompt: Prompt, scripts: dict[str, str]) -> str:
    """What the student says.

    >>> asked = [("user", "What was the mean?")]
    >>> completion(asked, {"What was the mean?": "answer = df.x.mean()"})
    'result = df.x.mean()'
    >>> example = [("user", "What was the sum?"), ("assistant", "answer = df.x.sum()")]
    >>> completion([*example, *asked], {"What was the mean?": "answer = df.x.mean()"})
    'answer = df.x.mean()'
    """
    question = about(prompt)
    script = scripts.get(question, "I do not know.")
    shown = any(role == "assistant" for role, _ in prompt)
    forgets = sum(map(str.isalpha, question)) % 2 == 0
    return re.sub(r"\banswer\b", "result", script) if forgets and not shown else script


def serve() -> str:
    """Start the student on a free port of this machine; it ends with the process. The address, for --api-base."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = completion([(each["role"], each["content"]) for each in asked["messages"]], recorded_scripts())
        content = json.dumps(_reply(asked, text)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _reply(asked: dict[str, Any], text: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    # A word is near enough to a token here.
    sizes = (sum(len(each["content"].split()) for each in asked["messages"]), len(text.split()))
    usage = {"prompt_tokens": sizes[0], "completion_tokens": sizes[1], "total_tokens": sum(sizes)}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": MODEL, "choices": [choice], "usage": usage}
