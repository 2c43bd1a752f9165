"""``ctx.read_resource``: a function reads a resource of its own file."""

from __future__ import annotations

from typing import Any, Generator, List, Optional, Union, cast

from .context_habits import Unawaited
from .encoding import decode
from .errors import ToolError
from .uri_matching import find_resource


class ReadContent:
    """One content of a resource: a text, or bytes."""

    def __init__(self, content: Union[str, bytes], mime_type: Optional[str]) -> None:
        self.content = content
        self.mime_type = mime_type

    def __repr__(self) -> str:
        return "ReadContent(%r, mime_type=%r)" % (self.content, self.mime_type)


class ReadContents(List[ReadContent]):
    """The contents of a resource; ``contents`` is the list itself."""

    @property
    def contents(self) -> List[ReadContent]:
        return list(self)

    def __await__(self) -> Generator[Any, None, ReadContents]:
        yield from ()
        return self


def read_resource(call: Any, uri: str) -> ReadContents:
    """Runs the function of the resource, and reads its result."""
    definitions = call.definitions
    if definitions is None:
        raise ToolError("read_resource(%r) reads resources of a file of functions, and this is none" % uri)
    found = find_resource(definitions, uri)
    if found is None:
        known = [str(one.definition.get("uri") or one.definition["uriTemplate"]) for one in definitions.resources.values()]
        raise ToolError("There is no resource %s in this file; it has: %s" % (uri, ", ".join(known) or "none"), type="not_found")
    function, values = found
    frame = {"resource": uri, "name": function.name, "arguments": values}
    if function.is_async:
        if not call.must_await:
            raise ToolError("The resource %s is an async function: an async function can read it" % uri)

        async def read() -> ReadContents:
            positional, named = function.prepare(frame, call)
            return _contents(function.render(await function.function(*positional, **named), frame))

        unread: Any = Unawaited("read_resource", read)
        return cast("ReadContents", unread)
    positional, named = function.prepare(frame, call)
    return _contents(function.render(function.function(*positional, **named), frame))


def _contents(rendered: str) -> ReadContents:
    from base64 import b64decode

    return ReadContents(
        ReadContent(b64decode(one["blob"]) if "blob" in one else one["text"], one.get("mimeType"))
        for one in decode(rendered)["contents"]
    )
