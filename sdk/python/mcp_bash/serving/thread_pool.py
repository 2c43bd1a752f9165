"""Threads that stay between calls on purpose: those of plain functions, and those of `asyncio.to_thread`."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Optional

from ..call_context import current_call
from .leftovers import Threads


class ThreadPool(ThreadPoolExecutor):
    """Lets `Threads` know which threads are of a pool, and for which call one works."""

    def __init__(self, threads: Threads, name: str, size: Optional[int] = None) -> None:
        super().__init__(size, thread_name_prefix=name)
        self._known = threads

    def submit(self, work: Callable[..., Any], /, *positional: Any, **named: Any) -> "Future[Any]":
        future = super().submit(self._work, current_call.get(), work, *positional, **named)
        # Now and not when they work: a thread may be started and find that another one has taken the work.
        self._known.pooled.update(self._threads)
        return future

    def _work(self, call: Any, work: Callable[..., Any], *positional: Any, **named: Any) -> Any:
        thread = threading.current_thread()
        self._known.working[thread] = call
        try:
            return work(*positional, **named)
        finally:
            del self._known.working[thread]
