"""How a Python tool reads its arguments and answers. Hidden folders contain no tools."""

import json
import sys
from pathlib import Path

DATA = Path("data")  # a tool runs in the project's folder


def arguments():
    return json.load(sys.stdin)


def answer(structured):
    """Prints an object, which becomes structured content, and text for clients without support for it."""
    json.dump(structured, sys.stdout, ensure_ascii=False)


def fail(message):
    """An error result, with a text that tells the model what to do instead."""
    json.dump({"content": [{"type": "text", "text": message}], "isError": True}, sys.stdout, ensure_ascii=False)
    sys.exit(0)


def csv_file(name):
    """The CSV file of that name. The schema ensures that the name is not a path."""
    file = DATA / f"{name}.csv"
    if not file.is_file():
        names = ", ".join(sorted(file.stem for file in DATA.glob("*.csv")))
        fail(f"There is no CSV file called {name}. There are: {names}.")
    return file
