"""``@tool``, ``@resource``, ``@prompt``: the functions of a file that clients may use. Each decorator records
the function and returns it unchanged; its definition is read later (`definitions.py`), when all names of the
file exist."""

from __future__ import annotations

import os
import sys

from .json_types import is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, TypeVar, Union, overload

    from .sandbox_option import Sandbox

    F = TypeVar("F", bound=Callable[..., Any])
    Icons = Sequence[Union[str, Mapping[str, Any], object]]
else:

    def overload(function):
        return function


_frame_at: Callable[[int], FrameType] = getattr(sys, "_getframe")
_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
# The hints of a tool by their names in Python, as the models of some packages have them.
_HINTS = {
    "read_only_hint": "readOnlyHint",
    "destructive_hint": "destructiveHint",
    "idempotent_hint": "idempotentHint",
    "open_world_hint": "openWorldHint",
}


class Declaration:
    """A decorated function, its options, and its place."""

    __slots__ = ("kind", "function", "options", "file", "line")

    def __init__(self, kind: str, function: Callable[..., Any], options: Dict[str, Any]) -> None:
        self.kind = kind
        self.function = function
        self.options = options
        frame: FrameType = _frame_at(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FOLDER):
            frame = frame.f_back
        self.file = frame.f_code.co_filename
        code = getattr(function, "__code__", None)
        self.line: int = code.co_firstlineno if code else frame.f_lineno


declared: List[Declaration] = []
worker_options: Dict[str, Any] = {}
told: List[str] = []


@overload
def tool(function: F) -> F: ...


@overload
def tool(
    *,
    name: Optional[str] = None,
    title: Optional[str] = None,
    description: Optional[str] = None,
    read_only: Optional[bool] = None,
    destructive: Optional[bool] = None,
    idempotent: Optional[bool] = None,
    open_world: Optional[bool] = None,
    annotations: Union[Mapping[str, Any], object, None] = None,
    timeout: Optional[float] = None,
    max_timeout: Optional[float] = None,
    timeout_hint: Optional[str] = None,
    progress_extends_timeout: Optional[bool] = None,
    icons: Optional[Icons] = None,
    tags: Optional[Iterable[str]] = None,
    meta: Optional[Mapping[str, Any]] = None,
    output: Union[bool, Mapping[str, Any], type] = True,
    requires: Optional[Sequence[str]] = None,
    confirm: Union[bool, str, None] = None,
    scopes: Optional[Sequence[str]] = None,
    task: Optional[str] = None,
    sandbox: Optional[Sandbox] = None,
    secrets: Optional[Mapping[str, Any]] = None,
) -> Callable[[F], F]: ...


def tool(
    function: Optional[F] = None,
    *,
    name: Optional[str] = None,
    title: Optional[str] = None,
    description: Optional[str] = None,
    read_only: Optional[bool] = None,
    destructive: Optional[bool] = None,
    idempotent: Optional[bool] = None,
    open_world: Optional[bool] = None,
    annotations: Union[Mapping[str, Any], object, None] = None,
    timeout: Optional[float] = None,
    max_timeout: Optional[float] = None,
    timeout_hint: Optional[str] = None,
    progress_extends_timeout: Optional[bool] = None,
    icons: Optional[Icons] = None,
    tags: Optional[Iterable[str]] = None,
    meta: Optional[Mapping[str, Any]] = None,
    output: Union[bool, Mapping[str, Any], type] = True,
    requires: Optional[Sequence[str]] = None,
    confirm: Union[bool, str, None] = None,
    scopes: Optional[Sequence[str]] = None,
    task: Optional[str] = None,
    sandbox: Optional[Sandbox] = None,
    secrets: Optional[Mapping[str, Any]] = None,
) -> Any:
    """Makes a function a tool. Its name, types and docstring are its definition; the options add what they
    cannot express.

    ``read_only``, ``destructive``, ``idempotent`` and ``open_world`` are hints for clients, and so is what
    ``annotations`` holds, a dict or a `ToolAnnotations` of another package; ``timeout`` and ``max_timeout`` are
    seconds; ``output=False`` gives no output schema, a type or a schema another one; ``requires`` names what the client must
    offer: ``elicitation``, ``elicitation.url``, ``sampling``, ``roots``; ``confirm`` says whether a person has to consent
    before it runs, or asks the question: 'Delete {path}?'; ``task`` says whether a call can be a task that outlives its
    request: 'optional', 'required' or 'forbidden'; ``sandbox`` is what the function may do: 'off', 'on',
    'strict' or a dict with the keys of metadata; ``secrets`` maps variables to the names of secrets; ``scopes`` lists what the
    token of a caller must allow.
    """
    hints = {
        "readOnlyHint": read_only,
        "destructiveHint": destructive,
        "idempotentHint": idempotent,
        "openWorldHint": open_world,
    }
    given_hints = {key: value for key, value in hints.items() if value is not None}
    options = {
        "name": name,
        "title": title,
        "description": description,
        "annotations": {**_annotations("tool", annotations), **given_hints} or None,
        "timeoutSecs": _seconds(timeout),
        "maxTimeoutSecs": _seconds(max_timeout),
        "timeoutHint": timeout_hint,
        "progressExtendsTimeout": progress_extends_timeout,
        "icons": _icons(icons),
        "_meta": _meta(meta, tags),
        "output": output,
        "requiredCapabilities": list(requires) if requires else None,
        "confirm": confirm,
        "scopes": list(scopes) if scopes else None,
        "execution": {"taskSupport": task} if task is not None else None,
        "sandbox": _sandbox("@tool", sandbox),
        "secrets": dict(secrets) if secrets else None,
    }
    return _note("tool", options, function)


def resource(
    uri: str,
    *,
    name: Optional[str] = None,
    title: Optional[str] = None,
    description: Optional[str] = None,
    mime_type: Optional[str] = None,
    size: Optional[int] = None,
    annotations: Union[Mapping[str, Any], object, None] = None,
    icons: Optional[Icons] = None,
    tags: Optional[Iterable[str]] = None,
    meta: Optional[Mapping[str, Any]] = None,
    sandbox: Optional[Sandbox] = None,
    secrets: Optional[Mapping[str, Any]] = None,
) -> Callable[[F], F]:
    """Makes a function the content of a resource. With ``{variables}`` in the URI it is a resource template,
    and the function takes the variables as arguments."""
    options = {
        "uri": uri,
        "name": name,
        "title": title,
        "description": description,
        "mimeType": mime_type,
        "size": size,
        "annotations": _annotations("resource", annotations) or None,
        "icons": _icons(icons),
        "_meta": _meta(meta, tags),
        "sandbox": _sandbox("@resource", sandbox),
        "secrets": dict(secrets) if secrets else None,
    }
    if callable(uri):  # without parentheses
        raise TypeError('@resource needs a URI: @resource("config://app")')

    def decorate(function: F) -> F:
        _declare("resource", function, options)
        return function

    return decorate


@overload
def prompt(function: F) -> F: ...


@overload
def prompt(
    *,
    name: Optional[str] = None,
    title: Optional[str] = None,
    description: Optional[str] = None,
    icons: Optional[Icons] = None,
    tags: Optional[Iterable[str]] = None,
    meta: Optional[Mapping[str, Any]] = None,
    timeout: Optional[float] = None,
    requires: Optional[Sequence[str]] = None,
    sandbox: Optional[Sandbox] = None,
    secrets: Optional[Mapping[str, Any]] = None,
) -> Callable[[F], F]: ...


def prompt(
    function: Optional[F] = None,
    *,
    name: Optional[str] = None,
    title: Optional[str] = None,
    description: Optional[str] = None,
    icons: Optional[Icons] = None,
    tags: Optional[Iterable[str]] = None,
    meta: Optional[Mapping[str, Any]] = None,
    timeout: Optional[float] = None,
    requires: Optional[Sequence[str]] = None,
    sandbox: Optional[Sandbox] = None,
    secrets: Optional[Mapping[str, Any]] = None,
) -> Any:
    """Makes a function a prompt: it returns a text, a message (`user`, `assistant`), or a list of them."""
    options = {
        "name": name,
        "title": title,
        "description": description,
        "icons": _icons(icons),
        "_meta": _meta(meta, tags),
        "timeoutSecs": _seconds(timeout),
        "requiredCapabilities": list(requires) if requires else None,
        "sandbox": _sandbox("@prompt", sandbox),
        "secrets": dict(secrets) if secrets else None,
    }
    return _note("prompt", options, function)


def worker(
    *,
    processes: Optional[int] = None,
    at_once: Optional[int] = None,
    idle_secs: Optional[int] = None,
    max_calls: Optional[int] = None,
    memory_mb: Optional[int] = None,
    start_ahead: Optional[bool] = None,
    keeps_processes: Optional[bool] = None,
    env: Optional[List[str]] = None,
    sandbox: Optional[Sandbox] = None,
    secrets: Optional[Mapping[str, Any]] = None,
) -> None:
    """Options of the processes that serve this file. ``at_once`` above 1 is for files with async functions:
    they share one event loop, and plain functions run in threads beside it. ``env`` names variables that are
    needed from the server. ``sandbox`` is what the processes may do: 'off', 'on', 'strict' or a dict with the keys of
    metadata; a function may have one of its own. ``secrets`` maps variables to the names of secrets."""
    options = {
        "processes": processes,
        "atOnce": at_once,
        "idleSecs": idle_secs,
        "maxCalls": max_calls,
        "memoryMb": memory_mb,
        "startAhead": start_ahead,
        "keepsProcesses": keeps_processes,
        "env": env,
        "sandbox": _sandbox("worker", sandbox),
        "secrets": dict(secrets) if secrets else None,
    }
    worker_options.update((key, value) for key, value in options.items() if value is not None)


def instructions(text: str) -> None:
    """Instructions for the model about the server as a whole."""
    told.append(text)


def _note(kind: str, options: Dict[str, Any], function: Optional[F]) -> Any:
    if function is not None:
        if not callable(function):
            raise TypeError("@%s takes options by their names: @%s(name=…)" % (kind, kind))
        _declare(kind, function, options)
        return function

    def decorate(decorated: F) -> F:
        _declare(kind, decorated, options)
        return decorated

    return decorate


def _declare(kind: str, function: Callable[..., Any], options: Dict[str, Any]) -> None:
    given = {key: value for key, value in options.items() if value is not None}
    declared.append(Declaration(kind, function, given))


def _seconds(value: Optional[float]) -> Optional[int]:
    return None if value is None else max(1, round(value))


def _sandbox(place: str, sandbox: Optional[Sandbox]) -> Any:
    if sandbox is None:
        return None
    from .sandbox_option import as_metadata

    return as_metadata(sandbox, place)


def _icons(icons: Optional[Icons]) -> Optional[List[Dict[str, Any]]]:
    if not icons:
        return None
    return [{"src": icon} if isinstance(icon, str) else _members(icon, "icons") for icon in icons]


def _meta(meta: Optional[Mapping[str, Any]], tags: Optional[Iterable[str]]) -> Optional[Dict[str, Any]]:
    """The ``_meta`` of a definition. Tags are in it: the protocol has no place of their own for them."""
    whole = dict(meta) if meta else {}
    if tags is not None:
        if isinstance(tags, str):
            raise TypeError("tags=… takes a set of texts: tags={%r}" % tags)
        whole["mcpbash/tags"] = sorted(set(tags))
    return whole or None


def _annotations(kind: str, given: Any) -> Dict[str, Any]:
    """Annotations from a dict or from a model, without those that are not set."""
    members = _members(given, "@%s(annotations=…)" % kind) if given is not None else {}
    return {_HINTS.get(name, name): value for name, value in members.items() if value is not None}


def _members(value: Any, place: str) -> Dict[str, Any]:
    """The members of a dict, a pydantic model or a simple object, by their names in the protocol."""
    if is_object(value):
        return dict(value)
    if hasattr(value, "model_dump"):
        dumped: Dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
        return dumped
    held = getattr(value, "__dict__", None)
    if held is None or isinstance(value, type):
        raise TypeError("%s takes a dict or an object with such members, not %s" % (place, type(value).__name__))
    return dict(held)
