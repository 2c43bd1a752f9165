"""A function's return value, as the result of the protocol. All functions return JSON text: a call builds
nothing that is only parsed again. `content_rendering.py` handles values that are more than data."""

from __future__ import annotations

from .encoding import encode, name_tuples, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional


class ResultForm:
    """How to render the result of a tool: its hint decides whether it is structured, and whether it is
    wrapped."""

    __slots__ = ("has_schema", "wraps", "names_tuples")

    def __init__(self, has_schema: bool = False, wraps: bool = False, names_tuples: bool = False) -> None:
        self.has_schema = has_schema
        # Structured content must be an object: other values are wrapped as `result`.
        self.wraps = wraps
        self.names_tuples = names_tuples


def render_tool(value: Any, form: ResultForm) -> str:
    """A CallToolResult."""
    kind = value.__class__
    if kind is str:
        return _text_result(value, quote(value) if form.wraps else None, form)
    if kind is dict or kind is int or kind is float or kind is bool:
        return _data_result(value, form)
    if value is None and not form.wraps:
        return '{"content":[]}'
    if kind is list and form.has_schema:
        return _data_result(value, form)
    from .content_rendering import blocks_of, render_whole
    from .contents import Result
    from .recognising import is_frame

    if isinstance(value, Result):
        return render_whole(value)
    blocks = blocks_of(value)
    if blocks is not None:
        return '{"content":%s}' % encode(blocks)
    if isinstance(value, str):
        return _text_result(str(value), quote(str(value)) if form.wraps else None, form)
    if is_frame(value) and not form.has_schema:
        form = ResultForm(wraps=True)
    return _data_result(value, form)


def _data_result(value: Any, form: ResultForm) -> str:
    body = encode(name_tuples(value) if form.names_tuples else value)
    return _text_result(body, body if form.has_schema or form.wraps or body[0] == "{" else None, form)


def _text_result(text: str, body: Optional[str], form: ResultForm) -> str:
    if body is None:
        return '{"content":[{"type":"text","text":%s}]}' % quote(text)
    if form.wraps:
        return '{"content":[{"type":"text","text":%s}],"structuredContent":{"result":%s}}' % (quote(text), body)
    return '{"content":[{"type":"text","text":%s}],"structuredContent":%s}' % (quote(text), body)


def render_resource(value: Any, uri: str, mime: Optional[str]) -> str:
    """A ReadResourceResult."""
    from .content_rendering import resource_contents

    return encode({"contents": resource_contents(value, uri, mime)})


def render_prompt(value: Any, description: str) -> str:
    """A GetPromptResult."""
    from .content_rendering import prompt_result

    return encode(prompt_result(value, description))
