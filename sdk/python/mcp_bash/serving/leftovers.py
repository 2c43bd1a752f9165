"""Threads that a call leaves running: they cannot be ended from outside, so the person is told of them."""

from __future__ import annotations

import _thread
import contextvars
import threading
from typing import TYPE_CHECKING, Any, Dict, Set

if TYPE_CHECKING:
    from .worker_context import WorkerContext


# Far cheaper than threading.active_count(), and asked after each call.
_count_threads: Any = getattr(_thread, "_count")


class Threads:
    """How many threads there were after the last look."""

    def __init__(self) -> None:
        self._count: int = _count_threads()
        # Those of pools, which stay, and the calls for which they work just now.
        self.pooled: Set[threading.Thread] = set()
        self.working: Dict[threading.Thread, Any] = {}

    def tell_of_new_ones(self, context: WorkerContext) -> None:
        count: int = _count_threads() - len(self.pooled)
        busy = {thread for thread, call in list(self.working.items()) if call is context}
        if count > self._count or busy:
            own = {threading.main_thread(), *self.pooled} - busy
            names = sorted(thread.name for thread in threading.enumerate() if thread not in own)
            context.log("warning", "threads still run after the call: %s" % ", ".join(names or ["unnamed"]), "mcp_bash")
        self._count = count


def let_threads_inherit_calls() -> None:
    """What a thread prints belongs to the call that started it. Before 3.14 Python starts threads without a context."""
    start = threading.Thread.start

    def start_in_context(self: threading.Thread) -> None:
        run: Any = self.run
        inherited = contextvars.copy_context()
        self.run = lambda: inherited.run(run)  # type: ignore[method-assign]
        start(self)

    threading.Thread.start = start_in_context  # type: ignore[method-assign]
