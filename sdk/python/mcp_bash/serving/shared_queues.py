"""A thread or a task that one call started, and that takes work of other calls from a queue, belongs to none
of them. Only its author knows which call an item belongs to; so it cannot ask on behalf of another caller.
"""

from __future__ import annotations

from ..call_context import current_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

_SEVERAL = -1


def watch_thread_queues(module: Any) -> None:
    """Records which calls put items into a queue, and checks that when an item is taken."""
    queue = module.Queue
    queue.put = _noting(queue.put)
    queue.get = _looking(queue.get, _is_of_started_thread)
    # Connection pools are stacks, and their items are not work.
    module.LifoQueue.get = queue.get.__wrapped__

    class SimpleQueue(module.SimpleQueue):  # type: ignore[misc]
        """A queue with room for our record."""

        put = _noting(module.SimpleQueue.put)
        put_nowait = _noting(module.SimpleQueue.put_nowait)
        get = _looking(module.SimpleQueue.get, _is_of_started_thread)
        get_nowait = _looking(module.SimpleQueue.get_nowait, _is_of_started_thread)

    module.SimpleQueue = SimpleQueue


def watch_task_queues(module: Any) -> None:
    """The same for the queues of asyncio."""
    queue = module.Queue
    queue.put_nowait = _noting(queue.put_nowait)
    queue.get_nowait = _looking(queue.get_nowait, _is_of_started_task)
    module.LifoQueue.get_nowait = queue.get_nowait.__wrapped__


def _noting(put: Callable[..., Any]) -> Callable[..., Any]:
    def put_noted(self: Any, *positional: Any, **named: Any) -> Any:
        call: Any = current_call.get()
        if call is not None:
            known = call.number if self.empty() else getattr(self, "mcp_bash_fed_by", call.number)
            self.mcp_bash_fed_by = call.number if known == call.number else _SEVERAL
        return put(self, *positional, **named)

    return put_noted


def _looking(get: Callable[..., Any], is_started_by: Callable[[Any], bool]) -> Any:
    def get_for_whom(self: Any, *positional: Any, **named: Any) -> Any:
        item = get(self, *positional, **named)
        call: Any = current_call.get()
        if call is not None and getattr(self, "mcp_bash_fed_by", call.number) != call.number and is_started_by(call):
            current_call.set(None)
        return item

    get_for_whom.__wrapped__ = get  # type: ignore[attr-defined]
    return get_for_whom


def _is_of_started_thread(call: Any) -> bool:
    """Whether the call has started this thread. Its function, and work that it has submitted to a pool,
    certainly belong to it."""
    import threading

    return getattr(threading.current_thread(), "mcp_bash_call", None) is call


def _is_of_started_task(call: Any) -> bool:
    import asyncio

    return call.task is not None and asyncio.current_task() is not call.task
