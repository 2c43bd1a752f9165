"""A form for the user, from the function's question: a type, a model, names with types, or a JSON Schema."""

from __future__ import annotations

from typing import Any, Dict, Optional

from .errors import CannotAsk
from .json_types import is_object
from .nullable import without_null
from .schema_check import Convert, check
from .schema_roots import is_object_schema, root_schema
from .shapes import Shapes

_ALONE = "value"


class Form:
    """The schema to send, and the conversion of the answer for the function."""

    def __init__(self, form: Any) -> None:
        self._single = False
        self._convert: Convert = None
        self.schema: Dict[str, Any]
        self._answer: Dict[str, Any]
        if is_object(form) and isinstance(form.get("type"), str):
            self.schema = self._answer = form
            return
        self._answer = self._of_names(form) if is_object(form) else self._of_type(form)
        # Forms have no null: nullable fields can be left empty. An answer may still contain null.
        fields = {name: without_null(field) for name, field in self._answer["properties"].items()}
        self.schema = {**self._answer, "properties": fields}

    def _of_type(self, form: Any) -> Dict[str, Any]:
        shapes = Shapes()
        shape = shapes.of(form)
        self._convert = shape.convert
        if is_object_schema(shape.schema, shapes.definitions):
            schema = root_schema(shape.schema, shapes.definitions)
        else:
            self._single = True
            alone = {"type": "object", "properties": {_ALONE: shape.schema}, "required": [_ALONE]}
            schema = root_schema(alone, shapes.definitions)
        schema.pop("additionalProperties", None)
        return schema

    def _of_names(self, names: Dict[str, Any]) -> Dict[str, Any]:
        shapes = Shapes()
        known = {name: shapes.of(hint) for name, hint in names.items()}

        def convert(given: Any) -> Any:
            read: Dict[str, Any] = {}
            for name, value in given.items():
                one: Optional[Any] = known[name].convert if name in known else None
                read[name] = value if one is None else one(value)
            return read

        self._convert = convert
        return {
            "type": "object",
            "properties": {name: shape.schema for name, shape in known.items()},
            "required": [name for name, hint in names.items() if type(None) not in getattr(hint, "__args__", ())],
        }

    def read(self, content: Dict[str, Any]) -> Any:
        """The function's value for an accepted answer."""
        try:
            value: Any = content
            schema = self._answer
            if self._single:
                value, schema = content.get(_ALONE), schema["properties"][_ALONE]
            # Clients should check the input against the schema, and some do not.
            check(value, schema, self._answer.get("$defs", {}))
            return value if self._convert is None else self._convert(value)
        except (ValueError, TypeError) as problem:
            raise CannotAsk("The answer does not fit the question: %s" % problem) from None
