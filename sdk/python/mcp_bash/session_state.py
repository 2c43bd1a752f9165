"""The state of a client's session: JSON values by name, kept by the server between calls.

A call receives the state as it was when it began. Its changes, also those inside lists and dicts, are sent before its
answer; then the next call sees them, whichever process serves it.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, MutableMapping, Optional

from .encoding import NotJson, decode, encode, to_bytes
from .errors import ToolError

# The server's limit for the state of one session, in bytes.
LARGEST = 65536


class SessionState(MutableMapping[str, Any]):
    """A dict of JSON values that belongs to the session of the caller."""

    def __init__(self, received: Dict[str, Any]) -> None:
        self._before = {key: encode(value) for key, value in received.items()}
        self._values: Dict[str, Any] = dict(received)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError("a key of the session's state is a text, not %s" % type(key).__name__)
        # A copy: what a call does to its own object later is not part of the state.
        self._values[key] = decode(_encoded(key, value))

    def __delitem__(self, key: str) -> None:
        del self._values[key]

    def setdefault(self, key: str, default: Any = None) -> Any:
        # The value that is kept, and not the one that was given.
        if key not in self._values:
            self[key] = default
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return "SessionState(%r)" % self._values

    def changes(self) -> Optional[Dict[str, Any]]:
        """The whole change of a call, or None. Raises `ToolError` if the state cannot be kept."""
        after = {key: _encoded(key, value) for key, value in self._values.items()}
        if after == self._before:
            return None
        size = len(to_bytes(encode(self._values)))
        if size > LARGEST:
            raise ToolError(
                "The state of the session has %d bytes, and %d are allowed" % (size, LARGEST),
                hint="keep large values in files or in a database, and their names in the state",
            )
        changed = {key: self._values[key] for key, text in after.items() if self._before.get(key) != text}
        return {"set": changed, "delete": [key for key in self._before if key not in after]}


def _encoded(key: str, value: Any) -> str:
    try:
        return encode(value)
    except NotJson as problem:
        raise TypeError("state[%r] takes values that JSON has; %s" % (key, problem)) from None
