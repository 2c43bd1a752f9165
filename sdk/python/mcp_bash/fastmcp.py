"""The names of FastMCP, for files that were written for it: change the import, and `@mcp.tool` stays.

    from mcp_bash.fastmcp import Context, FastMCP

    mcp = FastMCP("Shop")

    @mcp.tool
    def add(a: int, b: int) -> int:
        "Adds two numbers."
        return a + b

Everything here is the same as in `mcp_bash`. Options that belong to the server and not to the functions of a file are
refused, with the place where they belong (docs/from-fastmcp.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Mapping, NoReturn, Optional, TypeVar, Union, overload

from . import declaring
from .call_context import Context as Context
from .call_facts import context as get_context
from .contents import Audio as Audio
from .contents import Content, Result
from .contents import Image as Image
from .contents import Message as _Message
from .contents import assistant as AssistantMessage
from .contents import user as UserMessage
from .elicitation import AcceptedElicitation as AcceptedElicitation
from .elicitation import CancelledElicitation as CancelledElicitation
from .elicitation import DeclinedElicitation as DeclinedElicitation
from .errors import NotFound as ResourceError
from .errors import ToolError as ToolError

if TYPE_CHECKING:
    from .declaring import Icons

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "AcceptedElicitation", "AssistantMessage", "Audio", "CancelledElicitation", "Context", "DeclinedElicitation", "FastMCP",
    "Image", "MCPServer", "Message", "ResourceError", "ToolError", "ToolResult", "UserMessage", "get_context",
]  # fmt: skip

_PAGE = "docs/from-fastmcp.md"
_AUTH = "callers are identified by the server, see docs/http.md"
_TRANSPORT = "the transport is chosen by the command: `mcp-bash`, or `mcp-bash serve --http`, see docs/http.md"
_SERVER = "write it into server.d/server.meta.json"
# What belongs to the server, and where it is set instead.
_ELSEWHERE: Dict[str, str] = {
    "version": _SERVER,
    "title": _SERVER,
    "description": _SERVER,
    "website_url": _SERVER,
    "icons": _SERVER,
    "auth": _AUTH,
    "auth_server_provider": _AUTH,
    "token_verifier": _AUTH,
    "lifespan": "use @keep, which opens on first use and closes with the process",
    "middleware": "use a policy, see docs/policy.md",
    "host": _TRANSPORT,
    "port": _TRANSPORT,
    "transport": _TRANSPORT,
    "dependencies": "write them into the file (PEP 723) or into a .venv, see docs/python.md",
    "task": "write task=True, or see docs/tasks.md",
    "exclude_args": "give the parameter the type Context, or read it from the environment",
}
# What is set elsewhere for one function.
_OF_FUNCTIONS: Dict[str, str] = {"version": "write another function"}


class _Refusing(type):
    """Refuses what the class of FastMCP has and ours has not, such as `FastMCP.from_openapi`."""

    def __getattr__(cls, name: str) -> NoReturn:
        raise AttributeError("mcp_bash has no counterpart of `FastMCP.%s`: see %s" % (name, _PAGE))


class FastMCP(metaclass=_Refusing):
    """The functions of this file. The name is that of the file's server under FastMCP; a project is named in
    server.d/server.meta.json."""

    def __init__(self, name: Optional[str] = None, instructions: Optional[str] = None, **options: Any) -> None:
        _refuse("FastMCP", options)
        self.name = name or "FastMCP"
        self.instructions = instructions
        if instructions:
            declaring.instructions(instructions)

    @overload
    def tool(self, name_or_fn: F, /) -> F: ...

    @overload
    def tool(
        self,
        name_or_fn: Optional[str] = None,
        /,
        *,
        name: Optional[str] = None,
        title: Optional[str] = None,
        description: Optional[str] = None,
        annotations: Union[Mapping[str, Any], object, None] = None,
        icons: Optional[Icons] = None,
        tags: Optional[Iterable[str]] = None,
        meta: Optional[Mapping[str, Any]] = None,
        timeout: Optional[float] = None,
        output_schema: Optional[Mapping[str, Any]] = None,
        structured_output: Optional[bool] = None,
        **options: Any,
    ) -> Callable[[F], F]: ...

    def tool(self, name_or_fn: Any = None, /, **options: Any) -> Any:
        """Makes a function a tool, as `mcp_bash.tool` does: ``@mcp.tool``, ``@mcp.tool()``, ``@mcp.tool("name")``."""
        if isinstance(name_or_fn, str):
            options.setdefault("name", name_or_fn)
        schema = options.pop("output_schema", ...)
        structured = options.pop("structured_output", None)
        output: Any = True
        if schema is None or structured is False:
            output = False
        elif schema is not ...:
            output = schema
        task = options.pop("task", None)
        if isinstance(task, bool):
            options["task"] = "optional" if task else "forbidden"
        elif task is not None:
            _refuse("@mcp.tool", {"task": task})
        known = _known(declaring.tool, options, "@mcp.tool")
        decorate: Callable[[Any], Any] = declaring.tool(output=output, **known)
        return decorate(name_or_fn) if callable(name_or_fn) else decorate

    def resource(self, uri: str, **options: Any) -> Callable[[F], F]:
        """Makes a function the content of a resource, as `mcp_bash.resource` does."""
        return declaring.resource(uri, **_known(declaring.resource, options, "@mcp.resource"))

    @overload
    def prompt(self, name_or_fn: F, /) -> F: ...

    @overload
    def prompt(self, name_or_fn: Optional[str] = None, /, **options: Any) -> Callable[[F], F]: ...

    def prompt(self, name_or_fn: Any = None, /, **options: Any) -> Any:
        """Makes a function a prompt, as `mcp_bash.prompt` does."""
        if isinstance(name_or_fn, str):
            options.setdefault("name", name_or_fn)
        decorate: Callable[[Any], Any] = declaring.prompt(**_known(declaring.prompt, options, "@mcp.prompt"))
        return decorate(name_or_fn) if callable(name_or_fn) else decorate

    def add_tool(self, function: Callable[..., Any], **options: Any) -> None:
        """Makes a function a tool."""
        self.tool(**options)(function)

    def run(self, *_: Any, **__: Any) -> None:
        """Does nothing in a server, which runs already. A file that is started by itself says what to start."""
        import sys

        if getattr(sys, "_getframe")(1).f_globals.get("__name__") == "__main__":
            raise SystemExit("mcp-bash runs this file: put it into `tools/` of a project, and run `mcp-bash` there (%s)" % _PAGE)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError("mcp_bash has no counterpart of `FastMCP.%s`: see %s" % (name, _PAGE))


# The name in the official package from version 2 on.
MCPServer = FastMCP


def Message(content: Union[str, Content], role: str = "user") -> _Message:
    """A message of a prompt."""
    return _Message(role, content)


def ToolResult(
    content: Any = None, structured_content: Any = None, meta: Optional[Mapping[str, Any]] = None, is_error: bool = False
) -> Result:
    """A whole result."""
    return Result(content, structured=structured_content, is_error=is_error, meta=meta)


def _known(decorator: Callable[..., Any], options: Dict[str, Any], place: str) -> Dict[str, Any]:
    """The options that the decorator has. All others are refused."""
    names = decorator.__kwdefaults__ or {}
    _refuse(place, {name: value for name, value in options.items() if name not in names})
    return options


def _refuse(place: str, options: Dict[str, Any]) -> None:
    for name, value in options.items():
        if value is None or value is False:
            continue
        instead = None if place == "FastMCP" else _OF_FUNCTIONS.get(name)
        instead = instead or _ELSEWHERE.get(name, "it has no counterpart")
        raise TypeError("%s(%s=…) is not an option here: %s (%s)" % (place, name, instead, _PAGE))


# Type checkers report such names themselves.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        words = "mcp_bash.fastmcp has no counterpart of `%s`: see %s" % (name, _PAGE)
        # Python asks for names like `__path__` itself. Of an AttributeError, `from … import` would not show the words.
        raise AttributeError(words) if name.startswith("__") else ImportError(words)
