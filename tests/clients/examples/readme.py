"""The commands that the README of an example tells people to try."""

import json
import os
import re
import subprocess
from dataclasses import dataclass

# Takes the place of the real program: notes the role that is set, and the words of the command.
NOTE = 'mcp-bash() { printf "%s\\0" "${OPS_ROLE:-}" "$#" "$@" >&3; }\n'


@dataclass
class Command:
    role: str
    kind: str  # call, get or read
    name: str
    given: list


def commands(folder):
    """Runs the shell blocks under "Try it" in the folder, and returns what they would have had mcp-bash do."""
    text = (folder / "README.md").read_text().split("## Try it")[1].split("\n## ")[0]
    script = NOTE + "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    reader, writer = os.pipe()
    with os.fdopen(reader) as notes:
        shell = ["bash", "-euc", f"exec 3>&{writer}\n{script}"]
        subprocess.run(shell, cwd=folder, check=True, pass_fds=[writer], stdout=subprocess.DEVNULL)
        os.close(writer)
        words = iter(notes.read().split("\0")[:-1])
    for role in words:
        kind, *rest = [next(words) for _ in range(int(next(words)))]
        if kind in ("call", "get", "read"):
            yield Command(role, kind, rest[0], rest[1:])


def arguments(given, properties):
    """What `key=value` and `key:=JSON` mean for a tool or a prompt with these properties."""
    result, words = {}, iter(given)
    for word in words:
        if word.startswith("--"):
            next(words)
            continue
        key, value = word.split("=", 1)
        if key.endswith(":"):
            result[key[:-1]] = json.loads(value)
        elif properties.get(key, {}).get("type") in ("integer", "number", "boolean"):
            result[key] = json.loads(value)
        else:
            result[key] = value
    return result
