"""One whole session, the same for every Python client.

A client library is tried through an adapter, a class with the methods that `converse` calls. It turns what its library
returns and raises into the plain values below, and is an async context manager: entering connects, leaving closes.
"""

import asyncio
import os
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

# What `make-project.sh` writes.
IDENTITY = {
    "name": "client-sessions",
    "title": "Client sessions",
    "version": "4.5.6",
    "description": "What the official clients are tried on.",
    "websiteUrl": "https://example.com/client-sessions",
}
INSTRUCTIONS = "Greet people with `greet`."
GREET_SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

# The libraries send SIGTERM to a server that is still there two seconds after its input was closed. One that is gone
# sooner has left by itself.
PATIENCE_OF_CLIENTS = 2.0

SCRATCH = tempfile.TemporaryDirectory()


class Refused(Exception):
    """The server answered with a protocol error."""

    def __init__(self, code):
        super().__init__(f"protocol error {code}")
        self.code = code


class GaveUp(Exception):
    """The client waited long enough, and cancelled its request."""


@dataclass
class Result:
    text: str
    is_error: bool


@dataclass
class Heard:
    """What the server said without being asked, and what the library could make no sense of."""

    logs: list = field(default_factory=list)
    progress: list = field(default_factory=list)
    complaints: list = field(default_factory=list)

    async def log(self, params):
        self.logs.append((params.level, params.logger, params.data))

    async def message(self, message):
        if isinstance(message, Exception):
            self.complaints.append(repr(message))
            return
        # Version 1 of the library has its messages in a wrapper.
        message = getattr(message, "root", message)
        if getattr(message, "method", None) == "notifications/progress":
            self.progress.append(message.params.progress)


def check(what, holds, seen=None):
    if holds:
        print(f"ok: {what}", flush=True)
        return
    print(f"WRONG: {what}; saw {seen!r}", flush=True)
    SCRATCH.cleanup()
    # Leaves at once, because the libraries would wrap an exception in groups of their own and hide what it said.
    os._exit(1)


def run(adapter, version):
    """Has the conversation with the server that the command line names, and expects it to agree on `version`."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} SERVER [ARGUMENT...]")
    try:
        asyncio.run(converse(adapter, version, sys.argv[1:]))
    except Exception as error:
        traceback.print_exc()
        check("the step after the last one above can be taken", False, error)


async def converse(adapter, version, server):
    # The shell becomes the server, so that the process id it writes down is the server's.
    pids = Path(SCRATCH.name, "server-pids")
    command = ["sh", "-c", 'echo $$ >>"$0" && exec "$@"', str(pids), *server]
    heard = Heard()
    async with adapter(command, heard) as client:
        await talk(client, version, heard)
        closing = time.monotonic()
    took = time.monotonic() - closing
    check("the server left by itself when its input was closed", took < PATIENCE_OF_CLIENTS, f"{took:.2f} s")
    left = [pid for pid in map(int, pids.read_text().split()) if alive(pid)]
    check("no server process is left", not left, left)


async def talk(client, version, heard):
    check("the protocol version is the newest of the era", client.version() == version, client.version())
    check("the server says who it is", IDENTITY.items() <= client.server().items(), client.server())
    check("the instructions are the project's", client.instructions() == INSTRUCTIONS, client.instructions())
    # The stateless era has no ping.
    if version < "2026":
        await client.ping()
        check("ping is answered", True)

    tools = await client.tools()
    check("all tools are listed", sorted(tools) == ["add", "fail", "greet", "slow", "steps"], tools)
    check("a tool has its input schema", tools["greet"] == GREET_SCHEMA, tools["greet"])

    result = await client.call("greet", {"name": "Zoë"})
    check("a call has its result", result == Result("Hello, Zoë!", False), result)
    result = await client.call("add", {"a": 40, "b": 2})
    check("a provided tool has its result", result == Result("42", False), result)
    names = [f"caller {number}" for number in range(8)]
    results = await asyncio.gather(*(client.call("greet", {"name": name}) for name in names))
    wanted = [Result(f"Hello, {name}!", False) for name in names]
    check("calls at the same time have each their own result", results == wanted, results)

    result = await client.call("fail", {})
    check("a failing tool is an error result", result == Result("this tool always fails", True), result)
    try:
        code = await client.call("no-such-tool", {})
    except Refused as refused:
        code = refused.code
    check("an unknown tool is refused with -32602", code == -32602, code)

    await check_prompts(client)
    await check_progress(client, heard)
    await check_logging(client, heard)
    await check_cancellation(client, Path(SCRATCH.name, "slow-pid"))
    check("the library understood everything", not heard.complaints, heard.complaints)


async def check_prompts(client):
    prompts = await client.prompts()
    check("prompts are listed with their arguments", prompts == {"letter": ["name", "tone"]}, prompts)
    text = await client.prompt("letter", {"name": "Zoë"})
    check("a prompt is filled in", text == "Write a kind letter to Zoë.", text)
    try:
        code = await client.prompt("letter", {})
    except Refused as refused:
        code = refused.code
    check("a prompt without what it needs is refused with -32602", code == -32602, code)
    values = await client.complete("letter", "tone", "st")
    check("an argument is completed", values == ["stern"], values)


async def check_progress(client, heard):
    events = []
    result = await client.call("steps", {}, on_progress=events.append)
    in_time = list(events)
    heard.progress.clear()
    check("a call with progress has its result", result == Result("Took 5 steps.", False), result)
    check("at least three progress events came before the result", len(in_time) >= 3, in_time)
    rising = all(earlier < later for earlier, later in zip(in_time, in_time[1:]))
    check("progress only rises", rising, in_time)
    # A library may have forgotten the callback by now, so whatever comes late counts.
    await asyncio.sleep(0.3)
    check("no progress comes after the result", events == in_time and not heard.progress, heard.progress)


async def check_logging(client, heard):
    await client.log_at("debug")
    await client.call("greet", {"name": "Ada"})
    await until(lambda: any(logger == "mcp.tools" for _, logger, _ in heard.logs))
    ended = [data for level, logger, data in heard.logs if (level, logger) == ("debug", "mcp.tools")]
    check("at level debug the end of a call is told", any(data["tool"] == "greet" for data in ended), heard.logs)

    await client.log_at("error")
    heard.logs.clear()
    await client.call("greet", {"name": "Ada"})
    await asyncio.sleep(0.3)
    check("at level error it is not", not heard.logs, heard.logs)


async def check_cancellation(client, pid_file):
    try:
        outcome = await client.call("slow", {"pidFile": str(pid_file)}, timeout=2)
    except GaveUp:
        outcome = None
    check("the client can give up on a slow call", outcome is None, outcome)
    check("the slow script had started", pid_file.exists())
    pid = int(pid_file.read_text())
    check("the script of the cancelled call is stopped", await until(lambda: not alive(pid)), pid)
    result = await client.call("greet", {"name": "Ada"})
    check("calls work after a cancelled one", result == Result("Hello, Ada!", False), result)


async def until(holds, seconds=5):
    """Whether something comes true in that time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
