#!/usr/bin/env python3
"""The tool __NAME__.

Its arguments are a JSON object on standard input, and its standard output is its result. A JSON object
becomes structured content; any other text is text. The arguments are declared in tool.meta.json.
"""

import json
import sys


def main() -> None:
    arguments = json.load(sys.stdin)
    name = arguments.get("name", "World")
    if "\n" in name:
        # If a tool fails, the model reads its standard error.
        sys.exit("The name has more than one line: give a name without line breaks")
    print(json.dumps({"message": f"Hello, {name}!"}))


if __name__ == "__main__":
    main()
