"""The methods of a call under the names that FastMCP gives them (docs/from-fastmcp.md).

Messages are sent at once, and may be awaited: `await ctx.info("…")` and `ctx.info("…")` are the same. A question has
to be awaited in an async function; in a plain function it waits for its answer itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import (
        Any, Callable, Coroutine, Generator, Iterator, Mapping, NoReturn, Optional, Sequence, Type, TypeVar, Union,
        overload,
    )  # fmt: skip

    from .contents import Message
    from .definitions import Definitions
    from .elicitation import Elicited
    from .questions import Sampled
    from .resource_reading import ReadContents
    from .session_state import SessionState

    T = TypeVar("T")
else:

    def overload(function):
        return function


class Done:
    """Something that has been done already. Awaiting it does nothing."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


DONE = Done()


class Unawaited:
    """A question that an async function has to await. It is put then; anything else says so."""

    def __init__(self, words: str, ask: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self.__words = words
        self.__ask = ask

    def __await__(self) -> Generator[Any, None, Any]:
        return self.__ask().__await__()

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError("an async function awaits the answer: `await ctx.%s(…)`" % self.__words)

    def __str__(self) -> str:
        return str(self.text)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.contents)


class ContextHabits:
    """What FastMCP offers on its `Context`, in terms of our own methods."""

    if TYPE_CHECKING:
        # The methods of `Context` that are used here.
        @property
        def must_await(self) -> bool: ...

        @property
        def state(self) -> SessionState: ...

        @property
        def definitions(self) -> Optional[Definitions]: ...

        def progress(self, done: float, total: Optional[float] = None, message: Optional[str] = None) -> None: ...

        def log(self, level: str, data: Any, logger: Optional[str] = None) -> Done: ...

        @property
        def name(self) -> str: ...

    @classmethod
    def __class_getitem__(cls, _: Any) -> Any:
        """``Context[…]`` is `Context`: the parameters that FastMCP has say nothing here."""
        return cls

    # Messages.

    def report_progress(self, progress: float, total: Optional[float] = None, message: Optional[str] = None) -> Done:
        """Reports progress, as `progress()` does."""
        self.progress(progress, total, message)
        return DONE

    def debug(self, message: Any, logger_name: Optional[str] = None, extra: Optional[Mapping[str, Any]] = None) -> Done:
        return self._say("debug", message, logger_name, extra)

    def info(self, message: Any, logger_name: Optional[str] = None, extra: Optional[Mapping[str, Any]] = None) -> Done:
        return self._say("info", message, logger_name, extra)

    def warning(self, message: Any, logger_name: Optional[str] = None, extra: Optional[Mapping[str, Any]] = None) -> Done:
        return self._say("warning", message, logger_name, extra)

    def error(self, message: Any, logger_name: Optional[str] = None, extra: Optional[Mapping[str, Any]] = None) -> Done:
        return self._say("error", message, logger_name, extra)

    def _say(self, level: str, message: Any, logger: Optional[str], extra: Optional[Mapping[str, Any]]) -> Done:
        data = {"message": message, **extra} if extra else message
        return self.log(level, data, logger or self.name or None)

    # Questions.

    @overload
    def elicit(self, message: str, response_type: Type[T]) -> Elicited[T]: ...

    @overload
    def elicit(self, message: str, response_type: object = str, *, schema: Optional[Type[T]] = None) -> Elicited[Any]: ...

    def elicit(self, message: str, response_type: Any = str, *, schema: Any = None) -> Elicited[Any]:
        """Asks the user. The result has an ``action`` (``accept``, ``decline`` or ``cancel``) and ``data``.

        ``response_type`` is a type, a model, a list of choices, a list with a list of them for several, a dict of
        choices with their titles, or None for a mere yes. ``schema`` is another name for it.
        """
        from .elicitation import elicit

        return elicit(self, message, response_type if schema is None else schema)

    def sample(
        self,
        messages: Union[str, Sequence[Union[str, Message]]],
        system_prompt: Optional[str] = None,
        temperature: Optional[float] = None,
        max_tokens: int = 1000,
        model_preferences: Union[str, Sequence[str], Mapping[str, Any], None] = None,
    ) -> Sampled:
        """Asks the client's model. The answer is a text, with the attribute ``text``."""
        from .elicitation import sample

        return sample(self, messages, system_prompt, temperature, max_tokens, model_preferences)

    def read_resource(self, uri: object) -> ReadContents:
        """Reads a resource of this file. Each of the contents has ``content`` and ``mime_type``."""
        from .resource_reading import read_resource

        return read_resource(self, str(uri))

    # State of the session.

    def set_state(self, key: str, value: Any) -> Done:
        """Sets a value of the session's state, as ``state[key] = value`` does."""
        self.state[key] = value
        return DONE

    def get_state(self, key: str) -> Any:
        """A value of the session's state, or None. Async functions await it; ``state.get(key)`` needs no
        ``await``."""
        value = self.state.get(key)
        return _at_once(value) if self.must_await else value

    def delete_state(self, key: str) -> Done:
        """Removes a value of the session's state, if it is there."""
        self.state.pop(key, None)
        return DONE


async def _at_once(value: Any) -> Any:
    return value
