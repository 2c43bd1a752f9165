"""Files with async functions: one event loop for the life of the worker, so that connections can be kept in it.

It also runs between calls, for kept objects. With one call at a time a plain function runs outside the loop,
on the main thread, exactly as in `worker.py`; with several at once each plain function has its own thread.
"""

from __future__ import annotations

import _thread
import asyncio
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, Optional

from ..call_context import current_call
from ..definitions import Definitions, Offered
from ..errors import Cancelled
from .frames import Frames
from .worker import CANCELLED, Ended, Worker
from .worker_context import WorkerContext

# How long tasks that a call left behind may take to end after cancellation.
_GRACE_SECS = 0.5


class LoopWorker(Worker):
    """Serves calls on an event loop."""

    def __init__(self, frames: Frames, definitions: Definitions, file: str, output_limit: int, at_once: int) -> None:
        super().__init__(frames, definitions, file, output_limit)
        self.at_once = at_once
        self.open: Dict[int, WorkerContext] = {}
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.loop.set_task_factory(_make_task)
        self.loop.set_default_executor(ThreadPoolExecutor(thread_name_prefix="asyncio"))
        self._pool: Optional[ThreadPoolExecutor] = None
        self._fault: Optional[Exception] = None
        # Held while a cancellation is raised in a thread, so that none is raised after it has left its
        # function.
        self._threads_lock = _thread.allocate_lock()

    def serve(self) -> None:
        self.loop.add_reader(self.frames.input_fd, self._on_readable)
        while not self._ending:
            self._start_what_waits()
            if self.frames.ended and not self.open and not self.queue:
                break
            try:
                self.loop.run_forever()
            except (SystemExit, KeyboardInterrupt):  # from a task that is not awaited
                continue
            except Ended:
                break
            if self._fault is not None:
                raise self._fault
        self._may_interrupt = False
        self._end_open_calls()

    def watch_input(self) -> None:
        super().watch_input()
        if self.at_once > 1:
            # No function on the main thread has to be interrupted.
            self.unwatch_input()

    def _on_term(self, *_: Any) -> None:
        self._ending = self._signalled = True
        if self._may_interrupt or self._receiving:
            raise Ended()
        self.loop.call_soon_threadsafe(self.loop.stop)

    def _on_readable(self) -> None:
        try:
            self.frames.receive()
            self._take_all()
        except Exception as problem:  # the server's input cannot be parsed: no call can be served any more
            self._fault = problem
            self.loop.stop()
            return
        if self.frames.ended:
            self.loop.remove_reader(self.frames.input_fd)
            self.loop.stop()
        elif self.queue:
            self._start_what_waits()

    def begin(self, frame: Dict[str, Any]) -> None:
        self.queue.append(frame)

    def cancel(self, number: int) -> None:
        context = self.open.get(number)
        if context is None:
            super().cancel(number)
            return
        context.is_cancelled = True
        if context.task is not None:
            context.task.cancel()
        else:
            with self._threads_lock:
                _raise_in_thread(context)

    def _start_what_waits(self) -> None:
        """Starts calls while there is room. A plain function that needs the main thread stops the loop
        first."""
        while self.queue and len(self.open) < self.at_once and self.call is None:
            frame = self.queue[0]
            offered = self.definitions.find(frame)
            if offered is not None and not offered.is_async and self.at_once == 1 and self.loop.is_running():
                self.loop.stop()
                return
            self.queue.popleft()
            self.newest = frame["call"]
            if offered is None or (not offered.is_async and self.at_once == 1):
                super().begin(frame)
            elif offered.is_async:
                self._start_task(offered, frame)
            else:
                self._start_thread(offered, frame)

    def _start_task(self, offered: Offered, frame: Dict[str, Any]) -> None:
        context = self.open[frame["call"]] = WorkerContext(self, frame)
        context.task = self.variables_of(context).run(
            self.loop.create_task, self._perform_async(offered, frame, context)
        )

    async def _perform_async(self, offered: Offered, frame: Dict[str, Any], context: WorkerContext) -> None:
        try:
            if context.number in self.cancelled_early:
                self.cancelled_early.discard(context.number)
                context.is_cancelled = True
                raise Cancelled()
            positional, named = offered.prepare(frame, context)
            value = context.returned = await offered.function(*positional, **named)
            member = '"result":' + offered.render(value, frame)
            context.send_state()
        except BaseException as problem:
            member = self.failure(problem, offered, context)
        if context.tasks is not None:
            await _end_tasks(context)
        self._close(context, member)

    def _start_thread(self, offered: Offered, frame: Dict[str, Any]) -> None:
        context = self.open[frame["call"]] = WorkerContext(self, frame)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.at_once, thread_name_prefix="mcp_bash")
        self._pool.submit(self.variables_of(context).run, self._perform_in_thread, offered, frame, context)

    def _perform_in_thread(self, offered: Offered, frame: Dict[str, Any], context: WorkerContext) -> None:
        def run(function: Any, positional: Any, named: Any) -> Any:
            context.thread = _thread.get_ident()
            try:
                return function(*positional, **named)
            finally:
                with self._threads_lock:
                    context.thread = None

        try:
            member = self.perform(offered, frame, context, run)
        except Cancelled:  # raised just after the function had failed
            member = CANCELLED
        self.loop.call_soon_threadsafe(self._close, context, member)

    def _close(self, context: WorkerContext, member: str) -> None:
        """Answers a call, and starts one that waits for its slot."""
        self.finish(context, member)
        self.open.pop(context.number, None)
        context.sweep()
        # With several at once these belong to all of them, until the last one has ended.
        if not self.open:
            self.surroundings.restore()
        if self.queue:
            self._start_what_waits()
        if self.frames.ended and not self.open:
            self.loop.stop()

    async def ask_async(self, context: WorkerContext, question: Dict[str, Any]) -> Dict[str, Any]:
        waiting = _AsyncWaiting(self.loop)
        number = context.put(question, waiting)
        try:
            answer: Dict[str, Any] = await waiting.answer
            return answer
        except asyncio.CancelledError:
            if self.waiting.pop((context.number, number), None) is not None and not context.is_cancelled:
                self.say(context, '{"call":%d,"withdraw":%d}' % (context.number, number))
            raise

    def must_await(self, context: WorkerContext) -> bool:
        return context.task is not None and _thread.get_ident() == self._main_thread

    def ask(self, context: WorkerContext, question: Dict[str, Any]) -> Dict[str, Any]:
        if self.must_await(context):
            raise RuntimeError("an async function asks with `await aio.ask(…)` (from mcp_bash import aio)")
        return super().ask(context, question)

    def end_state(self, keeping: Any) -> None:
        self.loop.run_until_complete(keeping.end_all_async())

    def _end_open_calls(self) -> None:
        tasks = [context.task for context in self.open.values() if context.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            self.loop.run_until_complete(asyncio.wait(tasks, timeout=_GRACE_SECS))


class _AsyncWaiting:
    """A coroutine that waits for an answer."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.answer: Any = loop.create_future()

    def give(self, answer: Dict[str, Any]) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)


def _make_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
    """Records which call a task belongs to."""
    task: Any = asyncio.Task(coroutine, loop=loop, **options)
    call: Any = current_call.get()
    if isinstance(call, WorkerContext) and call.task is not None:
        if call.tasks is None:
            call.tasks = weakref.WeakSet()
        call.tasks.add(task)
    return task


async def _end_tasks(context: WorkerContext) -> None:
    """Cancels the tasks that a call left running, before it is answered."""
    left = [task for task in context.tasks if not task.done() and task is not context.task]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=_GRACE_SECS)
        context.log("warning", "%d asyncio tasks still ran after the call, and were cancelled" % len(left), "mcp_bash")


def _raise_in_thread(context: WorkerContext) -> None:
    """Raises `Cancelled` in the thread of a plain function, as soon as it runs Python code again."""
    import ctypes

    thread = context.thread
    if thread is not None and not context.cancelled_raised:
        context.cancelled_raised = True
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Cancelled))
