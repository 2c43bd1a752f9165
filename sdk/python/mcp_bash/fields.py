"""``Annotated[int, Field(minimum=1)]``: properties of a value that a type hint cannot express."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional


class Field:
    """Bounds and a description for a parameter, named as in JSON Schema."""

    __slots__ = ("schema", "whole")

    def __init__(
        self,
        description: Optional[str] = None,
        *,
        title: Optional[str] = None,
        minimum: Optional[float] = None,
        maximum: Optional[float] = None,
        exclusive_minimum: Optional[float] = None,
        exclusive_maximum: Optional[float] = None,
        multiple_of: Optional[float] = None,
        min_length: Optional[int] = None,
        max_length: Optional[int] = None,
        pattern: Optional[str] = None,
        format: Optional[str] = None,
        min_items: Optional[int] = None,
        max_items: Optional[int] = None,
        examples: Optional[List[Any]] = None,
        schema: Optional[Dict[str, Any]] = None,
        **more: Any,
    ) -> None:
        """``schema`` replaces the schema of the type; ``more`` are further JSON Schema keywords."""
        given = {
            "title": title,
            "description": description,
            "minimum": minimum,
            "maximum": maximum,
            "exclusiveMinimum": exclusive_minimum,
            "exclusiveMaximum": exclusive_maximum,
            "multipleOf": multiple_of,
            "minLength": min_length,
            "maxLength": max_length,
            "pattern": pattern,
            "format": format,
            "minItems": min_items,
            "maxItems": max_items,
            "examples": examples,
        }
        self.schema: Dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        self.schema.update(more)
        self.whole = schema
