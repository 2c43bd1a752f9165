"""The data of the current call, as functions."""

from __future__ import annotations

from .call_context import Context, Root, current

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from pathlib import Path
    from typing import Any, Dict, List, Union


def context() -> Context:
    """The call itself."""
    return current()


def arguments() -> Dict[str, Any]:
    """The arguments as received."""
    return current().arguments


def meta() -> Dict[str, Any]:
    """The ``_meta`` of the request."""
    return current().meta


def roots() -> List[Root]:
    """The client's roots. Async functions use ``await aio.roots()``."""
    return current().roots


def folder() -> Path:
    """A private folder of this call, removed after it."""
    return current().folder


def cancelled() -> bool:
    """Whether the client has cancelled the call. Most functions need not check: `Cancelled` is raised in
    them."""
    return current().cancelled


def inside_roots(path: Union[str, "os.PathLike[str]"]) -> Path:
    """The path, absolute and with links resolved. Raises `ToolError` if it is outside the client's roots.

    Async functions use ``await aio.inside_roots(path)``.
    """
    call = current()
    return inside(call.roots, path, call)


def inside(open_roots: List[Root], path: Union[str, "os.PathLike[str]"], call: Context) -> Path:
    """The path with links resolved, if it is in one of these roots."""
    from pathlib import Path

    from .errors import ToolError

    real = Path(path).resolve()
    folders = [Path(root.path).resolve() for root in open_roots if root.path]
    if any(real == folder or folder in real.parents for folder in folders):
        return real
    named = ", ".join(str(folder) for folder in folders) or "none"
    unasked = "; the client was not asked for its own: `await aio.inside_roots(path)` asks" if call.has_unasked_roots else ""
    raise ToolError("%s is outside the open folders (%s)%s" % (path, named, unasked), type="forbidden")
