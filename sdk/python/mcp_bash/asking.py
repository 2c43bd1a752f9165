"""Questions from plain functions: each waits for its answer. Async functions use `mcp_bash.aio`."""

from __future__ import annotations

from .call_context import current
from .questions import Question, alone, read_all, refuse_unless_reachable, together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, TypeVar, Union, overload

    from .contents import Message
    from .questions import Sampled

    T = TypeVar("T")
else:

    def overload(function):
        return function


@overload
def ask(message: str, *, name: Optional[str] = None, timeout: Optional[float] = None) -> str: ...


@overload
def ask(
    message: str, form: Type[T], *, name: Optional[str] = None, timeout: Optional[float] = None
) -> T: ...


@overload
def ask(
    message: str, form: Mapping[str, Any], *, name: Optional[str] = None, timeout: Optional[float] = None
) -> Dict[str, Any]: ...


@overload
def ask(
    message: str, form: object, *, name: Optional[str] = None, timeout: Optional[float] = None
) -> Any: ...


def ask(
    message: str, form: Any = str, *, name: Optional[str] = None, timeout: Optional[float] = None
) -> Any:
    """Asks the user. ``form`` is a type (``int``), a dataclass or another model, a dict of names and types, or a JSON Schema.

    Raises `Declined`, `Dismissed` or `CannotAsk`; a function that does not catch them fails with their
    message.
    """
    return _put(Question.form(message, form), name, timeout)


def confirm(message: str, *, name: Optional[str] = None, timeout: Optional[float] = None) -> bool:
    """Asks for yes or no. Declining means no."""
    from .errors import Declined

    try:
        return _put(Question.confirm(message), name, timeout) is True
    except Declined:
        return False


def choose(
    message: str,
    options: Union[Sequence[str], Mapping[str, str]],
    *,
    name: Optional[str] = None,
    timeout: Optional[float] = None,
) -> str:
    """Asks for one of several options: ``["a", "b"]``, or ``{"a": "The first", "b": "The second"}``."""
    choice: str = _put(Question.choose(message, options), name, timeout)
    return choice


def choose_many(
    message: str,
    options: Union[Sequence[str], Mapping[str, str]],
    *,
    name: Optional[str] = None,
    timeout: Optional[float] = None,
) -> List[str]:
    """Asks for any number of several options."""
    return _put(Question.choose_many(message, options), name, timeout) or []


def ask_url(message: str, url: str, *, name: Optional[str] = None, timeout: Optional[float] = None) -> None:
    """Sends the user to a web page, for data that must not pass through the client. Returns when the user
    agreed to open it."""
    _put(Question.url(message, url), name, timeout)


def sample(
    prompt: Union[str, Sequence[Message]],
    *,
    max_tokens: int = 1000,
    system: Optional[str] = None,
    temperature: Optional[float] = None,
    name: Optional[str] = None,
    timeout: Optional[float] = 120,
    **more: Any,
) -> Sampled:
    """Asks the client's model. The answer is a text with the attributes ``model``, ``stop_reason`` and
    ``content``."""
    question = Question.sample(prompt, max_tokens=max_tokens, system=system, temperature=temperature, **more)
    said: Sampled = _put(question, name, timeout)
    return said


def ask_all(questions: Mapping[str, Question], *, timeout: Optional[float] = None) -> Dict[str, Any]:
    """Asks several questions at once, by your names. Raises the first one that is declined."""
    call = current()
    refuse_unless_reachable(call)
    return read_all(questions, call.put_question(together(questions, timeout)))


def _put(question: Question, name: Optional[str], timeout: Optional[float]) -> Any:
    call = current()
    question.refuse_unless_possible(call)
    return question.read(call.put_question(alone(question, name, timeout)))
