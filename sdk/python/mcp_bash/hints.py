"""Type hints as values, in any Python version.

Hints may be texts (``from __future__ import annotations``), may name classes that are defined later, and may
be written for a newer Python than the running one: ``int | None`` and ``list[int]`` work on 3.8 as texts.
"""

from __future__ import annotations

import sys
import types
import typing
from typing import Any, Dict, Optional, Tuple

# Type variables, and their values.
Variables = Dict[Any, Any]

_PROTOCOL: Any = typing.Protocol


def evaluate(hint: Any, namespace: Dict[str, Any], local: Optional[Dict[str, Any]] = None) -> Any:
    """The hint with all texts in it resolved. Raises Python's exception for an unknown name."""
    if isinstance(hint, typing.ForwardRef):  # a text in a TypedDict becomes this
        hint = hint.__forward_arg__
    holder = types.SimpleNamespace(__annotations__={"hint": hint})
    try:
        return _get_type_hints(holder, namespace, local)["hint"]
    except TypeError:
        if not isinstance(hint, str):
            raise
    from .older_spelling import in_older_spelling

    holder.__annotations__ = {"hint": eval(in_older_spelling(hint), {**namespace, "__mcp_typing": typing}, local)}
    return _get_type_hints(holder, namespace, local)["hint"]


def evaluate_all(hint: Any) -> Dict[str, Any]:
    """The hints of all fields of a class; of ``Page[int]`` with the values of its type variables."""
    owner: type = typing.get_origin(hint) or hint
    variables: Dict[Any, Variables] = {}
    _note_variables(hint, variables)
    hints: Dict[str, Any] = {}
    for base in reversed(owner.__mro__):
        module = sys.modules.get(base.__module__)
        namespace = dict(vars(module)) if module else {}
        for name, written in (base.__dict__.get("__annotations__") or _annotations(base)).items():
            evaluated = evaluate(written, namespace, {base.__name__: base, **_class_names(base)})
            hints[name] = substitute(evaluated, variables.get(base, {}))
    return hints


def _class_names(owner: type) -> Dict[str, Any]:
    names = {name: value for name, value in vars(owner).items() if isinstance(value, type)}
    # Those of `class Page[T]` are known only inside it.
    return {**{str(one): one for one in getattr(owner, "__type_params__", ())}, **names}


def _note_variables(hint: Any, found: Dict[Any, Variables]) -> None:
    """The values of the type variables of a class and of its bases."""
    owner = typing.get_origin(hint) or hint
    if not isinstance(owner, type) or owner in found:
        return
    own = found[owner] = variables_of(hint, getattr(owner, "__parameters__", ()))
    for base in owner.__dict__.get("__orig_bases__", owner.__bases__):
        _note_variables(substitute(base, own), found)


def variables_of(hint: Any, parameters: Any) -> Variables:
    """The type variables of a generic class or alias, with their values in ``Page[int]``."""
    return dict(zip(parameters, typing.get_args(hint)))


def substitute(hint: Any, variables: Variables) -> Any:
    """A hint with its type variables replaced."""
    if isinstance(hint, typing.TypeVar):
        return variables.get(hint, hint)
    parameters = getattr(hint, "__parameters__", ())
    # A generic class on its own has its own parameters, and `Generic[T]` names them.
    if not variables or not parameters or typing.get_origin(hint) in (None, typing.Generic, _PROTOCOL):
        return hint
    return hint[tuple(variables.get(one, one) for one in parameters)]


def _annotations(owner: type) -> Dict[str, Any]:
    # Python 3.14 creates them on demand.
    return {} if owner is object else dict(getattr(owner, "__annotations__", {})) if sys.version_info >= (3, 14) else {}


def _get_type_hints(holder: Any, namespace: Dict[str, Any], local: Optional[Dict[str, Any]]) -> Dict[str, Any]:
    if sys.version_info >= (3, 9):
        return typing.get_type_hints(holder, namespace, local, include_extras=True)
    # Before 3.9 only typing_extensions has Annotated; code that uses it has loaded it.
    extensions = sys.modules.get("typing_extensions")
    if extensions is not None:
        found: Dict[str, Any] = extensions.get_type_hints(holder, namespace, local, include_extras=True)
        return found
    return typing.get_type_hints(holder, namespace, local)


def is_alias(hint: Any) -> bool:
    """A name defined with ``type``, also with its parameters: ``Tree``, ``Tree[int]``."""
    return type(typing.get_origin(hint) or hint).__name__ == "TypeAliasType"


def meaning_of_alias(hint: Any) -> Any:
    alias: Any = typing.get_origin(hint) or hint
    return substitute(alias.__value__, variables_of(hint, alias.__type_params__))


def unwrap_annotated(hint: Any, through_aliases: bool = True) -> Tuple[Any, Tuple[Any, ...]]:
    """``Annotated[int, x]`` as ``int`` and its annotations; also through new types, and through aliases: a
    recursive one has no end there."""
    notes: Tuple[Any, ...] = ()
    while True:
        if hasattr(hint, "__metadata__") and hasattr(hint, "__origin__"):
            notes = tuple(hint.__metadata__) + notes
            hint = hint.__origin__
        elif hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        elif is_alias(hint) and through_aliases:
            hint = meaning_of_alias(hint)
        elif _named(hint, "Required", "NotRequired", "ReadOnly", "Final", "InitVar"):
            hint = typing.get_args(hint)[0] if typing.get_args(hint) else Any
        else:
            return hint, notes


def _named(hint: Any, *names: str) -> bool:
    origin = typing.get_origin(hint)
    return origin is not None and str(getattr(origin, "_name", "")) in names


def is_required(hint: Any, otherwise: bool) -> bool:
    """Whether a member of a TypedDict is required."""
    while True:
        if _named(hint, "Required"):
            return True
        if _named(hint, "NotRequired"):
            return False
        if hasattr(hint, "__metadata__"):
            hint = hint.__origin__
        elif _named(hint, "ReadOnly"):
            hint = typing.get_args(hint)[0]
        else:
            return otherwise


def is_union(hint: Any) -> bool:
    origin = typing.get_origin(hint)
    return origin is typing.Union or origin is getattr(types, "UnionType", typing.Union)


def spell(hint: Any) -> str:
    """The hint in source form, for messages."""
    if isinstance(hint, type) and not typing.get_args(hint):
        return hint.__qualname__
    return str(hint).replace("typing.", "")
