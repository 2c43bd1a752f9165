"""One call at a time on the main thread: read a frame, run the function, write the answer. No other thread is
woken.

Input that arrives while a function runs (a cancellation, an answer to a question of another thread) is
signalled by `SIGIO`, which the kernel sends for each write into our input pipe. Measured: 3 µs per call,
where passing each call to a second thread and back costs 40 µs and more; and only a signal also interrupts a
blocking `sleep` or `read` of the function.
"""

from __future__ import annotations

import _thread
import fcntl
import os

from ..capture import flush_partial
from ..call_context import current_call, set_outside
from ..definitions import Definitions, Offered, ToolFunction
from ..encoding import encode, to_bytes
from ..errors import CannotAsk, Cancelled, ProtocolError
from ..frame_limits import misfit
from ..log_installing import install_if_used
from . import signals
from .frames import Frames
from .restoring import Surroundings
from .worker_context import OperatorContext, Waiting, WorkerContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    import contextvars
    from collections import deque
    from typing import Any, Callable, Deque, Dict, Optional, Set, Tuple
else:
    # The modules where `contextvars` and `collections` get theirs, which are slower to load.
    import _contextvars as contextvars
    from _collections import deque

_O_ASYNC = getattr(os, "O_ASYNC", 0o20000)
# How often a thread that waits for an answer checks whether the main thread has missed it.
_LOOK_SECS = 0.05


# The server discards it, but waits for it.
CANCELLED = '"error":{"code":-32800,"message":"cancelled"}'


class Ended(BaseException):
    """The server wants this process to exit now."""


class Worker:
    """Serves the functions of a file until its input ends."""

    def __init__(self, frames: Frames, definitions: Definitions, file: str, output_limit: int) -> None:
        self.frames = frames
        self.definitions = definitions
        self.file = file
        self.output_limit = output_limit
        self.call: Optional[WorkerContext] = None
        # The waiting threads, by the numbers of the call and of the question.
        self.waiting: Dict[Tuple[int, int], Any] = {}
        self.queue: Deque[Dict[str, Any]] = deque()
        self.cancelled_early: Set[int] = set()
        # The highest number of a started call: numbers only grow.
        self.newest = 0
        self.surroundings = Surroundings()
        self._variables = contextvars.copy_context()
        self._main_thread = _thread.get_ident()
        # Whether an exception may be raised in the main thread now: only while a function of the author runs.
        self._may_interrupt = False
        # Whether the main thread waits for input itself.
        self._receiving = False
        # Whether a signal arrived while nothing could be raised.
        self._signalled = False
        self._ending = False
        set_outside(OperatorContext(self))

    def serve(self) -> None:
        """Serves until the input ends or `TERM` arrives."""
        try:
            while True:
                frame = self._next_frame()
                if frame is None:
                    return
                self.take(frame)
        except Ended:
            return
        finally:
            self._receiving = self._may_interrupt = False

    def watch_input(self) -> None:
        """Handles `TERM`, and makes the kernel send `SIGIO` for each write into our input."""
        signals.set_handler(signals.SIGTERM, self._on_term)
        signals.set_handler(signals.SIGINT, self._on_term)
        signals.set_handler(signals.SIGIO, self._on_input)
        fcntl.fcntl(self.frames.input_fd, fcntl.F_SETOWN, os.getpid())
        self._set_async(True)
        self.surroundings.remember()
        os.register_at_fork(after_in_child=_forget_signals)

    def unwatch_input(self) -> None:
        """No more `SIGIO`."""
        self._set_async(False)

    def _set_async(self, wanted: bool) -> None:
        flags = fcntl.fcntl(self.frames.input_fd, fcntl.F_GETFL)
        flags = flags | _O_ASYNC if wanted else flags & ~_O_ASYNC
        fcntl.fcntl(self.frames.input_fd, fcntl.F_SETFL, flags)

    def _next_frame(self) -> Optional[Dict[str, Any]]:
        frames = self.frames
        while True:
            frame = self.queue.popleft() if self.queue else frames.next()
            if frame is not None or frames.ended:
                return frame
            self._receiving = True
            if self._ending:
                raise Ended()
            frames.receive()
            self._receiving = False

    def take(self, frame: Dict[str, Any]) -> None:
        """Handles a frame."""
        if "answer" in frame:
            waiting = self.waiting.pop((frame.get("call", 0), frame["answer"]), None)
            if waiting is not None:
                waiting.give(frame)
        elif "call" in frame:
            self.begin(frame)
        elif "cancel" in frame:
            self.cancel(frame["cancel"])

    def cancel(self, number: int) -> None:
        """Records that a call is cancelled. The thread that runs it raises."""
        if self.call is not None and self.call.number == number:
            self.call.is_cancelled = True
        elif number > self.newest or any(frame["call"] == number for frame in self.queue):
            self.cancelled_early.add(number)

    def begin(self, frame: Dict[str, Any]) -> None:
        """Runs a call from its start to its answer."""
        if self.call is not None:
            self.queue.append(frame)
            return
        self.newest = frame["call"]
        offered = self.definitions.find(frame)
        if offered is None:
            self.refuse(frame, "there is no such function in %s" % os.path.basename(self.file))
            return
        context = self.call = WorkerContext(self, frame)
        try:
            self.finish(context, self.variables_of(context).run(self.perform, offered, frame, context, self._run))
        finally:
            self.call = None
        self.tidy(context)

    def variables_of(self, context: WorkerContext) -> contextvars.Context:
        """The initial context variables of a call: no other call has set any of them."""
        variables = self._variables.copy()
        variables.run(current_call.set, context)
        return variables

    def perform(
        self, offered: Offered, frame: Dict[str, Any], context: WorkerContext, run: Callable[..., Any]
    ) -> str:
        """Calls the function. Returns the member of the frame that answers the call."""
        try:
            if context.number in self.cancelled_early:
                self.cancelled_early.discard(context.number)
                context.is_cancelled = True
                raise Cancelled()
            positional, named = offered.prepare(frame, context)
            value = context.returned = run(offered.function, positional, named)
            member = '"result":' + offered.render(value, frame)
            context.send_state()
            return member
        except Ended:
            raise
        except BaseException as problem:
            return self.failure(problem, offered, context)

    def _run(self, function: Callable[..., Any], positional: Any, named: Any) -> Any:
        self._may_interrupt = True
        try:
            if self._signalled:
                self._catch_up()
            return function(*positional, **named)
        finally:
            self._may_interrupt = False

    def failure(self, problem: BaseException, offered: Offered, context: WorkerContext) -> str:
        """The answer to a call whose function raised, or whose value cannot be rendered."""
        context.returned = None
        if context.is_cancelled:
            return CANCELLED
        try:
            context.send_state()
        except Exception:  # the call has failed anyway
            pass
        try:
            return self._told(problem, offered, context)
        except Exception as fault:  # exceptions have their own code, which must not end the worker
            words = "%s was raised, and telling of it raised %s" % (type(problem).__name__, type(fault).__name__)
            return self._failed(words, context)

    def _told(self, problem: BaseException, offered: Offered, context: WorkerContext) -> str:
        from ..failures import is_expected, principal, request_failure, tool_failure, traceback_text

        if not is_expected(problem):
            context.log("error", traceback_text(problem), offered.name)
        if isinstance(offered, ToolFunction) and not isinstance(principal(problem)[0], ProtocolError):
            return '"result":' + tool_failure(problem, self.file, offered.form.has_schema)
        return '"error":' + request_failure(problem, self.file)

    def _failed(self, words: str, context: WorkerContext) -> str:
        """The answer to a call with our own message."""
        if "tool" not in context.facts:
            return '"error":' + encode({"code": -32603, "message": words})
        return '"result":' + encode({"content": [{"type": "text", "text": words}], "isError": True})

    def finish(self, context: WorkerContext, member: str) -> None:
        """Answers the call; no message about it may follow."""
        if self.frames.in_child:
            os.write(2, b"mcp_bash: a process that the function forked came back from it, and is ended\n")
            os._exit(0)
        if context.partial:
            flush_partial(context)
        if self.waiting:
            self._wake_threads_of(context)
        if context.working:
            _tell_of_threads(context)
        frame = '{"call":%d,%s}' % (context.number, member)
        problem = misfit(frame, context.returned)
        if problem is not None:
            words = "The result of %s cannot be sent: it %s; return it as a text: json.dumps(…)" % (context.name, problem)
            frame = '{"call":%d,%s}' % (context.number, self._failed(words, context))
        # A character takes up to four bytes. The server kills a worker whose frame exceeds the limit.
        if len(frame) * 4 > self.output_limit:
            size = len(to_bytes(frame))
            if size > self.output_limit:
                member = self._too_large(size, '"structuredContent":' in member, context)
                frame = '{"call":%d,%s}' % (context.number, member)
        with self.frames.lock:
            context.closed = True
            self.frames.write(frame)

    def _wake_threads_of(self, context: WorkerContext) -> None:
        """Threads of the call that still wait for an answer will get none."""
        for key in [key for key in self.waiting if key[0] == context.number]:
            self.waiting.pop(key).give({"error": {"message": "The call has ended"}})

    def _too_large(self, size: int, structured: bool, context: WorkerContext) -> str:
        words = "The result of %s is too large: %d bytes, where %d are allowed (MCPBASH_MAX_TOOL_OUTPUT_SIZE); return less%s" % (
            context.name,
            size,
            self.output_limit,
            ", or have it sent as text only: @tool(output=False)" if structured else "",
        )
        return self._failed(words, context)

    def tidy(self, context: WorkerContext) -> None:
        """Restores the process state from before the call."""
        install_if_used()
        context.sweep()
        self.surroundings.restore()

    def end_state(self, keeping: Any) -> None:
        """Closes objects that functions keep between calls."""
        keeping.end_all()

    def refuse(self, frame: Dict[str, Any], words: str) -> None:
        error = encode({"code": -32603, "message": words})
        self.frames.send('{"call":%d,"error":%s}' % (frame["call"], error))

    # Messages and questions of functions while they run.

    def say(self, context: Optional[WorkerContext], text: str) -> bool:
        """Sends a complete frame: an exception of a signal waits until it is written. False if the call has
        ended."""
        interrupted = self._may_interrupt and _thread.get_ident() == self._main_thread
        if interrupted:
            self._may_interrupt = False
        try:
            with self.frames.lock:
                is_open = context is None or not context.closed
                if is_open:
                    self.frames.write(text)
        finally:
            if interrupted:
                self._may_interrupt = True
        if interrupted and self._signalled:
            self._catch_up()
        return is_open

    def ask(self, context: WorkerContext, question: Dict[str, Any]) -> Dict[str, Any]:
        """Sends a question and waits. The main thread reads the answer itself, other threads are woken."""
        waiting = Waiting()
        if _thread.get_ident() != self._main_thread:
            context.put(question, waiting)
            while not waiting.is_over(_LOOK_SECS):
                if self.frames.has_input():
                    # A signal just before the main thread began to wait has not woken it.
                    signals.send_to_thread(self._main_thread, signals.SIGIO)
            assert waiting.answer is not None
            return waiting.answer
        self._may_interrupt = False
        try:
            context.put(question, waiting)
            while waiting.answer is None:
                self._wait_for_frames(context)
        finally:
            self._receiving = False
            self._may_interrupt = True
        if self._signalled:
            self._catch_up()
        return waiting.answer

    def _wait_for_frames(self, context: WorkerContext) -> None:
        self._receiving = True
        if self._ending:
            raise Ended()
        if context.is_cancelled:
            raise Cancelled()
        if self.frames.ended:
            raise CannotAsk("The server has gone")
        self.frames.receive()
        self._receiving = False
        self._take_all()

    def must_await(self, context: WorkerContext) -> bool:
        """Whether this thread itself reads the answers to the questions of the call, and must not wait for
        one."""
        return False

    async def ask_async(self, context: WorkerContext, question: Dict[str, Any]) -> Dict[str, Any]:
        raise NotImplementedError

    # Signals.

    def _on_input(self, *_: Any) -> None:
        self._signalled = True
        if self._may_interrupt:
            self._catch_up()

    def _on_term(self, *_: Any) -> None:
        self._ending = self._signalled = True
        if self._may_interrupt or self._receiving:
            raise Ended()

    def _catch_up(self) -> None:
        """Reads the input behind a signal, and raises its effect in the function."""
        self._may_interrupt = False
        while self._signalled and not self._ending:
            self._signalled = False
            self.frames.receive_what_is_there()
            self._take_all()
        self._may_interrupt = True
        if self._ending:
            raise Ended()
        call = self.call
        if call is not None and call.is_cancelled and not call.cancelled_raised:
            call.cancelled_raised = True
            raise Cancelled()

    def _take_all(self) -> None:
        frame = self.frames.next()
        while frame is not None:
            self.take(frame)
            frame = self.frames.next()


def _tell_of_threads(context: WorkerContext) -> None:
    """Threads that a call leaves running cannot be ended from outside, so the author is notified."""
    names = ", ".join(sorted({thread.name for thread in context.working}))
    context.log("warning", "threads still run after the call: %s" % names, "mcp_bash")


def _forget_signals() -> None:
    """A forked child is not ours to control: its signals get their default actions."""
    try:
        for number in (signals.SIGIO, signals.SIGTERM, signals.SIGINT):
            signals.set_handler(number, signals.SIG_DFL)
    except ValueError:  # not its main thread
        pass
