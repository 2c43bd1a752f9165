"""Work for other threads belongs to the call that submits it, and not to the thread that does it: a pool's
thread works for one call after another, and the first one started it. So each piece of work runs in the
context in which it is submitted, in whatever way.
"""

from __future__ import annotations

import contextvars
import sys

from ..call_context import current_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from typing import Any, Callable


def carried(work: Callable[..., Any]) -> Callable[..., Any]:
    """The work, to be done by another thread for the current call."""
    call = current_call.get()
    return _in_this_context(work if call is None else _for_call(call, work))


def _in_this_context(work: Callable[..., Any]) -> Callable[..., Any]:
    context = contextvars.copy_context()

    def run(*positional: Any, **named: Any) -> Any:
        # In a copy, since several threads may do the same work at once.
        return context.copy().run(work, *positional, **named)

    return run


def _for_call(call: Any, work: Callable[..., Any]) -> Callable[..., Any]:
    """The work, with a record that a thread is doing it."""

    def do_work(*positional: Any, **named: Any) -> Any:
        import threading

        thread = threading.current_thread()
        call.working.append(thread)
        try:
            return work(*positional, **named)
        finally:
            call.working.remove(thread)

    return do_work


def _outside_of_calls(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which starts threads that belong to no call."""

    def start_threads(*positional: Any, **named: Any) -> Any:
        token = current_call.set(None)
        try:
            return function(*positional, **named)
        finally:
            current_call.reset(token)

    return start_threads


def carry_into_threads(module: Any) -> None:
    """Patches `threading`."""
    module.Thread.start = _starting(module.Thread.start)


def _starting(start: Callable[[threading.Thread], None]) -> Any:
    def start_in_context(self: Any) -> None:
        # Read by `shared_queues`.
        self.mcp_bash_call = current_call.get()
        self.run = carried(self.run)
        start(self)

    return start_in_context


def carry_into_callbacks(module: Any) -> None:
    """Callbacks of a future run in the thread that has the result."""
    add = module.Future.add_done_callback

    def add_in_context(self: Any, callback: Callable[..., Any]) -> None:
        add(self, _in_this_context(callback))

    module.Future.add_done_callback = add_in_context


def carry_into_executors(module: Any) -> None:
    """Also for `run_in_executor` and `asyncio.to_thread`, which submit to such an executor."""
    submit_outside = _outside_of_calls(module.ThreadPoolExecutor.submit)

    def submit(self: Any, work: Callable[..., Any], /, *positional: Any, **named: Any) -> Any:
        if not _is_of_interpreters(self):
            work = carried(work)
        return submit_outside(self, work, *positional, **named)

    module.ThreadPoolExecutor.submit = submit


def _is_of_interpreters(executor: Any) -> bool:
    """Whether its work is done in another interpreter, which has neither our context nor any call."""
    module: Any = sys.modules.get("concurrent.futures.interpreter")
    return module is not None and isinstance(executor, module.InterpreterPoolExecutor)


# The methods of a pool that all others submit through, and the positions of their callbacks.
_SUBMITTING = {"apply_async": (2, 3), "_map_async": (3, 4), "imap": (), "imap_unordered": ()}


def carry_into_pools(module: Any) -> None:
    """Patches the thread pools of `multiprocessing`."""
    module.ThreadPool.__init__ = _outside_of_calls(module.ThreadPool.__init__)
    for name, callbacks in _SUBMITTING.items():
        setattr(module.ThreadPool, name, _submitting(getattr(module.ThreadPool, name), callbacks))


def _submitting(submit: Callable[..., Any], callbacks: Any) -> Callable[..., Any]:
    def submit_in_context(self: Any, work: Callable[..., Any], *positional: Any, **named: Any) -> Any:
        given = [
            _in_this_context(value) if value is not None and place in callbacks else value
            for place, value in enumerate(positional)
        ]
        for name in ("callback", "error_callback"):
            if named.get(name) is not None:
                named[name] = _in_this_context(named[name])
        return submit(self, carried(work), *given, **named)

    return submit_in_context
