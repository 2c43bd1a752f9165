"""``print`` in a function is logged, never its result: Python's standard output and standard error, by call.

File descriptors 1 and 2 do not change; only Python's own two streams are replaced.
"""

from __future__ import annotations

import io
import os
import sys

from .call_context import live_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextvars import ContextVar, Token
    from typing import Any
else:
    # The module where `contextvars` gets it, which is slower to load.
    from _contextvars import ContextVar


class CapturedStream(io.TextIOBase):
    """Each line becomes a log message of the call that printed it. Outside calls, lines go to the original
    stream."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, name: str, level: str, fd: int) -> None:
        super().__init__()
        self._name = name
        self._level = level
        self._fd = fd
        self._target: ContextVar[Any] = ContextVar("mcp_bash_" + name, default=None)
        self.buffer = _Bytes(self)

    @property
    def name(self) -> str:
        return "<%s>" % self._name

    def redirect(self, target: Any) -> Token[Any]:
        """Redirects the output of this call, until the token is returned."""
        return self._target.set(target)

    def end_redirect(self, token: Token[Any]) -> None:
        self._target.reset(token)

    def write(self, text: str) -> int:
        target = self._target.get()
        if target is not None:
            return int(target.write(text))
        call: Any = live_call()
        if call is None or not call.hears_prints():
            _write_to_operator(text)
            return len(text)
        text = call.partial.pop(self._name, "") + text
        lines = text.split("\n")
        if lines[-1]:
            call.partial[self._name] = lines[-1]
        for line in lines[:-1]:
            self.log(call, line)
        return sum(map(len, lines))

    def log(self, call: Any, line: str) -> None:
        """Logs a line. Of an overwritten line (a progress bar) only the last state counts."""
        line = line.rstrip("\r").rpartition("\r")[2]
        if line:
            call.log(self._level, line, self._name)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._fd

    def isatty(self) -> bool:
        return False

    def flush(self) -> None:
        target = self._target.get()
        if target is not None:
            target.flush()

    def close(self) -> None:
        """A function that closes its output does not close that of the next one."""
        return None


class _Bytes(io.RawIOBase):
    """``sys.stdout.buffer``."""

    def __init__(self, stream: CapturedStream) -> None:
        super().__init__()
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(bytes(data).decode("utf-8", "replace"))
        return len(data)

    def close(self) -> None:
        return None


# The destination of lines outside calls.
_operator_fd = 2


def print_outside_to(fd: int) -> None:
    """Sets the operator's stream for lines outside calls."""
    global _operator_fd
    _operator_fd = fd


def _write_to_operator(text: str) -> None:
    try:
        os.write(_operator_fd, text.encode("utf-8", "replace"))
    except OSError:
        pass


_streams = {
    "stdout": CapturedStream("stdout", "info", 1),
    "stderr": CapturedStream("stderr", "warning", 2),
}


def capture_output() -> None:
    """Replaces Python's streams."""
    sys.stdout = _streams["stdout"]
    sys.stderr = _streams["stderr"]


def flush_partial(call: Any) -> None:
    """Logs printed output without a line break."""
    for name, line in list(call.partial.items()):
        _streams[name].log(call, line)
    call.partial.clear()


def is_captured(stream: Any) -> bool:
    return isinstance(stream, CapturedStream)

