"""State that outlives a call: ``@keep`` on a function that creates something once, or on a generator that
also closes it.

    @keep
    def db() -> Iterator[Connection]:
        connection = connect()
        yield connection          # every call of db() gives this one
        connection.close()        # when the worker ends

Kept objects live as long as the process, and are closed in reverse order of creation.
"""

from __future__ import annotations

import contextvars
import inspect
import threading
from typing import TYPE_CHECKING, Any, AsyncIterator, Awaitable, Callable, Dict, Iterator, List, Tuple, TypeVar, overload

from .call_context import current_call

T = TypeVar("T")
if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")

_all: List["_Made"] = []
# All functions whose results are kept.
kept: List["_Kept"] = []
_making = threading.RLock()


class _Made:
    """A created object, and how to close it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def end(self) -> Any:
        """Closes it; an awaitable if that takes an event loop."""
        return None


class _Yielded(_Made):
    def __init__(self, generator: Iterator[Any]) -> None:
        self.generator = generator
        super().__init__(next(generator))

    def end(self) -> None:
        next(self.generator, None)


class _YieldedAsync(_Made):
    """An async generator lives in one task from start to end, as cancel scopes require."""

    def __init__(self, generator: Any) -> None:
        import asyncio

        loop = asyncio.get_running_loop()
        self._ready: Any = loop.create_future()
        self._end = asyncio.Event()
        self._generator = generator
        self._task = _run_outside_of_calls(loop.create_task, self._live())
        super().__init__(self._ready)

    async def _live(self) -> None:
        try:
            made = await self._generator.__anext__()
        except BaseException as problem:
            if not self._ready.done():
                self._ready.set_exception(problem)
            return
        self._ready.set_result(made)
        await self._end.wait()
        try:
            await self._generator.__anext__()
        except StopAsyncIteration:
            pass

    async def end(self) -> None:
        self._end.set()
        await self._task


def _run_outside_of_calls(function: Callable[..., Any], *positional: Any, **named: Any) -> Any:
    """Calls a function whose threads and tasks belong to no call: kept objects work for all calls, and
    outlive the first."""
    outside = contextvars.copy_context()
    outside.run(current_call.set, None)
    return outside.run(function, *positional, **named)


class _Kept:
    """A function whose results are kept, one for each set of arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._made: Dict[Tuple[Any, ...], _Made] = {}
        self.__doc__ = function.__doc__
        self.__name__: str = getattr(function, "__name__", "kept")
        kept.append(self)
        self.__wrapped__ = function
        self._awaits = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)

    def __call__(self, *positional: Any, **named: Any) -> Any:
        key = (*positional, *sorted(named.items())) if positional or named else ()
        made = self._made.get(key)
        if made is None:
            with _making:
                made = self._made.get(key) or self._make(key, positional, named)
        return self._share(key, made) if self._awaits else made.value

    def forget(self) -> None:
        self._made.clear()

    def _make(self, key: Tuple[Any, ...], positional: Tuple[Any, ...], named: Dict[str, Any]) -> _Made:
        if inspect.isgeneratorfunction(self._function):
            made: _Made = _run_outside_of_calls(_Yielded, self._function(*positional, **named))
        elif inspect.isasyncgenfunction(self._function):
            made = _YieldedAsync(self._function(*positional, **named))
        elif self._awaits:
            import asyncio

            loop = asyncio.get_running_loop()
            made = _Made(_run_outside_of_calls(loop.create_task, self._function(*positional, **named)))
        else:
            made = _Made(_run_outside_of_calls(self._function, *positional, **named))
        self._made[key] = made
        if not _all:
            _end_with_process()
        _all.append(made)
        return made

    async def _share(self, key: Tuple[Any, ...], made: _Made) -> Any:
        """Several calls may wait for the creation; one that is cancelled does not cancel it for the
        others."""
        import asyncio

        try:
            return await asyncio.shield(made.value)
        except BaseException:
            if made.value.done() and self._made.get(key) is made and (made.value.cancelled() or made.value.exception()):
                del self._made[key]
                _all.remove(made)
            raise


if TYPE_CHECKING:

    @overload
    def keep(function: Callable[P, Iterator[T]]) -> Callable[P, T]: ...

    @overload
    def keep(function: Callable[P, AsyncIterator[T]]) -> Callable[P, Awaitable[T]]: ...

    @overload
    def keep(function: Callable[P, T]) -> Callable[P, T]: ...


def keep(function: Callable[..., Any]) -> Any:
    """Makes a function return the same object to every call, created on first use. Code after a ``yield``
    closes it."""
    return _Kept(function)


def end_all() -> None:
    """Closes everything that was kept, the last first. Failures are logged and do not stop the rest."""
    while _all:
        _end_one(_all.pop().end)


async def end_all_async() -> None:
    """The same inside an event loop."""
    while _all:
        try:
            ending = _all.pop().end()
            if ending is not None:
                await ending
        except BaseException:
            _tell_of_failure()


def forget_all() -> None:
    """Forgets everything that was kept and has ended, for tests: the next call creates it again."""
    for one in kept:
        one.forget()


def _end_one(end: Callable[[], Any]) -> None:
    try:
        ending = end()
        if ending is not None:
            ending.close()  # there is no event loop to close it in
    except BaseException:
        _tell_of_failure()


def _tell_of_failure() -> None:
    import sys
    import traceback

    if sys.__stderr__ is not None:
        traceback.print_exc(file=sys.__stderr__)


def _end_with_process() -> None:
    import atexit

    atexit.register(end_all)
