"""Encodes values as JSON, by one rule for all results: values that JSON cannot express are written in their
usual notation."""

from __future__ import annotations

from .frame_limits import LONGEST_NUMBER
from .json_core import codec
from .json_types import is_list, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional


class NotJson(ValueError):
    """A value that cannot be encoded as JSON, and its place in the result."""


class Inexpressible(ValueError):
    """The value of an object whose type can be written differently."""


def plain(value: Any) -> Any:
    """Replaces one value that JSON cannot express by one that it can. Raises TypeError."""
    kind = value.__class__
    known = _BY_NAME.get("%s.%s" % (kind.__module__.partition(".")[0], kind.__name__))
    if known is not None:
        return known(value)
    for base in kind.__mro__[1:-1]:
        known = _BY_NAME.get("%s.%s" % (base.__module__.partition(".")[0], base.__name__))
        if known is not None:
            return known(value)
    if hasattr(kind, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in kind.__dataclass_fields__ if hasattr(value, name)}
    if hasattr(kind, "model_dump") or hasattr(kind, "parse_obj"):
        from .pydantic_shapes import plain as plain_model

        return plain_model(value)
    from .recognising import plain_data

    return plain_data(value)


def _enum(value: Any) -> Any:
    return value.value if isinstance(value.value, (str, int, float)) else value.name


def _bytes(value: Any) -> str:
    from .contents import base64_text

    return base64_text(bytes(value))


# Longer numbers are not written out.
_MOST_DIGITS = 10000


def _decimal(value: Any) -> str:
    """In digits only: schemas and most parsers do not accept an exponent."""
    if not value.is_finite():
        raise Inexpressible("%s, which JSON cannot express" % value)
    if abs(value.as_tuple().exponent) > _MOST_DIGITS:
        raise Inexpressible("%s, which has too many digits to be written out" % value)
    return format(value, "f")


# By name, so that none of these modules has to be loaded.
_BY_NAME: "dict[str, Callable[[Any], Any]]" = {
    "builtins.set": list,
    "builtins.frozenset": list,
    "builtins.bytes": _bytes,
    "builtins.bytearray": _bytes,
    "enum.Enum": _enum,
    "datetime.datetime": lambda value: value.isoformat(),
    "datetime.date": lambda value: value.isoformat(),
    "datetime.time": lambda value: value.isoformat(),
    "datetime.timedelta": lambda value: value.total_seconds(),
    "decimal.Decimal": _decimal,
    "_pydecimal.Decimal": _decimal,
    "uuid.UUID": str,
    "pathlib.PurePath": str,
    "collections.deque": list,
    "builtins.mappingproxy": dict,
    "builtins.dict_keys": list,
    "builtins.dict_values": list,
    "collections.UserDict": lambda value: value.data,
    "collections.UserList": lambda value: value.data,
}

# `quote` turns a text into JSON, with its quotes.
_encode, decode, quote = codec(plain)


def encode(value: Any) -> str:
    """Compact JSON. Raises `NotJson`."""
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError, OverflowError) as problem:
        raise NotJson(_fault(value) or str(problem)) from None


def plain_or_none(value: Any) -> Any:
    """A default value as JSON, or None if it cannot be expressed."""
    try:
        return decode(_encode(value))
    except Exception:
        return None


def to_bytes(text: str) -> bytes:
    """UTF-8. A lone surrogate, as in file names that are not text, cannot be sent and becomes a question
    mark."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def name_tuples(value: Any) -> Any:
    """The value with each NamedTuple as an object: JSON would make it an array without names."""
    kind = value.__class__
    if is_object(value):
        return {key: name_tuples(held) for key, held in value.items()}
    if hasattr(kind, "_asdict"):
        return name_tuples(value._asdict())
    if kind is set or kind is frozenset:
        value = list(value)
    if is_list(value):
        return [name_tuples(held) for held in value]
    if hasattr(kind, "__dataclass_fields__"):
        return name_tuples(plain(value))
    return value


def _fault(value: Any, path: str = "", above: "tuple[int, ...]" = ()) -> Optional[str]:
    """The part that cannot be encoded, and its place. Only searched after encoding has failed."""
    place = "the result" + (" at %s" % path if path else "")
    if isinstance(value, int) and value.bit_length() > 4 * LONGEST_NUMBER:
        return "%s is a number of more than %d digits; return it as a text" % (place, LONGEST_NUMBER)
    if value is None or isinstance(value, (str, bool, int)):
        return None
    if isinstance(value, float):
        return None if value == value and abs(value) != float("inf") else "%s is %r, which JSON cannot express" % (place, value)
    if id(value) in above:
        return "%s holds itself" % place
    if len(above) > 200:
        return "%s is nested too deeply" % place
    above = (*above, id(value))
    if is_object(value):
        for key, held in value.items():
            name: Any = key
            if name is not None and not isinstance(name, (str, int, float)):
                return "%s has a key of type %s; keys must be texts" % (place, type(name).__name__)
            found = _fault(held, "%s.%s" % (path, key) if path else str(key), above)
            if found:
                return found
        return None
    if is_list(value):
        for number, held in enumerate(value):
            found = _fault(held, "%s[%d]" % (path, number), above)
            if found:
                return found
        return None
    try:
        return _fault(plain(value), path, above)
    except Inexpressible as problem:
        return "%s is %s" % (place, problem)
    except TypeError:
        return "%s is of type %s, which JSON cannot express; return a dict, a dataclass or a text" % (
            place,
            type(value).__name__,
        )
