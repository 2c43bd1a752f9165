"""Sends Python's ``logging`` to the log of the current call."""

from __future__ import annotations

import logging

from .call_context import current, current_call, outside
from .capture import is_captured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

    from .call_context import Context

_LEVELS = ((logging.CRITICAL, "critical"), (logging.ERROR, "error"), (logging.WARNING, "warning"), (logging.INFO, "info"))


class ClientHandler(logging.Handler):
    """Sends each record to the client, under the name of its logger."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            level = next((name for number, name in _LEVELS if record.levelno >= number), "debug")
            _context_of(record).log(level, self.format(record), record.name)
        except Exception:
            self.handleError(record)


class _LoggedBy:
    """Records the call of a log record: another thread may handle it, as with a ``QueueListener``."""

    __slots__ = ("call",)

    def __init__(self, call: Optional[Context]) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        """Another process has none of our calls."""
        return type(None), ()


def _context_of(record: logging.LogRecord) -> Context:
    logged_by: Optional[_LoggedBy] = getattr(record, "_mcp_bash_logged_by", None)
    if logged_by is None:
        return current()
    call = logged_by.call
    return call if call is not None and call.is_open else outside()


def _noting(handle: Callable[[logging.Logger, logging.LogRecord], None]) -> Any:
    def handle_noted(self: logging.Logger, record: logging.LogRecord) -> None:
        if not hasattr(record, "_mcp_bash_logged_by"):
            record._mcp_bash_logged_by = _LoggedBy(current_call.get())
        handle(self, record)

    return handle_noted


def install() -> None:
    """Puts our handler at the root, replacing handlers that would print to the same stream."""
    root = logging.getLogger()
    if any(isinstance(handler, ClientHandler) for handler in root.handlers):
        return
    ours = ClientHandler()
    configured = bool(root.handlers)
    for handler in list(root.handlers):
        if is_captured(getattr(handler, "stream", None)):
            root.removeHandler(handler)
            # A custom format stays; the default one repeats the level and the name, which are sent anyway.
            if getattr(handler.formatter, "_fmt", logging.BASIC_FORMAT) != logging.BASIC_FORMAT:
                ours.setFormatter(handler.formatter)
    # By default Python hides everything below a warning; the client decides what it wants to receive.
    if not configured and root.level == logging.WARNING:
        root.setLevel(logging.INFO)
    root.addHandler(ours)
    logging.Logger.handle = _noting(logging.Logger.handle)  # type: ignore[method-assign]
