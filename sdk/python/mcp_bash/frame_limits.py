"""The server's limits of a frame. It kills a worker that sends more, with all state that the worker keeps; so
a value that exceeds them is refused here, with a message, and fails only its own call."""

from __future__ import annotations

from itertools import chain

from .json_types import is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, List, Optional

# The same as `Limits` in the crate `wire`.
MOST_LEVELS = 100
LONGEST_NUMBER = 1000

# Shorter frames cannot exceed the limits.
_SHORT = 2 * MOST_LEVELS
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_TOKENS = r'"(?:[^"\\]|\\.)*"|[\[\]{},]|-?[0-9][0-9.eE+-]*'
_SIMPLE = frozenset((str, int, float, bool, type(None)))
_CONTAINERS = frozenset((dict, list, tuple))
# The frame adds a few levels to those of the data.
_FEW_LEVELS = MOST_LEVELS // 2
# How much of a place to show.
_MOST_PARTS = 8


def misfit(frame: str, value: Any = None) -> Optional[str]:
    """The part of this JSON that exceeds the limits, and its place: words that complete "it …". None for
    nearly all frames. ``value`` is everything in the frame that may be deep, if it is known."""
    if len(frame) > _SHORT and (_is_deep(frame, value) or _may_have_long_number(frame)):
        return _find(frame)
    return None


def _is_deep(frame: str, value: Any) -> bool:
    if frame.count("[") + frame.count("{") <= MOST_LEVELS or _is_shallow(value):
        return False
    outside_of_texts = "".join(frame.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    brackets = outside_of_texts.encode("ascii", "replace").translate(_ONE_KIND, _NOT_BRACKETS)
    # Each pass removes the innermost level.
    for _ in range(MOST_LEVELS):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _is_shallow(value: Any) -> bool:
    """Whether this is plain data of few levels, which is much faster to see in the data than in its JSON."""
    if value is None:
        return False
    level: List[Any] = [value]
    for _ in range(_FEW_LEVELS):
        if not _CONTAINERS.issuperset(map(type, level)):
            return False
        held: List[Any] = list(chain.from_iterable(map(_held, level)))
        if _SIMPLE.issuperset(map(type, held)):
            return True
        level = [one for one in held if type(one) not in _SIMPLE]
    return False


def _held(value: Any) -> Iterable[Any]:
    return value.values() if is_object(value) else value


def _may_have_long_number(frame: str) -> bool:
    """Whether this many digits in a row are at one of the sampled places."""
    if len(frame) < LONGEST_NUMBER:
        return False
    for place in range(0, len(frame), LONGEST_NUMBER):
        if frame[place : place + 8].isdigit() or frame[max(0, place - 8) : place].isdigit():
            around = frame[max(0, place - LONGEST_NUMBER) : place + LONGEST_NUMBER]
            import re

            if re.search("[0-9]{%d}" % LONGEST_NUMBER, around):
                return True
    return False


def _find(frame: str) -> Optional[str]:
    """Parses the frame up to the place. `path` has a key or an index for each level."""
    import re

    path: List[Any] = []
    for token in re.finditer(_TOKENS, frame):
        text = token.group()
        if text in "[{":
            if len(path) >= MOST_LEVELS:
                return "is nested more than %d levels deep at %s" % (MOST_LEVELS, _place(path))
            path.append(0 if text == "[" else None)
        elif text in "]}":
            path.pop()
        elif text == ",":
            if isinstance(path[-1], int):
                path[-1] += 1
            else:
                path[-1] = None
        elif text[0] == '"':
            # The first text in an object, and after each comma, is a key.
            if path and path[-1] is None:
                path[-1] = text[1:-1]
        elif len(text) > LONGEST_NUMBER:
            return "has a number of %d digits at %s, and %d are allowed" % (len(text), _place(path), LONGEST_NUMBER)
    return None


def _place(path: List[Any]) -> str:
    # The first one belongs to the frame itself.
    parts = ["[%d]" % part if isinstance(part, int) else ".%s" % part for part in path[1:]]
    shown = "".join(parts[:_MOST_PARTS]).lstrip(".") + ("…" if len(parts) > _MOST_PARTS else "")
    return shown or "its beginning"
