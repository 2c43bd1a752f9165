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

# How long, in seconds, what must come is waited for. It only keeps a session from waiting for ever.
PATIENCE = 60

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
    # The shell becomes the server, so that the process id it writes down is the server's, as is that in the log's name.
    pids = Path(SCRATCH.name, "server-pids")
    shell = 'echo $$ >>"$0" && MCPBASH_LOG_LEVEL=debug exec "$@" --log-file "$0.$$.log"'
    command = ["sh", "-c", shell, str(pids), *server]
    heard = Heard()
    async with adapter(command, heard) as client:
        await talk(client, version, heard)
    started = [int(pid) for pid in pids.read_text().split()]
    gone = await until(lambda: not any(map(alive, started)))
    check("no server process is left", gone, [pid for pid in started if alive(pid)])
    # The libraries send a signal to a server that is still there some time after its input was closed.
    log = Path(f"{pids}.{started[-1]}.log").read_text()
    check("the server left by itself when its input was closed", '"end of input"' in log, log[-1000:])


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
    # A library may have forgotten the callback by now, so whatever comes before the answer to another call counts.
    await client.call("greet", {"name": "Ada"})
    check("no progress comes after the result", events == in_time and not heard.progress, heard.progress)


async def check_logging(client, heard):
    def ended():
        debug = [data for level, logger, data in heard.logs if (level, logger) == ("debug", "mcp.tools")]
        return [data["tool"] for data in debug]

    await client.log_at("debug")
    heard.logs.clear()
    await client.call("greet", {"name": "Ada"})
    check("at level debug the end of a call is told", await until(lambda: ended() == ["greet"]), heard.logs)

    await client.log_at("error")
    heard.logs.clear()
    await client.call("greet", {"name": "Ada"})
    # What is told of the call after it comes after whatever is told of this one.
    await client.log_at("debug")
    await client.call("add", {"a": 40, "b": 2})
    check("at level error it is not", await until(ended) and ended() == ["add"], heard.logs)
    # Not every library can be told something while it closes.
    await client.log_at("error")


async def check_cancellation(client, pid_file):
    try:
        outcome = await client.call("slow", {"pidFile": str(pid_file)}, timeout=5)
    except GaveUp:
        outcome = None
    check("the client can give up on a slow call", outcome is None, outcome)
    check("the slow script had started", pid_file.exists())
    pid = int(pid_file.read_text())
    check("the script of the cancelled call is stopped", await until(lambda: not alive(pid)), pid)
    result = await client.call("greet", {"name": "Ada"})
    check("calls work after a cancelled one", result == Result("Hello, Ada!", False), result)


async def until(holds):
    """Whether something comes true."""
    deadline = time.monotonic() + PATIENCE
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
