"""Values that are content, or contain some: texts, images, audio, files, messages."""

from __future__ import annotations

from .contents import Content, Image, Message, Result, base64_text
from .encoding import encode, name_tuples, quote
from .json_types import is_list, is_object
from .media_types import type_of_bytes, type_of_name
from .recognising import is_picture, png_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

    from typing_extensions import TypeGuard


def render_whole(value: Result) -> str:
    """A CallToolResult that the function has built itself."""
    parts: List[str] = []
    structured = None if value.structured is None else encode(name_tuples(value.structured))
    if value.content is None and structured is not None:
        parts.append('"content":[{"type":"text","text":%s}]' % quote(structured))
    else:
        parts.append('"content":' + encode(_all_blocks(value.content)))
    if structured is not None:
        parts.append('"structuredContent":' + (structured if structured[0] == "{" else '{"result":%s}' % structured))
    if value.is_error:
        parts.append('"isError":true')
    if value.meta:
        parts.append('"_meta":' + encode(dict(value.meta)))
    return "{%s}" % ",".join(parts)


def _all_blocks(value: Any) -> List[Dict[str, Any]]:
    if value is None:
        return []
    if is_list(value):
        return [_block(item) for item in value]
    return [_block(value)]


def _block(value: Any) -> Dict[str, Any]:
    """One piece of content."""
    if isinstance(value, Content):
        return value.block()
    if isinstance(value, str):
        return {"type": "text", "text": value}
    if _is_bytes(value):
        return _bytes_block(bytes(value))
    if is_picture(value):
        return Image(png_of(value), "image/png").block()
    if is_object(value) and isinstance(value.get("type"), str) and set(value) & {"text", "data", "resource", "uri"}:
        return value
    return {"type": "text", "text": encode(value)}


def blocks_of(value: Any) -> Optional[List[Dict[str, Any]]]:
    """The content of a value that is content, or of a list that contains some; None for data."""
    if is_list(value):
        mixed = any(isinstance(item, (Content, bytes)) or is_picture(item) for item in value)
        return [_block(item) for item in value] if mixed else None
    if isinstance(value, Content) or _is_bytes(value) or is_picture(value):
        return [_block(value)]
    return None


def _is_bytes(value: Any) -> TypeGuard[bytes]:
    return isinstance(value, (bytes, bytearray, memoryview))


def _bytes_block(data: bytes) -> Dict[str, Any]:
    """Images and audio as such, text as text, anything else as an embedded resource."""
    found = type_of_bytes(data)
    if found and found.startswith(("image/", "audio/")):
        return {"type": found.partition("/")[0], "data": base64_text(data), "mimeType": found}
    text = _decoded(data) if found is None else None
    if text is not None:
        return {"type": "text", "text": text}
    held = {"uri": "result:///bytes", "mimeType": found or "application/octet-stream", "blob": base64_text(data)}
    return {"type": "resource", "resource": held}


def _decoded(data: bytes) -> Optional[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def resource_contents(value: Any, uri: str, mime: Optional[str]) -> List[Dict[str, Any]]:
    """The contents of a ReadResourceResult."""
    if is_list(value) and value and all(isinstance(item, Content) for item in value):
        return [_held(item, uri, mime) for item in value]
    return [_held(value, uri, mime)]


def _held(value: Any, uri: str, mime: Optional[str]) -> Dict[str, Any]:
    block = value.block() if isinstance(value, Content) else {}
    if block.get("type") == "resource":
        return {"mimeType": mime, **block["resource"]} if mime else dict(block["resource"])
    if "data" in block:
        return {"uri": uri, "mimeType": block["mimeType"], "blob": block["data"]}
    if "text" in block:
        return {"uri": uri, "mimeType": mime or "text/plain", "text": block["text"]}
    if is_picture(value):
        return _held_bytes(png_of(value), uri, "image/png")
    if isinstance(value, str):
        return {"uri": uri, "mimeType": mime or type_of_name(uri) or "text/plain", "text": value}
    if _is_bytes(value):
        return _held_bytes(bytes(value), uri, mime)
    return {"uri": uri, "mimeType": mime or "application/json", "text": encode(value)}


def _held_bytes(data: bytes, uri: str, mime: Optional[str]) -> Dict[str, Any]:
    found = mime or type_of_bytes(data) or type_of_name(uri)
    text = _decoded(data) if found is None or found.startswith("text/") else None
    if text is not None:
        return {"uri": uri, "mimeType": found or "text/plain", "text": text}
    return {"uri": uri, "mimeType": found or "application/octet-stream", "blob": base64_text(data)}


def prompt_result(value: Any, description: str) -> Dict[str, Any]:
    """A GetPromptResult."""
    if is_object(value) and is_list(value.get("messages")):
        return value
    values = value if is_list(value) else [value]
    result: Dict[str, Any] = {"messages": [_message(one) for one in values]}
    if description:
        result["description"] = description
    return result


def _message(value: Any) -> Dict[str, Any]:
    if isinstance(value, Message):
        return {"role": value.role, "content": _block(value.content)}
    if is_object(value) and "role" in value:
        return {"role": value["role"], "content": _block(value.get("content"))}
    return {"role": "user", "content": _block(value)}
