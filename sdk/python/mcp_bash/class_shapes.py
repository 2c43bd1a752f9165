"""Classes with fields: dataclasses, TypedDicts, NamedTuples, and models of pydantic if it is installed."""

from __future__ import annotations

import sys
import typing
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

from . import pydantic_shapes
from .docstrings import parse
from .hints import evaluate_all, is_required, substitute, variables_of
from .mismatch import Mismatch, inside
from .nullable import with_null

if TYPE_CHECKING:
    from .scalar_shapes import Shape
    from .shapes import Shapes

Convert = Optional[Callable[[Any], Any]]
Description = Tuple[Dict[str, Any], Convert, bool]


def is_class_with_fields(hint: Any) -> bool:
    return pydantic_shapes.is_model(hint) or _is_dataclass(hint) or _is_typed_dict(hint) or _is_named_tuple(hint)


def describe(hint: Any, shapes: Shapes) -> Description:
    """The schema of a class, its conversion from JSON, and whether it contains a NamedTuple."""
    if pydantic_shapes.is_model(hint):
        schema, convert = pydantic_shapes.describe(hint, shapes.output, shapes.definitions)
        return schema, convert, False
    owner: type = typing.get_origin(hint) or hint
    if _is_typed_dict(owner):
        return _typed_dict(hint, owner, shapes)
    fields = _dataclass_fields(owner) if _is_dataclass(owner) else _named_tuple_fields(owner)
    return _object(hint, owner, fields, shapes)


def _is_dataclass(hint: Any) -> bool:
    return isinstance(hint, type) and hasattr(hint, "__dataclass_fields__")


def _is_typed_dict(hint: Any) -> bool:
    return _is_below(hint, dict) and hasattr(hint, "__total__")


def _is_named_tuple(hint: Any) -> bool:
    return _is_below(hint, tuple) and hasattr(hint, "_fields")


def _is_below(hint: Any, base: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, base)


class _FieldOfClass:
    """A field, and its default if that can be expressed."""

    __slots__ = ("name", "required", "default", "description")

    def __init__(self, name: str, required: bool, default: Any = None, description: Optional[str] = None) -> None:
        self.name = name
        self.required = required
        self.default = default
        self.description = description


def _dataclass_fields(owner: Any) -> List[_FieldOfClass]:
    dataclasses = sys.modules["dataclasses"]
    missing = dataclasses.MISSING
    fields: List[_FieldOfClass] = []
    for field in dataclasses.fields(owner):
        if not field.init:
            continue
        required = field.default is missing and field.default_factory is missing
        default = None if field.default is missing else field.default
        fields.append(_FieldOfClass(field.name, required, default, field.metadata.get("description")))
    return fields


def _named_tuple_fields(owner: Any) -> List[_FieldOfClass]:
    defaults = owner._field_defaults
    return [_FieldOfClass(name, name not in defaults, defaults.get(name)) for name in owner._fields]


def _object(hint: Any, owner: Any, fields: List[_FieldOfClass], shapes: Shapes) -> Description:
    hints = evaluate_all(hint)
    known = {field.name: shapes.of(hints.get(field.name, Any)) for field in fields}
    described = _descriptions(owner)
    properties: Dict[str, Any] = {}
    for field in fields:
        schema = dict(known[field.name].schema)
        words = field.description or described.get(field.name)
        if words and "$ref" not in schema:
            schema.setdefault("description", words)
        if isinstance(field.default, (str, int, float, bool)) and not shapes.output:
            schema.setdefault("default", _plain_default(field.default))
        properties[field.name] = schema if shapes.output else with_null(schema)
    whole = _schema(properties, [field.name for field in fields if field.required], shapes.output)
    named = _is_named_tuple(owner) or any(shape.named_tuple for shape in known.values())
    return whole, _maker(owner, known), named


def _plain_default(value: Any) -> Any:
    return getattr(value, "value", value)


def _maker(owner: Any, known: Dict[str, Shape]) -> Callable[[Any], Any]:
    def convert(given: Any) -> Any:
        unknown = [name for name in given if name not in known]
        if unknown:
            raise Mismatch("there is no member `%s`; known are %s" % (unknown[0], ", ".join(known)))
        return owner(**_convert_members(given, known))

    return convert


def _typed_dict(whole: Any, owner: Any, shapes: Shapes) -> Description:
    hints = _evaluate_all_typed_dict(whole)
    known = {name: shapes.of(hint) for name, hint in hints.items()}
    described = _descriptions(owner)
    properties: Dict[str, Any] = {}
    for name, shape in known.items():
        schema = dict(shape.schema)
        if name in described and "$ref" not in shape.schema:
            schema.setdefault("description", described[name])
        properties[name] = schema if shapes.output else with_null(schema)
    # Python 3.8 only knows this for the class as a whole.
    keys = getattr(owner, "__required_keys__", frozenset(hints if owner.__total__ else ()))
    required = [name for name, hint in hints.items() if is_required(hint, name in keys)]

    def convert(given: Any) -> Any:
        return _convert_members(given, known)

    needed = any(shape.convert is not None for shape in known.values())
    named = any(shape.named_tuple for shape in known.values())
    return _schema(properties, required, shapes.output), convert if needed else None, named


def _evaluate_all_typed_dict(whole: Any) -> Dict[str, Any]:
    """The hints of a TypedDict, in source order. Its bases are not among its ancestors in Python."""
    owner: Any = typing.get_origin(whole) or whole
    variables = variables_of(whole, getattr(owner, "__parameters__", ()))
    hints: Dict[str, Any] = {}
    generic: Dict[str, Any] = {}
    for base in getattr(owner, "__orig_bases__", ()):
        if _is_typed_dict(typing.get_origin(base) or base):
            inherited = _evaluate_all_typed_dict(substitute(base, variables))
            hints.update(inherited)
            if typing.get_args(base):
                generic.update(inherited)
    hints.update(evaluate_all(whole))
    # The class also has the hints of its bases, without the values of their type variables.
    hints.update(generic)
    return hints


def _convert_members(given: Any, known: Dict[str, Shape]) -> Dict[str, Any]:
    members: Dict[str, Any] = {}
    for name, value in given.items():
        convert = known[name].convert if name in known else None
        members[name] = value if convert is None else inside(name, convert, value)
    return members


def _schema(properties: Dict[str, Any], required: List[str], output: bool) -> Dict[str, Any]:
    schema: Dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if not output:
        schema["additionalProperties"] = False
    return schema


def _descriptions(owner: Any) -> Dict[str, str]:
    words = owner.__dict__.get("__doc__") or ""
    # A dataclass or a NamedTuple without a docstring has its signature as one.
    return {} if words.startswith(owner.__name__ + "(") else parse(words)[1]
