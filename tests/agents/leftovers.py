"""What a server may leave behind: processes, and its private folder."""

import time
from pathlib import Path

PATIENCE_SECS = 15


def left(server, tmp):
    """What is still there after all of it had time to end."""
    deadline = time.monotonic() + PATIENCE_SECS
    while (found := processes(server) + folders(tmp)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return found


def processes(server):
    """Running processes of the server and of its scripts, in this namespace."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            ours = (process / "exe").resolve() == server or b"\0MCP_SDK=" in b"\0" + (process / "environ").read_bytes()
        except OSError:
            continue
        # A zombie has no command line.
        if ours and command:
            found.append(f"process {process.name}: {command[:120]}")
    return found


def folders(tmp):
    return [f"folder {entry.name}" for entry in tmp.glob("mcpbash.*")]
