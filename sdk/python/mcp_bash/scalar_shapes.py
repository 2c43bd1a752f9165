"""Types whose JSON is a single value: numbers, texts, dates, paths, choices."""

from __future__ import annotations

import enum
import json
from typing import Any, Callable, Dict, Optional, Set, Tuple, Type

from .mismatch import Mismatch

Convert = Optional[Callable[[Any], Any]]
Found = Tuple[Dict[str, Any], Convert]


def _integer(value: Any) -> Any:
    """JSON Schema takes 3.0 for an integer, Python does not."""
    if value.__class__ is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise Mismatch("%s is not an integer" % _show(value))


def _number(value: Any) -> Any:
    if value.__class__ is float:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    raise Mismatch("%s is not a number" % _show(value))


def _reader(read: Callable[[str], Any], what: str) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        try:
            return read(value)
        except (ValueError, TypeError, ArithmeticError):
            raise Mismatch("%s is not %s" % (_show(value), what)) from None

    return convert


def _offset(text: str) -> str:
    """Before 3.11 ``Z`` is not read."""
    return text[:-1] + "+00:00" if text[-1:] in ("Z", "z") else text


def _bytes(text: str) -> bytes:
    import base64

    return base64.b64decode(text, validate=True)


# By name, so that none of these modules is loaded for a file that does not use it. The second is made from the type.
_SCALARS: Dict[str, Tuple[Dict[str, Any], Callable[[Any], Convert]]] = {
    "builtins.str": ({"type": "string"}, lambda _: None),
    "builtins.int": ({"type": "integer"}, lambda _: _integer),
    "builtins.float": ({"type": "number"}, lambda _: _number),
    "builtins.bool": ({"type": "boolean"}, lambda _: None),
    "builtins.bytes": ({"type": "string", "contentEncoding": "base64"}, lambda _: _reader(_bytes, "Base64")),
    "datetime.datetime": (
        {"type": "string", "format": "date-time"},
        lambda kind: _reader(lambda text: kind.fromisoformat(_offset(text)), "a date and time (2026-01-31T12:00:00Z)"),
    ),
    "datetime.date": (
        {"type": "string", "format": "date"},
        lambda kind: _reader(kind.fromisoformat, "a date (2026-01-31)"),
    ),
    "datetime.time": (
        {"type": "string", "format": "time"},
        lambda kind: _reader(lambda text: kind.fromisoformat(_offset(text)), "a time (12:00:00)"),
    ),
    "datetime.timedelta": (
        {"type": "number", "description": "In seconds"},
        lambda kind: _reader(lambda value: kind(seconds=value), "a number of seconds"),
    ),
    "uuid.UUID": ({"type": "string", "format": "uuid"}, lambda kind: _reader(kind, "a UUID")),
    "decimal.Decimal": (
        {"type": "string", "format": "decimal", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"},
        lambda kind: _reader(lambda value: kind(str(value)), "a decimal number (12.50)"),
    ),
    "pathlib.Path": ({"type": "string", "format": "path"}, lambda kind: _reader(kind, "a path")),
    "pathlib.PurePath": ({"type": "string", "format": "path"}, lambda kind: _reader(kind, "a path")),
}


def find(hint: Any) -> Optional[Found]:
    """The shape of a type that is one of these."""
    if not isinstance(hint, type):
        return None
    found = _SCALARS.get("%s.%s" % (hint.__module__.partition(".")[0], hint.__qualname__))
    return (dict(found[0]), found[1](hint)) if found else None


def literal(values: Tuple[Any, ...]) -> Found:
    """``Literal["a", "b"]``."""
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
            raise Mismatch("%s is not one of %s" % (_show(value), ", ".join(map(str, members))))
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


_JSON_TYPES: Dict[str, Any] = {
    "string": str,
    "integer": (int, float),
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}


def checked(schema: Dict[str, Any], convert: Convert) -> Callable[[Any], Any]:
    """A conversion that refuses values of another JSON type first: what a union needs to choose by."""
    name = str(schema.get("type", ""))
    wanted = _JSON_TYPES.get(name)

    def attempt(value: Any) -> Any:
        is_number = isinstance(value, bool) and name in ("integer", "number")
        if wanted is not None and (is_number or not isinstance(value, wanted)):
            raise Mismatch("%s is not of type %s" % (_show(value), name))
        if "enum" in schema and value not in schema["enum"]:
            raise Mismatch("%s is not one of %s" % (_show(value), ", ".join(map(str, schema["enum"]))))
        return value if convert is None else convert(value)

    return attempt


_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off", "")


def from_text(schema: Dict[str, Any], convert: Convert) -> Callable[[Any], Any]:
    """A conversion for places where every value is a text: arguments of prompts, variables of URIs, keys of objects."""

    def read(value: Any) -> Any:
        if isinstance(value, str):
            value = _read_text(value, schema)
        return value if convert is None else convert(value)

    return read


def _read_text(text: str, schema: Dict[str, Any]) -> Any:
    kind = schema.get("type")
    if "anyOf" in schema:
        return _read_any(text, schema["anyOf"])
    if kind == "integer":
        return _reader(int, "an integer")(text)
    if kind == "number":
        return _reader(float, "a number")(text)
    if kind == "boolean":
        if text.lower() not in _TRUE + _FALSE:
            raise Mismatch("%s is neither true nor false" % _show(text))
        return text.lower() in _TRUE
    if kind == "array" and not text.lstrip().startswith("["):
        return [_read_text(part.strip(), schema.get("items", {})) for part in text.split(",")] if text else []
    if kind in ("array", "object") or "$ref" in schema:
        return _reader(json.loads, "JSON")(text)
    return text


def _read_any(text: str, schemas: Any) -> Any:
    for schema in sorted(schemas, key=lambda one: one.get("type") == "string"):
        if schema.get("type") == "null":
            continue
        try:
            return _read_text(text, schema)
        except ValueError:
            continue
    return text


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "…"
