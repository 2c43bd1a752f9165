"""The questions of `mcp_bash`, for async functions: ``await aio.confirm("Really?")``."""

from __future__ import annotations

from .call_context import current
from .questions import Question, alone, read_all, refuse_unless_reachable, together

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from pathlib import Path
    from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, TypeVar, Union, overload

    from .call_context import Root
    from .contents import Message
    from .questions import Sampled

    T = TypeVar("T")
else:

    def overload(function):
        return function


@overload
async def ask(message: str, *, name: Optional[str] = None, timeout: Optional[float] = None) -> str: ...


@overload
async def ask(
    message: str, form: Type[T], *, name: Optional[str] = None, timeout: Optional[float] = None
) -> T: ...


@overload
async def ask(
    message: str, form: Mapping[str, Any], *, name: Optional[str] = None, timeout: Optional[float] = None
) -> Dict[str, Any]: ...


@overload
async def ask(
    message: str, form: object, *, name: Optional[str] = None, timeout: Optional[float] = None
) -> Any: ...


async def ask(
    message: str, form: Any = str, *, name: Optional[str] = None, timeout: Optional[float] = None
) -> Any:
    """Asks the user, as `mcp_bash.ask` does."""
    return await _put(Question.form(message, form), name, timeout)


async def confirm(message: str, *, name: Optional[str] = None, timeout: Optional[float] = None) -> bool:
    """Asks for yes or no. Declining means no."""
    from .errors import Declined

    try:
        return await _put(Question.confirm(message), name, timeout) is True
    except Declined:
        return False


async def choose(
    message: str,
    options: Union[Sequence[str], Mapping[str, str]],
    *,
    name: Optional[str] = None,
    timeout: Optional[float] = None,
) -> str:
    """Asks for one of several options."""
    choice: str = await _put(Question.choose(message, options), name, timeout)
    return choice


async def choose_many(
    message: str,
    options: Union[Sequence[str], Mapping[str, str]],
    *,
    name: Optional[str] = None,
    timeout: Optional[float] = None,
) -> List[str]:
    """Asks for any number of several options."""
    return await _put(Question.choose_many(message, options), name, timeout) or []


async def ask_url(message: str, url: str, *, name: Optional[str] = None, timeout: Optional[float] = None) -> None:
    """Sends the user to a web page."""
    await _put(Question.url(message, url), name, timeout)


async def sample(
    prompt: Union[str, Sequence[Message]],
    *,
    max_tokens: int = 1000,
    system: Optional[str] = None,
    temperature: Optional[float] = None,
    name: Optional[str] = None,
    timeout: Optional[float] = 120,
    **more: Any,
) -> Sampled:
    """Asks the client's model."""
    question = Question.sample(prompt, max_tokens=max_tokens, system=system, temperature=temperature, **more)
    said: Sampled = await _put(question, name, timeout)
    return said


async def ask_all(questions: Mapping[str, Question], *, timeout: Optional[float] = None) -> Dict[str, Any]:
    """Asks several questions at once."""
    call = current()
    refuse_unless_reachable(call)
    return read_all(questions, await call.put_question_async(together(questions, timeout)))


async def roots() -> List[Root]:
    """The client's roots. A client that sends them only on request is asked, once per call."""
    return await current().ask_for_roots()


async def inside_roots(path: Union[str, "os.PathLike[str]"]) -> Path:
    """The path, absolute and with links resolved. Raises `ToolError` if it is outside the client's roots."""
    from .call_facts import inside

    call = current()
    return inside(await call.ask_for_roots(), path, call)


async def _put(question: Question, name: Optional[str], timeout: Optional[float]) -> Any:
    call = current()
    question.refuse_unless_possible(call)
    return question.read(await call.put_question_async(alone(question, name, timeout)))
