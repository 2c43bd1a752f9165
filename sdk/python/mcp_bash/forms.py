"""A form for the user, from whatever the function asks with: a type, a model, names with types, or a JSON Schema."""

from __future__ import annotations

from typing import Any, Dict, Optional

from .errors import CannotAsk
from .json_types import is_object
from .schema_check import Convert, check
from .schema_roots import is_object_schema, root_schema
from .shapes import Shapes

_ALONE = "value"


class Form:
    """The schema that is sent, and the way from the answer to what the function gets."""

    def __init__(self, form: Any) -> None:
        self._single = False
        self._convert: Convert = None
        self.schema: Dict[str, Any]
        if is_object(form):
            self.schema = form if isinstance(form.get("type"), str) else self._of_names(form)
            return
        shapes = Shapes()
        shape = shapes.of(form)
        self._convert = shape.convert
        if is_object_schema(shape.schema, shapes.definitions):
            self.schema = root_schema(shape.schema, shapes.definitions)
        else:
            self._single = True
            alone = {"type": "object", "properties": {_ALONE: shape.schema}, "required": [_ALONE]}
            self.schema = root_schema(alone, shapes.definitions)
        self.schema.pop("additionalProperties", None)

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
        """What the function gets from an accepted answer."""
        try:
            value: Any = content
            schema = self.schema
            if self._single:
                value, schema = content.get(_ALONE), schema["properties"][_ALONE]
            # Clients are to hold their users to the schema, and some do not.
            check(value, schema, self.schema.get("$defs", {}))
            return value if self._convert is None else self._convert(value)
        except (ValueError, TypeError) as problem:
            raise CannotAsk("The answer does not fit the question: %s" % problem) from None
