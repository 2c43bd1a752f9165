"""Whether a JSON value matches a schema. The server checks the arguments of tools; this checks the rest: the
texts in prompts and URIs, and which member of a union a value is.

It supports the JSON Schema keywords that type hints and `Field` produce. The following conversion checks the
rest.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Callable, Dict, Iterator, List, Optional

from .json_types import is_list, is_object
from .mismatch import Mismatch, inside, show

_TYPES: Dict[str, Any] = {
    "string": str,
    "integer": (int, float),
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "array": (list, tuple),
    "object": dict,
}
_DOLLAR = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(\$)", re.DOTALL)

Convert = Optional[Callable[[Any], Any]]
Definitions = Dict[str, Dict[str, Any]]


def checked(schema: Dict[str, Any], convert: Convert, definitions: Definitions) -> Callable[[Any], Any]:
    """A conversion that refuses what does not fit the schema first."""

    def attempt(value: Any) -> Any:
        check(value, schema, definitions)
        return value if convert is None else convert(value)

    return attempt


def check(value: Any, schema: Dict[str, Any], definitions: Definitions) -> None:
    """Raises `Mismatch` with the problem, the allowed values, and the place."""
    target = definitions.get(str(schema.get("$ref", "")).rpartition("/")[2])
    if target is not None:
        check(value, target, definitions)
    _check_type(value, schema.get("type"))
    if "enum" in schema and not any(_same(value, choice) for choice in schema["enum"]):
        raise Mismatch("%s is not one of %s" % (show(value), ", ".join(map(str, schema["enum"]))))
    if "const" in schema and not _same(value, schema["const"]):
        raise Mismatch("%s is not %s" % (show(value), show(schema["const"])))
    if isinstance(value, str):
        _check_text(value, schema)
    elif _is_number(value):
        _check_number(value, schema)
    elif is_list(value):
        _check_list(value, schema, definitions)
    elif is_object(value):
        _check_object(value, schema, definitions)
    _check_combined(value, schema, definitions)


def fits(value: Any, schema: Dict[str, Any], definitions: Definitions) -> bool:
    try:
        check(value, schema, definitions)
    except Mismatch:
        return False
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _same(value: Any, other: Any) -> bool:
    """Python treats True as 1, JSON does not."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _check_type(value: Any, named: Any) -> None:
    names: List[str] = list(named) if is_list(named) else [named] if isinstance(named, str) else []
    if names and not any(_is_of_type(value, name) for name in names):
        raise Mismatch("%s is not of type %s" % (show(value), " or ".join(names)))


def _is_of_type(value: Any, name: str) -> bool:
    wanted = _TYPES.get(name)
    if wanted is None:
        return True
    if isinstance(value, bool) and name != "boolean":
        return False
    return isinstance(value, wanted) and (name != "integer" or value == value // 1)


def _check_text(value: str, schema: Dict[str, Any]) -> None:
    _check_size(len(value), schema, "Length", "characters")
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return
    try:
        found = compiled(pattern).search(value)
    except re.error:  # only of a tool: the server checks its arguments
        return
    if found is None:
        raise Mismatch("%s does not match the pattern %s" % (show(value), pattern))


@lru_cache(maxsize=None)
def compiled(pattern: str) -> "re.Pattern[str]":
    """A pattern with the semantics of JSON Schema: `$` is the end, never before a line break, and `\\d` is
    one of ten digits."""
    return re.compile(_DOLLAR.sub(lambda found: r"\Z" if found.group(1) else found.group(), pattern), re.ASCII)


def patterns(schema: Any) -> Iterator[str]:
    """All patterns in a schema."""
    if is_object(schema):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        for part in schema.values():
            yield from patterns(part)
    elif is_list(schema):
        for part in schema:
            yield from patterns(part)


def _check_number(value: Any, schema: Dict[str, Any]) -> None:
    if value != value or value in (float("inf"), float("-inf")):
        raise Mismatch("%s is not a number" % show(value))
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    step = schema.get("multipleOf")
    if _is_number(least) and value < least:
        raise Mismatch("%s is less than %s" % (show(value), least))
    if _is_number(most) and value > most:
        raise Mismatch("%s is more than %s" % (show(value), most))
    if _is_number(above) and value <= above:
        raise Mismatch("%s is not more than %s" % (show(value), above))
    if _is_number(below) and value >= below:
        raise Mismatch("%s is not less than %s" % (show(value), below))
    if _is_number(step) and step and not _is_multiple(value, step):
        raise Mismatch("%s is no multiple of %s" % (show(value), step))


def _is_multiple(value: Any, step: Any) -> bool:
    """0.3 is a multiple of 0.1, though not in binary floating point."""
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    times = value / step
    return bool(abs(times - round(times)) < 1e-9)


def _check_size(size: int, schema: Dict[str, Any], word: str, what: str) -> None:
    least, most = schema.get("min" + word), schema.get("max" + word)
    if isinstance(least, int) and size < least:
        raise Mismatch("at least %d %s are needed, %d were given" % (least, what, size))
    if isinstance(most, int) and size > most:
        raise Mismatch("at most %d %s are allowed, %d were given" % (most, what, size))


def _check_list(value: List[Any], schema: Dict[str, Any], definitions: Definitions) -> None:
    _check_size(len(value), schema, "Items", "values")
    items = schema.get("items")
    if is_object(items) and items:
        check_item = checked(items, None, definitions)
        for number, held in enumerate(value):
            inside(number, check_item, held)
    if schema.get("uniqueItems") and len({json.dumps(held, sort_keys=True) for held in value}) < len(value):
        raise Mismatch("%s has the same value twice" % show(value))


def _check_object(value: Dict[str, Any], schema: Dict[str, Any], definitions: Definitions) -> None:
    _check_size(len(value), schema, "Properties", "members")
    known: Dict[str, Any] = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    for name in schema.get("required") or ():
        if name not in value:
            raise Mismatch("the member `%s` is missing" % name)
    for name, held in value.items():
        expected = known.get(name, others)
        if expected is False and "patternProperties" not in schema:
            raise Mismatch("there is no member `%s`; known are %s" % (name, ", ".join(known)))
        if is_object(expected):
            inside(name, checked(expected, None, definitions), held)


def _check_combined(value: Any, schema: Dict[str, Any], definitions: Definitions) -> None:
    for part in schema.get("allOf") or ():
        check(value, part, definitions)
    if is_object(schema.get("not")) and fits(value, schema["not"], definitions):
        raise Mismatch("%s is not allowed" % show(value))
    choices: List[Any] = schema.get("anyOf") or []
    if choices:
        first_that_fits([checked(choice, None, definitions) for choice in choices])(value)
    exclusive: List[Any] = schema.get("oneOf") or []
    if exclusive:
        first_that_fits([checked(choice, None, definitions) for choice in exclusive])(value)
        if sum(fits(value, choice, definitions) for choice in exclusive) > 1:
            raise Mismatch("%s fits more than one of its types" % show(value))


def first_that_fits(attempts: List[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """The first of several conversions that accepts the value."""

    def convert(value: Any) -> Any:
        problems: List[str] = []
        for attempt in attempts:
            try:
                return attempt(value)
            except ValueError as problem:
                problems.append(str(problem))
        # The message need not mention that the value could also be null.
        told = [problem for problem in problems if not problem.endswith("is not of type null")] or problems
        raise Mismatch("; or ".join(dict.fromkeys(told)))

    return convert
