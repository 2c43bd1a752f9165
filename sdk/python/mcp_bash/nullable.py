"""Schemas of nullable values. docs/python.md has a table of how agents handle each form."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

_NULL = {"type": "null"}
# Keywords that describe a value rather than constrain it.
_WORDS = ("title", "description", "default", "examples")


def choices_of(schemas: List[Dict[str, Any]]) -> Dict[str, Any]:
    """Any of several. A nested choice is flattened."""
    choices: List[Dict[str, Any]] = []
    for schema in schemas:
        for choice in schema["anyOf"] if schema.keys() == {"anyOf"} else [schema]:
            if choice not in choices:
                choices.append(choice)
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def with_null(schema: Dict[str, Any]) -> Dict[str, Any]:
    """The schema with its descriptive keywords repeated inside the choices, if the value is nullable: not
    every client looks beside `anyOf`."""
    choices: List[Dict[str, Any]] = schema.get("anyOf", [])
    if _NULL not in choices:
        return schema
    words = {key: value for key, value in schema.items() if key in _WORDS}
    bounds = {key: value for key, value in schema.items() if key != "anyOf" and key not in _WORDS}
    told = {"description": words["description"]} if "description" in words else {}
    others = [choice for choice in choices if choice != _NULL]
    is_bound_inside = len(others) == 1 and "$ref" not in others[0]
    inside: Dict[str, Any] = bounds if is_bound_inside else {}
    outside: Dict[str, Any] = {} if is_bound_inside else bounds

    def tell(choice: Dict[str, Any]) -> Dict[str, Any]:
        return choice if choice == _NULL or "$ref" in choice else {**told, **choice, **inside}

    return {"anyOf": [tell(choice) for choice in choices], **outside, **words}


def without_null(schema: Dict[str, Any]) -> Dict[str, Any]:
    """The non-null part, for values that can only be left out: an argument of a prompt, a field of a form."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice != _NULL]
    if not choices:
        return dict(schema)
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**choices[0], **rest} if len(choices) == 1 else {**rest, "anyOf": choices}
