"""What the interfaces of all known models accept as a tool."""

import re

NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_-]{0,47}$")
REFUSED = {"$schema", "$ref", "oneOf", "anyOf", "allOf", "not", "const", "patternProperties", "exclusiveMinimum",
           "exclusiveMaximum", "multipleOf", "uniqueItems"}


def faults(tool):
    """What is wrong with a tool, as sentences."""
    if not NAME.match(tool.name):
        yield f"{tool.name}: some models refuse this name"
    if not tool.description:
        yield f"{tool.name}: has no description"
    if not tool.annotations or tool.annotations.read_only_hint is None:
        yield f"{tool.name}: does not say whether it only reads"
    if tool.input_schema.get("type") != "object":
        yield f"{tool.name}: the schema is no object"
    yield from (f"{tool.name}: {fault}" for fault in faults_of(tool.input_schema, ""))


def faults_of(schema, place):
    yield from (f"`{key}` at {place or '/'}" for key in REFUSED & schema.keys())
    if not isinstance(schema.get("type"), str):
        yield f"not exactly one type at {place or '/'}"
    if schema.get("type") == "array":
        yield from faults_of(schema.get("items", {}), f"{place}/items")
    for name, part in schema.get("properties", {}).items():
        yield from faults_of(part, f"{place}/{name}")
