"""Type checks for parsed JSON, in a form that type checkers follow."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

    from typing_extensions import TypeGuard


def is_object(value: Any) -> TypeGuard[Dict[str, Any]]:
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[List[Any]]:
    return isinstance(value, (list, tuple))


def error_message(answer: Dict[str, Any]) -> str:
    """The error message of an answer without a result."""
    error: Dict[str, Any] = answer.get("error") or {}
    return str(error.get("message") or "No answer came")
