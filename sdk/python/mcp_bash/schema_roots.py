"""The outermost schema of a tool: always an object with its properties, never a reference."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict


def is_object_schema(schema: Dict[str, Any], definitions: Dict[str, Any]) -> bool:
    """Whether it can be a root."""
    reference = schema.get("$ref")
    target: Dict[str, Any] = definitions[reference.rpartition("/")[2]] if reference else schema
    return target.get("type") == "object"


def root_schema(schema: Dict[str, Any], definitions: Dict[str, Any]) -> Dict[str, Any]:
    """The schema as a root, with the definitions that it refers to."""
    reference = schema.get("$ref")
    root = dict(definitions[reference.rpartition("/")[2]]) if reference else dict(schema)
    if root.get("type") == "object":
        root.setdefault("properties", {})
    if definitions:
        root["$defs"] = definitions
    return root
