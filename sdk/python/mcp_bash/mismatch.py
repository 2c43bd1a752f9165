"""A value that does not match its type, and its place in an argument."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Union


class Mismatch(ValueError):
    """The problem with a value, and the path to it from the argument."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__("%s: %s" % (path.lstrip("."), problem) if path else problem)
        self.problem = problem
        self.path = path


def inside(place: Union[str, int], convert: Callable[[Any], Any], value: Any) -> Any:
    """Converts a part of a value; errors carry its place."""
    try:
        return convert(value)
    except Mismatch as problem:
        raise Mismatch(problem.problem, _step(place) + problem.path) from None
    except (ValueError, TypeError) as problem:
        raise Mismatch(str(problem), _step(place)) from None


def _step(place: Union[str, int]) -> str:
    return "[%d]" % place if isinstance(place, int) else "." + str(place)


def show(value: Any) -> str:
    """A value for a message: on one line, and shortened."""
    import json

    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "…"
