"""The process state of a function, restored after each call that changed it: the next call sees none of its
changes.

Each check costs well under a microsecond; restoring happens only after a change.
"""

from __future__ import annotations

import _locale
import _warnings
import fcntl
import os
import sys

from . import signals
from .frames import FIRST_FD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Tuple


def _spare_of(fd: int) -> int:
    """A private copy of a descriptor."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FD)


class Surroundings:
    """The state of a process before its first call."""

    def __init__(self) -> None:
        self._spares = [(_spare_of(fd), fd) for fd in (0, 1, 2)]
        self.remember()

    def remember(self) -> None:
        self._folder = os.getcwd()
        self._variables: Dict[Any, Any] = dict(os.environ._data)  # type: ignore[attr-defined]
        self._umask = os.umask(0o077)
        os.umask(self._umask)
        self._path = list(sys.path)
        self._argv = list(sys.argv)
        self._locale = _locale.setlocale(_locale.LC_ALL, None)
        self._handlers = [signals.handler_of(number) for number in signals.USUAL]
        self._filters: List[Tuple[Any, ...]] = list(_filters())
        self._recursion = sys.getrecursionlimit()
        self._streams = (sys.stdin, sys.stdout, sys.stderr)

    def restore(self) -> None:
        # Restored unconditionally, closed or replaced; a check would cost as much.
        for spare, fd in self._spares:
            os.dup2(spare, fd)
        self._restore_folder()
        if os.environ._data != self._variables:  # type: ignore[attr-defined]
            self._restore_variables()
        os.umask(self._umask)
        if sys.path != self._path:
            sys.path[:] = self._path
        if sys.argv != self._argv:
            sys.argv[:] = self._argv
        if _locale.setlocale(_locale.LC_ALL, None) != self._locale:
            _locale.setlocale(_locale.LC_ALL, self._locale)
        if [signals.handler_of(number) for number in signals.USUAL] != self._handlers:
            self._restore_handlers()
        # A later timer would end the next call, or the whole process.
        signals.set_timer(signals.ITIMER_REAL, 0)
        if _filters() != self._filters:
            self._restore_filters()
        if sys.getrecursionlimit() != self._recursion:
            sys.setrecursionlimit(self._recursion)
        if (sys.stdin, sys.stdout, sys.stderr) != self._streams:
            sys.stdin, sys.stdout, sys.stderr = self._streams

    def _restore_folder(self) -> None:
        try:
            if os.getcwd() == self._folder:
                return
        except OSError:  # it was removed
            pass
        try:
            os.chdir(self._folder)
        except OSError as problem:
            os.write(2, ("mcp_bash: cannot go back to %s: %s\n" % (self._folder, problem)).encode())
            os._exit(1)

    def _restore_variables(self) -> None:
        decode: Any = os.environ.decodekey
        known = {decode(key): decode(value) for key, value in self._variables.items()}
        for name in set(os.environ) - set(known):
            del os.environ[name]
        for name, value in known.items():
            if os.environ.get(name) != value:
                os.environ[name] = value

    def _restore_handlers(self) -> None:
        for number, handler in zip(signals.USUAL, self._handlers):
            # None is a handler that was not set from Python, and cannot be restored.
            if handler is not None and signals.handler_of(number) != handler:
                signals.set_handler(number, handler)

    def _restore_filters(self) -> None:
        _filters()[:] = self._filters
        changed = getattr(sys.modules.get("warnings"), "_filters_mutated", None)
        if changed is not None:
            changed()


def _filters() -> List[Tuple[Any, ...]]:
    """The list of the module `warnings`, which is slow to load; before that, the list where it gets its own."""
    filters: List[Tuple[Any, ...]] = getattr(sys.modules.get("warnings"), "filters", _warnings.filters)
    return filters
