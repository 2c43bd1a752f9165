"""``sandbox=…``: what the process of a function may do, as metadata declares it. The server checks the values; the names
of the keys are checked here, where they may be written as Python writes names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Mapping, Union

    from typing_extensions import Literal

    Sandbox = Union[Literal["off", "on", "strict"], Mapping[str, Any]]

_KEYS = ("mode", "read", "write", "network", "memory", "cpuSecs", "processes", "openFiles", "fileSize")
_IN_PYTHON = {"cpu_secs": "cpuSecs", "open_files": "openFiles", "file_size": "fileSize"}


def as_metadata(given: Sandbox, place: str) -> Any:
    """The declaration with the keys of metadata. ``place`` is the decorator or function that it was given to."""
    if isinstance(given, str):
        return given
    if not hasattr(given, "items"):
        raise TypeError("%s(sandbox=…) takes 'off', 'on', 'strict' or a dict, not %s" % (place, type(given).__name__))
    declaration: Dict[str, Any] = {}
    for key, value in given.items():
        name = _IN_PYTHON.get(key, key)
        if name not in _KEYS:
            raise TypeError("%s(sandbox=…) knows no key %r; there are %s" % (place, key, ", ".join(_KEYS)))
        if name in declaration:
            raise TypeError("%s(sandbox=…) has the key %r twice" % (place, name))
        declaration[name] = value
    return declaration
