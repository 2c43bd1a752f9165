"""Which function serves a URI, and the variables in it. The server matches URIs for clients; this is for code that has no
server to ask: `ctx.read_resource`, and the test client."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Tuple
from urllib.parse import parse_qsl, unquote

from .definitions import Definitions, ResourceFunction


def find_resource(definitions: Definitions, uri: str) -> Optional[Tuple[ResourceFunction, Dict[str, str]]]:
    """The resource of a file with that URI, otherwise the first template that matches it."""
    for one in definitions.resources.values():
        if not one.is_template and one.definition["uri"] == uri:
            return one, {}
    for one in definitions.resources.values():
        values = match(str(one.definition["uriTemplate"]), uri) if one.is_template else None
        if values is not None:
            return one, values
    return None


def match(template: str, uri: str) -> Optional[Dict[str, str]]:
    """The variables of a URI template (RFC 6570) in a URI, or None if it does not match."""
    names: List[str] = []
    asked: List[str] = []
    pattern = ""
    for number, part in enumerate(re.split(r"\{([^{}]*)\}", template)):
        if number % 2 == 0:
            pattern += re.escape(part)
        elif part[:1] in "?&" and part:
            asked += [name.partition(":")[0].rstrip("*") for name in part[1:].split(",")]
        else:
            pattern += _expression(part, names)
    path, _, query = uri.partition("?") if asked else (uri, "", "")
    found = re.fullmatch(pattern, path)
    if found is None:
        return None
    values = {name: unquote(value) for name, value in zip(names, found.groups())}
    values.update((name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name in asked)
    return values


def _expression(part: str, names: List[str]) -> str:
    """The pattern of one expression. Those with ``+``, ``#`` or ``*`` may contain slashes."""
    operator = part[:1] if part[:1] in "+#./;" else ""
    separator = {"": ",", "+": ",", "#": ","}.get(operator, operator)
    begins = re.escape(operator) if operator in ("#", ".", "/", ";") else ""
    patterns: List[str] = []
    for variable in part[len(operator) :].split(","):
        name = variable.partition(":")[0].rstrip("*")
        names.append(name)
        label = re.escape(name + "=") if operator == ";" else ""
        patterns.append(label + ("(.+)" if operator in ("+", "#") or variable.endswith("*") else "([^/?#]+)"))
    return begins + re.escape(separator).join(patterns)
