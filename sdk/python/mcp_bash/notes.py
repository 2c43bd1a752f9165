"""The annotations of a type in ``Annotated``: a text, our `Field`, or those of pydantic and annotated-types,
which are recognised by their attributes and never imported."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from .fields import Field

_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
    "description": "description",
    "title": "title",
    "examples": "examples",
}
_LENGTHS = {"array": ("minItems", "maxItems"), "object": ("minProperties", "maxProperties")}


def whole_schema(notes: Tuple[Any, ...]) -> Optional[Dict[str, Any]]:
    """The schema of a `Field` that replaces that of the type."""
    for note in notes:
        if isinstance(note, Field) and note.whole is not None:
            return note.whole
    return None


def apply_notes(schema: Dict[str, Any], notes: Tuple[Any, ...]) -> Dict[str, Any]:
    """The schema with all annotations applied."""
    for note in notes:
        if isinstance(note, str):
            schema["description"] = note
        elif isinstance(note, Field):
            schema.update(note.schema)
        else:
            _apply_foreign(schema, note)
    return schema


def _apply_foreign(schema: Dict[str, Any], note: Any) -> None:
    for part in getattr(note, "metadata", None) or ():
        _apply_foreign(schema, part)
    for member, word in _BOUNDS.items():
        value = getattr(note, member, None)
        if isinstance(value, (int, float, str, list)):
            schema[word] = value
    lengths = _LENGTHS.get(str(schema.get("type")), ("minLength", "maxLength"))
    for member, word in zip(("min_length", "max_length"), lengths):
        value = getattr(note, member, None)
        if isinstance(value, int):
            schema[word] = value
