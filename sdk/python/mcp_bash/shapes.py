"""Type hints in JSON: the schema for clients, and the conversion of a JSON value to that type.

Both are in one place, so that they cannot disagree. A `Shape` whose ``convert`` is None accepts values
unchanged.
"""

from __future__ import annotations

import collections.abc
import enum
import typing
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import class_shapes, scalar_shapes
from .hints import is_alias, is_union, meaning_of_alias, spell, unwrap_annotated
from .mismatch import Mismatch, inside
from .notes import apply_notes, whole_schema
from .nullable import choices_of
from .scalar_shapes import Shape
from .schema_check import Convert, checked, first_that_fits
from .text_reading import from_text

_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection, collections.abc.MutableSequence)
_SETS = (set, frozenset, collections.abc.Set, collections.abc.MutableSet)
_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping, collections.OrderedDict, collections.defaultdict)
_EMPTY = (int, float, str, bool, bytes, list, tuple, set, frozenset, dict)
_REMEDY = (
    "use a type that JSON has words for (int, float, bool, str, list, dict, Literal, an Enum, a dataclass, a TypedDict), "
    "or Annotated[…, Field(schema={…})]"
)


class Undescribable(Exception):
    """A type without a schema: which one, and what to write instead."""

    def __init__(self, problem: str, remedy: str = _REMEDY) -> None:
        super().__init__("%s; %s" % (problem, remedy))


class Shapes:
    """Makes shapes for one schema. Recursive classes are put into ``definitions`` (``$defs``) and referenced;
    all others are inlined, since not every model receives schemas with references."""

    def __init__(self, output: bool = False, definitions: Optional[Dict[str, Dict[str, Any]]] = None) -> None:
        self.output = output
        self.definitions: Dict[str, Dict[str, Any]] = {} if definitions is None else definitions
        self.converters: Dict[Any, Convert] = {}
        self._names: Dict[Any, str] = {}
        self._open: List[Any] = []

    def of(self, hint: Any) -> Shape:
        """The shape of a hint that has been evaluated."""
        base, notes = unwrap_annotated(hint, through_aliases=False)
        whole = whole_schema(notes)
        if whole is not None:
            return Shape(apply_notes(dict(whole), notes))
        shape = self._of_base(base)
        if notes:
            shape = Shape(apply_notes(dict(shape.schema), notes), shape.convert, shape.named_tuple)
        return shape

    def _of_base(self, hint: Any) -> Shape:
        if is_alias(hint):
            return self._alias(hint)
        if hint is Any or hint is object:
            return Shape({})
        if hint is None or hint is type(None):
            return Shape({"type": "null"})
        scalar = scalar_shapes.find(hint)
        if scalar is not None:
            return Shape(*scalar)
        if is_union(hint):
            return self._union(typing.get_args(hint))
        if isinstance(hint, typing.TypeVar):
            return self.of(hint.__bound__) if hint.__bound__ is not None else Shape({})
        origin = typing.get_origin(hint) or hint
        if origin is typing.Literal or str(origin).endswith(".Literal"):
            return Shape(*scalar_shapes.literal(typing.get_args(hint)))
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return Shape(*scalar_shapes.enumeration(hint))
        if class_shapes.is_class_with_fields(origin):
            return self._class(hint)
        return self._container(hint, origin)

    def _container(self, hint: Any, origin: Any) -> Shape:
        inner = typing.get_args(hint)
        if origin is tuple:
            return self._tuple(inner)
        if origin in _LISTS or origin in _SETS:
            return self._list(inner[0] if inner else Any, origin)
        if origin in _DICTS:
            return self._dict(inner or (Any, Any), origin)
        raise Undescribable("%s cannot be described" % spell(hint))

    def _union(self, hints: Tuple[Any, ...]) -> Shape:
        shapes = [self.of(hint) for hint in hints]
        schema = choices_of([shape.schema for shape in shapes])
        named = any(shape.named_tuple for shape in shapes)
        if all(shape.convert is None for shape in shapes):
            return Shape(schema, None, named)
        return Shape(schema, first_that_fits([self._checked(shape) for shape in shapes]), named)

    def _checked(self, shape: Shape) -> Callable[[Any], Any]:
        return checked(shape.schema, shape.convert, self.definitions)

    def _list(self, inner: Any, origin: Any) -> Shape:
        item = self.of(inner)
        schema: Dict[str, Any] = {"type": "array", "items": item.schema}
        make = _maker_of(origin)
        if make is not list:
            schema["uniqueItems"] = True
        if item.convert is None:
            return Shape(schema, None if make is list else make, item.named_tuple)
        convert = item.convert

        def convert_all(values: Any) -> Any:
            return make(inside(number, convert, value) for number, value in enumerate(values))

        return Shape(schema, convert_all, item.named_tuple)

    def _tuple(self, inner: Tuple[Any, ...]) -> Shape:
        if not inner:
            return Shape({"type": "array", "items": {}}, tuple)
        if len(inner) == 2 and inner[1] is Ellipsis:
            many = self._list(inner[0], list)
            convert_list = many.convert
            return Shape(many.schema, (lambda v: tuple(convert_list(v))) if convert_list else tuple, many.named_tuple)
        shapes = [self.of(hint) for hint in inner]
        kinds: List[Dict[str, Any]] = []
        for shape in shapes:
            if shape.schema not in kinds:
                kinds.append(shape.schema)
        # `prefixItems` would be exact, but not every model receives schemas with it; the positions are
        # checked here.
        schema: Dict[str, Any] = {
            "type": "array",
            "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds},
            "minItems": len(shapes),
            "maxItems": len(shapes),
        }
        return Shape(schema, _tuple_of([self._checked(shape) for shape in shapes]), any(shape.named_tuple for shape in shapes))

    def _dict(self, inner: Tuple[Any, ...], origin: Any) -> Shape:
        key, value = self.of(inner[0]), self.of(inner[1])
        schema: Dict[str, Any] = {"type": "object"}
        if value.schema:
            schema["additionalProperties"] = value.schema
        make = _dict_maker_of(origin, inner[1])
        # Constraints of the keys are checked here: clients and the server know only those of the values.
        takes_any_name = key.convert is None and set(key.schema) <= {"type", "description", "title"}
        if takes_any_name and value.convert is None:
            return Shape(schema, None if make is dict else make, value.named_tuple)
        key_convert = from_text(key.schema, key.convert, self.definitions)
        value_convert = value.convert

        def convert(given: Any) -> Any:
            return make(
                (inside(name, key_convert, name), inside(name, value_convert, held) if value_convert else held)
                for name, held in given.items()
            )

        return Shape(schema, convert, value.named_tuple)

    def _class(self, hint: Any) -> Shape:
        return self._once(hint, lambda: Shape(*class_shapes.describe(hint, self)))

    def _alias(self, hint: Any) -> Shape:
        """``type Tree = dict[str, Tree] | int``, or one with parameters."""
        shape = self._once(hint, lambda: self.of(meaning_of_alias(hint)))
        name = self._name_of(hint)
        reference = {"$ref": "#/$defs/" + name}
        meant = self.definitions.get(name, {})
        if hint not in self._open and (meant == reference or reference in meant.get("anyOf", ())):
            remedy = "let it hold itself inside of something: `type %s = list[%s] | int`" % (name, name)
            raise Undescribable("%s means itself" % spell(hint), remedy)
        return shape

    def _once(self, hint: Any, describe: Callable[[], Shape]) -> Shape:
        """A type that may be recursive. While it is being described, a second occurrence is a reference."""
        name = self._name_of(hint)
        reference = {"$ref": "#/$defs/" + name}
        if hint in self._open or name in self.definitions:
            self.definitions.setdefault(name, {})
            return Shape(reference, lambda value: self._later(hint, value))
        self._open.append(hint)
        try:
            shape = describe()
        finally:
            self._open.pop()
        self.converters[hint] = shape.convert
        # A recursive model of pydantic has put its own definition there, and is already a reference.
        if name not in self.definitions or "$ref" in shape.schema:
            return shape
        self.definitions[name] = shape.schema
        return Shape(reference, shape.convert, shape.named_tuple)

    def _later(self, hint: Any, value: Any) -> Any:
        convert = self.converters[hint]
        return value if convert is None else convert(value)

    def _name_of(self, hint: Any) -> str:
        if hint not in self._names:
            name = spell(hint).rpartition(".")[2].strip("]").replace("[", "_")
            taken = self._names.values()
            self._names[hint] = name if name not in taken else "%s_%d" % (name, len(self._names) + 1)
        return self._names[hint]


def _maker_of(origin: Any) -> Callable[[Any], Any]:
    if origin is frozenset:
        return frozenset
    return set if origin in _SETS else list


def _dict_maker_of(origin: Any, value: Any) -> Callable[[Any], Any]:
    if origin is collections.OrderedDict:
        return collections.OrderedDict
    if origin is not collections.defaultdict:
        return dict
    kind = typing.get_origin(value) or value
    # A missing value is the empty value of the type, if it has one.
    empty: Any = kind if kind in _EMPTY else None
    return lambda held: collections.defaultdict(empty, held)


def _tuple_of(members: List[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def convert(values: Any) -> Any:
        if len(values) != len(members):
            raise Mismatch("%d values are needed, %d were given" % (len(members), len(values)))
        return tuple(inside(at, member, value) for at, (member, value) in enumerate(zip(members, values)))

    return convert
