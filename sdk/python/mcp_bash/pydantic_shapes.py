"""Models of pydantic, version 1 and 2. It is never imported here: code with such a model has loaded it."""

from __future__ import annotations

import json
import sys
from typing import Any, Callable, Dict, List, Tuple

from .mismatch import Mismatch
from .references import inline


def is_model(hint: Any) -> bool:
    return _is_version_2(hint) or _is_version_1(hint)


def _is_version_2(hint: Any) -> bool:
    return hasattr(hint, "__get_pydantic_core_schema__") and hasattr(sys.modules.get("pydantic"), "TypeAdapter")


def _is_version_1(hint: Any) -> bool:
    return isinstance(hint, type) and hasattr(hint, "__fields__") and hasattr(hint, "parse_obj")


def describe(hint: Any, output: bool, definitions: Dict[str, Any]) -> Tuple[Dict[str, Any], Callable[[Any], Any]]:
    """The model's own schema and validation."""
    if _is_version_2(hint):
        adapter = sys.modules["pydantic"].TypeAdapter(hint)
        schema = adapter.json_schema(mode="serialization" if output else "validation")
        # As JSON: a strict model accepts no text for a date or a path, unless it comes in JSON.
        return inline(schema, definitions), _guarded(lambda value: adapter.validate_json(json.dumps(value)))
    return inline(hint.schema(), definitions), _guarded(hint.parse_obj)


def _guarded(validate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        try:
            return validate(value)
        except ValueError as problem:
            raise Mismatch(_one_line(problem)) from None

    return convert


def _one_line(problem: Any) -> str:
    """pydantic spreads its errors over several lines."""
    if not hasattr(problem, "errors"):
        return str(problem)
    told: List[str] = []
    for error in problem.errors():
        place = ".".join(str(step) for step in error.get("loc", ()))
        told.append("%s: %s" % (place, error.get("msg")) if place else str(error.get("msg")))
    return "; ".join(told)


def plain(value: Any) -> Any:
    """A model as JSON values."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    return json.loads(value.json(by_alias=True))
