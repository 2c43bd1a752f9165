"""Sends a signal to a packaged server, and checks that nothing of it is left: stops.py [OPTION] SIGNAL COMMAND...

COMMAND is started like a client does it. When the server has answered, SIGNAL goes to the process that was started or, with
`--to-server`, to the program itself. All processes have to go. Standard input stays open, so that its end is not the reason; with
`--close` it is closed after the signal, as by a client that sees that its server is gone.
Prints how the started process ended: `code 0`, `signal TERM`. The first word says whether that process was the program itself
(`same`) or a parent of it (`parent`).
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

# Where this program runs in the background, a shell may have told it to ignore the signal, and what it starts would do the same.
signal.signal(signal.SIGINT, signal.SIG_DFL)

# In seconds. It only keeps a test from waiting for ever.
PATIENCE = 60
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "stops", "version": "1"}},
}


def status(pid):
    """The name, the state and the parent of a process, or none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    name, rest = text[text.index("(") + 1 :].rsplit(")", 1)
    state, parent = rest.split()[:2]
    return name, state, int(parent)


def family(pid):
    """A process and its descendants."""
    parents = {}
    for other in filter(str.isdigit, os.listdir("/proc")):
        found = status(other)
        if found and found[1] != "Z":
            parents[int(other)] = found[2]
    members = [pid]
    for member in members:
        members += [child for child, parent in parents.items() if parent == member]
    return members


def is_program(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "mcp-bash"
    except OSError:
        return False


def is_alive(pid):
    found = status(pid)
    return found is not None and found[1] != "Z"


def main(words):
    option = words.pop(0) if words[0].startswith("--") else None
    number = getattr(signal, f"SIG{words[0]}")
    started = subprocess.Popen(words[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    started.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    started.stdin.flush()
    answer = started.stdout.readline()
    if b'"serverInfo"' not in answer:
        sys.exit(f"stops: no answer: {answer}")
    members = family(started.pid)
    server = next((pid for pid in members if is_program(pid)), None)
    if server is None:
        sys.exit(f"stops: no server among {members}")
    os.kill(server if option == "--to-server" else started.pid, number)
    ended = started.wait(PATIENCE)
    if option == "--close":
        started.stdin.close()
    deadline = time.monotonic() + PATIENCE
    while any(map(is_alive, members)):
        if time.monotonic() > deadline:
            sys.exit(f"stops: still there: {[(pid, status(pid)) for pid in members if is_alive(pid)]}")
        time.sleep(0.02)
    how = f"signal {signal.Signals(-ended).name[3:]}" if ended < 0 else f"code {ended}"
    print("same" if server == started.pid else "parent", how)


main(sys.argv[1:])
