"""Values from texts: arguments of prompts, variables of URIs, keys of objects. These were not checked against
their schema before."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict

from .mismatch import Mismatch, show
from .scalar_shapes import reader
from .schema_check import Convert, Definitions, check, fits

_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off", "")


def from_text(schema: Dict[str, Any], convert: Convert, definitions: Definitions) -> Callable[[Any], Any]:
    """A conversion for places where every value is a text. Values that do not match the schema are
    refused."""

    def read(value: Any) -> Any:
        if isinstance(value, str):
            value = _read(value, schema, definitions)
        check(value, schema, definitions)
        return value if convert is None else convert(value)

    return read


def _read(text: str, schema: Dict[str, Any], definitions: Definitions) -> Any:
    kind = schema.get("type")
    if "anyOf" in schema:
        return _read_any(text, schema["anyOf"], definitions)
    if kind == "integer":
        return reader(int, "an integer")(text)
    if kind == "number":
        return reader(float, "a number")(text)
    if kind == "boolean":
        if text.lower() not in _TRUE + _FALSE:
            raise Mismatch("%s is neither true nor false" % show(text))
        return text.lower() in _TRUE
    if kind == "array" and not text.lstrip().startswith("["):
        return [_read(part.strip(), schema.get("items", {}), definitions) for part in text.split(",")] if text else []
    if kind in ("array", "object") or "$ref" in schema:
        return reader(json.loads, "JSON")(text)
    if kind is None and "enum" in schema and text not in schema["enum"]:
        # Choices of several types: each is recognised by its text.
        return next((choice for choice in schema["enum"] if text == json.dumps(choice)), text)
    return text


def _read_any(text: str, schemas: Any, definitions: Definitions) -> Any:
    for schema in sorted(schemas, key=lambda one: one.get("type") == "string"):
        if schema.get("type") == "null":
            continue
        try:
            value = _read(text, schema, definitions)
        except ValueError:
            continue
        if fits(value, schema, definitions):
            return value
    return text
