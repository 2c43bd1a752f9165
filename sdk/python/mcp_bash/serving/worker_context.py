"""The call of a worker: its messages are frames with its number."""

from __future__ import annotations

import _thread
import os
import time
from itertools import count

from ..call_context import Context, NoCall, outside
from ..encoding import NotJson, decode, encode, to_bytes
from ..errors import CannotAsk, Cancelled, ToolError
from ..frame_limits import misfit
from ..json_types import error_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from pathlib import Path
    from typing import Any, Dict, List, Optional

    from ..definitions import Definitions
    from .worker import Worker

# Longer texts are cut: a log is not for transporting data.
_LONGEST = 65536
# How often unwanted progress is still sent, as a sign of activity.
_SIGN_OF_LIFE_SECS = 1.0


class Waiting:
    """A thread that waits for an answer."""

    __slots__ = ("answer", "_lock")

    def __init__(self) -> None:
        self.answer: Optional[Dict[str, Any]] = None
        self._lock = _thread.allocate_lock()
        self._lock.acquire()

    def give(self, answer: Dict[str, Any]) -> None:
        self.answer = answer
        self._lock.release()

    def is_over(self, seconds: float) -> bool:
        """Waits this long. Returns whether there is an answer."""
        return self._lock.acquire(True, seconds)


class WorkerContext(Context):
    """One call of a worker."""

    def __init__(self, worker: Worker, frame: Dict[str, Any]) -> None:
        super().__init__(frame)
        self.number: int = frame["call"]
        self.worker = worker
        # Set under the lock of the pipe: no message about a call may follow its answer.
        self.closed = False
        self.is_cancelled = False
        # The return value; None after a failure, whose details may be anything.
        self.returned: Any = None
        self.cancelled_raised = False
        # Printed lines that are not complete yet, by the name of the stream.
        self.partial: Dict[str, str] = {}
        # Threads that work for the call besides that of its function.
        self.working: List[threading.Thread] = []
        # Asyncio tasks that the call started, if any; its thread, if it has its own.
        self.tasks: Any = None
        self.task: Any = None
        self.thread: Optional[int] = None
        self._folder: Optional[str] = None
        self._numbers = count(1)
        self._last_sign = 0.0

    @property
    def cancelled(self) -> bool:
        return self.is_cancelled

    @property
    def folder(self) -> Path:
        from pathlib import Path

        given = self.facts.get("folder")
        if given:
            return Path(given)
        if self._folder is None:
            import tempfile

            self._folder = tempfile.mkdtemp(prefix="mcp-bash-call-")
        return Path(self._folder)

    @property
    def definitions(self) -> Definitions:
        return self.worker.definitions

    @property
    def must_await(self) -> bool:
        return self.worker.must_await(self)

    @property
    def is_open(self) -> bool:
        # A process that the function forked may outlive the call, and cannot know when it has ended.
        return not self.closed and not self.worker.frames.in_child

    def sweep(self) -> None:
        """Removes the folder, if we created one."""
        if self._folder is not None:
            import shutil

            shutil.rmtree(self._folder, ignore_errors=True)

    def progress(self, done: float, total: Optional[float] = None, message: Optional[str] = None) -> None:
        if self.is_cancelled and self.task is None:
            raise Cancelled()
        if not self.facts.get("progress"):
            now = time.monotonic()
            if now - self._last_sign < _SIGN_OF_LIFE_SECS:
                return
            self._last_sign = now
        super().progress(done, total, message)

    def notify(self, method: str, params: Dict[str, Any]) -> None:
        body = notification(method, params, self.worker.output_limit)
        if self.is_open and self.worker.say(self, '{"call":%d,%s}' % (self.number, body)):
            return
        # Messages after the call go only to the operator.
        if method == "notifications/message":
            outside().notify(method, params)

    def send_state(self) -> None:
        """Sends what the call has changed in the state of the session. Raises `ToolError` if it cannot be kept."""
        changes = self.changed_state()
        if changes is None:
            return
        frame = '{"call":%d,"method":"session/state","params":%s}' % (self.number, encode(changes))
        problem = misfit(frame)
        if problem is not None:
            raise ToolError("The state of the session cannot be kept: it %s" % problem)
        self.worker.say(self, frame)

    def put_question(self, question: Dict[str, Any]) -> Any:
        return read_answer(self.worker.ask(self, question))

    async def put_question_async(self, question: Dict[str, Any]) -> Any:
        if self.task is None:  # an event loop that the function runs itself
            return await super().put_question_async(question)
        return read_answer(await self.worker.ask_async(self, question))

    def put(self, question: Dict[str, Any], waiting: Any) -> int:
        """Sends a question for a waiting thread. Returns its number."""
        number = next(self._numbers)
        frame = '{"call":%d,"ask":%d,%s' % (self.number, number, encode(question)[1:])
        problem = misfit(frame) or _too_long(frame, self.worker.output_limit)
        if problem is not None:
            raise CannotAsk("The question cannot be sent: it %s" % problem)
        self.worker.waiting[self.number, number] = waiting
        if not self.is_open or not self.worker.say(self, frame):
            self.worker.waiting.pop((self.number, number), None)
            raise CannotAsk("The call has ended: nobody can be asked")
        return number


class OperatorContext(NoCall):
    """Outside calls: logs go to the operator."""

    def __init__(self, worker: Worker) -> None:
        super().__init__()
        self._worker = worker

    def progress(self, done: float, total: Optional[float] = None, message: Optional[str] = None) -> None:
        return None

    def notify(self, method: str, params: Dict[str, Any]) -> None:
        if self._worker.frames.in_child:
            os.write(2, ("%s\n" % params.get("data")).encode("utf-8", "replace"))
        else:
            self._worker.say(None, "{%s}" % notification(method, params, self._worker.output_limit))


def notification(method: str, params: Dict[str, Any], limit: int) -> str:
    """The members of a notification frame. Values that do not fit into a frame are written as Python shows
    them, and cut."""
    try:
        body = encode(params)
        fits = misfit("{%s}" % body) is None
    except NotJson:
        body, fits = "", False
    if not fits:
        body = encode({key: value if isinstance(value, str) else _shown(value) for key, value in params.items()})
    # A character takes up to six bytes.
    longest = min(_LONGEST, limit // 16)
    if len(body) > longest:
        body = encode({key: _cut(value, longest) for key, value in decode(body).items()})
    return '"method":"%s","params":%s' % (method, body)


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except Exception as problem:  # it has its own code, or is nested too deeply
        return "<%s that cannot be shown: %s>" % (type(value).__name__, type(problem).__name__)


def _cut(value: Any, longest: int) -> Any:
    text = value if isinstance(value, str) else encode(value)
    return text[:longest] + "… (cut)" if len(text) > longest else value


def _too_long(frame: str, limit: int) -> Optional[str]:
    # A character takes up to four bytes.
    size = len(to_bytes(frame)) if len(frame) * 4 > limit else 0
    return "has %d bytes, and %d are allowed (MCPBASH_MAX_TOOL_OUTPUT_SIZE)" % (size, limit) if size > limit else None


def read_answer(answer: Dict[str, Any]) -> Any:
    """The result in an answer. Raises `CannotAsk` with the server's error."""
    if "result" in answer:
        return answer["result"]
    raise CannotAsk(error_message(answer))
