"""Foreign schemas: references are replaced by their targets, unless those are recursive."""

from __future__ import annotations

from typing import Any, Dict, List

from .json_types import is_list, is_object


def inline(schema: Dict[str, Any], definitions: Dict[str, Any]) -> Dict[str, Any]:
    """The schema without its own ``$defs``. Recursive parts are put into ``definitions``."""
    own = {**schema.get("definitions", {}), **schema.get("$defs", {})}
    rest = {key: value for key, value in schema.items() if key not in ("$defs", "definitions")}
    resolved = _Inliner(own, definitions).walk(rest, [])
    return dict(resolved)


class _Inliner:
    def __init__(self, own: Dict[str, Any], definitions: Dict[str, Any]) -> None:
        self.own = own
        self.definitions = definitions

    def walk(self, node: Any, open_names: List[str]) -> Any:
        if is_list(node):
            return [self.walk(item, open_names) for item in node]
        if not is_object(node):
            return node
        target = node.get("$ref")
        name = target.rpartition("/")[2] if isinstance(target, str) else None
        if name in self.own:
            return self._resolve(str(name), node, open_names)
        # Older models use an `allOf` of one to attach a description to a reference.
        only = node.get("allOf")
        if is_list(only) and len(only) == 1:
            node = {**only[0], **{key: value for key, value in node.items() if key != "allOf"}}
            return self.walk(node, open_names)
        return {key: self.walk(value, open_names) for key, value in node.items()}

    def _resolve(self, name: str, node: Dict[str, Any], open_names: List[str]) -> Any:
        reference = {"$ref": "#/$defs/" + name}
        if name in open_names or name in self.definitions:
            self.definitions.setdefault(name, {})
            return reference
        found = self.walk(self.own[name], [*open_names, name])
        if name in self.definitions:
            self.definitions[name] = found
            return reference
        beside = {key: self.walk(value, open_names) for key, value in node.items() if key != "$ref"}
        return {**found, **beside}
