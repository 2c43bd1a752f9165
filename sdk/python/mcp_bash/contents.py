"""The parts of a result besides plain values: images, audio, files, links, messages."""

from __future__ import annotations

import os

from .media_types import type_of_bytes, type_of_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, Optional, Union

    Role = str


def base64_text(data: bytes) -> str:
    from binascii import b2a_base64

    return b2a_base64(data, newline=False).decode("ascii")


class Content:
    """One piece of a result. ``audience`` is ``["user"]``, ``["assistant"]`` or both; ``priority`` from 0 to 1."""

    def __init__(
        self,
        *,
        audience: Optional[List[str]] = None,
        priority: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self._extra: Dict[str, Any] = {}
        annotations: Dict[str, Any] = {}
        if audience is not None:
            annotations["audience"] = audience
        if priority is not None:
            annotations["priority"] = priority
        if annotations:
            self._extra["annotations"] = annotations
        if meta is not None:
            self._extra["_meta"] = dict(meta)

    def block(self) -> Dict[str, Any]:
        """The content block of the protocol."""
        raise NotImplementedError

    def _block(self, type: str, **members: Any) -> Dict[str, Any]:
        block: Dict[str, Any] = {"type": type}
        block.update((key, value) for key, value in members.items() if value is not None)
        block.update(self._extra)
        return block


class Text(Content):
    """A piece of text, for a list that mixes it with others."""

    def __init__(
        self,
        text: str,
        *,
        audience: Optional[List[str]] = None,
        priority: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(audience=audience, priority=priority, meta=meta)
        self.text = text

    def block(self) -> Dict[str, Any]:
        return self._block("text", text=self.text)


# Usual names of formats that their types do not have.
_FORMATS = {"jpg": "jpeg", "svg": "svg+xml", "mp3": "mpeg", "m4a": "mp4"}


class _Media(Content):
    """Bytes, given or from a file, with their type."""

    kind = ""

    def __init__(
        self,
        data: Union[bytes, str, "os.PathLike[str]", None] = None,
        mime: Optional[str] = None,
        *,
        path: Union[str, "os.PathLike[str]", None] = None,
        format: Optional[str] = None,
        audience: Optional[List[str]] = None,
        priority: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(audience=audience, priority=priority, meta=meta)
        if format is not None:
            if mime is not None:
                raise TypeError("%s() takes mime= or format=, not both" % type(self).__name__)
            mime = self._type_of_format(format)
        if data is not None and not isinstance(data, (bytes, bytearray, memoryview)):
            data, path = None, data
        if (data is None) == (path is None):
            raise TypeError("%s() needs either bytes or the path of a file" % type(self).__name__)
        if data is None:
            assert path is not None
            with open(path, "rb") as file:
                data = file.read()
        self.data = bytes(data)
        found = mime or type_of_bytes(self.data) or type_of_name(path)
        if not found or "/" not in found:
            raise ValueError("%s() cannot tell the type of its data: give it mime=…" % type(self).__name__)
        self.mime = found

    def _type_of_format(self, format: str) -> str:
        """``png`` → ``image/png``."""
        format = format.lower().lstrip(".")
        return format if "/" in format else "%s/%s" % (self.kind, _FORMATS.get(format, format))

    def block(self) -> Dict[str, Any]:
        return self._block(self.kind, data=base64_text(self.data), mimeType=self.mime)


class Image(_Media):
    """An image: ``Image(data)``, ``Image("plot.png")``, ``Image(data, "image/png")``, ``Image(data=data, format="png")``."""

    kind = "image"


class Audio(_Media):
    """Audio: ``Audio(data)``, ``Audio("hello.wav")``."""

    kind = "audio"


class Embedded(Content):
    """The content of a resource inside the result: text, or bytes."""

    def __init__(
        self,
        uri: str,
        text: Optional[str] = None,
        *,
        data: Optional[bytes] = None,
        path: Union[str, "os.PathLike[str]", None] = None,
        mime: Optional[str] = None,
        audience: Optional[List[str]] = None,
        priority: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(audience=audience, priority=priority, meta=meta)
        if [text, data, path].count(None) != 2:
            raise TypeError("Embedded() needs one of text, data= and path=")
        if path is not None:
            with open(path, "rb") as file:
                data = file.read()
            text = _as_text(data)
        self.uri = uri
        self.text = text
        self.data = data
        self.mime = mime or type_of_name(path or uri) or (type_of_bytes(data) if data else None)

    def block(self) -> Dict[str, Any]:
        held: Dict[str, Any] = {"uri": self.uri}
        if self.mime:
            held["mimeType"] = self.mime
        if self.text is not None:
            held["text"] = self.text
        else:
            held["blob"] = base64_text(self.data or b"")
        return self._block("resource", resource=held)


class Link(Content):
    """A resource that the client can read if it wants to."""

    def __init__(
        self,
        uri: str,
        name: Optional[str] = None,
        *,
        title: Optional[str] = None,
        description: Optional[str] = None,
        mime: Optional[str] = None,
        size: Optional[int] = None,
        audience: Optional[List[str]] = None,
        priority: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(audience=audience, priority=priority, meta=meta)
        self.uri = uri
        self.name = name or uri.rstrip("/").rpartition("/")[2] or uri
        self.title = title
        self.description = description
        self.mime = mime or type_of_name(uri)
        self.size = size

    def block(self) -> Dict[str, Any]:
        return self._block(
            "resource_link",
            uri=self.uri,
            name=self.name,
            title=self.title,
            description=self.description,
            mimeType=self.mime,
            size=self.size,
        )


class Result:
    """A whole result, if a plain value is not enough."""

    __slots__ = ("content", "structured", "is_error", "meta")

    def __init__(
        self,
        content: Any = None,
        *,
        structured: Any = None,
        is_error: bool = False,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.content = content
        self.structured = structured
        self.is_error = is_error
        self.meta = meta


class Message:
    """One message of a prompt or of a question to a model."""

    __slots__ = ("role", "content")

    def __init__(self, role: Role, content: Union[str, Content]) -> None:
        self.role = role
        self.content = content

    def block(self) -> Dict[str, Any]:
        said = self.content
        return {"role": self.role, "content": {"type": "text", "text": said} if isinstance(said, str) else said.block()}


def user(content: Union[str, Content]) -> Message:
    """A message of the user."""
    return Message("user", content)


def assistant(content: Union[str, Content]) -> Message:
    """A message of the model."""
    return Message("assistant", content)


def _as_text(data: bytes) -> Optional[str]:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
