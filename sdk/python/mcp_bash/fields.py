"""``Annotated[int, Field(minimum=1)]``: what a type hint alone cannot say about a value."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional


class Field:
    """Bounds and words for a parameter, named as JSON Schema names them."""

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
        """``schema`` is taken as it is, in place of what the type says; ``more`` are further words of JSON Schema."""
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
