"""Python's ``logging`` as logs of the call that is being served."""

from __future__ import annotations

import logging

from .capture import is_captured
from .call_context import current

_LEVELS = ((logging.CRITICAL, "critical"), (logging.ERROR, "error"), (logging.WARNING, "warning"), (logging.INFO, "info"))


class ClientHandler(logging.Handler):
    """Sends each record to the client, under the name of its logger."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            level = next((name for number, name in _LEVELS if record.levelno >= number), "debug")
            current().log(level, self.format(record), record.name)
        except Exception:
            self.handleError(record)


def install() -> None:
    """Puts our handler at the root, in the place of handlers that would print to the same end."""
    root = logging.getLogger()
    if any(isinstance(handler, ClientHandler) for handler in root.handlers):
        return
    ours = ClientHandler()
    configured = bool(root.handlers)
    for handler in list(root.handlers):
        if is_captured(getattr(handler, "stream", None)):
            root.removeHandler(handler)
            # A format of the person's own stays; the usual one repeats the level and the name, which are sent anyway.
            if getattr(handler.formatter, "_fmt", logging.BASIC_FORMAT) != logging.BASIC_FORMAT:
                ours.setFormatter(handler.formatter)
    # Without a word of the person Python hides everything below a warning; whether a client wants to hear it, is its choice.
    if not configured and root.level == logging.WARNING:
        root.setLevel(logging.INFO)
    root.addHandler(ours)
