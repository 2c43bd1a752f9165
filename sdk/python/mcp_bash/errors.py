"""The exceptions that a function raises to report something, and those that it may catch."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional


class ToolError(Exception):
    """The call failed in a way that a model can act on: its message becomes a result with ``isError``.

    ``hint`` says what to do instead; most models see only the text, so it is there too. ``details`` are data.
    """

    def __init__(self, message: str, *, type: str = "error", hint: Optional[str] = None, **details: Any) -> None:
        super().__init__(message)
        # Often it is another exception, despite the type hint.
        self.message = str(message)
        self.type = type
        self.hint = hint
        self.details: Dict[str, Any] = details

    def text(self) -> str:
        """The text for the model."""
        if not self.hint:
            return self.message
        end = "" if self.message.endswith((".", "!", "?")) else "."
        return "%s%s Hint: %s" % (self.message, end, self.hint)

    def describe(self) -> Dict[str, Any]:
        """The structured form."""
        error: Dict[str, Any] = {"type": self.type, "message": self.message}
        if self.hint:
            error["hint"] = self.hint
        if self.details:
            error["data"] = self.details
        return error


class Declined(ToolError):
    """The user declined a question."""

    def __init__(self, message: str = "The user declined to answer", *, type: str = "declined") -> None:
        super().__init__(message, type=type)


class Dismissed(Declined):
    """The user closed a question without a yes or a no."""

    def __init__(self, message: str = "The user closed the question without an answer") -> None:
        super().__init__(message, type="dismissed")


class CannotAsk(ToolError):
    """The client cannot ask, or no answer came."""

    def __init__(self, message: str = "This client cannot be asked") -> None:
        super().__init__(message, type="cannot_ask")


class ProtocolError(Exception):
    """The request itself is invalid: it is answered with a JSON-RPC error instead of a result."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def describe(self) -> Dict[str, Any]:
        error: Dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


class NotFound(ProtocolError):
    """The resource does not exist."""

    def __init__(self, message: str = "There is no such resource", data: Any = None) -> None:
        super().__init__(-32002, message, data)


class Cancelled(BaseException):
    """The client cancelled this call. Like ``KeyboardInterrupt`` it is not an ``Exception``, so that ``except
    Exception`` in a loop does not keep a cancelled call alive."""


class DefinitionError(Exception):
    """A function cannot be served as it is written."""


class BadArgument(ToolError):
    """A value does not match the type of the function."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__("Argument `%s`: %s" % (name, problem), type="invalid_argument")
