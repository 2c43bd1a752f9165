#!/usr/bin/env python3
"""The tool __NAME__.

Its arguments are a JSON object on standard input, and what it prints on standard output is its result. A JSON object
is structured content; any other text is text. What it takes stands in tool.meta.json.
"""

import json
import sys


def main() -> None:
    arguments = json.load(sys.stdin)
    name = arguments.get("name", "World")
    if "\n" in name:
        # Whatever stands on standard error when a tool fails is what the model gets to read.
        sys.exit("The name has more than one line: give a name without line breaks")
    print(json.dumps({"message": f"Hello, {name}!"}))


if __name__ == "__main__":
    main()
