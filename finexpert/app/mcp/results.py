"""An answer as the result of a tool: words for the model, facts for a program, charts as pictures, addresses of what is kept."""

from __future__ import annotations

import base64
from dataclasses import replace

from mcp_types import CallToolResult, ContentBlock, ImageContent, ResourceLink, TextContent

from finexpert.app.mcp.backend import Reply
from finexpert.app.mcp.shown import MOST_ROWS
from finexpert.core.display import markdown

_LONGEST_TEXT = 24_000
_MOST_PICTURES = 2
# Some clients refuse a result above a megabyte.
_MOST_BYTES = 500_000


def of_reply(reply: Reply) -> CallToolResult:
    """The result of `ask`. An answer that there is none is no error of the tool: its status and text say so."""
    content: list[ContentBlock] = [TextContent(type="text", text=_text(reply))]
    facts, room = reply.facts, _MOST_BYTES
    for png in reply.charts[:_MOST_PICTURES]:
        data = base64.b64encode(png).decode("ascii")
        room -= len(data)
        if room > 0:
            content.append(ImageContent(type="image", data=data, mime_type="image/png"))
    content += [
        ResourceLink(type="resource_link", uri=uri, name=f"chart {number}", mime_type="image/png")
        for number, uri in enumerate(facts.charts, 1)
    ]
    if facts.record:
        content.append(
            ResourceLink(
                type="resource_link",
                uri=facts.record,
                name="record",
                description="plan, SELECTs and script of the answer",
                mime_type="application/json",
            )
        )
    return CallToolResult(content=content, structured_content=facts.model_dump(mode="json"))


def _text(reply: Reply) -> str:
    facts = reply.facts
    parts = reply.parts
    if facts.question_back is not None and facts.question_back.kind == "value":
        parts = replace(parts, after=[])  # the values of a column that its owner may not have published
    words = markdown.of_parts(parts, rows=MOST_ROWS, code=False)
    if facts.question_back is not None:
        words = f"Question back, for the person: {words}\n\n{_how_to_reply(reply)}"
    elif facts.status == "partial":
        words = f"The question is answered in part. Say what is missing, and do not make it up. {words}"
    elif facts.status != "answered":
        words = f"There is no answer ({facts.status}). Do not make one up. {words}"
    if len(words) > _LONGEST_TEXT:
        words = f"{words[:_LONGEST_TEXT]}\n\n... cut here: the record holds the rest"
    ids = f"conversation {facts.conversation}" + (f", answer {facts.id}" if facts.id else "")
    return f"{words}\n\n({ids})"


def _how_to_reply(reply: Reply) -> str:
    back = reply.facts.question_back
    assert back is not None
    if back.kind == "value":
        place = reply.clarification.place if reply.clarification else "TABLE.COLUMN"
        return (
            "Ask the person which value is meant, and ask again with it in the question. The values of the column are not shown to "
            f"models: the person sees them with `finexpert ask`, or publishes them with `finexpert model publish {place}`."
        )
    return (
        f"Ask the person what is meant, do not guess it, and ask again with conversation={reply.facts.conversation!r} and "
        f"meanings={{{back.term!r}: ...}}, or with assume=true to have it answered on an assumption."
    )
