"""From a worker's reply to the outcome of a script, or to the error that its author can repair.

    >>> explain("KeyError", "'gdp'", 1, "answer = df['gdp']", [])
    "KeyError (line 1: `answer = df['gdp']`)"
    >>> explain("ValueError", "could not convert string to float: '48,200 Smith'", 1, "answer = float(name)", [])
    'ValueError: could not convert string to float: <value> (line 1: `answer = float(name)`)'

An error is shown to a language model, and a script can put any row into its message. So no word of a worker is passed on: the message is one
of those in `library_messages.py`, and the line is taken from the parent's own copy of the script.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from finexpert.core import syntax
from finexpert.core.answers import AnswerFormat
from finexpert.errors import AnswerFormatError, SandboxFailure, ScriptError
from finexpert.isolation.arrow import GateError
from finexpert.isolation.handle import Reply
from finexpert.isolation.limits import Limits
from finexpert.isolation.wire import Frame
from finexpert.sandbox import gate, policy, values
from finexpert.sandbox.library_messages import said
from finexpert.sandbox.looked_for import Unmet, sites

_LINE_CHARS = 200
# Names that pandas 3 has no more, and that models still write. Its own advice stands in a text that scrubbing takes out.
_FREQUENCY = re.compile(r"Invalid frequency: ([A-Za-z]+)")
_FREQUENCIES = {
    "M": "ME", "Q": "QE", "Y": "YE", "A": "YE", "BM": "BME", "BQ": "BQE", "BY": "BYE", "BA": "BYE", "AS": "YS",
    "BAS": "BYS", "H": "h", "BH": "bh", "T": "min", "S": "s", "L": "ms", "U": "us", "N": "ns", "m": "ME", "q": "QE", "y": "YE",
}  # fmt: skip
# What a worker says of a result that is too large, N for its numbers.
_LIMITS = (
    "two columns of the table have the same name; rename one of them",
    "the table is too large; at most N rows, N columns and N cells are returned",
    "a text in the table is too large; at most N bytes are returned",
    "the table is too large; at most N bytes are returned",
    "at most N figures are returned; draw fewer, or close the others",
    "a figure is larger than N pixels; use a smaller figsize or dpi",
    "a figure has more than N bytes; use a smaller figsize or dpi",
    "a text of the answer is too large; at most N bytes are returned",
    "the answer is too large; at most N bytes are returned",
)
_OUT_OF_TIME = (signal.SIGXCPU, signal.SIGKILL)


@dataclass(frozen=True)
class ScriptOutcome:
    """What a script gave: the typed answer, its period, the figures as PNG, what it printed, how long it took, and what it met nowhere."""

    value: Any
    period: str | None = None
    figures: list[bytes] = field(default_factory=list, repr=False)
    stdout: str = ""
    seconds: float = 0.0
    unmet: tuple[Unmet, ...] = ()


def explain(kind: str, message: str, line: int | None, code: str, known: Iterable[str]) -> str:
    """An error of a script in words that hold no cell value.

    >>> explain("ValueError", "Invalid frequency: M. Failed to parse with ...", 1, "answer = s.resample('M')", [])
    "ValueError: Invalid frequency: M; write 'ME' (line 1: `answer = s.resample('M')`)"
    """
    text = said(kind, message, list(known))
    if (match := _FREQUENCY.match(message)) and match[1] in _FREQUENCIES:
        text = f"ValueError: Invalid frequency: {match[1]}; write {_FREQUENCIES[match[1]]!r}"
    lines = code.splitlines()
    if line is None or not 1 <= line <= len(lines):
        return text
    return f"{text} (line {line}: `{lines[line - 1].strip()[:_LINE_CHARS]}`)"


def _ended(reply: Reply, limits: Limits) -> ScriptError:
    number = reply.status & 0x7F
    if number == signal.SIGKILL and reply.seconds < limits.cpu_seconds:
        return ScriptError("the script was killed, most likely for want of memory; use smaller frames or fewer copies")
    if number in _OUT_OF_TIME:
        return ScriptError(f"the script used more than {limits.cpu_seconds} s of processor time; compute less")
    name = f" ({signal.Signals(number).name})" if number in set(signal.Signals) else ""
    return ScriptError(
        f"the script ended its process{name} before it gave an answer; do not exit, and use less memory and recursion"
    )


def _failed(report: dict[str, Any], code: str, known: list[str], limits: Limits) -> ScriptError:
    kind, message, line = report.get("type"), report.get("message"), report.get("line")
    if not isinstance(kind, str) or not isinstance(message, str) or not (line is None or isinstance(line, int)):
        raise SandboxFailure("the worker broke the protocol: an error that is none")
    if kind in ("MemoryError", "ArrowMemoryError", "_ArrayMemoryError"):
        where = explain("MemoryError", "", line, code, known)
        return ScriptError(f"{where}: more than {limits.memory_bytes >> 20} MB; use smaller frames or fewer copies")
    if kind == "SystemExit":
        return ScriptError("the script called exit; set `answer` and let it end")
    return ScriptError(explain(kind[:100], message, line, code, known))


def _refused(code: str) -> ScriptError:
    try:
        reasons = policy.refusals(code, syntax.parse)
    except SyntaxError:
        reasons = []
    if not reasons:
        raise SandboxFailure("the worker broke the protocol: it refused a script that is allowed")
    return ScriptError("the script was refused. " + "; ".join(dict.fromkeys(reasons)))


def _value(frame: Frame, limits: Limits) -> tuple[Any, list[bytes]]:
    """The answer and the figures that a frame holds, as the gate lets them through."""
    answer, images = frame.header.get("answer"), frame.blobs
    if answer == ["table", ""]:
        if not images:
            raise GateError("a table that was not sent")
        return gate.table(images[0], limits), images[1:]
    return values.decode(answer, text_bytes=limits.text_bytes), images


def _done(reply: Reply, frame: Frame, code: str, answer_format: AnswerFormat, limits: Limits) -> ScriptOutcome:
    try:
        value, images = _value(frame, limits)
        if len(images) > limits.figures or any(len(image) > limits.figure_bytes for image in images):
            raise GateError("too many figures, or too large ones")
        for image in images:
            gate.image_size(image, limits.figure_pixels)
    except (GateError, values.NotAValue) as error:
        raise SandboxFailure(f"the script's result was thrown away: {error}") from None
    try:
        value = answer_format.coerce(value)
    except AnswerFormatError as error:
        raise ScriptError(f"{error}; set `answer` to {answer_format.instruction()}") from None
    period = frame.header.get("period")
    usable = isinstance(period, str) and len(period) <= 200 and period.isprintable() and period.strip()
    printed = reply.stdout.decode(errors="replace")
    return ScriptOutcome(value, period if usable else None, images, printed, reply.seconds, _unmet(frame, code))


def _unmet(frame: Frame, code: str) -> tuple[Unmet, ...]:
    """What the script looked for and met nowhere, in the words of the parent's own copy of it."""
    reported = frame.header.get("unmet")
    if not isinstance(reported, list) or not reported:
        return ()
    found = sites(syntax.parse(code))
    said = []
    for one in reported:
        match one:
            case [int(number), str(name), str(column)] if 0 <= number < len(found):
                said.append(Unmet(found[number].texts, found[number].node.lineno, name, column))
            case _:
                raise SandboxFailure("the worker broke the protocol: a comparison that is none")
    return tuple(said)


def judge(reply: Reply, code: str, known: list[str], answer_format: AnswerFormat, limits: Limits) -> ScriptOutcome:
    """The outcome of a reply.

    Raises ScriptError for what the script's author can repair, SandboxFailure for a reply that is none.
    """
    if reply.frame is None:
        raise _ended(reply, limits)
    report = reply.frame.header
    match report.get("status"):
        case "done":
            return _done(reply, reply.frame, code, answer_format, limits)
        case "unset":
            raise ScriptError(f"the script did not set `answer`; set it to {answer_format.instruction()}")
        case "refused":
            raise _refused(code)
        case "limit":
            raise ScriptError(_limit(report.get("message"), limits))
        case "error":
            raise _failed(report, code, known, limits)
    raise SandboxFailure("the worker broke the protocol: a status that is none")


def _limit(message: object, limits: Limits) -> str:
    """Why a result cannot be sent: one of the sentences of the worker, with its own limits."""
    numbers = set(re.findall(r"\d+", message)) if isinstance(message, str) else set()
    if (
        isinstance(message, str)
        and re.sub(r"\d+", "N", message) in _LIMITS
        and numbers <= {str(one) for one in vars(limits).values()}
    ):
        return message
    return "the result cannot be sent; make `answer` smaller or plainer"
