"""One whole session, the same for every Python client.

A client library is tried through an adapter, a class with the methods that `converse` calls. It is given the way to the server,
a `Command` or an `Address`, turns what its library returns and raises into the plain values below, and is an async
context manager: entering connects, leaving closes.
"""

import asyncio
import json
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
TOOLS = [
    "add", "chatty", "fail", "folders", "greet", "introduce", "large", "route", "slow", "steps", "summarise", "weather",
    "wipe",
]  # fmt: skip
NOTE = "note://today"
GREET_SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

# How long, in seconds, what must come is waited for. It only keeps a session from waiting for ever.
PATIENCE = 60

SCRATCH = tempfile.TemporaryDirectory()

# Processes that must not outlive the session, however it ends.
STARTED = []


class Refused(Exception):
    """The server answered with a protocol error."""

    def __init__(self, code):
        super().__init__(f"protocol error {code}")
        self.code = code


class GaveUp(Exception):
    """The client waited long enough, and cancelled its request."""


@dataclass
class Command:
    """The words that start a server."""

    words: list


@dataclass
class Address:
    """Where a server is, what its requests carry besides, the file of who vouches for it, and who logs in there."""

    url: str
    headers: dict = field(default_factory=dict)
    authority: str | None = None
    login: object = None


@dataclass
class Result:
    text: str
    is_error: bool
    data: dict | None = None


@dataclass
class Answers:
    """What the session answers when the server asks. Forms are answered with `forms`, one after the other."""

    asked: list = field(default_factory=list)
    forms: list = field(default_factory=list)
    # Whether the client can show forms.
    can_ask: bool = True

    def form(self, message):
        """An action and what was filled in."""
        self.asked.append(message)
        return self.forms.pop(0) if self.forms else ("cancel", None)

    def sample(self, text):
        self.asked.append(text)
        return "In short."

    def root(self):
        return Path(SCRATCH.name).resolve().as_uri()


@dataclass
class Heard:
    """What the server said without being asked, and what the library could make no sense of."""

    logs: list = field(default_factory=list)
    progress: list = field(default_factory=list)
    updated: list = field(default_factory=list)
    tool_changes: int = 0
    complaints: list = field(default_factory=list)

    async def log(self, params):
        self.logs.append((params.level, params.logger, params.data))

    async def message(self, message):
        if isinstance(message, Exception):
            self.complaints.append(repr(message))
            return
        # Version 1 of the library has its messages in a wrapper.
        message = getattr(message, "root", message)
        match getattr(message, "method", None):
            case "notifications/progress":
                self.progress.append(message.params.progress)
            case "notifications/resources/updated":
                self.updated.append(str(message.params.uri))
            case "notifications/tools/list_changed":
                self.tool_changes += 1

    async def listen(self, changes):
        """Hears what a listening request of the stateless era is told."""
        async for event in changes:
            if uri := getattr(event, "uri", None):
                self.updated.append(uri)
            else:
                self.tool_changes += 1


def check(what, holds, seen=None):
    if holds:
        print(f"ok: {what}", flush=True)
        return
    print(f"WRONG: {what}; saw {seen!r}", flush=True)
    for process in STARTED:
        process.kill()
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
    shell = 'echo $$ >>"$0" && MCPBASH_LOG_LEVEL=debug MCPBASH_MAX_RESULT_TEXT_BYTES=0 exec "$@" --log-file "$0.$$.log"'
    command = Command(["sh", "-c", shell, str(pids), *server])
    heard, answers = Heard(), Answers()
    async with adapter(command, heard, answers) as client:
        await talk(client, version, heard, answers)
    started = [int(pid) for pid in pids.read_text().split()]
    gone = await until(lambda: not any(map(alive, started)))
    check("no server process is left", gone, [pid for pid in started if alive(pid)])
    # The libraries send a signal to a server that is still there some time after its input was closed.
    log = Path(f"{pids}.{started[-1]}.log").read_text()
    check("the server left by itself when its input was closed", '"end of input"' in log, log[-1000:])


async def talk(client, version, heard, answers, events_only=False):
    """What can be said over any transport. Where there is nothing but events, they may be too short for a result."""
    check("the protocol version is the newest of the era", client.version() == version, client.version())
    check("the server says who it is", IDENTITY.items() <= client.server().items(), client.server())
    check("the instructions are the project's", client.instructions() == INSTRUCTIONS, client.instructions())
    # The stateless era has no ping.
    if version < "2026":
        await client.ping()
        check("ping is answered", True)

    tools = await client.tools()
    check("all tools are listed", sorted(tools) == TOOLS, tools)
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

    await check_contents(client)
    if not events_only:
        result = await client.call("large", {})
        whole = "".join(letter * 1_000_000 for letter in "abc")
        check("a large result is whole", result == Result(whole, False), (len(result.text), result.text[:200]))
    await check_prompts(client)
    await check_resources(client)
    await check_progress(client, heard)
    await check_logging(client, heard)
    await check_questions(client, answers)
    await check_consent(client, answers)
    await check_cancellation(client, Path(SCRATCH.name, "slow-pid"))
    check("the library understood everything", not heard.complaints, heard.complaints)


async def check_contents(client):
    result = await client.call("weather", {"city": "Zoë"})
    check("a result has data", result.data == {"city": "Zoë", "degrees": 21}, result)
    check("and the same data as text", json.loads(result.text) == result.data, result)
    for region in ["west", " öst ", "=?base64?x?="]:
        result = await client.call("route", {"region": region})
        check(f"an argument that may stand in a header arrives: {region}", result.text == f"To {region}.", result)


async def check_resources(client):
    resources = await client.resources()
    check("resources are listed", resources == {NOTE: "A note."}, resources)
    templates = await client.templates()
    check("templates are listed", templates == ["echo://{word}"], templates)
    text = await client.read(NOTE)
    check("a resource is read", text == "Nothing yet.\n", text)
    text = await client.read("echo://hi")
    check("a resource of a template is read", text == "hi, hi", text)
    try:
        code = await client.read("note://nowhere")
    except Refused as refused:
        code = refused.code
    check("an unknown resource is not found", code in (-32002, -32602), code)


async def check_questions(client, answers):
    """The script asks, and goes on with the answers."""
    answers.asked.clear()
    answers.forms = [("accept", {"name": "Zoë"}), ("accept", {"confirmed": True})]
    result = await client.call("introduce", {})
    check("the user is asked", result == Result("Zoë, well: true", False), result)
    asked = ["What is your name?", "Are you well, Zoë?"]
    check("one question after the other", answers.asked == asked, answers.asked)
    answers.forms = [("decline", None)]
    result = await client.call("introduce", {})
    check("the user need not answer", result == Result("Nobody: decline", False), result)
    answers.asked.clear()
    result = await client.call("summarise", {"text": "a long text"})
    check("the model of the client is asked", result == Result("The model says: In short.", False), result)
    check("it is asked what the script asks", answers.asked == ["Summarise: a long text"], answers.asked)
    result = await client.call("folders", {})
    check("the folders of the client are known", result == Result(answers.root(), False), result)


async def check_consent(client, answers):
    """A tool that needs consent runs after a yes only, and the user sees what it would do."""
    for no in [("decline", None), ("cancel", None), ("accept", {"consent": "no"})]:
        answers.asked.clear()
        answers.forms = [no]
        result = await client.call("wipe", {"what": "the disk"})
        check(f"nothing runs after {no}", result.is_error and "was not run" in result.text, result)
        question = "".join(answers.asked)
        seen = 'Wipe "the disk"?' in question and 'what: "the disk"' in question
        check("the user sees question and arguments", seen, answers.asked)
    answers.forms = [("accept", {"consent": "once"})]
    result = await client.call("wipe", {"what": "the disk"})
    check("the tool runs after a yes", result == Result("wiped the disk", False), result)


async def check_changes(client, heard, project, disturb=lambda: None):
    """Changes of the project reach a client that wants to hear of them, whatever `disturb` does to it before."""
    async with client.following(NOTE):
        disturb()
        with (project / "resources/today.txt").open("a") as note:
            note.write("Something.\n")
        check("a changed resource is told", await until(lambda: NOTE in heard.updated), heard.updated)
        text = await client.read(NOTE)
        check("the changed resource is read", text == "Nothing yet.\nSomething.\n", text)
        heard.tool_changes = 0
        script = project / "tools/late/tool.sh"
        script.parent.mkdir()
        script.write_text("#!/bin/sh\necho better than never\n")
        script.chmod(0o755)
        check("a new tool is told", await until(lambda: heard.tool_changes), heard)
        tools = await client.tools()
        check("it is listed", sorted(tools) == sorted([*TOOLS, "late"]), tools)
        result = await client.call("late", {})
        check("it can be called", result == Result("better than never", False), result)


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

    heard.logs.clear()
    result = await client.call("chatty", {})
    check("a script that logs has its result", result == Result("Said it.", False), result)

    def told():
        return [(level, data) for level, logger, data in heard.logs if logger == "chatty"]

    wanted = [("info", "first words"), ("warning", "second words")]
    check("what a script logs is told", await until(lambda: told() == wanted), heard.logs)
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
