"""What a test receives: the result of a call, and what the function sent meanwhile."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional

from ..errors import ToolError
from .answers import Asked


class Progress(NamedTuple):
    """A report of progress."""

    progress: float
    total: Optional[float] = None
    message: Optional[str] = None


class Log(NamedTuple):
    """A log message."""

    level: str
    data: Any
    logger: Optional[str] = None


class Meanwhile:
    """What a function sent while it ran."""

    def __init__(self) -> None:
        self.progress: List[Progress] = []
        self.logs: List[Log] = []
        self.asked: List[Asked] = []

    def note(self, method: str, params: Dict[str, Any]) -> None:
        """Notes a notification."""
        if method == "notifications/progress":
            self.progress.append(Progress(params["progress"], params.get("total"), params.get("message")))
        elif method == "notifications/message":
            self.logs.append(Log(params["level"], params.get("data"), params.get("logger")))


class _Result:
    def __init__(self, raw: Dict[str, Any], meanwhile: Meanwhile) -> None:
        self.raw = raw
        self.progress = meanwhile.progress
        self.logs = meanwhile.logs
        self.asked = meanwhile.asked

    def __repr__(self) -> str:
        return "%s(%r)" % (type(self).__name__, self.raw)


class ToolResult(_Result):
    """The result of a tool, as the client receives it."""

    @property
    def content(self) -> List[Dict[str, Any]]:
        return list(self.raw.get("content") or [])

    @property
    def text(self) -> str:
        """All texts of the content."""
        return "\n".join(str(block["text"]) for block in self.content if block.get("type") == "text")

    @property
    def structured(self) -> Optional[Dict[str, Any]]:
        return self.raw.get("structuredContent")

    @property
    def data(self) -> Any:
        """The value: the structured content, without the ``result`` around a value that is no object."""
        structured = self.structured
        if structured is None:
            return self.text
        return structured["result"] if list(structured) == ["result"] else structured

    @property
    def is_error(self) -> bool:
        return bool(self.raw.get("isError"))

    def or_raise(self) -> ToolResult:
        """Itself. Raises `ToolError` with its text if it is an error."""
        if self.is_error:
            raise ToolError(self.text)
        return self


class ResourceResult(_Result):
    """The contents of a resource."""

    @property
    def contents(self) -> List[Dict[str, Any]]:
        return list(self.raw["contents"])

    @property
    def text(self) -> str:
        return "\n".join(str(one["text"]) for one in self.contents if "text" in one)

    @property
    def data(self) -> bytes:
        """The first content as bytes."""
        from base64 import b64decode

        first = self.contents[0]
        return b64decode(first["blob"]) if "blob" in first else str(first["text"]).encode()

    @property
    def mime_type(self) -> Optional[str]:
        return self.contents[0].get("mimeType")


class PromptResult(_Result):
    """The messages of a prompt."""

    @property
    def messages(self) -> List[Dict[str, Any]]:
        return list(self.raw["messages"])

    @property
    def text(self) -> str:
        return "\n".join(str(one["content"].get("text", "")) for one in self.messages)
