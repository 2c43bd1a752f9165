"""Inspects functions. Plain functions are inspected here: ``inspect``, which handles all others, takes longer
to load than everything else that a simple file needs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Tuple


class Missing:
    """Represents a missing default or hint."""


# The kinds of parameters.
POSITIONAL_ONLY, USUAL, STAR, KEYWORD_ONLY, TWO_STARS = range(5)
_VARARGS, _VARKEYWORDS, _GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x04, 0x08, 0x20, 0x80, 0x200


class Given:
    """A parameter in the source."""

    __slots__ = ("name", "kind", "default", "hint")

    def __init__(self, name: str, kind: int, default: Any, hint: Any) -> None:
        self.name = name
        self.kind = kind
        self.default = default
        self.hint = hint


def _is_plain(function: Any) -> bool:
    """Whether it is a plain ``def`` without overrides."""
    return type(function) is type(_is_plain) and function.__dict__.keys().isdisjoint(
        ("__wrapped__", "__signature__", "_is_coroutine_mark", "_is_coroutine_marker")
    )


def signature_of(function: Any) -> Tuple[List[Given], Any]:
    """The parameters, and the return hint."""
    if _is_plain(function):
        return list(_read(function)), function.__annotations__.get("return", Missing)
    import inspect

    def known(value: Any) -> Any:
        return Missing if value is inspect.Parameter.empty else value

    signature = inspect.signature(function)
    given = [
        Given(one.name, int(one.kind), known(one.default), known(one.annotation)) for one in signature.parameters.values()
    ]
    return given, known(signature.return_annotation)


def _read(function: Any) -> Iterator[Given]:
    code = function.__code__
    hints = function.__annotations__
    defaults = function.__defaults__ or ()
    by_name: Dict[str, Any] = function.__kwdefaults__ or {}
    count, more = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    for place, name in enumerate(names[:count]):
        at = place - (count - len(defaults))
        kind = POSITIONAL_ONLY if place < code.co_posonlyargcount else USUAL
        yield Given(name, kind, defaults[at] if at >= 0 else Missing, hints.get(name, Missing))
    rest = count + more
    if code.co_flags & _VARARGS:
        yield Given(names[rest], STAR, Missing, hints.get(names[rest], Missing))
        rest += 1
    for name in names[count : count + more]:
        yield Given(name, KEYWORD_ONLY, by_name.get(name, Missing), hints.get(name, Missing))
    if code.co_flags & _VARKEYWORDS:
        yield Given(names[rest], TWO_STARS, Missing, hints.get(names[rest], Missing))


def doc_of(function: Any) -> Optional[str]:
    """The docstring."""
    if _is_plain(function):
        doc: Optional[str] = function.__doc__
        return doc
    import inspect

    return inspect.getdoc(function)


def innermost(function: Any) -> Any:
    """The function behind decorators and partial calls."""
    if _is_plain(function):
        return function
    import functools
    import inspect

    function = inspect.unwrap(function)
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.ismethod(function):
        return function.__func__
    return function if inspect.isfunction(function) else getattr(function.__class__, "__call__", function)


def is_generator(function: Any) -> bool:
    """Whether calling it returns a generator, of either kind."""
    code = getattr(innermost(function), "__code__", None)
    return code is not None and bool(code.co_flags & (_GENERATOR | _ASYNC_GENERATOR))


def is_async(function: Any) -> bool:
    """Whether calling it returns a coroutine."""
    if _is_plain(function):
        return bool(function.__code__.co_flags & _COROUTINE)
    import inspect

    return inspect.iscoroutinefunction(innermost(function)) or inspect.iscoroutinefunction(function)
