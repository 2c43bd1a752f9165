"""The call that is being served: what it brought along, and the ways to talk to whoever made it.

`Context` is the same in a worker and in a script that is a process of its own; each has a class that says how words
leave (`serving/worker_context.py`, `script.py`).
"""

from __future__ import annotations

from contextvars import ContextVar

from .errors import CannotAsk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Dict, List, NoReturn, Optional


# Further than this nobody counts, and no reader of JSON has to.
_LARGEST = 1e300


def _named(number: float) -> str:
    return "one of so many digits" if isinstance(number, int) else repr(number)


class Root:
    """A folder that the client has opened to us."""

    __slots__ = ("uri", "name", "path")

    def __init__(self, uri: str, name: Optional[str] = None, path: Optional[str] = None) -> None:
        self.uri = uri
        self.name = name
        self.path = path

    def __repr__(self) -> str:
        return "Root(%r, name=%r, path=%r)" % (self.uri, self.name, self.path)

    @classmethod
    def read_all(cls, named: Any) -> List[Root]:
        """The folders of a list as the protocol has it."""
        return [cls(root["uri"], root.get("name"), root.get("path")) for root in named or ()]


# A client without a session names its folders only when it is asked.
_ASK_FOR_ROOTS: "Dict[str, Any]" = {"method": "roots/list"}


class Context:
    """One call. A function that has a parameter of this type is given it; others use the functions of the package."""

    # What a question is refused with where nobody can be asked.
    cannot_ask = "This client cannot be asked"

    def __init__(self, facts: Any) -> None:
        """``facts.get(name)`` is a member of the frame that asks for the call, or what stands for it."""
        self.facts = facts
        # What the client answered when it was asked for its folders; empty where it did not answer.
        self._roots_answer: Optional[Dict[str, Any]] = None
        self._roots_turn: Any = None

    # What the call brought along.

    @property
    def name(self) -> str:
        """What was called: the name of a tool, a prompt or a resource."""
        facts = self.facts
        return str(facts.get("tool") or facts.get("prompt") or facts.get("name") or "")

    @property
    def uri(self) -> Optional[str]:
        """The URI that is read, in a resource."""
        uri: Optional[str] = self.facts.get("resource")
        return uri

    @property
    def arguments(self) -> Dict[str, Any]:
        """The arguments as they came, before they were made into the types of the function."""
        return self.facts.get("arguments") or {}

    @property
    def meta(self) -> Dict[str, Any]:
        """The ``_meta`` of the request: what the client sends along without the model seeing it."""
        return self.facts.get("meta") or {}

    @property
    def roots(self) -> List[Root]:
        """The folders that the client has opened. Raises `CannotAsk` if none of them can be used.

        A client without a session is asked for them when a function first wants to know. An async function does that with
        ``await aio.roots()``; until then these are the folders of the project.
        """
        if self.has_unasked_roots and not self.must_await:
            try:
                self._roots_answer = self.put_question(_ASK_FOR_ROOTS)
            except CannotAsk:
                self._roots_answer = {}
        return self._known_roots()

    async def ask_for_roots(self) -> List[Root]:
        """The same without blocking the event loop."""
        if self.has_unasked_roots:
            import asyncio

            # Coroutines that want to know at the same time share one question.
            if self._roots_turn is None:
                self._roots_turn = asyncio.Lock()
            async with self._roots_turn:
                if self.has_unasked_roots:
                    try:
                        self._roots_answer = await self.put_question_async(_ASK_FOR_ROOTS)
                    except CannotAsk:
                        self._roots_answer = {}
        return self._known_roots()

    def _known_roots(self) -> List[Root]:
        answer = self._roots_answer
        if answer:
            refused, named = answer.get("refused"), answer.get("roots")
        else:
            refused, named = self.facts.get("rootsRefused"), self.facts.get("roots")
        if refused:
            raise CannotAsk(str(refused))
        return Root.read_all(named)

    @property
    def has_unasked_roots(self) -> bool:
        """Whether the client has folders of its own that it has not been asked for."""
        return self._roots_answer is None and bool(self.facts.get("askForRoots"))

    @property
    def caller(self) -> Optional[str]:
        """Who makes the call, where the server knows it."""
        caller: Optional[str] = self.facts.get("caller")
        return caller

    @property
    def trace(self) -> Dict[str, str]:
        """The trace that the call is a part of: ``traceparent``, ``tracestate``, ``baggage``."""
        return self.facts.get("trace") or {}

    @property
    def can_ask_user(self) -> bool:
        """Whether the client can put a question to its user."""
        return bool(self.facts.get("elicit"))

    @property
    def can_ask(self) -> bool:
        """Whether the client can be asked anything: its user, its model, its folders."""
        return bool(self.facts.get("ask"))

    @property
    def folder(self) -> Path:
        """A private folder of this call, for scratch files. It is swept when the call has ended."""
        raise NotImplementedError

    @property
    def cancelled(self) -> bool:
        """Whether the client has given up on the call."""
        return False

    @property
    def must_await(self) -> bool:
        """Whether a question that is not awaited would block the event loop that has to read its answer."""
        return False

    @property
    def is_open(self) -> bool:
        """Whether the call still runs. One that has ended says, asks and answers nothing any more."""
        return True

    # What the call says meanwhile.

    def hears_prints(self) -> bool:
        """Whether there is a log for what is printed."""
        return True

    def progress(self, done: float, total: Optional[float] = None, message: Optional[str] = None) -> None:
        """Tells how far the work is. ``done`` must grow."""
        for number in (done, total):
            if number is not None and not -_LARGEST <= number <= _LARGEST:
                raise ValueError("progress() needs a number that says how much is done, not %s" % _named(number))
        params: Dict[str, Any] = {"progress": done}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self.notify("notifications/progress", params)

    def log(self, level: str, data: Any, logger: Optional[str] = None) -> None:
        """Sends a log message to the client. ``data`` is a text or any JSON."""
        params: Dict[str, Any] = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        self.notify("notifications/message", params)

    # How it leaves, for those who implement a way.

    def notify(self, method: str, params: Dict[str, Any]) -> None:
        raise NotImplementedError

    def put_question(self, question: Dict[str, Any]) -> Any:
        """Puts a question and waits for its result. Raises `CannotAsk`."""
        raise NotImplementedError

    async def put_question_async(self, question: Dict[str, Any]) -> Any:
        """The same without blocking the event loop."""
        import asyncio

        return await asyncio.get_running_loop().run_in_executor(None, self.put_question, question)


class NoCall(Context):
    """Stands for the call where there is none: logs go to the operator, anything else is refused."""

    cannot_ask = "No call is being served here, or it has ended: nobody can be asked"

    def __init__(self) -> None:
        super().__init__({})

    @property
    def arguments(self) -> NoReturn:
        raise RuntimeError("no call is being served here: arguments() belongs inside of a tool")

    @property
    def folder(self) -> NoReturn:
        raise RuntimeError("no call is being served here: folder() belongs inside of a tool")

    def put_question(self, question: Dict[str, Any]) -> NoReturn:
        raise CannotAsk(self.cannot_ask)


current_call: "ContextVar[Optional[Context]]" = ContextVar("mcp_bash_call", default=None)
_outside: "List[Context]" = []


def set_outside(context: Context) -> None:
    """Says which context there is where no call is."""
    _outside[:] = [context]


def live_call() -> Optional[Context]:
    """The call that this code works for. None outside of calls, and in what an ended call has left running."""
    call = current_call.get()
    return call if call is not None and call.is_open else None


def outside() -> Context:
    """What stands for the call where there is none; in a script, the script itself."""
    if not _outside:
        from .script import ScriptContext

        set_outside(ScriptContext())
    return _outside[0]


def current() -> Context:
    """The call that this code works for, or what stands for it."""
    return live_call() or outside()
