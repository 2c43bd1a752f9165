"""The current call: its data, and the ways to send messages to its caller.

`Context` is the same in a worker and in a plain script; each has a subclass that sends the messages
(`serving/worker_context.py`, `script.py`).
"""

from __future__ import annotations

from .context_habits import DONE, ContextHabits, Done
from .errors import CannotAsk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextvars import ContextVar
    from pathlib import Path
    from typing import Any, Dict, List, NoReturn, Optional

    from .definitions import Definitions
    from .session_state import SessionState
else:
    # The module where `contextvars` gets it, which is slower to load.
    from _contextvars import ContextVar


# No useful number is larger, and JSON parsers need not accept such numbers.
_LARGEST = 1e300


def _named(number: float) -> str:
    return "one of so many digits" if isinstance(number, int) else repr(number)


class Root:
    """A root of the client."""

    __slots__ = ("uri", "name", "path")

    def __init__(self, uri: str, name: Optional[str] = None, path: Optional[str] = None) -> None:
        self.uri = uri
        self.name = name
        self.path = path

    def __repr__(self) -> str:
        return "Root(%r, name=%r, path=%r)" % (self.uri, self.name, self.path)

    @classmethod
    def read_all(cls, named: Any) -> List[Root]:
        """The roots in a list of the protocol."""
        return [cls(root["uri"], root.get("name"), root.get("path")) for root in named or ()]


# A client without a session sends its roots only on request.
_ASK_FOR_ROOTS: "Dict[str, Any]" = {"method": "roots/list"}


class Context(ContextHabits):
    """One call. A parameter of this type receives it; other functions use the functions of the package."""

    # The reason for refusing a question if the client cannot ask.
    cannot_ask = "This client cannot be asked"

    def __init__(self, facts: Any) -> None:
        """``facts.get(name)`` is a member of the frame of the call, or its equivalent."""
        self.facts = facts
        # The client's answer to the request for its roots; empty if it did not answer.
        self._roots_answer: Optional[Dict[str, Any]] = None
        self._roots_turn: Any = None
        self._state: Optional[SessionState] = None

    # The data of the call.

    @property
    def name(self) -> str:
        """The name of the called tool, prompt or resource."""
        facts = self.facts
        return str(facts.get("tool") or facts.get("prompt") or facts.get("name") or "")

    @property
    def uri(self) -> Optional[str]:
        """The requested URI, in a resource."""
        uri: Optional[str] = self.facts.get("resource")
        return uri

    @property
    def arguments(self) -> Dict[str, Any]:
        """The arguments as received, before conversion to the types of the function."""
        return self.facts.get("arguments") or {}

    @property
    def meta(self) -> Dict[str, Any]:
        """The ``_meta`` of the request: data from the client that the model does not see."""
        return self.facts.get("meta") or {}

    @property
    def roots(self) -> List[Root]:
        """The client's roots. Raises `CannotAsk` if none of them is usable.

        A client without a session is asked for them when a function first needs them. An async function does
        that with ``await aio.roots()``; until then these are the project's roots.
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

            # Coroutines that need them at the same time share one question.
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
        """Whether the client has roots that it was not asked for yet."""
        return self._roots_answer is None and bool(self.facts.get("askForRoots"))

    @property
    def caller(self) -> Optional[str]:
        """The caller, if the server knows it."""
        caller: Optional[str] = self.facts.get("caller")
        return caller

    @property
    def caller_groups(self) -> List[str]:
        """The groups of the caller."""
        return list(self.facts.get("groups") or [])

    @property
    def caller_claims(self) -> Dict[str, Any]:
        """What the caller's identity provider says about it, as far as the operator passes it on."""
        return dict(self.facts.get("claims") or {})

    @property
    def state(self) -> SessionState:
        """The state of the client's session: a dict of JSON values, kept from one call to the next. Raises `ToolError` if
        the client has no session."""
        if self._state is None:
            from .session_state import SessionState

            received = self.facts.get("state")
            if received is None:
                from .errors import ToolError

                raise ToolError(self._no_state(), type="no_session")
            self._state = SessionState(received)
        return self._state

    def _no_state(self) -> str:
        if self.facts.get("tool"):
            return "This client has no session (its protocol has none), and so there is no state of one"
        return "Only tools have the state of a session"

    def changed_state(self) -> Optional[Dict[str, Any]]:
        """What the call has changed in the state, if it has used it at all."""
        return None if self._state is None else self._state.changes()

    @property
    def definitions(self) -> Optional[Definitions]:
        """The functions of the file, if it is a file of functions."""
        return None

    @property
    def trace(self) -> Dict[str, str]:
        """The trace context of the call: ``traceparent``, ``tracestate``, ``baggage``."""
        return self.facts.get("trace") or {}

    @property
    def can_ask_user(self) -> bool:
        """Whether the client can ask its user."""
        return bool(self.facts.get("elicit"))

    @property
    def can_ask(self) -> bool:
        """Whether the client can be asked anything: its user, its model, its roots."""
        return bool(self.facts.get("ask"))

    @property
    def folder(self) -> Path:
        """A private folder of this call, for scratch files. It is removed after the call."""
        raise NotImplementedError

    @property
    def cancelled(self) -> bool:
        """Whether the client has cancelled the call."""
        return False

    @property
    def must_await(self) -> bool:
        """Whether a question without `await` would block the event loop that has to read its answer."""
        return False

    @property
    def is_open(self) -> bool:
        """Whether the call still runs. An ended call sends, asks and answers nothing any more."""
        return True

    # The messages of the call while it runs.

    def hears_prints(self) -> bool:
        """Whether printed output is logged."""
        return True

    def progress(self, done: float, total: Optional[float] = None, message: Optional[str] = None) -> None:
        """Reports progress. ``done`` must increase."""
        for number in (done, total):
            if number is not None and not -_LARGEST <= number <= _LARGEST:
                raise ValueError("progress() needs a number that says how much is done, not %s" % _named(number))
        params: Dict[str, Any] = {"progress": done}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self.notify("notifications/progress", params)

    def log(self, level: str, data: Any, logger: Optional[str] = None) -> Done:
        """Sends a log message to the client. ``data`` is a text or any JSON."""
        params: Dict[str, Any] = {"level": level, "data": data}
        if logger is not None:
            params["logger"] = logger
        self.notify("notifications/message", params)
        return DONE

    # The output, for subclasses.

    def notify(self, method: str, params: Dict[str, Any]) -> None:
        raise NotImplementedError

    def put_question(self, question: Dict[str, Any]) -> Any:
        """Sends a question and waits for its result. Raises `CannotAsk`."""
        raise NotImplementedError

    async def put_question_async(self, question: Dict[str, Any]) -> Any:
        """The same without blocking the event loop."""
        import asyncio

        return await asyncio.get_running_loop().run_in_executor(None, self.put_question, question)


class NoCall(Context):
    """The substitute outside calls: logs go to the operator, anything else is refused."""

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
    """Sets the context outside calls."""
    _outside[:] = [context]


def live_call() -> Optional[Context]:
    """The call of this code. None outside calls, and in code that an ended call left running."""
    call = current_call.get()
    return call if call is not None and call.is_open else None


def outside() -> Context:
    """The substitute outside calls; in a script, the script itself."""
    if not _outside:
        from .script import ScriptContext

        set_outside(ScriptContext())
    return _outside[0]


def current() -> Context:
    """The call of this code, or its substitute."""
    return live_call() or outside()
