#!/usr/bin/env python3
# mcp: {"provider": true}
"""Provides tools: `list` prints their definitions; any other word is the name of a tool to call."""

import json
import sys

TOOLS = [
    {
        "name": "__NAME__",
        "description": "Greets somebody by name. Say here what the tool does and when a model should use it.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Who is greeted, for example Ada", "default": "World"}
            },
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }
]


def main() -> None:
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    if word == "list":
        for tool in TOOLS:
            print(json.dumps(tool))
    elif word == "__NAME__":
        name = json.load(sys.stdin).get("name", "World")
        print(json.dumps({"content": [{"type": "text", "text": f"Hello, {name}!"}]}))
    else:
        sys.exit(f"there is no tool {word}")


if __name__ == "__main__":
    main()
