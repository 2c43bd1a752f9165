"""Types whose JSON is a single value: numbers, texts, dates, paths, choices."""

from __future__ import annotations

from .mismatch import Mismatch, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    import enum
    from typing import Any, Callable, Dict, Optional, Set, Tuple, Type

    Convert = Optional[Callable[[Any], Any]]
    Found = Tuple[Dict[str, Any], Convert]


class Shape:
    """A schema, and the conversion from JSON to the type."""

    __slots__ = ("schema", "convert", "named_tuple", "is_exactly")

    def __init__(
        self, schema: Dict[str, Any], convert: Convert = None, named_tuple: bool = False, is_exactly: Optional[type] = None
    ) -> None:
        self.schema = schema
        self.convert = convert
        # JSON has no names for the members of a tuple: results that contain one are made into objects first.
        self.named_tuple = named_tuple
        # The type, if the schema has nothing else.
        self.is_exactly = is_exactly


def _integer(value: Any) -> Any:
    """JSON Schema accepts 3.0 as an integer, Python does not."""
    if value.__class__ is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise Mismatch("%s is not an integer" % show(value))


def _number(value: Any) -> Any:
    if value.__class__ is float:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    raise Mismatch("%s is not a number" % show(value))


def reader(read: Callable[[str], Any], what: str) -> Callable[[Any], Any]:
    """A conversion by a function that raises if it cannot parse the value."""

    def convert(value: Any) -> Any:
        try:
            return read(value)
        except (ValueError, TypeError, ArithmeticError):
            raise Mismatch("%s is not %s" % (show(value), what)) from None

    return convert


def _offset(text: str) -> str:
    """Before 3.11 ``Z`` is not supported."""
    return text[:-1] + "+00:00" if text[-1:] in ("Z", "z") else text


def _bytes(text: str) -> bytes:
    import base64

    return base64.b64decode(text, validate=True)


def _finite(value: Any) -> Any:
    if not value.is_finite():
        raise ValueError(value)
    return value


# By name, so that none of these modules is loaded for a file that does not use it. The second is made from
# the type.
_SCALARS: Dict[str, Tuple[Dict[str, Any], Callable[[Any], Convert]]] = {
    "builtins.str": ({"type": "string"}, lambda _: None),
    "builtins.int": ({"type": "integer"}, lambda _: _integer),
    "builtins.float": ({"type": "number"}, lambda _: _number),
    "builtins.bool": ({"type": "boolean"}, lambda _: None),
    "builtins.bytes": ({"type": "string", "contentEncoding": "base64"}, lambda _: reader(_bytes, "Base64")),
    "datetime.datetime": (
        {"type": "string", "format": "date-time"},
        lambda kind: reader(lambda text: kind.fromisoformat(_offset(text)), "a date and time (2026-01-31T12:00:00Z)"),
    ),
    "datetime.date": (
        {"type": "string", "format": "date"},
        lambda kind: reader(kind.fromisoformat, "a date (2026-01-31)"),
    ),
    "datetime.time": (
        {"type": "string", "format": "time"},
        lambda kind: reader(lambda text: kind.fromisoformat(_offset(text)), "a time (12:00:00)"),
    ),
    "datetime.timedelta": (
        {"type": "number", "description": "In seconds"},
        lambda kind: reader(lambda value: kind(seconds=value), "a number of seconds"),
    ),
    "uuid.UUID": ({"type": "string", "format": "uuid"}, lambda kind: reader(kind, "a UUID")),
    "decimal.Decimal": (
        {"type": "string", "format": "decimal", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"},
        lambda kind: reader(lambda value: _finite(kind(str(value))), "a decimal number (12.50)"),
    ),
    "pathlib.Path": ({"type": "string", "format": "path"}, lambda kind: reader(kind, "a path")),
    "pathlib.PurePath": ({"type": "string", "format": "path"}, lambda kind: reader(kind, "a path")),
}


def plain_shape(hint: Any) -> Optional[Shape]:
    """The shape of the four most common types."""
    if hint is int or hint is str or hint is bool or hint is float:
        schema, convert = _SCALARS["builtins." + hint.__name__]
        return Shape(dict(schema), convert(hint), is_exactly=hint)
    return None


def find(hint: Any) -> Optional[Found]:
    """The shape of a type that is one of these."""
    if not isinstance(hint, type):
        return None
    found = _SCALARS.get("%s.%s" % (hint.__module__.partition(".")[0], hint.__qualname__))
    return (dict(found[0]), found[1](hint)) if found else None


def literal(values: Tuple[Any, ...]) -> Found:
    """``Literal["a", "b"]``."""
    import enum

    plain = [value.value if isinstance(value, enum.Enum) else value for value in values]
    by_json = dict(zip(plain, values))
    special = any(isinstance(value, enum.Enum) for value in values)
    return _choice(plain), (lambda value: by_json.get(value, value)) if special else None


def enumeration(choices: Type[enum.Enum]) -> Found:
    """An Enum by its values, or by its names where JSON cannot express the values."""
    if all(isinstance(member.value, (str, int, float)) for member in choices):
        members = {member.value: member for member in choices}
    else:
        members = {member.name: member for member in choices}

    def convert(value: Any) -> Any:
        if value not in members:
            raise Mismatch("%s is not one of %s" % (show(value), ", ".join(map(str, members))))
        return members[value]

    return _choice(list(members)), convert


def _choice(values: Any) -> Dict[str, Any]:
    kinds: Set[Any] = {type(value) for value in values}
    schema: Dict[str, Any] = {}
    if len(kinds) == 1:
        name = {str: "string", bool: "boolean", int: "integer", float: "number"}.get(kinds.pop())
        if name:
            schema["type"] = name
    schema["enum"] = list(values)
    return schema
